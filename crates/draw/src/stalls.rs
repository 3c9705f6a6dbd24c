//! Stalls over time: for each sender a row with a line as long as its transfer lasts, and a bar for each wait without
//! progress. All rows have one time axis, that of the other pictures of a handoff.

use crate::about::{About, Size};
use crate::axis::{Axis, Spacing};
use crate::canvas::{Anchor, Area, Canvas, LINE, Pen, Place, Stroke};
use crate::frame;
use crate::legend::{self, Sample};
use crate::look::Series;
use crate::moments::{Panel, Shown, Timeline, note, tag};
use crate::palette;
use crate::text;

/// The data that one sender brings, and the times in which it brings nothing.
#[derive(Clone, Debug, PartialEq)]
pub struct StallRow {
    /// Name, hue and marker.
    pub series: Series,
    /// Waits without progress, from and until, s.
    pub stalls: Vec<(f64, f64)>,
    /// When the transfer has ended, s; `None`: it has not.
    pub end: Option<f64>,
}

/// The stalls of several senders in one handoff.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct StallChart {
    /// Id, title and description.
    pub about: About,
    /// Plotted time, handoff and notices.
    pub timeline: Timeline,
    /// From top to bottom.
    pub rows: Vec<StallRow>,
}

/// From the left of the plot, or from the line of an event, to a name, px.
const NAME: f64 = 4.0;
/// Height of a bar, px.
const BAR: f64 = 9.0;
/// A bar is at least so wide: a short stall on a long axis is seen, too.
const LEAST: f64 = 0.6;
/// A bar is at least so opaque: it stands out from its line.
const OPAQUE: f64 = 0.6;

impl StallChart {
    /// The picture.
    pub fn svg(&self, size: Size) -> String {
        self.drawn(size).finish(&self.about)
    }

    pub(crate) fn drawn(&self, size: Size) -> Canvas {
        let mut canvas = Canvas::new(size);
        let ends = self.rows.iter().flat_map(|row| row.stalls.iter().map(|stall| stall.1).chain(row.end));
        let begins = self.rows.iter().flat_map(|row| row.stalls.iter().map(|stall| stall.0));
        let span = self.timeline.range(begins.chain(ends));
        let top = frame::heading(&mut canvas, &self.about);
        let top = legend::draw(&mut canvas, top, &self.entries(span));
        let (left, right) = (self.timeline.left(&canvas, []), canvas.width() - 14.0);
        let top = top + frame::strip(&canvas);
        let area = frame::plot_area(left, top, right, canvas.height() - frame::below(&canvas));
        let time = Axis::new(Spacing::Linear, span.0, span.1, area.left, area.right);
        let rows = Axis::new(Spacing::Linear, 0.0, self.rows.len().max(1) as f64, area.top, area.bottom);
        self.timeline.ground(&mut canvas, 0, area, &time);
        frame::draw_horizontal(&mut canvas, area, &time, "time, s");
        note(&mut canvas, area, &time, &rows, "", self.timeline.handoff_at());
        let panel = Panel::new(0, area, time, rows);
        self.timeline.label(&mut canvas, &panel);
        let names = self.names(&canvas, &panel);
        if names.is_some() {
            self.timeline.upright(&mut canvas, 0, area, &panel.time);
        }
        for (index, row) in self.rows.iter().enumerate() {
            let (top, bottom) = (panel.value.at(index as f64), panel.value.at(index as f64 + 1.0));
            let middle = (bottom - BAR / 2.0 - 2.0).max(top);
            if names.is_none() {
                let bar = Area { top: middle - BAR / 2.0 + 6.0, bottom, ..area };
                self.timeline.upright(&mut canvas, 0, bar, &panel.time);
            }
            self.draw_row(&mut canvas, &panel, row, (names.unwrap_or(area.left + NAME), middle));
        }
        canvas
    }

    fn name(row: &StallRow, canvas: &Canvas, area: &Area) -> String {
        text::shorten(&row.series.label, canvas.font(), area.width() - 8.0)
    }

    /// Where names begin, such that no line of an event runs through one. `None`: there is no such place, and these
    /// lines are broken at the names.
    fn names(&self, canvas: &Canvas, panel: &Panel) -> Option<f64> {
        let Panel { area, time, .. } = panel;
        let widths = self.rows.iter().map(|row| text::width(&Self::name(row, canvas, area), canvas.font()));
        let widest = widths.fold(0.0, f64::max);
        let lines: Vec<f64> = self.timeline.uprights(time).map(|(at, _)| time.at(at)).collect();
        let free = |from: &f64| {
            from + widest <= area.right
                && !lines.iter().any(|line| (from - 1.0..=from + widest + 1.0).contains(line))
        };
        [area.left].iter().chain(&lines).map(|left| left + NAME).find(free)
    }

    /// The name stands above its line.
    fn draw_row(&self, canvas: &mut Canvas, panel: &Panel, row: &StallRow, (left, middle): (f64, f64)) {
        let Panel { area, time, .. } = panel;
        let y = middle - BAR / 2.0 - 1.5 - canvas.font() * LINE / 2.0;
        let name = Self::name(row, canvas, area);
        canvas.label(&name, palette::INK, &[Place::new(left, y, Anchor::Start)]);
        let role = row.series.look.role();
        let last = row.end.filter(|end| end.is_finite()).unwrap_or(f64::INFINITY);
        canvas.tagged(&tag(0, Shown::Line, ""), |canvas| {
            canvas.line((area.left, middle), (time.at(last), middle), Stroke::new(role, 1.2));
        });
        let (paint, opacity) = row.series.look.fill(canvas, &self.about.id);
        for &(from, until) in row.stalls.iter().filter(|stall| shows(**stall, time)) {
            let (left, right) = (time.at(from), time.at(until));
            let right = right.max(left + LEAST).min(area.right.max(left));
            let bar = Area { left, right, top: middle - BAR / 2.0, bottom: middle + BAR / 2.0 };
            let mut pen = Pen::default();
            pen.rectangle(bar);
            let words = format!(
                "{}: nothing new for {} s, from {} s on",
                row.series.label,
                text::number(until - from),
                text::number(from)
            );
            canvas.explained(&words, |canvas| {
                canvas.tagged(&tag(0, Shown::Span, &format!("{} stall", row.series.label)), |canvas| {
                    canvas.fill(pen.path(), &paint, opacity.max(OPAQUE));
                });
                canvas.tagged(&tag(0, Shown::Line, ""), |canvas| {
                    canvas.stroke(pen.path(), Stroke::new(role, 1.0));
                });
            });
        }
        if let Some(end) = row.end.filter(|end| time.has(*end)) {
            canvas.tagged(&tag(0, Shown::Mark, ""), |canvas| {
                row.series.look.mark().draw(canvas, [(time.at(end), middle)]);
            });
        }
    }

    fn entries(&self, span: (f64, f64)) -> Vec<(Sample, String)> {
        let time = Axis::new(Spacing::Linear, span.0, span.1, 0.0, 1.0);
        let mut entries = Vec::new();
        let stall = |row: &&StallRow| row.stalls.iter().any(|stall| shows(*stall, &time));
        if let Some(row) = self.rows.iter().find(stall) {
            entries.push((Sample::Block(row.series.look.role().css()), "stall".to_string()));
        }
        let ended = |row: &&StallRow| row.end.is_some_and(|end| time.has(end));
        if let Some(row) = self.rows.iter().find(ended) {
            entries.push((Sample::Mark(row.series.look.mark()), "end of the transfer".to_string()));
        }
        entries.extend(self.timeline.entries(span));
        entries
    }
}

/// Whether a wait is one, and a part of it lies on the axis.
fn shows((from, until): (f64, f64), time: &Axis) -> bool {
    until > from && from <= time.high() && until >= time.low()
}
