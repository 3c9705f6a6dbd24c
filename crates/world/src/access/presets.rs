//! Links that have a name.

/// Presets: the access technologies that Daniel and Kojo (2009) name, by rate and delay.
pub const PRESETS: [(&str, &str); 4] = [
    ("egprs", "200kbit/300ms"),
    ("hsdpa", "2000kbit/50ms"),
    ("wimax", "11000kbit/20ms"),
    ("wlan", "54mbit/2ms"),
];

/// An access technology of today: three links out of the spread that was measured (docs/reference/links.md). `NAME` is the
/// typical one, `NAME-low` and `NAME-high` the others.
#[derive(Clone, Copy, Debug)]
pub struct Preset {
    /// Its name.
    pub name: &'static str,
    /// What it is.
    pub about: &'static str,
    /// Low, typical, high.
    pub links: [&'static str; 3],
}

/// Endings of the names, in the order of [`Preset::links`].
pub const VARIANTS: [&str; 3] = ["-low", "", "-high"];

/// Presets of today.
pub const TODAY: [Preset; 0] = [];

/// What a name stands for.
pub(super) fn meaning(name: &str) -> Option<&'static str> {
    let old = PRESETS.iter().find(|(preset, _)| *preset == name).map(|(_, link)| *link);
    old.or_else(|| {
        TODAY.iter().find_map(|preset| {
            let ending = name.strip_prefix(preset.name)?;
            let variant = VARIANTS.iter().position(|variant| *variant == ending)?;
            Some(preset.links[variant])
        })
    })
}
