//! Messages between several parties, as a ladder: a line per party, time downwards. Instants follow each other in equal
//! steps, since a handover has a dozen messages within milliseconds, and then none for half a second. The time stands
//! at the left.

use crate::about::{About, Size};
use crate::canvas::{Anchor, Area, Canvas, LINE, Pen, Place, Stroke, decimal};
use crate::frame;
use crate::legend::{self, Sample};
use crate::marks::{Mark, Shape};
use crate::palette;
use crate::text;

/// One message.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct LadderMessage {
    /// Its name.
    pub label: String,
    /// Its sender, as an index of [`Ladder::parties`].
    pub from: usize,
    /// Its receiver, as an index of [`Ladder::parties`].
    pub to: usize,
    /// When it left, in the unit of [`Ladder::unit`].
    pub sent: f64,
    /// When it came; `None`: it was lost.
    pub arrived: Option<f64>,
}

/// State of one party from one instant to another.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct LadderSpan {
    /// Name of the state.
    pub label: String,
    /// The party, as an index of [`Ladder::parties`].
    pub party: usize,
    /// Its beginning, in the unit of [`Ladder::unit`].
    pub from: f64,
    /// Its end, in the same unit.
    pub to: f64,
}

/// Messages and spans.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Ladder {
    /// Id, title and description.
    pub about: About,
    /// Names, from left to right.
    pub parties: Vec<String>,
    /// Unit and origin of the times, such as `ms after the hint`.
    pub unit: String,
    /// In any order; one that names no party is left out.
    pub messages: Vec<LadderMessage>,
    /// In any order; one that names no party is left out.
    pub spans: Vec<LadderSpan>,
}

const LIFE: Stroke = Stroke::new(palette::MUTED, 1.0);
const ARROW: Stroke = Stroke::new(palette::DATA, 1.3);
const LOST: Mark = Mark::new(Shape::Cross, palette::DROP, 4.0);
/// Half the width of a span, px.
const SPAN: f64 = 4.0;

/// Where times and parties are.
struct Layout {
    area: Area,
    parties: Vec<f64>,
    instants: Vec<f64>,
}

impl Layout {
    /// Height of an instant that the ladder has.
    fn y(&self, time: f64) -> f64 {
        let row = self.instants.partition_point(|instant| *instant < time);
        self.area.top + self.area.height() * (row as f64 + 0.5) / self.instants.len().max(1) as f64
    }

    /// The bar of a span, if it has a party and a length.
    fn span(&self, span: &LadderSpan) -> Option<Area> {
        let known = |_: &&f64| span.from.is_finite() && span.to.is_finite();
        let x = *self.parties.get(span.party).filter(known)?;
        let (top, bottom) = (self.y(span.from.min(span.to)), self.y(span.from.max(span.to)));
        Some(Area { left: x - SPAN, right: x + SPAN, top, bottom })
    }

    /// Both ends of a message; one that was lost ends half way, a row below.
    fn ends(&self, message: &LadderMessage) -> Option<((f64, f64), (f64, f64))> {
        let from = (*self.parties.get(message.from)?, self.y(message.sent));
        let to = *self.parties.get(message.to)?;
        let row = self.area.height() / self.instants.len().max(1) as f64;
        Some(match message.arrived {
            Some(arrived) => (from, (to, self.y(arrived))),
            None => (from, (from.0.midpoint(to), from.1 + row / 2.0)),
        })
    }
}

impl Ladder {
    /// The picture.
    pub fn svg(&self, size: Size) -> String {
        self.drawn(size).finish(&self.about)
    }

    pub(crate) fn drawn(&self, size: Size) -> Canvas {
        let mut canvas = Canvas::new(size);
        let top = frame::heading(&mut canvas, &self.about);
        let top = if self.messages.iter().any(|message| message.arrived.is_none()) {
            legend::draw(&mut canvas, top, &[(Sample::Mark(LOST), "lost".into())])
        } else {
            top
        };
        let row = canvas.font() * LINE;
        let layout = self.layout(&canvas, top + row * 2.0);
        let Layout { area, ref parties, .. } = layout;
        let unit = text::shorten(&self.unit, canvas.font(), canvas.width() - 8.0);
        canvas.label(&unit, palette::MUTED, &[Place::new(4.0, top + row / 2.0, Anchor::Start)]);
        for (name, &x) in self.parties.iter().zip(parties) {
            canvas.line((x, area.top), (x, area.bottom), LIFE);
            canvas.label(name, palette::INK, &[Place::new(x, area.top - row / 2.0, Anchor::Middle)]);
        }
        self.spans.iter().for_each(|span| draw_span(&mut canvas, &layout, span));
        let mut arrows: Vec<&LadderMessage> = self.messages.iter().filter(|m| m.sent.is_finite()).collect();
        arrows.sort_by(|a, b| a.sent.total_cmp(&b.sent));
        for message in arrows {
            draw_message(&mut canvas, &layout, message);
        }
        self.spans.iter().for_each(|span| name_span(&mut canvas, &layout, span));
        canvas
    }

    fn layout(&self, canvas: &Canvas, top: f64) -> Layout {
        let sent = self.messages.iter().flat_map(|message| [Some(message.sent), message.arrived]);
        let spans = self.spans.iter().flat_map(|span| [span.from, span.to]);
        let mut instants: Vec<f64> = sent.flatten().chain(spans).filter(|time| time.is_finite()).collect();
        instants.sort_by(f64::total_cmp);
        instants.dedup();
        let widest = instants.iter().map(|&time| text::width(&decimal(time), canvas.font()));
        let left = widest.fold(0.0, f64::max) + 14.0;
        let area = frame::plot_area(left, top, canvas.width() - 8.0, canvas.height() - 6.0);
        let slot = area.width() / self.parties.len().max(1) as f64;
        let parties = (0..self.parties.len()).map(|index| area.left + slot * (index as f64 + 0.5)).collect();
        Layout { area, parties, instants }
    }
}

fn draw_span(canvas: &mut Canvas, layout: &Layout, span: &LadderSpan) {
    let Some(area) = layout.span(span) else { return };
    let mut pen = Pen::default();
    pen.rectangle(area);
    let words = format!("{}: {} to {}", span.label, decimal(span.from), decimal(span.to));
    canvas.explained(&words, |canvas| {
        canvas.fill(pen.path(), &palette::NOTICE.css(), 0.25);
        canvas.stroke(pen.path(), Stroke::new(palette::NOTICE, 1.0));
    });
}

/// The name of a span stands beside it where no arrow begins or ends.
fn name_span(canvas: &mut Canvas, layout: &Layout, span: &LadderSpan) {
    let Some(Area { left, right, top, bottom }) = layout.span(span) else { return };
    let parts = [0.5, 0.4, 0.6, 0.3, 0.7, 0.2, 0.8, 0.1, 0.9];
    let places = parts.map(|part| {
        let y = top + (bottom - top) * part;
        [Place::new(right + 4.0, y, Anchor::Start), Place::new(left - 4.0, y, Anchor::End)]
    });
    canvas.label_off_lines(&span.label, palette::NOTICE, "", places.as_flattened());
}

fn draw_message(canvas: &mut Canvas, layout: &Layout, message: &LadderMessage) {
    let Some((from, to)) = layout.ends(message) else { return };
    let came = message.arrived.map_or("lost".to_string(), decimal);
    let words = format!("{}: {} to {came}", message.label, decimal(message.sent));
    canvas.explained(&words, |canvas| {
        canvas.line(from, to, ARROW);
        match message.arrived {
            Some(_) => {
                let mut head = Pen::default();
                head.polygon(&arrow_head(from, to));
                canvas.fill(head.path(), &ARROW.role.css(), 1.0);
            }
            None => LOST.draw(canvas, [to]),
        }
    });
    let time = Place::new(layout.area.left - 8.0, from.1, Anchor::End);
    canvas.label(&decimal(message.sent), palette::MUTED, &[time]);
    canvas.label_off_lines(
        &message.label,
        palette::INK,
        "",
        &along(canvas, layout, from, to, &message.label),
    );
}

/// Places for the name of an arrow. The first are between the lines of two parties, above the arrow or below it, from its
/// middle on.
fn along(canvas: &Canvas, layout: &Layout, from: (f64, f64), to: (f64, f64), name: &str) -> Vec<Place> {
    let (low, high) = (from.0.min(to.0), from.0.max(to.0));
    let (middle, half) = (low.midpoint(high), text::width(name, canvas.font()) / 2.0);
    let slope = if to.0 == from.0 { 0.0 } else { (to.1 - from.1) / (to.0 - from.0) };
    let inside = layout.parties.iter().copied().filter(|x| *x > low && *x < high);
    let mut edges: Vec<f64> = inside.chain([low, high]).collect();
    edges.sort_by(f64::total_cmp);
    let mut xs: Vec<f64> = edges
        .windows(2)
        .flat_map(|gap| {
            // As far to the side as the lines of the parties allow.
            let room = (gap[1] - gap[0]) / 2.0 - half - SPAN - 2.0;
            [0.0, -0.5, 0.5, -1.0, 1.0].map(|part| gap[0].midpoint(gap[1]) + room.max(0.0) * part)
        })
        .collect();
    xs.sort_by(|a, b| (a - middle).abs().total_cmp(&(b - middle).abs()));
    // The corner of the name that is nearest to a steep arrow keeps off it, too.
    let apart = canvas.font() * LINE / 2.0 + slope.abs() * half;
    let beside = |x: &f64| {
        let y = from.1 + slope * (x - from.0);
        [-apart, apart].map(|down| Place::new(*x, y + down, Anchor::Middle))
    };
    // Else behind its begin, or before its end.
    let (out, row) = (if to.0 < from.0 { -1.0 } else { 1.0 }, canvas.font() * LINE / 2.0);
    let ends = [(from, -out), (to, out)].map(|((x, y), out)| {
        let anchor = if out < 0.0 { Anchor::End } else { Anchor::Start };
        [0.0, row, -row].map(|down| Place::new(x + out * (SPAN + 4.0), y + down, anchor))
    });
    xs.iter().flat_map(beside).chain(ends.into_iter().flatten()).collect()
}

/// The head of an arrow that ends at `to`.
fn arrow_head(from: (f64, f64), to: (f64, f64)) -> [(f64, f64); 3] {
    let (x, y) = (to.0 - from.0, to.1 - from.1);
    let length = x.hypot(y).max(1.0);
    let (x, y) = (x / length, y / length);
    let back = (to.0 - x * 8.0, to.1 - y * 8.0);
    [to, (back.0 - y * 3.0, back.1 + x * 3.0), (back.0 + y * 3.0, back.1 - x * 3.0)]
}
