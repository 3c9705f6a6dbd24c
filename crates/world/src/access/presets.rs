//! Links that have a name.

use super::AccessLink;
use super::error::LinkError;
use std::path::Path;

/// Presets: the access technologies that Daniel and Kojo (2009) name, by rate and delay.
pub const PRESETS: [(&str, &str); 4] = [
    ("egprs", "200kbit/300ms"),
    ("hsdpa", "2000kbit/50ms"),
    ("wimax", "11000kbit/20ms"),
    ("wlan", "54mbit/2ms"),
];

/// An access technology of today: three links out of its spread (docs/reference/links.md). `NAME` is the typical one,
/// `NAME-low` and `NAME-high` are the others.
#[derive(Clone, Copy, Debug)]
pub struct Preset {
    /// Its name.
    pub name: &'static str,
    /// The technology, in a few words.
    pub about: &'static str,
    /// Low, typical, high.
    pub links: [&'static str; 3],
}

/// Endings of the names, in the order of [`Preset::links`].
pub const VARIANTS: [&str; 3] = ["-low", "", "-high"];

/// Presets of today. The sources, and what we chose where they have no number: docs/reference/links.md.
pub static TODAY: [Preset; 11] = [
    Preset {
        name: "wifi6",
        about: "802.11ax at home, one user",
        links: [
            "80mbit/3ms,jitter=pareto(5ms),arq=10%/2ms,queue=fq_codel",
            "300mbit/2ms,jitter=pareto(2ms),arq=5%/2ms,queue=fq_codel",
            "600mbit/1ms,jitter=pareto(1ms),arq=2%/1ms,queue=fq_codel",
        ],
    },
    Preset {
        name: "wifi5-busy",
        about: "802.11ac with many neighbours",
        links: [
            "5mbit/5ms,jitter=pareto(77ms),arq=20%/4ms,vary=walk(40%),queue=200ms",
            "20mbit/4ms,jitter=pareto(25ms),arq=15%/3ms,vary=walk(40%),queue=200ms",
            "60mbit/3ms,jitter=pareto(8ms),arq=10%/2ms,vary=walk(30%),queue=200ms",
        ],
    },
    Preset {
        name: "5g",
        about: "5G mid-band",
        links: [
            "100mbit/18ms,up=10mbit,jitter=6ms,arq=10%/4ms,vary=walk(40%),queue=100ms",
            "300mbit/12ms,up=40mbit,jitter=4ms,arq=10%/3ms,vary=walk(30%),queue=100ms",
            "800mbit/8ms,up=90mbit,jitter=2ms,arq=5%/2ms,vary=walk(20%),queue=100ms",
        ],
    },
    Preset {
        name: "5g-mmwave",
        about: "5G above 24 GHz, blocked now and then",
        links: [
            "400mbit/12ms,up=30mbit,jitter=5ms,arq=10%/3ms,vary=markov(5%,4%,10%),queue=50ms",
            "1200mbit/10ms,up=100mbit,jitter=3ms,arq=10%/2ms,vary=markov(5%,2%,15%),queue=50ms",
            "2000mbit/8ms,up=150mbit,jitter=2ms,arq=5%/2ms,vary=markov(10%,1%,20%),queue=50ms",
        ],
    },
    Preset {
        name: "lte",
        about: "4G, good signal",
        links: [
            "5mbit/35ms,up=2mbit,jitter=10ms,arq=10%/8ms,vary=walk(40%),queue=300ms",
            "13mbit/30ms,up=6mbit,jitter=8ms,arq=10%/8ms,vary=walk(30%),queue=300ms",
            "50mbit/20ms,up=15mbit,jitter=5ms,arq=5%/8ms,vary=walk(20%),queue=300ms",
        ],
    },
    Preset {
        name: "lte-edge",
        about: "4G at the edge of a cell",
        links: [
            "500kbit/50ms,up=100kbit,loss=ge(0.5%,20%)/5ms,jitter=25ms,arq=30%/8ms,vary=walk(60%),queue=1s",
            "2mbit/45ms,up=500kbit,loss=ge(0.2%,20%)/5ms,jitter=20ms,arq=25%/8ms,vary=walk(50%),queue=1s",
            "5mbit/40ms,up=1mbit,loss=ge(0.1%,20%)/5ms,jitter=15ms,arq=20%/8ms,vary=walk(40%),queue=1s",
        ],
    },
    Preset {
        name: "leo",
        about: "a constellation in low orbit such as Starlink",
        links: [
            "50mbit/18ms,up=5mbit,loss=ge(0.5%,30%)/1ms,jitter=6ms,\
             vary=walk(30%),reconfigure=15s@12s(150ms,12ms),queue=150ms",
            "150mbit/13ms,up=15mbit,loss=ge(0.15%,30%)/1ms,jitter=4ms,\
             vary=walk(25%),reconfigure=15s@12s(80ms,10ms),queue=150ms",
            "300mbit/8ms,up=30mbit,loss=ge(0.05%,30%)/1ms,jitter=3ms,\
             vary=walk(20%),reconfigure=15s@12s(40ms,6ms),queue=150ms",
        ],
    },
    Preset {
        name: "geo",
        about: "a geostationary satellite, no proxy",
        links: [
            "5mbit/280ms,up=1mbit,loss=0.1%,jitter=20ms,queue=1bdp",
            "30mbit/275ms,up=3mbit,loss=0.05%,jitter=10ms,queue=1bdp",
            "100mbit/270ms,up=10mbit,loss=0.02%,jitter=5ms,queue=1bdp",
        ],
    },
    Preset {
        name: "dsl",
        about: "ADSL2+ and VDSL",
        links: [
            "3mbit/22ms,up=500kbit,queue=300ms",
            "16mbit/15ms,up=1mbit,queue=200ms",
            "100mbit/8ms,up=40mbit,queue=100ms",
        ],
    },
    Preset {
        name: "fibre",
        about: "passive optical network",
        links: [
            "100mbit/4ms,up=20mbit,jitter=0.5ms,queue=fq_codel",
            "500mbit/3ms,up=250mbit,jitter=0.3ms,queue=fq_codel",
            "1gbit/2ms,up=1gbit,jitter=0.2ms,queue=fq_codel",
        ],
    },
    Preset {
        name: "train",
        about: "4G at 300 km/h: a new cell every 12 s",
        links: [
            "1mbit/50ms,up=300kbit,loss=ge(0.5%,10%)/2ms,jitter=30ms,arq=25%/8ms,\
             vary=walk(60%),reconfigure=12s@5s(1s,60ms),queue=1s",
            "5mbit/40ms,up=1mbit,loss=ge(0.2%,15%)/2ms,jitter=20ms,arq=20%/8ms,\
             vary=walk(50%),reconfigure=12s@5s(300ms,40ms),queue=500ms",
            "15mbit/35ms,up=4mbit,loss=ge(0.1%,20%)/2ms,jitter=12ms,arq=15%/8ms,\
             vary=walk(40%),reconfigure=12s@5s(100ms,20ms),queue=300ms",
        ],
    },
];

/// Names and meanings of all variants, those of one preset together.
pub fn variants() -> impl Iterator<Item = (String, &'static str, &'static Preset)> {
    let of = |preset: &'static Preset| {
        let named = VARIANTS.iter().zip(preset.links);
        named.map(move |(ending, link)| (format!("{}{ending}", preset.name), link, preset))
    };
    TODAY.iter().flat_map(of)
}

/// Names that links have beside those of the presets.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct LinkNames {
    /// Links that the user has named, and what they stand for.
    own: Vec<(String, String)>,
    /// Names that a result brings with it, as they were where it was made.
    adopted: Vec<(String, String)>,
}

/// Why a link has no name.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NamingError {
    /// Index of the wrong one.
    pub index: usize,
    /// Whether its name is wrong; else its meaning is.
    pub of_name: bool,
    /// The fault.
    pub problem: LinkError,
}

impl LinkNames {
    /// Names of the user's own.
    ///
    /// Errors: a name that is taken or has other characters than letters, digits, `.`, `_` and `-`; a meaning that is
    /// no link.
    pub fn of(mut own: Vec<(String, String)>) -> Result<Self, NamingError> {
        Self::default().check(&own)?;
        own.sort();
        Ok(Self { own, adopted: Vec::new() })
    }

    /// The same with names that only stand in a result, so that its question can be asked again where nobody has given
    /// them. Names that are known here keep their meaning.
    ///
    /// Errors: as of [`LinkNames::of`].
    pub fn adopting(mut self, told: impl IntoIterator<Item = (String, String)>) -> Result<Self, NamingError> {
        let unknown: Vec<_> = told.into_iter().filter(|(name, _)| self.meaning(name).is_none()).collect();
        // The user may write the same link in other capitals now.
        let is_here = |(name, link): &&(String, String)| {
            let mut own = self.own.iter().filter(|(own, _)| own.eq_ignore_ascii_case(name));
            own.any(|(_, meant)| meant == link)
        };
        let new: Vec<_> = unknown.iter().filter(|told| !is_here(told)).cloned().collect();
        self.check(&new)?;
        self.adopted.extend(unknown);
        Ok(self)
    }

    /// The user's own, and what they stand for.
    pub fn own(&self) -> &[(String, String)] {
        &self.own
    }

    /// Those of a result, and what they stand for.
    pub fn adopted(&self) -> &[(String, String)] {
        &self.adopted
    }

    /// Checks names and what they are to stand for.
    fn check(&self, links: &[(String, String)]) -> Result<(), NamingError> {
        for (index, (name, link)) in links.iter().enumerate() {
            let wrong = |of_name, problem: &str| NamingError {
                index,
                of_name,
                problem: LinkError::Clash { link: name.clone(), problem: problem.to_string() },
            };
            let is_plain = |c: char| c.is_ascii_alphanumeric() || "._-".contains(c);
            if name.is_empty() || !name.chars().all(is_plain) {
                return Err(wrong(true, "bad name; expected letters, digits, `.`, `_` and `-`"));
            }
            // A word's case is forgiven: `WLAN` would be two links.
            let earlier = &links[..index];
            if self.meaning(&name.to_lowercase()).is_some()
                || self.own.iter().any(|(own, _)| own.eq_ignore_ascii_case(name))
                || earlier.iter().any(|(one, _)| one.eq_ignore_ascii_case(name))
            {
                return Err(wrong(true, "the name is taken; expected one that `segue links` does not list"));
            }
            if link.starts_with("trace:") {
                return Err(wrong(false, "a trace has no name; expected RATE/DELAY or a preset, and words"));
            }
            let base = link.split(',').next().unwrap_or_default().trim();
            let is_base = |(own, _): &(String, String)| own.eq_ignore_ascii_case(base);
            if links.iter().chain(&self.own).any(is_base) {
                return Err(wrong(
                    false,
                    "stands for a name of your own; expected RATE/DELAY or a preset, and words",
                ));
            }
            AccessLink::parse_in(link, Path::new(""), self).map_err(|problem| NamingError {
                index,
                of_name: false,
                problem,
            })?;
        }
        Ok(())
    }

    /// The link that a name stands for.
    pub(super) fn meaning(&self, name: &str) -> Option<&str> {
        let old = PRESETS.iter().find(|(preset, _)| *preset == name).map(|(_, link)| *link);
        let own = || {
            let mut all = self.own.iter().chain(&self.adopted);
            all.find(|(own, _)| own == name).map(|(_, link)| link.as_str())
        };
        old.or_else(own).or_else(|| {
            TODAY.iter().find_map(|preset| {
                let ending = name.strip_prefix(preset.name)?;
                let variant = VARIANTS.iter().position(|variant| *variant == ending)?;
                Some(preset.links[variant])
            })
        })
    }
}
