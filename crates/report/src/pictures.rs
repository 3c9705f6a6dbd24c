//! Pictures in the page: a wide one, and a narrow one for small screens; together within a budget.

use maud::{Markup, PreEscaped, html};
use segue_draw::Size;
use std::cell::Cell;

/// Largest page without style and script, bytes: 3 MB are promised.
const PAGE: usize = 2_900_000;
/// Room in it for pictures where nobody counts the words, bytes.
const PICTURES: usize = 2_600_000;
/// Width of what a page shows on a small screen, px.
const NARROW: u32 = 350;
/// And else.
const WIDE: u32 = 860;

/// Bytes that pictures may still take. The first pictures are sure of their place.
pub struct Budget(Cell<usize>);

impl Budget {
    /// A page whose words are not counted.
    pub fn of_pictures() -> Self {
        Self(Cell::new(PICTURES))
    }

    /// A page without anything in it, whose words take room, too.
    pub fn of_page() -> Self {
        Self(Cell::new(PAGE))
    }

    /// Takes the room of a text, if there is enough.
    pub fn takes(&self, bytes: usize) -> bool {
        let left = self.0.get().checked_sub(bytes);
        self.0.set(left.unwrap_or(self.0.get()));
        left.is_some()
    }

    /// Takes the room of what stands in the page whatever it weighs.
    pub fn must_take(&self, bytes: usize) {
        self.0.set(self.0.get().saturating_sub(bytes));
    }
}

/// One picture, drawn twice; or none.
#[derive(Default)]
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

    /// Whether there is none.
    pub fn is_empty(&self) -> bool {
        self.wide.is_empty()
    }

    /// The wide one.
    pub fn wide(&self) -> &str {
        &self.wide
    }

    /// Bytes of the wide one, and of both.
    pub fn bytes(&self) -> (usize, usize) {
        (self.wide.len(), self.wide.len() + self.narrow.len())
    }

    /// The narrow one alone, where little is in it.
    pub fn narrow_markup(&self, caption: &str) -> Markup {
        html! { figure { div.picture { (PreEscaped(&self.narrow)) } figcaption { (caption) } } }
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
