//! Curves over a number, such as what a model computes over a parameter; one plot below the other.

use crate::about::{About, Size};
use crate::axis::{Axis, Spacing};
use crate::canvas::{Canvas, LINE, Pen, Stroke};
use crate::frame::{self, Vertical};
use crate::legend::{self, Sample};
use crate::look::Look;
use crate::moments::extremes;
use crate::palette;
use crate::text;

/// One curve.
#[derive(Clone, Debug, PartialEq)]
pub struct Line {
    /// Name for the legend.
    pub label: String,
    /// Hue, marker and dashes.
    pub look: Look,
    /// Whether a value stays until the next point; else straight lines join the points.
    pub steps: bool,
    /// Position on the horizontal axis, and value there. A point that is not finite interrupts the curve.
    pub points: Vec<(f64, f64)>,
}

/// Curves with a vertical axis in common.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct LinePlot {
    /// Title of the vertical axis, with its unit.
    pub measure: String,
    /// The curves; those of one label in several plots have one entry in the legend, the look of the first.
    pub lines: Vec<Line>,
}

/// Plots of curves with a horizontal axis in common.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct LineChart {
    /// Id, title and description.
    pub about: About,
    /// Title of the horizontal axis, with its unit.
    pub across: String,
    /// From top to bottom.
    pub plots: Vec<LinePlot>,
}

/// The line at 0, where values lie on both sides.
const ZERO_LINE: Stroke = Stroke::new(palette::MUTED, 1.0);
/// Room beyond the least and the greatest value, as a part of their distance.
const ROOM: f64 = 0.06;
/// A curve of at most so many points has a marker on each.
const MOST_MARKS: usize = 25;
/// Markers of one that has more: they tell curves apart, and do not hide them.
const FEW_MARKS: usize = 7;

impl LineChart {
    /// The picture.
    pub fn svg(&self, size: Size) -> String {
        self.drawn(size).finish(&self.about)
    }

    pub(crate) fn drawn(&self, size: Size) -> Canvas {
        let mut canvas = Canvas::new(size);
        let top = frame::heading(&mut canvas, &self.about);
        let top = legend::draw(&mut canvas, top, &self.entries());
        let (strip, row) = (frame::strip(&canvas), canvas.font() * LINE);
        let bottom = canvas.height() - frame::below(&canvas);
        let height = (bottom - top) / self.plots.len().max(1) as f64;
        let verticals: Vec<Vertical> = self.plots.iter().map(LinePlot::vertical).collect();
        let left = verticals.iter().map(|v| v.margin(&canvas, height - strip)).fold(8.0, f64::max);
        // Room for half of the last number.
        let right = canvas.width() - 14.0;
        let (first, last) = extremes(self.lines().flat_map(|line| line.points.iter().map(|point| point.0)));
        let labels = self.labels();
        for (number, (plot, vertical)) in self.plots.iter().zip(&verticals).enumerate() {
            let top = top + height * number as f64;
            let lowest = number + 1 == self.plots.len();
            // The gap below a plot that has another under it.
            let gap = if lowest { 0.0 } else { 8.0 };
            let area = frame::plot_area(left, top + strip, right, top + height - gap);
            let across = Axis::new(Spacing::Linear, first, last, area.left, area.right);
            let value = vertical.draw(&mut canvas, area, top + row / 2.0);
            if lowest {
                frame::draw_horizontal(&mut canvas, area, &across, &self.across);
            } else {
                frame::baseline(&mut canvas, area);
            }
            if value.low() < 0.0 && value.has(0.0) {
                let y = value.at(0.0);
                canvas.line((area.left, y), (area.right, y), ZERO_LINE);
            }
            for line in &plot.lines {
                let index = labels.iter().position(|(label, _)| *label == line.label).unwrap_or(0);
                let shift = (index as f64 + 0.5) / labels.len().max(1) as f64;
                line.draw(&mut canvas, &across, &value, shift);
            }
        }
        canvas
    }

    fn lines(&self) -> impl Iterator<Item = &Line> {
        self.plots.iter().flat_map(|plot| &plot.lines)
    }

    /// Each label once, in order.
    fn labels(&self) -> Vec<(&str, Look)> {
        let mut labels: Vec<(&str, Look)> = Vec::new();
        for line in self.lines() {
            if !labels.iter().any(|(label, _)| *label == line.label) {
                labels.push((&line.label, line.look));
            }
        }
        labels
    }

    fn entries(&self) -> Vec<(Sample, String)> {
        let sample = |look: Look| Sample::Marked(look.stroke(), look.mark_of_curve());
        self.labels().into_iter().map(|(label, look)| (sample(look), label.into())).collect()
    }
}

impl LinePlot {
    /// The axis holds 0, so that distances from it can be compared.
    fn vertical(&self) -> Vertical {
        let values = self.lines.iter().flat_map(|line| line.points.iter().map(|point| point.1));
        let (low, high) = extremes(values.chain([0.0]));
        let room = (high - low) * ROOM;
        let beyond = |end: f64, room: f64| if end == 0.0 { end } else { end + room };
        Vertical {
            label: self.measure.clone(),
            spacing: Spacing::Linear,
            low: beyond(low, -room),
            high: beyond(high, room),
            whole: false,
        }
    }
}

impl Line {
    /// `shift`: where its first marker stands, of the distance between two.
    fn draw(&self, canvas: &mut Canvas, across: &Axis, value: &Axis, shift: f64) {
        let place = |point: &(f64, f64)| (across.at(point.0), value.at(point.1));
        let mut pen = Pen::default();
        for pair in self.points.windows(2).filter(|pair| pair.iter().all(finite)) {
            let (from, to) = (place(&pair[0]), place(&pair[1]));
            if self.steps {
                pen.segment(from, (to.0, from.1));
                pen.line_to(to.0, to.1);
            } else {
                pen.segment(from, to);
            }
        }
        let words: Vec<String> = self
            .points
            .iter()
            .map(|&(position, value)| format!("{}: {}", text::number(position), text::number(value)))
            .collect();
        canvas.explained(&format!("{}. {}", self.label, words.join(", ")), |canvas| {
            canvas.stroke(pen.path(), self.look.stroke());
            let marked = self.marked(across, shift);
            self.look.mark_of_curve().draw(canvas, marked.iter().map(place));
        });
    }

    /// Where its markers are: on all points, or on the curve in equal distances. The first is `shift` of one from the
    /// left, so that curves that run together show all their markers.
    fn marked(&self, across: &Axis, shift: f64) -> Vec<(f64, f64)> {
        let points: Vec<(f64, f64)> = self.points.iter().filter(|point| finite(point)).copied().collect();
        if points.len() <= MOST_MARKS {
            return points;
        }
        let apart = (across.high() - across.low()) / FEW_MARKS as f64;
        let positions = (0..FEW_MARKS).map(|k| across.low() + apart * (k as f64 + shift));
        let places = positions.filter_map(|x| Some((x, self.value_at(&points, x)?)));
        places.filter(finite).collect()
    }

    /// Its value at `x`, if it is drawn there; `points` in the order of their positions.
    fn value_at(&self, points: &[(f64, f64)], x: f64) -> Option<f64> {
        let after = points.partition_point(|point| point.0 <= x);
        let (before, next) = (points.get(after.checked_sub(1)?)?, points.get(after)?);
        let way = if self.steps { 0.0 } else { (x - before.0) / (next.0 - before.0) };
        Some(before.1 + (next.1 - before.1) * way)
    }
}

fn finite(point: &(f64, f64)) -> bool {
    point.0.is_finite() && point.1.is_finite()
}
