//! Buffering at the previous access router with and without PHAS (Chou and Shin 2004; algorithms.md, 6): regular TCP at
//! the sender, a buffer in the network, a filter at the mobile.

use crate::mobile::MobileRule;
use crate::notice::Notice;
use crate::router::{Holder, RouterRule};
use crate::scheme::{Entry, HandoffScheme, SchemeError, SettingInfo};
use segue_netsim::Overflow;
use segue_policy::Kind;
use segue_tcp::{Advice, Advisor, View};

/// A drop policy, and perhaps the filter.
#[derive(Clone, Debug)]
pub struct Buffered {
    overflow: Overflow,
    /// Whether the mobile filters, and whether the last ACK goes out twice.
    phas: Option<bool>,
}

/// Nobody advises the sender.
impl Advisor for Buffered {}

const STACK: &str = "ns2-newreno";
const SOURCE: &str = "Chou and Shin 2004; segue explain 6";
const EXTRA_DUP: &str = "extra-dup";

impl Buffered {
    fn named(name: &str) -> Self {
        let fcfd = name.starts_with("buffer-fcfd");
        let overflow = if fcfd { Overflow::DropHead } else { Overflow::DropTail };
        Self { overflow, phas: name.ends_with("+phas").then_some(false) }
    }
}

impl HandoffScheme for Buffered {
    const ENTRIES: &'static [Entry] = &[
        Entry {
            name: "buffer-fcfd",
            stack: STACK,
            summary: "the previous router buffers; a full buffer drops its head (the paper's conventional scheme)",
            source: SOURCE,
        },
        Entry {
            name: "buffer-fcfd+phas",
            stack: STACK,
            summary: "the same; the mobile suppresses the ACKs of what was forwarded",
            source: SOURCE,
        },
        Entry {
            name: "buffer-lcfd",
            stack: STACK,
            summary: "the previous router buffers; a full buffer drops what comes",
            source: SOURCE,
        },
        Entry {
            name: "buffer-lcfd+phas",
            stack: STACK,
            summary: "the same; the mobile suppresses the ACKs of what was forwarded (the paper's proposal)",
            source: SOURCE,
        },
    ];

    fn build(name: &str, settings: &[(String, String)]) -> Result<Self, SchemeError> {
        let mut made = Self::named(name);
        for (key, value) in settings {
            match &mut made.phas {
                Some(extra_dup) if key == EXTRA_DUP => {
                    let on = Kind::Flag.parse(value).ok_or_else(|| SchemeError::Setting {
                        scheme: name.to_string(),
                        problem: format!(
                            "`{value}` is no value of {key}; expected {}",
                            Kind::Flag.expected()
                        ),
                    })?;
                    *extra_dup = on != 0;
                }
                Some(_) => return Err(SchemeError::no_such_setting(name, key, &[EXTRA_DUP])),
                None => return Err(SchemeError::no_such_setting(name, key, &[])),
            }
        }
        Ok(made)
    }

    fn settings(name: &str) -> Vec<SettingInfo> {
        let filters = Self::named(name).phas.is_some();
        let extra_dup = SettingInfo {
            name: EXTRA_DUP,
            default: "off".to_string(),
            section: "6.2",
            meaning: "whether the ACK that covers all that was forwarded goes out twice",
        };
        filters.then_some(extra_dup).into_iter().collect()
    }

    fn mobile(&self) -> MobileRule {
        MobileRule { announces: false, phas: self.phas, ..MobileRule::default() }
    }

    fn router(&self) -> Option<RouterRule> {
        Some(RouterRule { holder: Holder::Previous, overflow: self.overflow })
    }

    fn on_notice(&mut self, _view: &View, _notice: &Notice) -> Advice {
        Advice::default()
    }
}
