//! Quartile bars of several schemes, side by side at each position, with the physical bound.

use crate::about::{About, Size};
use crate::axis::{Axis, Spacing, plain};
use crate::canvas::{Anchor, Area, Canvas, LINE, Pen, Place, Stroke};
use crate::category_names::Names;
use crate::frame::{self, Vertical};
use crate::legend::{self, Sample};
use crate::look::{Look, Series};
use crate::marks::Mark;
use crate::moments::extremes;
use crate::palette;
use crate::text;

/// Lower quartile, median and upper quartile. Positive infinity stands for a run that did not complete:
/// the bar is then open above.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Quartiles {
    /// 25 %.
    pub q1: f64,
    /// 50 %.
    pub median: f64,
    /// 75 %.
    pub q3: f64,
}

/// Contents of the horizontal axis.
#[derive(Clone, Debug, PartialEq)]
pub enum Across {
    /// Names, evenly spaced: [`Group::label`].
    Categories {
        /// Title of the axis, with its unit; empty where the names say all.
        label: String,
    },
    /// Numbers such as a link parameter or a count of flows: [`Group::position`].
    Numbers {
        /// Title of the axis, with its unit.
        label: String,
        /// Linear or logarithmic.
        spacing: Spacing,
    },
}

/// Measurements at one position.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Group {
    /// Name, for [`Across::Categories`].
    pub label: String,
    /// Where it is, for [`Across::Numbers`]. Groups at one position stand side by side if each has its bars where
    /// the others have `None`; each has its own bound.
    pub position: f64,
    /// Physical bound, if it is known and the same for all schemes.
    pub bound: Option<f64>,
    /// Else the bound of each bar; empty if there is none.
    pub bounds: Vec<Option<f64>>,
    /// One per series, in the order of [`QuartileChart::series`]; `None` where there is no result.
    pub bars: Vec<Option<Quartiles>>,
}

/// Quartile chart with the physical bound.
#[derive(Clone, Debug, PartialEq)]
pub struct QuartileChart {
    /// Id, title and description.
    pub about: About,
    /// The horizontal axis.
    pub across: Across,
    /// Title of the vertical axis, such as `transfer time, s`.
    pub measure: String,
    /// Linear from 0, or logarithmic.
    pub spacing: Spacing,
    /// Names for the legend, and how their bars look.
    pub series: Vec<Series>,
    /// From left to right.
    pub groups: Vec<Group>,
}

/// A colour or pattern, and how opaque it is.
type Fill = (String, f64);

const BOUND_LINE: Stroke = Stroke::new(palette::BOUND, 2.0);

impl QuartileChart {
    /// The picture.
    pub fn svg(&self, size: Size) -> String {
        self.drawn(size).finish(&self.about)
    }

    pub(crate) fn drawn(&self, size: Size) -> Canvas {
        let mut canvas = Canvas::new(size);
        let fills: Vec<Fill> =
            self.series.iter().map(|series| series.look.fill(&mut canvas, &self.about.id)).collect();
        let top = frame::heading(&mut canvas, &self.about);
        let top = legend::draw(&mut canvas, top, &self.entries(&fills));
        let row = canvas.font() * LINE;
        let (low, high) = self.values();
        let label = match self.spacing {
            Spacing::Linear => self.measure.clone(),
            Spacing::Log => format!("{} (log)", self.measure),
        };
        let vertical = Vertical { label, spacing: self.spacing, low, high, whole: false };
        let left = vertical.margin(&canvas, (canvas.height() - top) * 0.7);
        let right = canvas.width() - 8.0;
        let names = match self.across {
            Across::Categories { .. } => Some(Names::new(&canvas, self.group_names(), right - left, top)),
            Across::Numbers { .. } => None,
        };
        let named = names.as_ref().map(|names| names.height(row));
        let title = match &self.across {
            Across::Categories { label } if !label.is_empty() => row,
            _ => 0.0,
        };
        let below = named.map_or(frame::below(&canvas), |height| height + title);
        // "inf" stands between the title of the axis and the plot.
        let strip = if self.has_open() { row * 2.0 + 6.0 } else { frame::strip(&canvas) };
        let area = frame::plot_area(left, top + strip, right, canvas.height() - below);
        let value = vertical.draw(&mut canvas, area, top + row / 2.0);
        let (middles, slot) = self.positions(area);
        match (&self.across, &names) {
            (Across::Numbers { label, .. }, _) => self.draw_numbers(&mut canvas, area, &middles, label),
            (Across::Categories { label }, Some(names)) => {
                frame::baseline(&mut canvas, area);
                names.draw(&mut canvas, area, &middles);
                if !label.is_empty() {
                    let y = canvas.height() - row / 2.0 - 3.0;
                    frame::horizontal_title(&mut canvas, area, y, label);
                }
            }
            (Across::Categories { .. }, None) => {}
        }
        for (group, middle) in self.groups.iter().zip(&middles) {
            if let Some(middle) = *middle {
                self.draw_group(&mut canvas, area, &value, (group, &fills), (middle, slot));
            }
        }
        canvas
    }

    fn bars(&self) -> impl Iterator<Item = Quartiles> + '_ {
        self.groups.iter().flat_map(|group| group.bars.iter().flatten().copied())
    }

    fn group_names(&self) -> impl Iterator<Item = &str> {
        self.groups.iter().map(|group| group.label.as_str())
    }

    fn has_open(&self) -> bool {
        self.bars().any(|bar| bar.q3 == f64::INFINITY)
    }

    fn has_bound(&self) -> bool {
        let finite = |bound: &Option<f64>| bound.is_some_and(f64::is_finite);
        self.groups.iter().any(|group| finite(&group.bound) || group.bounds.iter().any(finite))
    }

    fn entries(&self, fills: &[Fill]) -> Vec<(Sample, String)> {
        let series = self.series.iter().zip(fills);
        let mut entries: Vec<_> = series
            .map(|(series, fill)| {
                let Series { label, look } = series;
                (Sample::Bar(look.role(), look.mark(), fill.clone()), label.clone())
            })
            .collect();
        if self.has_bound() {
            entries.push((Sample::Line(BOUND_LINE), "bound".to_string()));
        }
        entries
    }

    /// Range of the vertical axis.
    fn values(&self) -> (f64, f64) {
        let bars = self.bars().flat_map(|bar| [bar.q1, bar.median, bar.q3]);
        let bounds = self.groups.iter().flat_map(|group| group.bounds.iter().chain([&group.bound]).flatten());
        let all = bars.chain(bounds.copied());
        let all = all.filter(|value| self.spacing == Spacing::Linear || *value > 0.0);
        // An open bar needs some room to be seen to go on.
        let room = if self.has_open() { 0.15 } else { 0.06 };
        match (self.spacing, extremes(all)) {
            (_, (low, high)) if low > high => (0.0, 1.0),
            (Spacing::Linear, (low, high)) => (low.min(0.0), high + (high - low.min(0.0)) * room),
            (Spacing::Log, (low, high)) => (low / 1.15, high * (1.1 + room)),
        }
    }

    /// Middle of each group, if its position is on the axis, and the width that a group may take.
    fn positions(&self, area: Area) -> (Vec<Option<f64>>, f64) {
        let Across::Numbers { spacing, .. } = self.across else {
            let even = area.width() / self.groups.len().max(1) as f64;
            let middles = (0..self.groups.len()).map(|index| Some(area.left + even * (index as f64 + 0.5)));
            return (middles.collect(), even);
        };
        let mut places: Vec<f64> = self.groups.iter().map(|group| group.position).collect();
        places.sort_by(f64::total_cmp);
        places.dedup();
        let even = area.width() / places.len().max(1) as f64;
        let positions = self.groups.iter().map(|group| group.position);
        let positions = positions.filter(|position| spacing == Spacing::Linear || *position > 0.0);
        let (low, high) = extremes(positions);
        // Half of an even slot at both ends, so that the outermost bars are inside.
        let inset = even / 2.0;
        let axis = Axis::new(spacing, low, high, area.left + inset, area.right - inset);
        let at = |group: &Group| axis.has(group.position).then(|| axis.at(group.position));
        let middles: Vec<Option<f64>> = self.groups.iter().map(at).collect();
        let mut sorted: Vec<f64> = middles.iter().flatten().copied().collect();
        sorted.sort_by(f64::total_cmp);
        let gaps = sorted.windows(2).map(|pair| pair[1] - pair[0]).filter(|gap| *gap > 0.0);
        (middles, gaps.fold(even, f64::min))
    }

    /// The numbers of the horizontal axis are the positions themselves: nothing was measured between.
    fn draw_numbers(&self, canvas: &mut Canvas, area: Area, middles: &[Option<f64>], title: &str) {
        frame::baseline(canvas, area);
        let row = canvas.font() * LINE;
        let y = area.bottom + frame::first_row(canvas);
        for (index, (group, middle)) in self.groups.iter().zip(middles).enumerate() {
            let Some(x) = middle.filter(|_| !middles[..index].contains(middle)) else { continue };
            canvas.line((x, area.bottom), (x, area.bottom + 3.0), Stroke::new(palette::MUTED, 1.0));
            canvas.label(&plain(group.position), palette::MUTED, &[Place::new(x, y, Anchor::Middle)]);
        }
        frame::horizontal_title(canvas, area, y + row, title);
    }

    fn draw_group(
        &self,
        canvas: &mut Canvas,
        area: Area,
        value: &Axis,
        (group, fills): (&Group, &[Fill]),
        (middle, slot): (f64, f64),
    ) {
        let count = self.series.len().max(1) as f64;
        let pitch = (slot * 0.8 / count).min(30.0);
        let width = (pitch * 0.72).max(1.5);
        let series = self.series.iter().zip(fills);
        for (index, (bar, (Series { label, look }, fill))) in group.bars.iter().zip(series).enumerate() {
            let x = middle + pitch * (index as f64 - (count - 1.0) / 2.0);
            if let Some(bar) = bar {
                let words = [bar.q1, bar.median, bar.q3].map(text::number).join(" / ");
                canvas.explained(&format!("{} {label}: {words}", group.label), |canvas| {
                    draw_bar(canvas, area, value, bar, (*look, fill), (x, width));
                });
            }
            if let Some(bound) = group.bounds.get(index).copied().flatten().filter(|bound| value.has(*bound))
            {
                let words = format!("{} {label}, bound: {}", group.label, text::number(bound));
                let (half, y) = (pitch / 2.0, value.at(bound));
                canvas.explained(&words, |canvas| canvas.line((x - half, y), (x + half, y), BOUND_LINE));
            }
        }
        let Some(bound) = group.bound.filter(|bound| value.has(*bound)) else { return };
        let (first, last) = self.under_bound(group, count);
        let middle = middle + pitch * ((first + last) - (count - 1.0)) / 2.0;
        let half = (pitch * (last - first + 1.0) / 2.0 + 3.0).min(slot * 0.44);
        let y = value.at(bound);
        canvas.explained(&format!("{} bound: {}", group.label, text::number(bound)), |canvas| {
            canvas.line((middle - half, y), (middle + half, y), BOUND_LINE);
        });
    }

    /// First and last bar that the bound of a group lies under: all of the position, unless it shares it.
    fn under_bound(&self, group: &Group, count: f64) -> (f64, f64) {
        let shares = |other: &&Group| other.position == group.position;
        let present = || (0..group.bars.len()).filter(|&index| group.bars[index].is_some());
        match (&self.across, present().next(), present().next_back()) {
            (Across::Numbers { .. }, Some(first), Some(last))
                if self.groups.iter().filter(shares).count() > 1 =>
            {
                (first as f64, last as f64)
            }
            _ => (0.0, count - 1.0),
        }
    }
}

/// One quartile bar. An infinite quartile has no end: the sides run to the top of the plot, with an arrow.
fn draw_bar(
    canvas: &mut Canvas,
    area: Area,
    value: &Axis,
    bar: &Quartiles,
    (look, (paint, opacity)): (Look, &Fill),
    (x, width): (f64, f64),
) {
    if [bar.q1, bar.median, bar.q3].iter().any(|quartile| quartile.is_nan()) {
        return;
    }
    let role = look.role();
    let open = bar.q3 == f64::INFINITY;
    let (left, right) = (x - width / 2.0, x + width / 2.0);
    let top = if open { area.top } else { value.at(bar.q3) };
    let bottom = if bar.q1 == f64::INFINITY { area.top + 1.0 } else { value.at(bar.q1) };
    let mut inside = Pen::default();
    inside.rectangle(Area { left, right, top, bottom });
    canvas.fill(inside.path(), paint, *opacity);
    let mut outline = Pen::default();
    outline.segment((left, top), (left, bottom));
    outline.line_to(right, bottom);
    outline.line_to(right, top);
    if !open {
        outline.line_to(left, top);
    }
    canvas.stroke(outline.path(), Stroke::new(role, 1.0));
    if bar.median.is_finite() {
        let y = value.at(bar.median);
        canvas.line((left, y), (right, y), Stroke::new(role, 2.0));
        let mark = look.mark();
        Mark { radius: mark.radius.min(width / 2.0).max(1.0), ..mark }.draw(canvas, [(x, y)]);
    }
    if open {
        let head = (width / 2.0).clamp(2.5, 5.0);
        let mut arrow = Pen::default();
        arrow.polygon(&[(x - head, area.top), (x, area.top - head * 1.2), (x + head, area.top)]);
        canvas.fill(arrow.path(), &role.css(), 1.0);
        let row = canvas.font() * LINE;
        let y = area.top - head * 1.2 - row / 2.0;
        canvas.label("inf", palette::INK, &[Place::new(x, y, Anchor::Middle)]);
    }
}
