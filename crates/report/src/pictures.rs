//! Pictures in the page: a wide one, and a narrow one for small screens; together within a budget.

use maud::{Markup, PreEscaped, html};
use segue_draw::Size;
use std::cell::Cell;

/// What a page may weigh, less its text: 3 MB are promised.
const BUDGET: usize = 2_600_000;
/// Width of what a page shows on a small screen, px.
const NARROW: u32 = 350;
/// And else.
const WIDE: u32 = 860;

/// Bytes that pictures may still take. What comes first is sure of its place.
pub struct Budget(Cell<usize>);

impl Budget {
    /// A page without pictures.
    pub fn new() -> Self {
        Self(Cell::new(BUDGET))
    }

    /// Takes the room of a text, if there is enough.
    pub fn takes(&self, bytes: usize) -> bool {
        let left = self.0.get().checked_sub(bytes);
        self.0.set(left.unwrap_or(self.0.get()));
        left.is_some()
    }
}

/// One picture, drawn twice.
pub struct Picture {
    wide: String,
    narrow: String,
}

impl Picture {
    /// Draws a picture by its size and the suffix of its id; heights in px.
    pub fn draw(heights: (u32, u32), svg: impl Fn(Size, &str) -> String) -> Self {
        Self {
            wide: svg(Size { width: WIDE, height: heights.0 }, ""),
            narrow: svg(Size { width: NARROW, height: heights.1 }, "-narrow"),
        }
    }

    /// The wide one.
    pub fn wide(&self) -> &str {
        &self.wide
    }

    /// Bytes of the wide one, and of both.
    pub fn bytes(&self) -> (usize, usize) {
        (self.wide.len(), self.wide.len() + self.narrow.len())
    }

    /// The picture in a page; the narrow one waits in a template that the page's script looks into. Without it
    /// the wide one keeps its width, and small screens scroll.
    pub fn markup(&self, with_narrow: bool, caption: &str) -> Markup {
        html! {
            figure {
                div.picture.alone[!with_narrow] {
                    (PreEscaped(&self.wide))
                    @if with_narrow { template { (PreEscaped(&self.narrow)) } }
                }
                figcaption { (caption) }
            }
        }
    }
}
