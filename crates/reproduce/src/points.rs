//! From a claim's points to what is simulated.

use crate::ledger::{Defaults, KindWord, Part, Points};
use segue_study::{Request, RequestError};
use segue_world::{AccessLink, Definition, Kind, LinkError, Nanos, NoticeMode, SECOND};

/// A point: what is simulated, apart from scheme and handoff time.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Point {
    /// Make-before-break or break-before-make.
    pub kind: KindWord,
    /// Length of the disconnection, ns; 0 for make-before-break.
    pub disconnect: Nanos,
    /// Old and new link as the ledger writes them: `6400/9 200/300`.
    pub links: String,
    /// Number of flows.
    pub flows: usize,
    /// P.
    pub packets: u32,
}

/// One handoff of a point.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Single {
    /// The point.
    pub point: Point,
    /// T, ns.
    pub at: Nanos,
}

/// Seconds in ns.
pub fn nanos(seconds: f64) -> Nanos {
    (seconds * SECOND as f64).round() as Nanos
}

impl Points {
    /// All points in order: kinds, then disconnections, links, flows, P.
    pub fn all(&self, defaults: &Defaults) -> Vec<Point> {
        let disconnects = match &self.disconnect_s {
            Some(several) => several.all().to_vec(),
            None => vec![defaults.disconnect_s],
        };
        let flows = self.flows.as_ref().map_or(vec![1], |several| several.all().to_vec());
        let packets = self.packets.as_ref().map_or(vec![defaults.packets], |several| several.all().to_vec());
        let mut all = Vec::new();
        for &kind in self.kind.all() {
            let lengths: Vec<Nanos> = match kind {
                KindWord::Mbb => vec![0],
                KindWord::Bbm => disconnects.iter().map(|&seconds| nanos(seconds)).collect(),
            };
            for disconnect in lengths {
                for links in self.links.all() {
                    for &flows in &flows {
                        for &packets in &packets {
                            all.push(Point { kind, disconnect, links: links.clone(), flows, packets });
                        }
                    }
                }
            }
        }
        all
    }

    /// The one handoff, if it is one.
    pub fn single(&self, defaults: &Defaults) -> Option<Single> {
        let at = nanos(self.at_s?);
        let point = self.all(defaults).into_iter().next()?;
        Some(Single { point, at })
    }
}

impl Part {
    /// Whether a point belongs to the part.
    pub fn has(&self, point: &Point) -> bool {
        self.kind.is_none_or(|kind| kind == point.kind)
            && self.links.as_ref().is_none_or(|links| links.all().contains(&point.links))
            && self.flows.as_ref().is_none_or(|flows| flows.all().contains(&point.flows))
    }
}

/// Why a point cannot be simulated.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum PointError {
    /// The links are not two.
    #[error("links `{0}`; expected OLDKBPS/OLDMS NEWKBPS/NEWMS")]
    Links(String),
    /// A link is malformed.
    #[error(transparent)]
    Link(#[from] LinkError),
    /// The request is refused.
    #[error(transparent)]
    Request(#[from] RequestError),
}

/// `6400/9` as a link.
fn link(text: &str) -> Result<AccessLink, PointError> {
    let (rate, delay) = text.split_once('/').ok_or_else(|| PointError::Links(text.to_string()))?;
    Ok(AccessLink::parse(&format!("{rate}kbit/{delay}ms"))?)
}

impl Point {
    /// What is asked of the bench, with these schemes and settings at these handoff times.
    pub fn request(
        &self,
        schemes: Vec<String>,
        settings: Vec<(String, String)>,
        at: Vec<Nanos>,
    ) -> Result<Request, PointError> {
        let mut links = self.links.split_whitespace();
        let (Some(old), Some(new), None) = (links.next(), links.next(), links.next()) else {
            return Err(PointError::Links(self.links.clone()));
        };
        Ok(Request {
            pairs: vec![(link(old)?, link(new)?)],
            kinds: vec![match self.kind {
                KindWord::Mbb => Kind::Mbb,
                KindWord::Bbm => Kind::Bbm(self.disconnect),
            }],
            flows: vec![self.flows],
            schemes,
            at,
            packets: self.packets,
            definition: Definition::AfterHighest,
            notice: NoticeMode::Instant,
            stack: None,
            settings,
            seed: 1,
            seeds: 1,
        })
    }

    /// In words: `6400/9 to 200/300, mbb, 1 flow`.
    pub fn words(&self) -> String {
        let kind = match self.kind {
            KindWord::Mbb => "mbb".to_string(),
            KindWord::Bbm => format!("bbm {} s", self.disconnect as f64 / SECOND as f64),
        };
        let flows = if self.flows == 1 { String::new() } else { format!(", {} flows", self.flows) };
        let packets = if self.packets == 100 { String::new() } else { format!(", P {}", self.packets) };
        format!("{}, {kind}{flows}{packets}", self.links.replacen(' ', " to ", 1))
    }
}
