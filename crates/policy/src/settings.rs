//! Which algorithms and variants run, and the knobs: `policy/*_settings.h` with names and
//! values that a command line can offer.

use segue_words::{did_you_mean, quantity};
use std::fmt;
use std::ops::BitOr;

include!(concat!(env!("OUT_DIR"), "/settings.rs"));

/// A set of algorithms.
#[repr(transparent)]
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct Algorithms(pub u32);

impl Algorithms {
    /// None: every event is answered with nothing.
    pub const NONE: Self = Self(0);
    /// Avoid a spurious RTO (algorithms.md 2.1).
    pub const A1: Self = Self(1 << 0);
    /// Avoid congestion loss (2.2).
    pub const A2: Self = Self(1 << 1);
    /// Unused connection time and ssthresh (2.4).
    pub const A3: Self = Self(1 << 2);
    /// Fast RTO convergence (2.5).
    pub const A4: Self = Self(1 << 3);
    /// A2 with the factor of large bandwidth falls (2.3).
    pub const A5: Self = Self(1 << 4);
    /// Loss reduction for N flows (3.1).
    pub const FIG1: Self = Self(1 << 5);
    /// Unused connection time for N flows (3.2).
    pub const FIG2: Self = Self(1 << 6);
    /// Reordering (3.3).
    pub const FIG3: Self = Self(1 << 7);
    /// RTO convergence (3.5).
    pub const CONVERGENCE: Self = Self(1 << 8);

    /// "ETCP" of paper 001 (2.5).
    pub const ETCP: Self = Self(0b01111);
    /// A5 in place of A2.
    pub const ETCP_A5: Self = Self(0b11101);
    /// Paper 000: A1, Figs. 1 to 3 and Sec. 3.5 (3, 3.4).
    pub const ETCP_V: Self = Self(0b1_1110_0001);

    /// Only paper 000 has it.
    const OF_2009: Self = Self(0b1_1110_0000);

    /// Each single algorithm with its name.
    pub const NAMES: &[(Self, &str)] = &[
        (Self::A1, "a1"),
        (Self::A2, "a2"),
        (Self::A3, "a3"),
        (Self::A4, "a4"),
        (Self::A5, "a5"),
        (Self::FIG1, "fig1"),
        (Self::FIG2, "fig2"),
        (Self::FIG3, "fig3"),
        (Self::CONVERGENCE, "convergence"),
    ];

    /// Whether some of `other` run.
    const fn any_of(self, other: Self) -> bool {
        self.0 & other.0 != 0
    }

    /// Whether all of `other` run.
    pub const fn has(self, other: Self) -> bool {
        self.0 & other.0 == other.0
    }

    /// `a1+a3` and the like.
    pub fn parse(text: &str) -> Result<Self, SettingError> {
        let mut all = Self::NONE;
        for word in text.split('+') {
            let known = Self::NAMES.iter().find(|(_, name)| *name == word);
            let Some((algorithm, _)) = known else {
                let names = || Self::NAMES.iter().map(|(_, name)| *name);
                return Err(SettingError::Unknown {
                    what: "algorithm",
                    word: word.to_owned(),
                    expected: format!("one of {}", join(names())),
                    hint: did_you_mean(word, names()),
                });
            };
            all = all | *algorithm;
        }
        Ok(all)
    }
}

impl BitOr for Algorithms {
    type Output = Self;
    fn bitor(self, other: Self) -> Self {
        Self(self.0 | other.0)
    }
}

/// Which TCP-HO runs (algorithms.md 4.5).
#[repr(transparent)]
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct Variant(pub u32);

impl Variant {
    /// TCP-HO itself.
    pub const TCP_HO: Self = Self(0);
    /// Sends at once, and leaves ssthresh alone.
    pub const IMMEDIATE: Self = Self(1 << 0);
    /// Sends a whole window at once.
    pub const AGGRESSIVE: Self = Self(1 << 1);
}

/// How the value of a knob is written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// `on` or `off`.
    Flag,
    /// A time: `200ms`, `0.2s`, `200000us`; without a unit in us.
    Us,
    /// A whole number.
    Count,
    /// Bytes.
    Bytes,
    /// A ratio, kept in 1/256.
    Ratio,
    /// Packets, kept in 1/256.
    Packets,
}

/// One knob.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Setting {
    /// As `--set` has it.
    pub name: &'static str,
    /// How its value is written.
    pub kind: Kind,
    /// The recommended choice, as kept; [`default_text`](Self::default_text) as written.
    pub default: u32,
    /// Section of algorithms.md.
    pub section: &'static str,
    /// Its effect, in a line.
    pub meaning: &'static str,
}

impl Setting {
    /// The recommended choice as a user writes it.
    pub fn default_text(&self) -> String {
        self.kind.text(self.default)
    }

    /// The value of a user's `text`.
    fn value(&self, text: &str) -> Result<u32, SettingError> {
        self.kind.parse(text).ok_or_else(|| SettingError::Value {
            name: self.name,
            value: text.to_owned(),
            expected: self.kind.expected(),
        })
    }
}

/// The names that [`Settings::scheme`] knows, beside `etcp:` and algorithms.
pub const SCHEMES: [&str; 4] = ["etcp", "etcp-a5", "etcp-v0", "etcp-v1"];

impl Settings {
    /// The settings of a published variant, or of single algorithms: `etcp`, `etcp-a5`,
    /// `etcp-v0`, `etcp-v1`, `etcp:a1`, `etcp:a1+a3`. Every knob as algorithms.md, section 9, recommends it.
    pub fn scheme(name: &str) -> Result<Self, SettingError> {
        if let Some(single) = name.strip_prefix("etcp:") {
            return Ok(Self::new(Algorithms::parse(single)?));
        }
        Ok(match name {
            "etcp" => Self::new(Algorithms::ETCP),
            "etcp-a5" => Self::new(Algorithms::ETCP_A5),
            "etcp-v0" => Self { use_n: 0, ..Self::new(Algorithms::ETCP_V) },
            "etcp-v1" => Self::new(Algorithms::ETCP_V),
            _ => {
                return Err(SettingError::Unknown {
                    what: "scheme",
                    word: name.to_owned(),
                    expected: format!("one of {}, etcp:a1+a3", join(SCHEMES)),
                    hint: did_you_mean(name, SCHEMES),
                });
            }
        })
    }

    /// The same with the readings of open points under which most claims of its paper hold
    /// (docs/papers/reproduction.md): what a scheme runs with. A sum of both papers' algorithms has those of 2009.
    pub fn adopted(name: &str) -> Result<Self, SettingError> {
        let plain = Self::scheme(name)?;
        Ok(match plain.algorithms.any_of(Algorithms::OF_2009) {
            true => Self { a3_clear_backoff: 0, ..plain }, // 3.2
            false => Self { reinit_rto_us: 3_000_000, a1_in_bbm: 0, halve_on_rto: 1, ..plain }, // 9.5, 9.37, 9.8
        })
    }
}

impl Settings {
    /// The same as a Linux sender runs it, in the kernel and with `enact=linux` in the simulator. It changes what
    /// differs from the papers' stacks, or what the kernel can only do otherwise. docs/internals/kernel.md has a line
    /// for each.
    #[must_use]
    pub fn on_linux(self) -> Self {
        Self {
            ack_bytes: 52, // a pure ACK carries time stamps
            // Nothing is resent but what cwnd lets out on the notice's own ACK.
            resume_at_window: 1,
            ..self
        }
    }
}

fn find(list: &'static [Setting], name: &str) -> Result<&'static Setting, SettingError> {
    list.iter().find(|setting| setting.name == name).ok_or_else(|| {
        let names = || list.iter().map(|setting| setting.name);
        SettingError::Unknown {
            what: "setting",
            word: name.to_owned(),
            expected: format!("one of {}", join(names())),
            hint: did_you_mean(name, names()),
        }
    })
}

/// In 1/256, of a ratio or of packets.
const ONE: u32 = 256;
/// Times from here on would not fit beside the others; nobody means more.
const MAX_US: u32 = 4_000_000_000;
/// Nobody counts further.
const MAX_COUNT: u32 = 1000;

impl Kind {
    /// The value of a user's `text`, if it is one.
    pub fn parse(self, text: &str) -> Option<u32> {
        match self {
            Self::Flag => match text {
                "on" | "true" | "yes" | "1" => Some(1),
                "off" | "false" | "no" | "0" => Some(0),
                _ => None,
            },
            // Only nothing needs no unit.
            Self::Us => {
                let ns = quantity::setting_time(text)?;
                u32::try_from((ns + 500) / 1_000).ok().filter(|us| *us <= MAX_US)
            }
            Self::Count => text.parse().ok().filter(|count| *count <= MAX_COUNT),
            Self::Bytes => text.parse().ok().filter(|bytes| (1..=65535).contains(bytes)),
            Self::Ratio => scaled(text, f64::from(ONE), 256.0..=1_048_576.0),
            Self::Packets => scaled(text, f64::from(ONE), 0.0..=1.0e9),
        }
    }

    fn text(self, value: u32) -> String {
        match self {
            Self::Flag => if value == 0 { "off" } else { "on" }.to_owned(),
            Self::Us if value.is_multiple_of(1000) => format!("{}ms", value / 1000),
            Self::Us => format!("{value}us"),
            Self::Count | Self::Bytes => value.to_string(),
            Self::Ratio | Self::Packets => (f64::from(value) / f64::from(ONE)).to_string(),
        }
    }

    /// The form of such a value.
    pub const fn expected(self) -> &'static str {
        match self {
            Self::Flag => "on or off",
            Self::Us => "a time such as 200ms, 0.2s or 200000us",
            Self::Count => "a whole number, 0 to 1000",
            Self::Bytes => "bytes, 1 to 65535",
            Self::Ratio => "a ratio from 1 on, such as 2 or 1.5",
            Self::Packets => "packets, such as 2 or 0.5",
        }
    }
}

fn scaled(number: &str, scale: f64, range: std::ops::RangeInclusive<f64>) -> Option<u32> {
    let value = (number.parse::<f64>().ok()? * scale).round();
    // Within the range it fits; NaN is in no range.
    range.contains(&value).then_some(value as u32)
}

/// Why a name or a value is none.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum SettingError {
    /// No such name.
    Unknown {
        /// The kind of name.
        what: &'static str,
        /// The word.
        word: String,
        /// The expected form.
        expected: String,
        /// The valid word that was probably meant, in words; empty if none is near.
        hint: String,
    },
    /// A value that its knob cannot have.
    Value {
        /// The knob.
        name: &'static str,
        /// The value.
        value: String,
        /// The expected form.
        expected: &'static str,
    },
}

impl fmt::Display for SettingError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Unknown { what, word, expected, hint } => {
                write!(f, "unknown {what} `{word}`; expected {expected}{hint}")
            }
            Self::Value { name, value, expected } => {
                write!(f, "`{value}` is no value of {name}; expected {expected}")
            }
        }
    }
}

impl std::error::Error for SettingError {}

fn join(words: impl IntoIterator<Item = &'static str>) -> String {
    words.into_iter().collect::<Vec<_>>().join(", ")
}
