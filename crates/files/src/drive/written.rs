//! The format of a drive scenario.

use crate::scenario::{OneOf, OutputWords, SettingWord, Several};
use schemars::JsonSchema;
use segue_world::NoticeWord;
use segue_world::drive::mobility::Mobility;
use serde::Deserialize;
use std::collections::BTreeMap;
use toml::Spanned;

/// A comparison of schemes over whole drives, for `segue run`.
#[derive(Clone, Debug, Deserialize, JsonSchema)]
#[schemars(title = "Segue drive")]
#[serde(deny_unknown_fields)]
pub struct DriveScenario {
    /// Stands above the table.
    pub title: Option<String>,
    /// Where the mobile goes.
    #[schemars(with = "DriveWords")]
    pub drive: Spanned<DriveWords>,
    /// The wide area between server and access network.
    #[serde(default)]
    pub wan: WanWords,
    /// The traffic.
    #[serde(default)]
    pub traffic: TrafficWords,
    /// Largest error of the bandwidth that the mobile reports, a share of the true one: one or a list; 0 unless given.
    pub bandwidth_error: Option<Several<f64>>,
    /// Schemes; ["newreno", "tcp-ho"] unless given.
    pub schemes: Option<Several<String>>,
    /// One stack for all schemes; each scheme's own unless given. Cross traffic and web have the scheme's stack.
    #[schemars(with = "Option<String>")]
    pub stack: Option<Spanned<String>>,
    /// Congestion control of a stack that has a choice, such as linux-6.12; the stack's own unless given.
    #[schemars(with = "Option<String>")]
    pub cc: Option<Spanned<String>>,
    /// Settings of schemes and stacks.
    #[serde(default)]
    #[schemars(with = "BTreeMap<String, SettingWord>")]
    pub settings: BTreeMap<Spanned<String>, Spanned<SettingWord>>,
    /// How the server learns of a handoff; "in-band" unless given.
    #[schemars(with = "Option<OneOf<NoticeWord>>")]
    pub notice: Option<NoticeWord>,
    /// The first so many of the two copies of an in-band notice are lost; 0 unless given.
    #[schemars(with = "Option<u32>", range(max = 2))]
    pub notice_loss: Option<Spanned<u32>>,
    /// First seed of the traffic; 1 unless given.
    #[schemars(with = "Option<u64>")]
    pub seed: Option<Spanned<u64>>,
    /// Number of seeds of the traffic; 10 unless given.
    #[schemars(with = "Option<u64>", range(min = 1, max = 1000))]
    pub seeds: Option<Spanned<u64>>,
    /// Where results go.
    #[serde(default)]
    pub output: OutputWords,
}

/// Where the mobile goes: the paper's drives, networks and probabilities, a file, or measured links in turn.
#[derive(Clone, Debug, Default, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct DriveWords {
    /// Drives of Wu, Chan and Ananda: "wcdma", "wlan", "wcdma+wlan".
    pub of: Option<Several<PaperDrive>>,
    /// Networks of one's own, with `move` and `length`.
    #[serde(default)]
    #[schemars(with = "Vec<NetworkWords>")]
    pub network: Vec<Spanned<NetworkWords>>,
    /// Moves out of a network.
    #[serde(default, rename = "move")]
    #[schemars(with = "Vec<MoveWords>")]
    pub moves: Vec<Spanned<MoveWords>>,
    /// Length of the drive, such as "1800s"; the paper's drives have their own unless given.
    #[schemars(with = "Option<String>")]
    pub length: Option<Spanned<String>>,
    /// A recorded drive: CSV with from_s, until_s and link; from the folder of this file on.
    #[schemars(with = "Option<String>")]
    pub file: Option<Spanned<String>>,
    /// Links in turn, such as measured traces, with `stay` and `disconnect`.
    pub links: Option<Several<String>>,
    /// How long each of `links` is held; "10s" unless given.
    #[schemars(with = "Option<String>")]
    pub stay: Option<Spanned<String>>,
    /// How long there is no link between two of `links`; "1s" unless given.
    #[schemars(with = "Option<String>")]
    pub disconnect: Option<Spanned<String>>,
    /// Seed of the drive; 1 unless given.
    pub seed: Option<u64>,
}

/// A drive of the paper.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Deserialize, JsonSchema)]
pub enum PaperDrive {
    /// 30 minutes of WCDMA.
    #[serde(rename = "wcdma")]
    Wcdma,
    /// 15 minutes of WLAN.
    #[serde(rename = "wlan")]
    Wlan,
    /// 20 minutes of both.
    #[serde(rename = "wcdma+wlan")]
    WcdmaWlan,
}

impl PaperDrive {
    /// All three.
    pub const ALL: [Self; 3] = [Self::Wcdma, Self::Wlan, Self::WcdmaWlan];

    /// As files and tables have it.
    pub fn name(self) -> &'static str {
        match self {
            Self::Wcdma => "wcdma",
            Self::Wlan => "wlan",
            Self::WcdmaWlan => "wcdma+wlan",
        }
    }

    /// Its networks and probabilities.
    pub fn mobility(self) -> Mobility {
        match self {
            Self::Wcdma => Mobility::wcdma(),
            Self::Wlan => Mobility::wlan(),
            Self::WcdmaWlan => Mobility::wcdma_wlan(),
        }
    }
}

/// An access network.
#[derive(Clone, Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct NetworkWords {
    /// Its name.
    pub name: String,
    /// Rate of a cell, which its users share.
    pub rate: String,
    /// One way.
    pub delay: String,
    /// Queue of a cell for this user, packets; 20 unless given.
    pub queue: Option<u32>,
    /// Mean time in a cell.
    pub stay: String,
    /// Users per cell: ranges with probabilities; one user unless given.
    #[serde(default)]
    pub users: Vec<UsersWords>,
}

/// A range of users per cell.
#[derive(Clone, Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct UsersWords {
    /// Fewest.
    pub from: u32,
    /// Most.
    pub to: u32,
    /// How likely the range is.
    pub probability: f64,
}

/// A handoff from one network to another, or to a cell of the same.
#[derive(Clone, Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct MoveWords {
    /// Name of the network before.
    pub from: String,
    /// Name of the network after.
    pub to: String,
    /// How likely.
    pub probability: f64,
    /// How long there is no link.
    pub disconnect: String,
}

/// The wide area.
#[derive(Clone, Debug, Default, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct WanWords {
    /// Rate; "10mbit" unless given.
    #[schemars(with = "Option<String>")]
    pub rate: Option<Spanned<String>>,
    /// One-way delay: one or a list; "10ms" unless given.
    pub delay: Option<Several<String>>,
    /// Queue, packets; 20 unless given.
    #[schemars(with = "Option<u32>", range(min = 1))]
    pub queue: Option<Spanned<u32>>,
}

/// The traffic.
#[derive(Clone, Debug, Default, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct TrafficWords {
    /// Bulk flows to the mobile; 1 unless given.
    #[schemars(with = "Option<usize>", range(min = 1, max = 100))]
    pub flows: Option<Spanned<usize>>,
    /// Bulk flows beside them over the wide area; 1 unless given.
    #[schemars(with = "Option<usize>", range(max = 100))]
    pub cross: Option<Spanned<usize>>,
    /// Users of the web over the wide area; 10 unless given.
    #[schemars(with = "Option<u32>", range(max = 100))]
    pub web: Option<Spanned<u32>>,
}
