//! Legends: what each colour, line and marker stands for, in as many lines as the width needs.

use crate::canvas::{Anchor, Area, Canvas, LINE, Pen, Place, Stroke};
use crate::marks::{Mark, Shape};
use crate::palette::{self, Role};
use crate::text;

/// The sample before the words of an entry.
#[derive(Clone, Debug)]
pub(crate) enum Sample {
    Line(Stroke),
    /// An upright line, as wide as given.
    Upright(Stroke),
    Mark(Mark),
    /// A line with a marker on it.
    Marked(Stroke, Mark),
    /// A filled block: colour or `url(#pattern)`.
    Block(String),
    /// The quartile bar of a scheme: its outline, its marker, what it is filled with and how opaque.
    Bar(Role, Mark, (String, f64)),
}

/// Width of a sample and its distance to the words.
const SAMPLE: f64 = 18.0;
const GAP: f64 = 5.0;

/// Draws the entries from `top` on and returns where they end. They take at most half of the picture's
/// height; what does not fit then is left out.
pub(crate) fn draw(canvas: &mut Canvas, top: f64, entries: &[(Sample, String)]) -> f64 {
    let size = canvas.font();
    let line = size * LINE + 2.0;
    let right = canvas.width() - 4.0;
    let mut x = 4.0;
    let mut y = top + line / 2.0;
    let mut drawn = false;
    for (sample, words) in entries {
        let words = text::shorten(words, size, right - 4.0 - SAMPLE - GAP);
        let width = SAMPLE + GAP + text::width(&words, size);
        if x > 4.0 && x + width > right {
            x = 4.0;
            y += line;
        }
        if y + line / 2.0 > canvas.height() / 2.0 {
            break;
        }
        let place = Place::new(x + SAMPLE + GAP, y, Anchor::Start);
        if canvas.label(&words, palette::INK, &[place]) {
            draw_sample(canvas, sample, x, y);
            x += width + 14.0;
            drawn = true;
        }
    }
    if drawn { y + line / 2.0 + 3.0 } else { top }
}

fn draw_sample(canvas: &mut Canvas, sample: &Sample, x: f64, y: f64) {
    let middle = x + SAMPLE / 2.0;
    let block = |half_height: f64| Area {
        left: x + 2.0,
        right: x + SAMPLE - 2.0,
        top: y - half_height,
        bottom: y + half_height,
    };
    match sample {
        Sample::Line(stroke) => canvas.line((x, y), (x + SAMPLE, y), *stroke),
        Sample::Upright(stroke) => canvas.line((middle, y - 6.0), (middle, y + 6.0), *stroke),
        Sample::Mark(mark) => {
            // A single small dot is hard to see in a legend.
            let radius = mark.radius.max(if mark.shape == Shape::Tick { 4.0 } else { 2.0 });
            Mark { radius, ..*mark }.draw(canvas, [(middle, y)]);
        }
        Sample::Marked(stroke, mark) => {
            canvas.line((x, y), (x + SAMPLE, y), *stroke);
            mark.draw(canvas, [(middle, y)]);
        }
        Sample::Block(paint) => {
            let mut pen = Pen::default();
            pen.rectangle(block(5.0));
            canvas.fill(pen.path(), paint, 1.0);
        }
        Sample::Bar(role, mark, (paint, opacity)) => {
            let mut pen = Pen::default();
            pen.rectangle(block(5.0));
            canvas.fill(pen.path(), paint, *opacity);
            canvas.stroke(pen.path(), Stroke::new(*role, 1.0));
            mark.draw(canvas, [(middle, y)]);
        }
    }
}
