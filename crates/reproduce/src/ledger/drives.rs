//! Drives as a ledger names them.

use super::Several;
use schemars::JsonSchema;
use segue_files::drive::PaperDrive;
use segue_world::drive::mobility::Class;
use serde::{Deserialize, Serialize};

/// Over which drives: every combination of drive, WAN delay and class, in this order (the last varies fastest).
#[derive(Clone, Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Drives {
    /// `wcdma`, `wlan`, `wcdma+wlan`, or several.
    pub of: Several<PaperDrive>,
    /// One-way delays of the wide area, ms.
    pub wan_ms: Several<u32>,
    /// Largest error of the bandwidth that the mobile reports, percent; 0 unless given.
    pub error_percent: Option<u32>,
    /// Seed of the drive; 1 unless given.
    pub seed: Option<u64>,
    /// Only handoffs of these classes; all unless given.
    pub class: Option<Several<ClassWord>>,
}

/// Classes of handoffs (docs/reference/algorithms.md, 4.8).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize, JsonSchema)]
pub enum ClassWord {
    /// Horizontal, a small BDP before or after.
    #[serde(rename = "L-HH")]
    LHh,
    /// Horizontal, a large BDP before and after.
    #[serde(rename = "H-HH")]
    HHh,
    /// To a larger BDP.
    #[serde(rename = "U-VH")]
    UVh,
    /// To a smaller BDP.
    #[serde(rename = "D-VH")]
    DVh,
}

impl ClassWord {
    /// All of them.
    pub const ALL: [Self; 4] = [Self::LHh, Self::HHh, Self::UVh, Self::DVh];

    /// The class that it means.
    pub fn class(self) -> Class {
        match self {
            Self::LHh => Class::LHh,
            Self::HHh => Class::HHh,
            Self::UVh => Class::UVh,
            Self::DVh => Class::DVh,
        }
    }
}
