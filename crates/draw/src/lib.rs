//! Every picture of Segue, as SVG text. A picture is a plain structure of seconds, packets and labels. Its `svg` method
//! gives the same bytes for the same data and panics for none.
//!
//! Colours are CSS variables (`--segue-data` and so on, [`palette`]). A page that shows pictures inline has
//! [`style_sheet`] once. [`standalone`] makes a picture that brings its own, and [`printed`] one with plain colours for
//! programs that do not know CSS variables.

mod about;
mod axis;
mod canvas;
mod category_names;
mod frame;
mod journey;
mod ladder;
mod legend;
mod lines;
mod link_time;
mod look;
mod marks;
mod moments;
pub mod palette;
mod quartiles;
mod queue;
mod queue_delay;
mod sequence;
mod stalls;
#[cfg(test)]
mod tests;
mod text;
mod window;

pub use about::{About, Size};
pub use axis::Spacing;
pub use journey::{Cell, Course, Journey};
pub use ladder::{Ladder, LadderMessage, LadderSpan};
pub use lines::{Line, LineChart, LinePlot};
pub use link_time::{LinkTime, LinkTimeBar};
pub use look::{Hue, Look, Marker, Series};
pub use moments::{Handoff, Notice, Point, Timeline};
pub use palette::{printed, standalone, style_sheet};
pub use quartiles::{Across, Group, QuartileChart, Quartiles};
pub use queue::{LinkQueue, QueueGraph};
pub use queue_delay::{QueueDelay, QueueDelayGraph, QueueDelayPlot};
pub use sequence::{Drop, DropPlace, Sack, SequenceGraph, Timeout};
pub use stalls::{StallChart, StallRow};
pub use window::WindowGraph;
