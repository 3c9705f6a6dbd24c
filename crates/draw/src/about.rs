//! The size and the names of a picture.

/// Size of a picture in px. Pictures adapt to it; they scale as well, but their text scales with them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Size {
    /// From 120 to 8000; others are brought into this range.
    pub width: u32,
    /// From 100 to 8000; others are brought into this range.
    pub height: u32,
}

/// Names of a picture.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct About {
    /// Prefix of the ids in the SVG; unique in a page. Letters, digits, `-` and `_`, others become `_`.
    pub id: String,
    /// The `title` of the SVG, for screen readers and as a tooltip.
    pub title: String,
    /// The `desc` of the SVG: what there is to see, in a sentence or two.
    pub description: String,
    /// Drawn above the picture unless empty; a page or a paper says it beside the picture instead.
    pub heading: String,
}
