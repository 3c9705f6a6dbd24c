//! Markers. Their shapes differ as much as their colours.

use crate::canvas::{Canvas, Pen, Stroke, decimal};
use crate::palette::Role;

/// A marker.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Shape {
    Dot,
    /// A short upright line.
    Tick,
    /// An empty square.
    Box,
    FilledBox,
    Cross,
    Plus,
    Star,
    /// An empty diamond.
    Diamond,
    FilledDiamond,
    Up,
    /// An empty triangle that points down.
    Down,
    FilledDown,
}

/// Markers of one kind, drawn as one path.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Mark {
    pub(crate) shape: Shape,
    pub(crate) role: Role,
    /// Half its width.
    pub(crate) radius: f64,
}

impl Mark {
    pub(crate) const fn new(shape: Shape, role: Role, radius: f64) -> Mark {
        Mark { shape, role, radius }
    }

    /// Smaller where there are so many that they would hide each other.
    pub(crate) fn among(self, count: usize) -> Mark {
        if count > 200 { Mark { radius: self.radius * 0.65, ..self } } else { self }
    }

    /// Draws the marker at all these places.
    pub(crate) fn draw(&self, canvas: &mut Canvas, places: impl IntoIterator<Item = (f64, f64)>) {
        let mut pen = Pen::default();
        let mut last = None;
        for (x, y) in thinned(places.into_iter().collect(), |place| [place.0, place.1, 0.0]) {
            // Packets that fall on one place look like one.
            if last.replace((decimal(x), decimal(y))) != Some((decimal(x), decimal(y))) {
                self.append(&mut pen, x, y);
            }
        }
        match self.shape {
            Shape::Dot => {
                canvas.stroke(pen.path(), Stroke::new(self.role, self.radius * 2.0).rounded());
            }
            Shape::FilledBox | Shape::FilledDiamond | Shape::Up | Shape::FilledDown => {
                canvas.fill(pen.path(), &self.role.css(), 1.0);
            }
            _ => canvas.stroke(pen.path(), Stroke::new(self.role, 1.3)),
        }
    }

    fn append(&self, pen: &mut Pen, x: f64, y: f64) {
        let r = self.radius;
        let mut stroke = |right: f64, down: f64| {
            pen.move_to(x - right, y - down);
            pen.line_to(x + right, y + down);
        };
        match self.shape {
            Shape::Cross => {
                stroke(r, r);
                stroke(r, -r);
            }
            Shape::Plus => {
                stroke(r, 0.0);
                stroke(0.0, r);
            }
            Shape::Star => {
                stroke(r, 0.0);
                stroke(r * 0.5, r * 0.87);
                stroke(r * 0.5, r * -0.87);
            }
            Shape::Dot => pen.dot(x, y),
            Shape::Tick => pen.segment((x, y - r), (x, y + r)),
            Shape::Box | Shape::FilledBox => {
                let r = r * 0.9;
                pen.polygon(&[(x - r, y - r), (x + r, y - r), (x + r, y + r), (x - r, y + r)]);
            }
            Shape::Diamond | Shape::FilledDiamond => {
                let r = r * 1.25;
                pen.polygon(&[(x - r, y), (x, y - r), (x + r, y), (x, y + r)]);
            }
            Shape::Up => pen.polygon(&[(x - r, y + r * 0.8), (x, y - r), (x + r, y + r * 0.8)]),
            Shape::Down | Shape::FilledDown => {
                pen.polygon(&[(x - r, y - r * 0.8), (x, y + r), (x + r, y - r * 0.8)]);
            }
        }
    }
}

/// More marks than this are thinned.
const MANY: usize = 4000;

/// The first mark of each pixel, by `place`, where there are so many that a picture would grow to megabytes.
pub(crate) fn thinned<T>(mut marks: Vec<T>, place: impl Fn(&T) -> [f64; 3]) -> Vec<T> {
    if marks.len() > MANY {
        let mut taken = std::collections::BTreeSet::new();
        marks.retain(|mark| taken.insert(place(mark).map(|px| px.round() as i64)));
    }
    marks
}
