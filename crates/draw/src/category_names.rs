//! Names under a plot: in lines under their places if all fit, else numbers with a key below.

use crate::canvas::{Anchor, Area, Canvas, LINE, Place};
use crate::frame;
use crate::palette;
use crate::text;

/// Lines that a name under its place may take.
const MOST_LINES: usize = 4;

/// Names and how they are shown.
pub(crate) enum Names {
    /// The lines of each name.
    Wrapped(Vec<Vec<String>>),
    /// A number under each place, and the lines of the key.
    Key(Vec<String>),
}

impl Names {
    /// Fits `names` under a plot that is `width` px wide and whose picture has room below `top`.
    pub(crate) fn new<'a>(
        canvas: &Canvas,
        names: impl IntoIterator<Item = &'a str>,
        width: f64,
        top: f64,
    ) -> Names {
        let font = canvas.font();
        let names: Vec<&str> = names.into_iter().collect();
        let slot = width / names.len().max(1) as f64 - 8.0;
        let wrapped: Option<Vec<_>> = names.iter().map(|name| text::wrap_evenly(name, font, slot)).collect();
        if let Some(wrapped) = wrapped.filter(|all| all.iter().all(|lines| lines.len() <= MOST_LINES)) {
            return Names::Wrapped(wrapped);
        }
        let room = ((canvas.height() - top) * 0.5 / (font * LINE)).floor().max(1.0) as usize;
        let mut lines: Vec<String> = Vec::new();
        for (index, name) in names.iter().enumerate() {
            let entry = format!("{}  {name}", index + 1);
            // Several to a line where they are short.
            match lines.last_mut() {
                Some(line)
                    if text::width(&format!("{line}\u{2003}{entry}"), font) <= canvas.width() - 8.0 =>
                {
                    line.push('\u{2003}');
                    line.push_str(&entry);
                }
                _ => lines.push(text::shorten(&entry, font, canvas.width() - 8.0)),
            }
        }
        if lines.len() > room {
            lines.truncate(room);
            lines[room - 1] = "…".to_string();
        }
        Names::Key(lines)
    }

    /// Height that they take below the plot, given that of a line.
    pub(crate) fn height(&self, line: f64) -> f64 {
        let lines = match self {
            Names::Wrapped(names) => names.iter().map(Vec::len).max().unwrap_or(0),
            // One for the numbers.
            Names::Key(lines) => lines.len() + 1,
        };
        line * (lines as f64 + 0.5) + 5.0
    }

    /// Writes them below the plot.
    pub(crate) fn draw(&self, canvas: &mut Canvas, area: Area, middles: &[Option<f64>]) {
        let line = canvas.font() * LINE;
        let first = area.bottom + frame::first_row(canvas);
        let row = |index: usize| first + line * index as f64;
        match self {
            Names::Wrapped(names) => {
                for (lines, middle) in names.iter().zip(middles) {
                    let Some(x) = *middle else { continue };
                    for (index, words) in lines.iter().enumerate() {
                        let place = Place::new(x, row(index), Anchor::Middle);
                        canvas.label(words, palette::INK, &[place]);
                    }
                }
            }
            Names::Key(lines) => {
                for (index, middle) in middles.iter().enumerate() {
                    let Some(x) = *middle else { continue };
                    let place = Place::new(x, row(0), Anchor::Middle);
                    canvas.label(&(index + 1).to_string(), palette::INK, &[place]);
                }
                for (index, words) in lines.iter().enumerate() {
                    let place = Place::new(4.0, row(index + 1) + 3.0, Anchor::Start);
                    canvas.label(words, palette::INK, &[place]);
                }
            }
        }
    }
}
