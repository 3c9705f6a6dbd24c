//! SVG text being written, and the one place where labels find room.

use crate::about::{About, Size};
use crate::palette::{self, Role};
use crate::text;
use std::fmt::Write;

/// A rectangle in px.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Area {
    pub(crate) left: f64,
    pub(crate) top: f64,
    pub(crate) right: f64,
    pub(crate) bottom: f64,
}

impl Area {
    pub(crate) fn width(&self) -> f64 {
        self.right - self.left
    }

    pub(crate) fn height(&self) -> f64 {
        self.bottom - self.top
    }

    /// Whether the two share more than an edge.
    pub(crate) fn overlaps(&self, other: &Area) -> bool {
        self.left < other.right
            && other.left < self.right
            && self.top < other.bottom
            && other.top < self.bottom
    }
}

/// A straight part of a line that is drawn.
#[derive(Clone, Copy, Debug)]
struct Segment {
    from: (f64, f64),
    to: (f64, f64),
    /// Half the width of the line.
    half: f64,
}

impl Segment {
    /// Whether it runs through an area (Y.-D. Liang and B. A. Barsky, "A new concept and method for line clipping",
    /// 1984).
    fn meets(&self, area: &Area) -> bool {
        let (mut begin, mut end) = (0.0_f64, 1.0_f64);
        for (from, to, low, high) in [
            (self.from.0, self.to.0, area.left - self.half, area.right + self.half),
            (self.from.1, self.to.1, area.top - self.half, area.bottom + self.half),
        ] {
            if from == to {
                if from <= low || from >= high {
                    return false;
                }
            } else {
                let edges = ((low - from) / (to - from), (high - from) / (to - from));
                begin = begin.max(edges.0.min(edges.1));
                end = end.min(edges.0.max(edges.1));
            }
        }
        begin < end
    }
}

/// How a line is drawn.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Stroke {
    pub(crate) role: Role,
    pub(crate) width: f64,
    /// The SVG `stroke-dasharray`; empty for an unbroken line.
    pub(crate) dash: &'static str,
    /// Whether ends are round, which makes a dot of a line without length.
    pub(crate) round: bool,
}

impl Stroke {
    pub(crate) const fn new(role: Role, width: f64) -> Stroke {
        Stroke { role, width, dash: "", round: false }
    }

    pub(crate) const fn dashed(self, dash: &'static str) -> Stroke {
        Stroke { dash, ..self }
    }

    pub(crate) const fn rounded(self) -> Stroke {
        Stroke { round: true, ..self }
    }
}

/// Which end of a text stands at its place.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Anchor {
    Start,
    Middle,
    End,
}

/// A place for a label: the middle of its height, and its start, middle or end.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Place {
    pub(crate) x: f64,
    pub(crate) y: f64,
    pub(crate) anchor: Anchor,
}

impl Place {
    pub(crate) fn new(x: f64, y: f64, anchor: Anchor) -> Place {
        Place { x, y, anchor }
    }
}

/// Height of a line of text, in multiples of the size of the font.
pub(crate) const LINE: f64 = 1.25;
/// The mark of a shape over time.
const AS: &str = "data-as=";
/// That of one which is a line.
pub(crate) const LINE_TAG: &str = "data-as=\"line\"";
/// Least distance in px between two texts on one line.
const GAP: f64 = 4.0;
/// From the middle of a text to its base line, likewise.
const MIDDLE_TO_BASE: f64 = 0.34;

/// A picture being drawn. Shapes lie below text, whatever the order of calls.
pub(crate) struct Canvas {
    width: f64,
    height: f64,
    definitions: String,
    shapes: String,
    texts: String,
    labels: Vec<Area>,
    /// Attributes of the shapes that are being drawn.
    tag: String,
    /// Straight parts of lines: labels keep off them. Marks, packets and bars over time are no lines.
    lines: Vec<Segment>,
    /// Labels that wait until all lines are drawn.
    waiting: Vec<Waiting>,
}

/// A label that waits for all lines.
struct Waiting {
    text: String,
    role: Role,
    more: String,
    places: Vec<Place>,
}

impl Canvas {
    pub(crate) fn new(size: Size) -> Canvas {
        Canvas {
            width: f64::from(size.width.clamp(120, 8000)),
            height: f64::from(size.height.clamp(100, 8000)),
            definitions: String::new(),
            shapes: String::new(),
            texts: String::new(),
            labels: Vec::new(),
            tag: String::new(),
            lines: Vec::new(),
            waiting: Vec::new(),
        }
    }

    pub(crate) fn width(&self) -> f64 {
        self.width
    }

    pub(crate) fn height(&self) -> f64 {
        self.height
    }

    /// Size of text; a little smaller where there is little room.
    pub(crate) fn font(&self) -> f64 {
        if self.width < 480.0 { 11.0 } else { 12.0 }
    }

    /// The boxes of all labels, as estimated.
    #[cfg(test)]
    pub(crate) fn labels(&self) -> &[Area] {
        &self.labels
    }

    /// Labels with a line through their letters.
    #[cfg(test)]
    pub(crate) fn labels_on_lines(&self) -> Vec<Area> {
        let on_line = |label: &&Area| self.meets_line(label);
        self.labels.iter().filter(on_line).copied().collect()
    }

    /// Whether a line runs through the letters of a label.
    fn meets_line(&self, label: &Area) -> bool {
        // Letters do not fill their line.
        let (above, below) = (label.top + self.font() * 0.15, label.bottom - self.font() * 0.15);
        let letters = Area { top: above, bottom: below, ..*label };
        self.lines.iter().any(|line| line.meets(&letters))
    }

    /// Writes `text` at the first of `places` where it neither meets another label nor leaves the picture;
    /// nowhere if there is none. A place that no line meets, of those drawn before, goes first. The caller writes what
    /// matters most first.
    pub(crate) fn label(&mut self, text: &str, role: Role, places: &[Place]) -> bool {
        self.label_with(text, role, "", places)
    }

    /// [`Canvas::label`] with more attributes of the SVG element.
    pub(crate) fn label_with(&mut self, text: &str, role: Role, more: &str, places: &[Place]) -> bool {
        self.write(text, role, more, places, false)
    }

    fn write(&mut self, text: &str, role: Role, more: &str, places: &[Place], only_off_lines: bool) -> bool {
        let size = self.font();
        let width = text::width(text, size);
        if text.trim().is_empty() {
            return false;
        }
        let area_at = |place: &Place| {
            let left = match place.anchor {
                Anchor::Start => place.x,
                Anchor::Middle => place.x - width / 2.0,
                Anchor::End => place.x - width,
            };
            let half = size * LINE / 2.0;
            Area { left, top: place.y - half, right: left + width, bottom: place.y + half }
        };
        let free = |area: &Area| {
            let inside =
                area.left >= 0.0 && area.top >= 0.0 && area.right <= self.width && area.bottom <= self.height;
            // Words that touch read as one.
            let apart = Area { left: area.left - GAP, right: area.right + GAP, ..*area };
            inside && !self.labels.iter().any(|other| apart.overlaps(other))
        };
        let found = places.iter().map(|place| (place, area_at(place))).filter(|(_, area)| free(area));
        let found: Vec<(&Place, Area)> = found.collect();
        let otherwise = found.first().filter(|_| !only_off_lines);
        let best = found.iter().find(|(_, area)| !self.meets_line(area)).or(otherwise).copied();
        if let Some((place, area)) = best {
            let anchor = match place.anchor {
                Anchor::Start => "",
                Anchor::Middle => " text-anchor=\"middle\"",
                Anchor::End => " text-anchor=\"end\"",
            };
            let _ = writeln!(
                self.texts,
                "<text x=\"{}\" y=\"{}\"{anchor}{more} style=\"fill:{}\">{}</text>",
                decimal(place.x),
                decimal(place.y + size * MIDDLE_TO_BASE),
                role.css(),
                text::escape(text)
            );
            self.labels.push(area);
            return true;
        }
        false
    }

    /// [`Canvas::label_with`] once all lines are drawn. It is left out where a line runs through all of its places: the
    /// legend says the same, or what is pointed at does.
    pub(crate) fn label_off_lines(&mut self, text: &str, role: Role, more: &str, places: &[Place]) {
        let (text, more, places) = (text.to_string(), more.to_string(), places.to_vec());
        self.waiting.push(Waiting { text, role, more, places });
    }

    /// Writes the labels that waited, in order.
    pub(crate) fn settle(&mut self) {
        for Waiting { text, role, more, places } in std::mem::take(&mut self.waiting) {
            self.write(&text, role, &more, &places, true);
        }
    }

    /// Draws a line along `path`.
    pub(crate) fn stroke(&mut self, path: &str, stroke: Stroke) {
        if path.is_empty() {
            return;
        }
        if self.tag.contains(LINE_TAG) || !self.tag.contains(AS) {
            let half = stroke.width / 2.0;
            self.lines.extend(straight_parts(path).map(|[from, to]| Segment { from, to, half }));
        }
        let dash = match stroke.dash {
            "" => String::new(),
            dash => format!(" stroke-dasharray=\"{dash}\""),
        };
        let round = if stroke.round { " stroke-linecap=\"round\"" } else { "" };
        let _ = writeln!(
            self.shapes,
            "<path d=\"{path}\"{} fill=\"none\" stroke-width=\"{}\"{dash}{round} style=\"stroke:{}\"/>",
            self.tag,
            decimal(stroke.width),
            stroke.role.css()
        );
    }

    /// Draws a straight line.
    pub(crate) fn line(&mut self, from: (f64, f64), to: (f64, f64), stroke: Stroke) {
        let mut pen = Pen::default();
        pen.move_to(from.0, from.1);
        pen.line_to(to.0, to.1);
        self.stroke(pen.path(), stroke);
    }

    /// Fills what `path` surrounds with a colour or, as `url(#id)`, with a pattern.
    pub(crate) fn fill(&mut self, path: &str, paint: &str, opacity: f64) {
        if path.is_empty() {
            return;
        }
        let opacity =
            if opacity < 1.0 { format!(" fill-opacity=\"{}\"", decimal(opacity)) } else { String::new() };
        let _ = writeln!(self.shapes, "<path d=\"{path}\"{}{opacity} style=\"fill:{paint}\"/>", self.tag);
    }

    /// Adds to the `defs` of the SVG.
    pub(crate) fn define(&mut self, definition: &str) {
        self.definitions.push_str(definition);
    }

    /// Shapes that `draw` draws show `text` when pointed at.
    pub(crate) fn explained(&mut self, text: &str, draw: impl FnOnce(&mut Canvas)) {
        let _ = writeln!(self.shapes, "<g><title>{}</title>", text::escape(text.trim()));
        draw(self);
        self.shapes.push_str("</g>\n");
    }

    /// Shapes that `draw` draws have these attributes, such as ` data-p="0"`.
    pub(crate) fn tagged<T>(&mut self, tag: &str, draw: impl FnOnce(&mut Canvas) -> T) -> T {
        let before = std::mem::replace(&mut self.tag, tag.to_string());
        let drawn = draw(self);
        self.tag = before;
        drawn
    }

    /// An element that shows nothing and tells programs something by its attributes.
    pub(crate) fn note(&mut self, attributes: &str) {
        let _ = writeln!(self.shapes, "<g {attributes}/>");
    }

    /// The SVG.
    pub(crate) fn finish(mut self, about: &About) -> String {
        self.settle();
        let id = identifier(&about.id);
        let (width, height) = (decimal(self.width), decimal(self.height));
        let definitions = match self.definitions.as_str() {
            "" => String::new(),
            definitions => format!("<defs>{definitions}</defs>\n"),
        };
        format!(
            "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {width} {height}\" width=\"{width}\" \
             height=\"{height}\" role=\"img\" aria-labelledby=\"{id}-title {id}-description\" \
             font-family=\"system-ui,sans-serif\" font-size=\"{}\">\n\
             <title id=\"{id}-title\">{}</title>\n<desc id=\"{id}-description\">{}</desc>\n\
             {definitions}{}<g stroke-width=\"3\" stroke-linejoin=\"round\" \
             style=\"paint-order:stroke;stroke:{}\">\n{}</g>\n</svg>\n",
            decimal(self.font()),
            text::escape(&about.title),
            text::escape(&about.description),
            self.shapes,
            palette::BACKGROUND.css(),
            self.texts
        )
    }
}

/// Straight parts of a path as a [`Pen`] writes it: from, to.
fn straight_parts(path: &str) -> impl Iterator<Item = [(f64, f64); 2]> + '_ {
    let (mut at, mut begun) = ((0.0, 0.0), (0.0, 0.0));
    let letters = path.char_indices().filter(|(_, c)| c.is_ascii_alphabetic()).map(|(at, _)| at);
    let ends = letters.clone().skip(1).chain([path.len()]);
    letters.zip(ends).filter_map(move |(begin, end)| {
        let (letter, numbers) = path[begin..end].split_at(1);
        let mut numbers = numbers_of(numbers);
        let mut next = || numbers.next().unwrap_or(0.0);
        let from = at;
        at = match letter {
            "M" => (next(), next()),
            "h" => (at.0 + next(), at.1),
            "v" => (at.0, at.1 + next()),
            "m" | "l" => (at.0 + next(), at.1 + next()),
            "z" => begun,
            _ => at,
        };
        if matches!(letter, "M" | "m") {
            begun = at;
        }
        matches!(letter, "h" | "v" | "l" | "z").then_some([from, at])
    })
}

/// Numbers with a blank or a sign between them.
fn numbers_of(text: &str) -> impl Iterator<Item = f64> + '_ {
    let mut rest = text;
    std::iter::from_fn(move || {
        rest = rest.trim_start();
        let end = rest
            .char_indices()
            .skip(1)
            .find(|(_, c)| *c == ' ' || *c == '-')
            .map_or(rest.len(), |(at, _)| at);
        let (number, after) = rest.split_at(end);
        rest = after;
        number.parse().ok()
    })
}

/// `name` as an XML id.
pub(crate) fn identifier(name: &str) -> String {
    let kept = |next: char| if next.is_ascii_alphanumeric() || next == '-' { next } else { '_' };
    let id: String = name.chars().map(kept).collect();
    if id.starts_with(|first: char| first.is_ascii_alphabetic()) { id } else { format!("picture{id}") }
}

/// A number of px with at most one decimal.
pub(crate) fn decimal(value: f64) -> String {
    let mut out = String::new();
    push_tenths(&mut out, tenths(value));
    out
}

fn tenths(value: f64) -> i64 {
    (value * 10.0).round() as i64
}

fn push_tenths(out: &mut String, value: i64) {
    let (whole, tenth) = (value.unsigned_abs() / 10, value.unsigned_abs() % 10);
    let sign = if value < 0 { "-" } else { "" };
    let _ = match (whole, tenth) {
        (_, 0) => write!(out, "{sign}{whole}"),
        (0, _) => write!(out, "{sign}.{tenth}"),
        _ => write!(out, "{sign}{whole}.{tenth}"),
    };
}

/// Writes a path in steps relative to the point before, which keeps thousands of packets short. The
/// steps are whole tenths of a pixel, so that nothing adds up.
#[derive(Default)]
pub(crate) struct Pen {
    path: String,
    at: Option<(i64, i64)>,
}

impl Pen {
    pub(crate) fn path(&self) -> &str {
        &self.path
    }

    fn push(&mut self, letter: char, numbers: &[i64]) {
        self.path.push(letter);
        for (index, &number) in numbers.iter().enumerate() {
            if index > 0 && number >= 0 {
                self.path.push(' ');
            }
            push_tenths(&mut self.path, number);
        }
    }

    pub(crate) fn move_to(&mut self, x: f64, y: f64) {
        let (x, y) = (tenths(x), tenths(y));
        match self.at {
            Some((at_x, at_y)) => self.push('m', &[x - at_x, y - at_y]),
            None => self.push('M', &[x, y]),
        }
        self.at = Some((x, y));
    }

    pub(crate) fn line_to(&mut self, x: f64, y: f64) {
        let (x, y) = (tenths(x), tenths(y));
        let (at_x, at_y) = self.at.unwrap_or((x, y));
        match (x - at_x, y - at_y) {
            (0, 0) => {}
            (0, down) => self.push('v', &[down]),
            (right, 0) => self.push('h', &[right]),
            (right, down) => self.push('l', &[right, down]),
        }
        self.at = Some((x, y));
    }

    /// A straight line that continues the path where it can.
    pub(crate) fn segment(&mut self, from: (f64, f64), to: (f64, f64)) {
        if self.at != Some((tenths(from.0), tenths(from.1))) {
            self.move_to(from.0, from.1);
        }
        self.line_to(to.0, to.1);
    }

    /// A line without length: a dot, with round ends.
    pub(crate) fn dot(&mut self, x: f64, y: f64) {
        if self.at == Some((tenths(x), tenths(y))) {
            return;
        }
        self.move_to(x, y);
        self.path.push_str("h0");
    }

    /// Closes the shape. The point is then the one that the shape began with.
    pub(crate) fn polygon(&mut self, points: &[(f64, f64)]) {
        let Some(&(x, y)) = points.first() else { return };
        self.move_to(x, y);
        for &(x, y) in &points[1..] {
            self.line_to(x, y);
        }
        self.path.push('z');
        self.at = Some((tenths(x), tenths(y)));
    }

    pub(crate) fn rectangle(&mut self, area: Area) {
        let Area { left, top, right, bottom } = area;
        self.polygon(&[(left, top), (right, top), (right, bottom), (left, bottom)]);
    }
}
