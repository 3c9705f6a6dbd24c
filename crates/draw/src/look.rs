//! How a series looks. Its scheme gives hue and marker, in every picture the same. Other differences, such as a rate,
//! give the hatching of a bar or the dashes of a curve.

use crate::canvas::{Canvas, Stroke, identifier};
use crate::marks::{Mark, Shape};
use crate::palette::{self, Role};

/// A colour that stands for a scheme. Each pair of them is told apart by readers without one kind of cone, too.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Hue {
    /// Regular TCP has it.
    Grey,
    /// Blue.
    Blue,
    /// Orange.
    Orange,
    /// Green.
    Green,
    /// Rose.
    Rose,
    /// Gold.
    Gold,
    /// Violet.
    Violet,
    /// Brown.
    Brown,
}

impl Hue {
    /// Its values on light and dark ground.
    pub fn role(self) -> Role {
        palette::HUES[self as usize]
    }
}

/// A marker of a median or of a curve.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Marker {
    /// A disc.
    Dot,
    /// A filled square.
    Square,
    /// A filled diamond.
    Diamond,
    /// A filled triangle that points up.
    Up,
    /// A filled triangle that points down.
    Down,
    /// The outline of a square.
    OpenSquare,
    /// The outline of a diamond.
    OpenDiamond,
    /// The outline of a triangle that points down.
    OpenDown,
}

/// In the order in which the curves of one scheme take them.
const MARKERS: [(Marker, Shape); 8] = [
    (Marker::Dot, Shape::Dot),
    (Marker::Square, Shape::FilledBox),
    (Marker::Diamond, Shape::FilledDiamond),
    (Marker::Up, Shape::Up),
    (Marker::Down, Shape::FilledDown),
    (Marker::OpenSquare, Shape::Box),
    (Marker::OpenDiamond, Shape::Diamond),
    (Marker::OpenDown, Shape::Down),
];

/// Looks of a series.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Look {
    /// The scheme's.
    pub hue: Hue,
    /// The scheme's, too.
    pub marker: Marker,
    /// By the rest: 0 for the first series of a scheme in a picture, 1 for the next.
    pub shade: u8,
}

/// A series and how it looks.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Series {
    /// Name for the legend.
    pub label: String,
    /// Hue, marker and hatching.
    pub look: Look,
}

/// Radius of a marker, px.
const RADIUS: f64 = 3.0;
/// Strokes within a tile of 5 px by 5 px, and how much of the hue is below them; by [`Look::shade`].
const FILLS: [(&str, f64); 6] = [
    ("", 0.3),
    ("M-1 1L1 -1M0 5L5 0M4 6L6 4", 0.06),
    ("", 0.0),
    ("M0 2.5H5", 0.06),
    ("", 0.7),
    ("M2.5 0V5", 0.06),
];
/// Dashes of curves, likewise.
const DASHES: [&str; 6] = ["", "7 3", "2 3", "9 3 2 3", "4 2", "12 4"];

impl Look {
    /// The look of a scheme.
    pub const fn new(hue: Hue, marker: Marker) -> Look {
        Look { hue, marker, shade: 0 }
    }

    /// The same scheme with something else that varies.
    pub const fn shaded(self, shade: u8) -> Look {
        Look { shade, ..self }
    }

    pub(crate) fn role(self) -> Role {
        self.hue.role()
    }

    /// The marker on a bar.
    pub(crate) fn mark(self) -> Mark {
        self.marker_after(0)
    }

    /// The marker on a curve: curves of one scheme have different ones.
    pub(crate) fn mark_of_curve(self) -> Mark {
        self.marker_after(usize::from(self.shade))
    }

    fn marker_after(self, steps: usize) -> Mark {
        let own = MARKERS.iter().position(|(marker, _)| *marker == self.marker).unwrap_or(0);
        Mark::new(MARKERS[(own + steps) % MARKERS.len()].1, self.role(), RADIUS)
    }

    /// The line of a curve.
    pub(crate) fn stroke(self) -> Stroke {
        Stroke::new(self.role(), 1.6).dashed(DASHES[usize::from(self.shade) % DASHES.len()])
    }

    /// Fill of a bar, and its opacity; a hatching becomes a definition of the picture `id`.
    pub(crate) fn fill(self, canvas: &mut Canvas, id: &str) -> (String, f64) {
        let (strokes, ground) = FILLS[usize::from(self.shade) % FILLS.len()];
        let paint = self.role().css();
        if strokes.is_empty() {
            return (paint, ground);
        }
        let name = format!("{}-{}-{}", identifier(id), self.role().name, self.shade);
        canvas.define(&format!(
            "<pattern id=\"{name}\" width=\"5\" height=\"5\" patternUnits=\"userSpaceOnUse\">\
             <rect width=\"5\" height=\"5\" fill-opacity=\"{ground}\" style=\"fill:{paint}\"/>\
             <path d=\"{strokes}\" stroke-width=\"1.1\" style=\"stroke:{paint}\"/></pattern>"
        ));
        (format!("url(#{name})"), 1.0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Shades are told apart without colour, and keep the hue.
    #[test]
    fn series_of_one_scheme_share_its_hue_and_differ_in_all_else() {
        let look = Look::new(Hue::Blue, Marker::Square);
        let mut canvas = Canvas::new(crate::Size { width: 300, height: 200 });
        let all: Vec<_> = (0..6)
            .map(|shade| {
                let look = look.shaded(shade);
                (look.fill(&mut canvas, "id"), look.stroke().dash, look.mark_of_curve().shape)
            })
            .collect();
        for (index, (fill, dash, shape)) in all.iter().enumerate() {
            assert!(fill.0.contains("hue-blue"), "{fill:?}");
            for (other, other_dash, other_shape) in &all[index + 1..] {
                assert!(fill != other && dash != other_dash && shape != other_shape, "{index}");
            }
        }
        assert!((0..6).all(|shade| look.shaded(shade).mark().shape == look.mark().shape));
    }
}
