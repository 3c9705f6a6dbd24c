//! The frame of every picture: size, title, plot area, axes.

use crate::about::About;
use crate::axis::{Axis, Spacing};
use crate::canvas::{Anchor, Area, Canvas, LINE, Place, Stroke};
use crate::palette;
use crate::text;

/// The mark of a shape or a text that belongs to one number of the horizontal axis.
const TICK_TAG: &str = " data-tick=\"\"";
/// Space between an axis and its numbers.
const TICK: f64 = 5.0;

/// A vertical axis before its place is known.
#[derive(Clone, Debug)]
pub(crate) struct Vertical {
    pub(crate) label: String,
    pub(crate) spacing: Spacing,
    pub(crate) low: f64,
    pub(crate) high: f64,
    /// Whether fractions make no sense, as with packets.
    pub(crate) whole: bool,
}

impl Vertical {
    /// The axis over the height of `area`.
    pub(crate) fn over(&self, area: Area) -> Axis {
        Axis::new(self.spacing, self.low, self.high, area.bottom, area.top)
    }

    /// Most ticks of a plot of this height.
    fn most(height: f64, size: f64) -> usize {
        (height / (size * 2.8)).floor().clamp(2.0, 9.0) as usize
    }

    /// So many ticks at most.
    fn ticks(&self, axis: &Axis, most: usize) -> Vec<(f64, String)> {
        let mut ticks = axis.ticks(most);
        if ticks.len() < 2 {
            // One number is no scale.
            ticks = axis.ticks(3);
        }
        if self.whole {
            ticks.retain(|(value, _)| value.fract() == 0.0);
            for (value, label) in &mut ticks {
                if value.abs() < 1e7 {
                    *label = format!("{value:.0}");
                }
            }
        }
        ticks
    }

    /// Width of the numbers of this axis for a plot of about this height.
    pub(crate) fn margin(&self, canvas: &Canvas, height: f64) -> f64 {
        let size = canvas.font();
        let area = Area { left: 0.0, right: 1.0, top: 0.0, bottom: height.max(1.0) };
        let ticks = self.ticks(&self.over(area), Self::most(height, size));
        let widest = ticks.iter().map(|(_, label)| text::width(label, size)).fold(0.0, f64::max);
        (widest + TICK + 4.0).min(canvas.width() / 3.0)
    }

    /// Draws grid, numbers and, above the plot, the title.
    pub(crate) fn draw(&self, canvas: &mut Canvas, area: Area, title_y: f64) -> Axis {
        let axis = self.over(area);
        let size = canvas.font();
        // The plot may be higher than its margin was made for. More numbers may then need more decimals.
        let fits = |ticks: &[(f64, String)]| {
            ticks.iter().all(|(_, label)| text::width(label, size) + TICK <= area.left)
        };
        let most = Self::most(area.height(), size);
        let choices = (2..=most).rev().map(|most| self.ticks(&axis, most));
        let fitting = choices.into_iter().find(|ticks| fits(ticks) && ticks.len() > 1);
        for (value, label) in fitting.unwrap_or_else(|| self.ticks(&axis, most)) {
            let y = axis.at(value);
            canvas.line((area.left, y), (area.right, y), Stroke::new(palette::GRID, 1.0));
            canvas.label(&label, palette::MUTED, &[Place::new(area.left - TICK, y, Anchor::End)]);
        }
        canvas.line((area.left, area.top), (area.left, area.bottom), Stroke::new(palette::MUTED, 1.0));
        let title = text::shorten(&self.label, size, canvas.width() - 8.0);
        canvas.label(&title, palette::MUTED, &[Place::new(4.0, title_y, Anchor::Start)]);
        axis
    }
}

/// Draws the line, the numbers and the title of a horizontal axis below the plot. The rows that they take
/// are [`below`] high.
pub(crate) fn draw_horizontal(canvas: &mut Canvas, area: Area, axis: &Axis, title: &str) {
    baseline(canvas, area);
    let size = canvas.font();
    let row = area.bottom + first_row(canvas);
    let fitting = (2..=10)
        .rev()
        .map(|most| axis.ticks(most))
        .find(|ticks| {
            let widths: f64 = ticks.iter().map(|(_, label)| text::width(label, size) + 14.0).sum();
            widths <= area.width()
        })
        .unwrap_or_default();
    for (value, label) in fitting {
        let x = axis.at(value);
        canvas.tagged(TICK_TAG, |canvas| {
            canvas.line((x, area.bottom), (x, area.bottom + 3.0), Stroke::new(palette::MUTED, 1.0));
        });
        canvas.label_with(&label, palette::MUTED, TICK_TAG, &[Place::new(x, row, Anchor::Middle)]);
    }
    horizontal_title(canvas, area, row + size * LINE, title);
}

/// The line that a plot stands on.
pub(crate) fn baseline(canvas: &mut Canvas, area: Area) {
    canvas.line((area.left, area.bottom), (area.right, area.bottom), Stroke::new(palette::MUTED, 1.0));
}

/// The title of a horizontal axis, in the middle of the plot.
pub(crate) fn horizontal_title(canvas: &mut Canvas, area: Area, y: f64, title: &str) {
    let size = canvas.font();
    let title = text::shorten(title, size, canvas.width() - 8.0);
    let half = text::width(&title, size) / 2.0 + 1.0;
    // Not beyond the edges of the picture.
    let middle = ((area.left + area.right) / 2.0).min(canvas.width() - half).max(half);
    canvas.label(&title, palette::MUTED, &[Place::new(middle, y, Anchor::Middle)]);
}

/// Height of the numbers and the title below a plot.
pub(crate) fn below(canvas: &Canvas) -> f64 {
    first_row(canvas) + canvas.font() * LINE * 1.5 + 2.0
}

/// Height of the strip above a plot for the title of its vertical axis, clear of the highest number.
pub(crate) fn strip(canvas: &Canvas) -> f64 {
    canvas.font() * LINE * 1.5 + 1.0
}

/// From the line that a plot stands on to the middle of the first text below it. It is clear of the lowest number of
/// the vertical axis, which reaches below that line.
pub(crate) fn first_row(canvas: &Canvas) -> f64 {
    canvas.font() * LINE + 0.5
}

/// Draws the heading and returns where it ends.
pub(crate) fn heading(canvas: &mut Canvas, about: &About) -> f64 {
    let size = canvas.font();
    let row = size * LINE;
    let limit = canvas.width() - 8.0;
    // Bold letters are wider.
    let lines = text::wrap(&about.heading, size, limit * 0.92)
        .unwrap_or_else(|| vec![text::shorten(&about.heading, size, limit * 0.92)]);
    let mut top = 4.0;
    for line in lines.iter().take(3) {
        let place = Place::new(4.0, top + row / 2.0, Anchor::Start);
        if canvas.label_with(line, palette::INK, " font-weight=\"600\"", &[place]) {
            top += row;
        }
    }
    if top > 4.0 { top + 4.0 } else { top }
}

/// An area that is never inside out, however small the picture.
pub(crate) fn plot_area(left: f64, top: f64, right: f64, bottom: f64) -> Area {
    Area { left, top, right: right.max(left + 2.0), bottom: bottom.max(top + 2.0) }
}
