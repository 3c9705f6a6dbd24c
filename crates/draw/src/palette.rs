//! Colours by meaning. Each is a CSS variable with a value for light and one for dark. They derive from the colours of
//! Okabe and Ito, darker on light ground so that each has a contrast of 3:1 with it (text 4.5:1). No picture tells
//! things apart by colour alone.

/// A colour by its meaning.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Role {
    /// Name of the CSS variable, without `--segue-`.
    pub name: &'static str,
    /// On light ground.
    pub light: &'static str,
    /// On dark ground.
    pub dark: &'static str,
}

impl Role {
    /// The colour as a CSS value.
    pub fn css(self) -> String {
        format!("var(--segue-{})", self.name)
    }
}

const fn role(name: &'static str, light: &'static str, dark: &'static str) -> Role {
    Role { name, light, dark }
}

/// The ground that pictures stand on; only text and marks are set off with it.
pub const BACKGROUND: Role = role("background", "#ffffff", "#14171a");
/// Text that carries the message.
pub const INK: Role = role("ink", "#1c2024", "#e8eaed");
/// Axes and their numbers.
pub const MUTED: Role = role("muted", "#59616a", "#a3abb3");
/// Grid lines.
pub const GRID: Role = role("grid", "#e4e7e9", "#2c3237");
/// A time without a link.
pub const SHADE: Role = role("shade", "#e7ebf0", "#262d36");
/// First transmissions.
pub const DATA: Role = role("data", "#0072b2", "#56b4e9");
/// Cumulative ACK.
pub const ACK: Role = role("ack", "#007a5a", "#2fc79b");
/// SACK-ed ranges.
pub const SACK: Role = role("sack", "#8a63b8", "#b79ae0");
/// Packets sent again.
pub const RETRANSMISSION: Role = role("retransmission", "#d55e00", "#ff8a3d");
/// Packets sent again for nothing.
pub const NEEDLESS: Role = role("needless", "#a8326f", "#f08fc0");
/// Lost packets.
pub const DROP: Role = role("drop", "#000000", "#ffffff");
/// Expiries of the retransmission timer.
pub const TIMEOUT: Role = role("timeout", "#8a5a00", "#f0c040");
/// Notices, and the handoff itself.
pub const NOTICE: Role = role("notice", "#5b4fc4", "#a79cff");
/// The lower bound of any sender's time.
pub const BOUND: Role = role("bound", "#000000", "#ffffff");
/// Words about something slower or different.
pub const WORSE: Role = role("worse", "#b34700", "#ff8a3d");
/// The link before the handoff.
pub const OLD_LINK: Role = role("old-link", "#a65a00", "#e69f00");
/// The link after it.
pub const NEW_LINK: Role = role("new-link", "#0072b2", "#56b4e9");
/// Congestion window.
pub const WINDOW: Role = role("window", "#0072b2", "#56b4e9");
/// Slow start threshold.
pub const THRESHOLD: Role = role("threshold", "#a65a00", "#e69f00");
/// FlightSize.
pub const FLIGHT: Role = role("flight", "#007a5a", "#2fc79b");
/// Uses of the new link's time, in the order of docs/reference/bench.md.
pub const CLASSES: [Role; 6] = [
    role("useful", "#007a5a", "#2fc79b"),
    role("needless-time", "#d55e00", "#ff8a3d"),
    role("idle-path", "#4d93bd", "#5aa0c8"),
    role("idle-window", "#a67c00", "#d9a520"),
    role("idle-timer", "#8a63b8", "#b79ae0"),
    role("idle-other", "#7d858c", "#8d959c"),
];
/// Schemes, in the order of [`Hue`](crate::Hue). Readers without one kind of cone tell any two apart, too.
pub const HUES: [Role; 8] = [
    role("hue-grey", "#76666d", "#bbced8"),
    role("hue-blue", "#176cc1", "#1fb1fe"),
    role("hue-orange", "#bf3b03", "#e65004"),
    role("hue-green", "#09a68f", "#419a78"),
    role("hue-rose", "#840063", "#f26dbf"),
    role("hue-gold", "#bb8b18", "#fef158"),
    role("hue-violet", "#2d10be", "#995ffc"),
    role("hue-brown", "#4f2f11", "#fcb365"),
];

const SINGLE: [Role; 20] = [
    BACKGROUND,
    INK,
    MUTED,
    GRID,
    SHADE,
    DATA,
    ACK,
    SACK,
    RETRANSMISSION,
    NEEDLESS,
    DROP,
    TIMEOUT,
    NOTICE,
    BOUND,
    WORSE,
    OLD_LINK,
    NEW_LINK,
    WINDOW,
    THRESHOLD,
    FLIGHT,
];

/// Every colour.
pub fn roles() -> impl Iterator<Item = Role> {
    SINGLE.into_iter().chain(CLASSES).chain(HUES)
}

/// The colours as CSS: light, dark where the reader prefers it, and either by `data-theme` on the root.
pub fn style_sheet() -> String {
    let light: String = roles().map(|role| format!("--segue-{}:{};", role.name, role.light)).collect();
    let dark: String = roles().map(|role| format!("--segue-{}:{};", role.name, role.dark)).collect();
    format!(
        ":root,:root[data-theme=light]{{{light}}}\n\
         @media (prefers-color-scheme:dark){{:root{{{dark}}}:root[data-theme=light]{{{light}}}}}\n\
         :root[data-theme=dark]{{{dark}}}\n"
    )
}

/// A picture that looks right opened alone, in light and dark. Programs that do not know CSS variables find the light
/// colours in attributes, which a style overrides.
pub fn standalone(svg: &str) -> String {
    let svg = roles().fold(svg.to_string(), |text, role| {
        let with_attribute = |text: String, property: &str, style: &str| {
            let style = format!("style=\"{style}{property}:{}\"", role.css());
            text.replace(&style, &format!("{property}=\"{}\" {style}", role.light))
        };
        let text = with_attribute(text, "fill", "");
        let text = with_attribute(text, "stroke", "");
        with_attribute(text, "stroke", "paint-order:stroke;")
    });
    let ground = format!(":root{{background:{}}}\n", BACKGROUND.css());
    match svg.find('>') {
        Some(end) => {
            format!("{}<style>\n{}{ground}</style>{}", &svg[..=end], style_sheet(), &svg[end + 1..])
        }
        None => svg,
    }
}

/// A picture with the light colours written out, for programs that do not know CSS variables (librsvg,
/// Inkscape and what makes PDF of SVG).
pub fn printed(svg: &str) -> String {
    roles().fold(svg.to_string(), |text, role| text.replace(&role.css(), role.light))
}
