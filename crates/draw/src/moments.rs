//! Parts that all pictures over time share: points, the handoff, notices.

use crate::about::About;
use crate::axis::{Axis, Spacing};
use crate::canvas::{Anchor, Area, Canvas, LINE, LINE_TAG, Pen, Place, Stroke, decimal};
use crate::frame::{self, Vertical};
use crate::legend::{self, Sample};
use crate::palette;
use crate::text;

/// A time in s and a value that belongs to it.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Point {
    /// s.
    pub time: f64,
    /// Packets or s, as the picture says.
    pub value: f64,
}

impl Point {
    /// A point at `time` s.
    pub fn new(time: f64, value: f64) -> Point {
        Point { time, value }
    }
}

/// The change of the access link.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Handoff {
    /// Make-before-break, at this time in s: a line.
    Instant(f64),
    /// Break-before-make: no link from the first time in s to the second, a shaded band.
    Disconnection(f64, f64),
}

/// A notice of the new link that reaches the sender.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Notice {
    /// s.
    pub time: f64,
    /// Shown beside its line, such as `notice`.
    pub label: String,
}

/// The horizontal axis of a picture over time.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Timeline {
    /// First and last time shown, s; what lies outside is cut off. `None` shows everything.
    pub span: Option<(f64, f64)>,
    /// The change of the access link.
    pub handoff: Option<Handoff>,
    /// Notices that reached the sender.
    pub notices: Vec<Notice>,
}

/// More steps than this are thinned.
const MANY_STEPS: usize = 4000;
/// The line of a make-before-break handoff.
const HANDOFF_LINE: Stroke = Stroke::new(palette::INK, 1.2);
/// The line of a notice.
const NOTICE_LINE: Stroke = Stroke::new(palette::NOTICE, 1.2).dashed("5 3");

/// From the line of an event to its words, px.
const BESIDE: f64 = 3.0;
/// Words that are closer than so many px read as one phrase.
const APART: f64 = 12.0;

/// How a shape behaves when a page looks closer at a part of the time.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Shown {
    /// A value in steps, or what has no name.
    Line,
    /// Marks that stand for a time and a value each.
    Mark,
    /// Marks in the middle between the number of a packet and the next.
    Packet,
    /// Upright lines from the number of a packet to the next, or to that of another.
    Run,
    /// Bars that stand for the time from their left to their right.
    Span,
}

impl Shown {
    fn attributes(self) -> &'static str {
        match self {
            Shown::Line => LINE_TAG,
            Shown::Mark => "data-as=\"mark\"",
            Shown::Packet => "data-as=\"mark\" data-middle=\"\"",
            Shown::Run => "data-as=\"run\"",
            Shown::Span => "data-as=\"span\"",
        }
    }
}

/// A plot over time that waits for its data.
pub(crate) struct Panel {
    /// Its number in the picture, from top to bottom.
    index: usize,
    pub(crate) area: Area,
    pub(crate) time: Axis,
    pub(crate) value: Axis,
}

impl Panel {
    pub(crate) fn new(index: usize, area: Area, time: Axis, value: Axis) -> Panel {
        Panel { index, area, time, value }
    }

    /// Draws what belongs to the time axis; a page reads its values back under this name.
    pub(crate) fn draw(&self, canvas: &mut Canvas, shown: Shown, name: &str, draw: impl FnOnce(&mut Canvas)) {
        canvas.tagged(&tag(self.index, shown, name), draw);
    }

    /// Pixels of those points that lie in the plot.
    pub(crate) fn places<'a>(
        &'a self,
        points: impl IntoIterator<Item = Point> + 'a,
    ) -> impl Iterator<Item = (f64, f64)> + 'a {
        points.into_iter().filter_map(|point| self.place(point))
    }

    /// Pixel of a point, if it lies in the plot.
    pub(crate) fn place(&self, point: Point) -> Option<(f64, f64)> {
        (self.time.has(point.time) && self.value.has(point.value))
            .then(|| (self.time.at(point.time), self.value.at(point.value)))
    }

    /// The first, the least, the greatest and the last step of each column of pixels. That is for so many steps that a
    /// picture would grow to megabytes.
    fn few_steps(&self, points: &[Point]) -> Vec<Point> {
        if points.len() <= MANY_STEPS {
            return points.to_vec();
        }
        let column = |point: &Point| self.time.at(point.time).round() as i64;
        let mut few = Vec::new();
        for column in points.chunk_by(|a, b| column(a) == column(b)) {
            let by_value = |a: &&usize, b: &&usize| column[**a].value.total_cmp(&column[**b].value);
            let all: Vec<usize> = (0..column.len()).collect();
            let extremes = [all.iter().min_by(by_value), all.iter().max_by(by_value)];
            let mut kept = vec![0, column.len() - 1];
            kept.extend(extremes.into_iter().flatten());
            kept.sort_unstable();
            kept.dedup();
            few.extend(kept.into_iter().map(|index| column[index]));
        }
        few
    }

    /// The line of a value that holds from each point to the next, and after the last one to the edge.
    /// Steps beyond the plot are left out.
    pub(crate) fn steps(&self, points: &[Point]) -> Pen {
        self.steps_until(points, f64::INFINITY)
    }

    /// The same; after the last point the value holds until `end`.
    pub(crate) fn steps_until(&self, points: &[Point], end: f64) -> Pen {
        let mut pen = Pen::default();
        let thin = self.few_steps(points);
        let mut points = thin.iter().filter(|point| !point.time.is_nan() && !point.value.is_nan()).peekable();
        while let Some(point) = points.next() {
            let until = points.peek().map_or(end, |next| next.time);
            let (from_x, to_x) = (self.time.at(point.time), self.time.at(until));
            let y = self.value.at(point.value);
            let shown = self.value.has(point.value);
            if shown && until >= self.time.low() && point.time <= self.time.high() {
                pen.segment((from_x, y), (to_x, y));
            }
            let Some(next) = points.peek() else { break };
            if self.time.has(until) && (shown || self.value.has(next.value)) {
                pen.segment((to_x, y), (to_x, self.value.at(next.value)));
            }
        }
        pen
    }
}

/// The last point at or before the start of the plot counts as visible: its value still holds there.
pub(crate) fn visible<'a>(points: &'a [Point], span: (f64, f64)) -> impl Iterator<Item = f64> + 'a {
    points.iter().enumerate().filter_map(move |(index, point)| {
        let until = points.get(index + 1).map_or(f64::INFINITY, |next| next.time);
        let shown = point.time <= span.1 && until >= span.0 && point.value.is_finite();
        shown.then_some(point.value)
    })
}

/// Attributes of shapes that belong to the time axis of a panel.
pub(crate) fn tag(panel: usize, shown: Shown, name: &str) -> String {
    let name = if name.is_empty() { String::new() } else { format!(" data-name=\"{}\"", text::escape(name)) };
    format!(" data-p=\"{panel}\" {}{name}", shown.attributes())
}

/// Where a plot is and what its edges stand for, for the page's script.
pub(crate) fn note(
    canvas: &mut Canvas,
    area: Area,
    time: &Axis,
    value: &Axis,
    unit: &str,
    handoff: Option<f64>,
) {
    let edges = [area.left, area.top, area.right, area.bottom].map(decimal).join(" ");
    let handoff = handoff.map(|at| format!(" data-handoff=\"{at}\"")).unwrap_or_default();
    canvas.note(&format!(
        "data-plot=\"{edges} {} {} {} {}\" data-unit=\"{}\"{handoff}",
        time.low(),
        time.high(),
        value.low(),
        value.high(),
        text::escape(unit)
    ));
}

impl Timeline {
    /// When the change began.
    pub(crate) fn handoff_at(&self) -> Option<f64> {
        match self.handoff? {
            Handoff::Instant(at) | Handoff::Disconnection(at, _) => Some(at).filter(|at| at.is_finite()),
        }
    }

    /// First and last time to be shown, given the times of the data.
    pub(crate) fn range(&self, times: impl IntoIterator<Item = f64>) -> (f64, f64) {
        if let Some((from, to)) = self.span
            && from.is_finite()
            && to.is_finite()
        {
            return (from.min(to), to.max(from));
        }
        let handoff = match self.handoff {
            Some(Handoff::Instant(at)) => [at, at],
            Some(Handoff::Disconnection(from, to)) => [from, to],
            None => [f64::NAN; 2],
        };
        let notices = self.notices.iter().map(|notice| notice.time);
        let (low, high) = extremes(times.into_iter().chain(handoff).chain(notices));
        if low <= high { (low, high) } else { (0.0, 1.0) }
    }

    /// Entries of the legend for what happened.
    pub(crate) fn entries(&self, span: (f64, f64)) -> Vec<(Sample, String)> {
        let mut entries = Vec::new();
        let within = |time: f64| time >= span.0 && time <= span.1;
        match self.handoff {
            Some(Handoff::Instant(at)) if within(at) => {
                entries.push((Sample::Line(HANDOFF_LINE), "handoff".to_string()));
            }
            Some(Handoff::Disconnection(from, to)) if from <= span.1 && to >= span.0 => {
                entries.push((Sample::Block(palette::SHADE.css()), "no link".to_string()));
            }
            _ => {}
        }
        if self.notices.iter().any(|notice| within(notice.time)) {
            entries.push((Sample::Line(NOTICE_LINE), "notice".to_string()));
        }
        entries
    }

    /// Draws all but the data: heading, legend, and one plot below the other with a common time axis.
    pub(crate) fn panels(
        &self,
        canvas: &mut Canvas,
        about: &About,
        span: (f64, f64),
        entries: &[(Sample, String)],
        verticals: &[Vertical],
    ) -> Vec<Panel> {
        let top = frame::heading(canvas, about);
        let top = legend::draw(canvas, top, entries);
        let bottom = canvas.height() - frame::below(canvas);
        let each = |room: f64| (room / verticals.len().max(1) as f64).max(2.0);
        let margins = verticals.iter().map(|v| v.margin(canvas, each(bottom - top) - frame::strip(canvas)));
        let left = self.left(canvas, margins);
        // Room for half of the last number.
        let right = canvas.width() - 14.0;
        let time = |area: Area| Axis::new(Spacing::Linear, span.0, span.1, area.left, area.right);
        // Where the title of the first plot is so long that it meets them, events have a row of their own.
        let title = verticals.first().map_or("", |vertical| &vertical.label);
        let meets = self.meets_title(canvas, &time(frame::plot_area(left, top, right, bottom)), title);
        let row = if meets { canvas.font() * LINE } else { 0.0 };
        let height = each(bottom - top - row);
        let mut panels = Vec::new();
        for (index, vertical) in verticals.iter().enumerate() {
            let (above, row) = if index == 0 { (0.0, row) } else { (row, 0.0) };
            let top = top + above + height * index as f64;
            // The gap below a plot that has another under it.
            let gap = if index + 1 < verticals.len() { 8.0 } else { 0.0 };
            let strip = frame::strip(canvas) + row;
            let area = frame::plot_area(left, top + strip, right, top + row + height - gap);
            let time = time(area);
            self.ground(canvas, index, area, &time);
            let value = vertical.draw(canvas, area, top + canvas.font() * LINE / 2.0);
            if index + 1 == verticals.len() {
                frame::draw_horizontal(canvas, area, &time, "time, s");
            } else {
                frame::baseline(canvas, area);
            }
            let unit = vertical.label.rsplit(", ").next().unwrap_or_default();
            note(canvas, area, &time, &value, unit, self.handoff_at());
            self.upright(canvas, index, area, &time);
            panels.push(Panel::new(index, area, time, value));
        }
        if let Some(first) = panels.first() {
            self.label(canvas, first);
        }
        panels
    }

    /// Whether the words of an event above a plot would stand on its title, or right beside it.
    fn meets_title(&self, canvas: &Canvas, time: &Axis, title: &str) -> bool {
        let width = |words: &str| text::width(words, canvas.font());
        let begin = |at: f64, words: &str| {
            let x = time.at(at) + BESIDE;
            if x + width(words) <= canvas.width() { x } else { x - 2.0 * BESIDE - width(words) }
        };
        let handoff = self.handoff.map(|handoff| match handoff {
            Handoff::Instant(at) => (at, at, begin(at, "handoff")),
            Handoff::Disconnection(from, to) => {
                (from, to, time.at(from).midpoint(time.at(to)) - width("no link") / 2.0)
            }
        });
        let notices =
            self.notices.iter().map(|notice| (notice.time, notice.time, begin(notice.time, &notice.label)));
        let end = 4.0 + width(title) + APART;
        let shown = |(from, to): (f64, f64)| from <= time.high() && to >= time.low();
        handoff.into_iter().chain(notices).any(|(from, to, begin)| shown((from, to)) && begin < end)
    }

    /// Left edge of the plots, given the widths of the numbers beside them. Pictures below each other have the same,
    /// unless numbers are very long: instants line up.
    pub(crate) fn left(&self, canvas: &Canvas, margins: impl IntoIterator<Item = f64>) -> f64 {
        let common = text::width("000000", canvas.font()) + 10.0;
        let common = if canvas.width() >= 300.0 { common } else { 8.0 };
        margins.into_iter().fold(common, f64::max)
    }

    /// The time without a link, below all else of a panel.
    pub(crate) fn ground(&self, canvas: &mut Canvas, panel: usize, area: Area, time: &Axis) {
        canvas.tagged(&tag(panel, Shown::Line, ""), |canvas| self.shade(canvas, area, time));
    }

    /// The lines of the handoff and of notices.
    pub(crate) fn upright(&self, canvas: &mut Canvas, panel: usize, area: Area, time: &Axis) {
        canvas.tagged(&tag(panel, Shown::Line, ""), |canvas| self.lines(canvas, area, time));
    }

    fn shade(&self, canvas: &mut Canvas, area: Area, time: &Axis) {
        if let Some(Handoff::Disconnection(from, to)) = self.handoff
            && from <= time.high()
            && to >= time.low()
        {
            let mut pen = Pen::default();
            pen.rectangle(Area { left: time.at(from), right: time.at(to), ..area });
            canvas.fill(pen.path(), &palette::SHADE.css(), 1.0);
        }
    }

    fn lines(&self, canvas: &mut Canvas, area: Area, time: &Axis) {
        for (at, stroke) in self.uprights(time) {
            let x = time.at(at);
            canvas.line((x, area.top - 6.0), (x, area.bottom), stroke);
        }
    }

    /// Times of the handoff and of notices that have a line on the axis.
    pub(crate) fn uprights(&self, time: &Axis) -> impl Iterator<Item = (f64, Stroke)> {
        let handoff = match self.handoff {
            Some(Handoff::Instant(at)) => Some((at, HANDOFF_LINE)),
            _ => None,
        };
        let notices = self.notices.iter().map(|notice| (notice.time, NOTICE_LINE));
        handoff.into_iter().chain(notices).filter(|(at, _)| time.has(*at))
    }

    /// The meaning of the shade and the lines, above the first panel.
    pub(crate) fn label(&self, canvas: &mut Canvas, panel: &Panel) {
        match self.handoff {
            Some(Handoff::Instant(at)) => {
                moment_label(canvas, panel, at, "handoff", palette::INK, Anchor::Start);
            }
            Some(Handoff::Disconnection(from, to)) if from <= panel.time.high() && to >= panel.time.low() => {
                let (left, right) = (panel.time.at(from), panel.time.at(to));
                let row = panel.area.top - frame::strip(canvas) + canvas.font() * LINE / 2.0;
                let places = [
                    Place::new((left + right) / 2.0, row, Anchor::Middle),
                    Place::new(right, row, Anchor::End),
                    Place::new(left, row, Anchor::Start),
                ];
                let more = format!(" data-x=\"{}\"", decimal(places[0].x));
                canvas.label_off_lines("no link", palette::MUTED, &more, &places);
            }
            _ => {}
        }
        for notice in &self.notices {
            moment_label(canvas, panel, notice.time, &notice.label, palette::NOTICE, Anchor::Start);
        }
    }
}

/// Writes what happened at a time: above the plot beside its line, else at the top inside it.
pub(crate) fn moment_label(
    canvas: &mut Canvas,
    panel: &Panel,
    at: f64,
    words: &str,
    role: palette::Role,
    first: Anchor,
) {
    if !panel.time.has(at) {
        return;
    }
    let row = canvas.font() * LINE;
    let x = panel.time.at(at);
    let above = panel.area.top - frame::strip(canvas) + row / 2.0;
    let beside = |anchor: Anchor, y: f64| match anchor {
        Anchor::Start => Place::new(x + BESIDE, y, anchor),
        Anchor::Middle => Place::new(x, y, anchor),
        Anchor::End => Place::new(x - BESIDE, y, anchor),
    };
    let second = if first == Anchor::End { Anchor::Start } else { Anchor::End };
    // To the left may stand the title of the axis: words beside it would read as one phrase.
    let mut places = vec![beside(first, above)];
    if first == Anchor::End {
        places.push(beside(second, above));
    }
    for line in 0..16 {
        let y = panel.area.top + row * (f64::from(line) / 2.0 + 0.7);
        if y < panel.area.bottom {
            places.extend([beside(first, y), beside(second, y)]);
        }
    }
    places.push(beside(second, above));
    canvas.label_off_lines(words, role, &format!(" data-x=\"{}\"", decimal(x)), &places);
}

/// A label that belongs to the time at `x`, once all lines are drawn.
pub(crate) fn label_at(canvas: &mut Canvas, words: &str, role: palette::Role, x: f64, places: &[Place]) {
    canvas.label_off_lines(words, role, &format!(" data-x=\"{}\"", decimal(x)), places);
}

/// Least and greatest of the finite values; the least is above the greatest if there is none.
pub(crate) fn extremes(values: impl IntoIterator<Item = f64>) -> (f64, f64) {
    values
        .into_iter()
        .filter(|value| value.is_finite())
        .fold((f64::INFINITY, f64::NEG_INFINITY), |(low, high), value| (low.min(value), high.max(value)))
}
