//! QUIC's reset on connection migration, on a TCP sender. The new path is validated for a round trip. Then window,
//! threshold, estimator and timer are those of a new connection.
//!
//! Source: RFC 9000, 8.2 and 9.4; RFC 9002, 6.2 (PTO), 7.2 (initial window). The reset itself is
//! [`NewPath`](segue_tcp::advice::NewPath). Not modelled, because the flow is TCP: packet numbers of QUIC, its probes (two
//! packets, no cut) and persistent congestion. After the reset losses and timeouts are those of the stack. A server may
//! send three times what it has received before the path is validated (9.3). Here it sends nothing, for ACKs alone
//! allow less than two packets. algorithms.md, 11.2.

use crate::kernel::micros;
use crate::notice::Notice;
use crate::scheme::{
    self, Entry, HandoffScheme, Needs, SchemeError, SettingInfo, Settings, described, set_all,
};
use segue_policy::{Kind, grant};
use segue_tcp::advice::{KernelAdvice, NewPath};
use segue_tcp::{Advice, Advisor, Nanos, View};

/// `max_ack_delay` of RFC 9000, 18.2.
const MAX_ACK_DELAY: Nanos = 25_000_000;

/// One flow's part in the migration.
#[derive(Clone, Debug)]
pub struct QuicReset {
    initial_rtt: Nanos,
    validates: bool,
    /// Outstanding packets are declared lost, as in quic-go.
    declares_lost: bool,
    /// How long validation will take, once it begins; when it will be over.
    begins: Option<Nanos>,
    validated: Option<Nanos>,
}

/// RFC 9002, 6.2.2.
impl Default for QuicReset {
    fn default() -> Self {
        Self {
            initial_rtt: 333_000_000,
            validates: true,
            declares_lost: false,
            begins: None,
            validated: None,
        }
    }
}

impl QuicReset {
    const SETTINGS: Settings<3> = [
        (
            "initial-rtt",
            "333ms",
            "round trip that the timer reckons with until the first sample (RFC 9002, 6.2.2)",
        ),
        (
            "validation",
            "on",
            "one round trip of the new path before anything leaves (RFC 9000, 8.2); off: none",
        ),
        (
            "outstanding",
            "kept",
            "packets of the old path: kept until they are known to be lost, or lost at once",
        ),
    ];

    fn set(&mut self, key: &str, value: &str) -> Option<Result<(), &'static str>> {
        Some(match key {
            "initial-rtt" => scheme::time(value).map(|rtt| self.initial_rtt = rtt).ok_or(scheme::TIME),
            "validation" => {
                let on = Kind::Flag.parse(value).ok_or(Kind::Flag.expected());
                on.map(|on| self.validates = on == 1)
            }
            "outstanding" => match value {
                "kept" => {
                    self.declares_lost = false;
                    Ok(())
                }
                "lost" => {
                    self.declares_lost = true;
                    Ok(())
                }
                _ => Err("kept or lost"),
            },
            _ => return None,
        })
    }

    /// PTO with the initial estimator: SRTT + 4 x SRTT / 2 + `max_ack_delay` (RFC 9002, 6.2.1).
    fn reset(&self) -> Advice {
        let path = NewPath { rto: 3 * self.initial_rtt + MAX_ACK_DELAY, lost: self.declares_lost };
        KernelAdvice { path: Some(path), ..KernelAdvice::default() }.into()
    }
}

/// Round trip of the path over the new link, without queues.
pub(crate) fn round_trip_us(view: &View, notice: &Notice) -> u32 {
    let min_rtt_us = view.kernel.map_or(u32::MAX, |kernel| kernel.min_rtt_us);
    let beyond = grant::delay_beyond_us(min_rtt_us, micros(view.srtt), &notice.old_link);
    let link = grant::of_path(notice, beyond).new_link;
    let serialisation = PACKET_BITS * 1000 / u64::from(link.rate_kbps.max(1));
    u32::try_from(2 * u64::from(link.delay_us) + serialisation).unwrap_or(u32::MAX)
}

/// Bits that a link charges for a full packet of Linux.
pub(crate) const PACKET_BITS: u64 = 12_000;

impl Advisor for QuicReset {
    #[inline]
    fn deadline(&self) -> Option<Nanos> {
        self.validated
    }

    fn on_deadline(&mut self, now: Nanos, _view: &View) -> Advice {
        self.validated = self.begins.take().map(|wait| now + wait);
        if self.validated.is_some() {
            return Advice::default();
        }
        Advice { resume: true, ..self.reset() }
    }
}

impl HandoffScheme for QuicReset {
    const ENTRIES: &'static [Entry] = &[Entry {
        name: "quic-reset",
        stack: "linux-6.12",
        summary: "starts on the new path as QUIC does after connection migration",
        source: "RFC 9000, 9.4; RFC 9002; segue explain 11",
    }];
    const NEEDS: Needs = Needs::Kernel;

    fn build(name: &str, settings: &[(String, String)]) -> Result<Self, SchemeError> {
        let mut made = Self::default();
        set_all((name, &Self::SETTINGS), settings, |key, value| made.set(key, value))?;
        Ok(made)
    }

    fn settings(_name: &str) -> Vec<SettingInfo> {
        described(&Self::SETTINGS, "11.2")
    }

    fn on_notice(&mut self, view: &View, notice: &Notice) -> Advice {
        if !self.validates {
            return self.reset();
        }
        self.begins = Some(Nanos::from(round_trip_us(view, notice)) * 1000);
        let kernel = KernelAdvice { ask_again: true, ..KernelAdvice::default() };
        Advice { suspend: true, kernel, ..Advice::default() }
    }
}
