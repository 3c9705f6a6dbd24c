//! A scenario: two links, a kind of handoff, a number of flows.

use crate::Error;
use crate::table::Row;
use segue_tcp::profile::NS2_SACK1;
use segue_world::{AccessLink, Experiment, Kind, Nanos, SECOND};
use std::fmt;

/// An access link of the reference: kbit/s and one-way delay in ms.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct FixedLink {
    /// kbit/s.
    pub kbps: u32,
    /// One way.
    pub ms: u32,
}

/// One line of a summary.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Scenario {
    /// 1 = Daniel and Kojo 2008, 2 = 2009, 0 = neither.
    pub paper: u8,
    /// Link before.
    pub old: FixedLink,
    /// Link after.
    pub new: FixedLink,
    /// Length of the disconnection of a break-before-make handoff; `None` = make-before-break.
    pub disconnection_ms: Option<u32>,
    /// How many flows.
    pub flows: usize,
}

impl Scenario {
    /// The scenario that a line of any of the tables is about.
    pub fn of(row: &Row) -> Result<Self, Error> {
        Self::between(row, row.value("paper")?)
    }

    /// The same of a table of no paper's.
    pub fn between(row: &Row, paper: u8) -> Result<Self, Error> {
        let link =
            |kbps: &str, ms: &str| Ok::<_, Error>(FixedLink { kbps: row.value(kbps)?, ms: row.value(ms)? });
        let disconnection: f64 = row.value("disc_s")?;
        let broken = row.text("kind")? == "bbm";
        Ok(Self {
            paper,
            old: link("old_kbps", "old_ms")?,
            new: link("new_kbps", "new_ms")?,
            disconnection_ms: broken.then_some((disconnection * 1000.0).round() as u32),
            flows: row.value("flows")?,
        })
    }

    /// As the papers call it.
    pub fn kind_name(&self) -> &'static str {
        if self.disconnection_ms.is_some() { "bbm" } else { "mbb" }
    }

    /// From T to completion.
    pub fn disconnection(&self) -> Nanos {
        u64::from(self.disconnection_ms.unwrap_or(0)) * (SECOND / 1000)
    }

    /// Regular TCP there, as ns-2 was set up.
    pub fn experiment(&self, packets: u32) -> Result<Experiment, Error> {
        let (old, new) =
            (AccessLink::parse(&self.old.to_string())?, AccessLink::parse(&self.new.to_string())?);
        Ok(Experiment {
            kind: match self.disconnection_ms {
                Some(_) => Kind::Bbm(self.disconnection()),
                None => Kind::Mbb,
            },
            flows: self.flows,
            packets,
            ..Experiment::usual(old, new, NS2_SACK1)
        })
    }
}

impl fmt::Display for FixedLink {
    fn fmt(&self, f: &mut fmt::Formatter) -> fmt::Result {
        write!(f, "{}kbit/{}ms", self.kbps, self.ms)
    }
}

impl fmt::Display for Scenario {
    fn fmt(&self, f: &mut fmt::Formatter) -> fmt::Result {
        let links = format!("{}/{}->{}/{}", self.old.kbps, self.old.ms, self.new.kbps, self.new.ms);
        let kind = match self.disconnection_ms {
            Some(ms) => format!("bbm{}.{}", ms / 1000, ms % 1000 / 100),
            None => "mbb".to_string(),
        };
        f.pad(&format!("{links:<19} {kind:<6} {}", self.flows))
    }
}
