//! Where the new link's time went, one stacked bar per scheme.

use crate::about::{About, Size};
use crate::axis::{Axis, Spacing};
use crate::canvas::{Anchor, Area, Canvas, LINE, Pen, Place, Stroke, identifier};
use crate::frame;
use crate::legend::{self, Sample};
use crate::moments::extremes;
use crate::palette;
use crate::text;

/// The time of one scheme, in s, by the classes of docs/reference/bench.md.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct LinkTimeBar {
    /// Name of the scheme.
    pub label: String,
    /// Carries bytes that the mobile has not had.
    pub useful: f64,
    /// Carries bytes that it has had.
    pub needless: f64,
    /// Idle; data is on its way to the link, or last ACKs are awaited.
    pub idle_path: f64,
    /// Idle; a window forbids to send.
    pub idle_window: f64,
    /// Idle; every sender waits for a timer.
    pub idle_timer: f64,
    /// Idle for another reason.
    pub idle_other: f64,
    /// Said at the end of the bar in place of its length, such as `not done`.
    pub outcome: Option<String>,
}

/// Stacked horizontal bars of the new link's time.
#[derive(Clone, Debug, PartialEq)]
pub struct LinkTime {
    /// Id, title and description.
    pub about: About,
    /// Physical bound, s.
    pub bound: Option<f64>,
    /// From top to bottom.
    pub bars: Vec<LinkTimeBar>,
}

/// Names of the classes, in order.
const NAMES: [&str; 6] =
    ["useful", "needless", "idle: under way", "idle: window", "idle: timer", "idle: other"];
const BOUND_LINE: Stroke = Stroke::new(palette::BOUND, 1.6).dashed("6 2");
/// Strokes within a tile of 6 px by 6 px that tell a class from its neighbours without colour; the first
/// class is solid.
const HATCHES: [&str; 6] = ["", "M0 6L6 0", "", "M0 3H6", "M3 0V6", "M1.5 1.5h2"];
/// How much of its colour a class has under its strokes.
const GROUND: [f64; 6] = [1.0, 0.4, 0.35, 0.3, 0.3, 0.25];

impl LinkTimeBar {
    fn given(&self) -> [f64; 6] {
        let LinkTimeBar { useful, needless, idle_path, idle_window, idle_timer, idle_other, .. } = *self;
        [useful, needless, idle_path, idle_window, idle_timer, idle_other]
    }

    /// The sum as it is told, infinite or not.
    fn total(&self) -> String {
        if let Some(outcome) = &self.outcome {
            return outcome.clone();
        }
        format!("{} s", text::number(self.given().iter().sum()))
    }

    /// The classes in order; what is no length is none.
    fn classes(&self) -> [f64; 6] {
        let all =
            [self.useful, self.needless, self.idle_path, self.idle_window, self.idle_timer, self.idle_other];
        all.map(|length| if length.is_finite() { length.clamp(0.0, 1e12) } else { 0.0 })
    }
}

impl LinkTime {
    /// The picture.
    pub fn svg(&self, size: Size) -> String {
        self.drawn(size).finish(&self.about)
    }

    pub(crate) fn drawn(&self, size: Size) -> Canvas {
        let mut canvas = Canvas::new(size);
        let paints = self.define_patterns(&mut canvas);
        let top = frame::heading(&mut canvas, &self.about);
        let top = legend::draw(&mut canvas, top, &self.entries(&paints));
        let font = canvas.font();
        let row = font * LINE;
        let bound = self.bound.filter(|bound| bound.is_finite() && *bound >= 0.0);
        let strip = if bound.is_some() { row + 4.0 } else { 4.0 };

        let names = self.bars.iter().map(|bar| text::width(&bar.label, font)).fold(0.0, f64::max);
        let beside = names <= canvas.width() * 0.25;
        let totals: Vec<f64> = self.bars.iter().map(|bar| bar.classes().iter().sum()).collect();
        let widest = self.bars.iter().map(|bar| text::width(&bar.total(), font)).fold(0.0, f64::max);
        let area = frame::plot_area(
            if beside { names + 12.0 } else { 8.0 },
            top + strip,
            (canvas.width() - widest - 10.0).max(canvas.width() * 0.5),
            canvas.height() - frame::below(&canvas),
        );
        let (_, longest) = extremes(totals.iter().copied().chain(bound));
        let time =
            Axis::new(Spacing::Linear, 0.0, if longest > 0.0 { longest } else { 1.0 }, area.left, area.right);
        frame::draw_horizontal(&mut canvas, area, &time, "time after completion, s");
        canvas.line((area.left, area.top), (area.left, area.bottom), Stroke::new(palette::MUTED, 1.0));
        let slot = area.height() / self.bars.len().max(1) as f64;
        let bound = bound.map(|bound| (bound, time.at(bound)));
        // A name above its bar that the line of the bound would run through: it is broken there.
        let broken = bound.is_some_and(|(_, x)| !beside && area.left + 2.0 + names > x - 2.0);
        for (index, (bar, total)) in self.bars.iter().zip(&totals).enumerate() {
            let slot_top = area.top + slot * index as f64;
            let above = if beside { 0.0 } else { row + 3.0 };
            let height = ((slot - above) * 0.66).clamp(1.0, 30.0);
            let middle = slot_top + above + (slot - above) / 2.0;
            let name = if beside {
                Place::new(area.left - 6.0, middle, Anchor::End)
            } else {
                Place::new(area.left + 2.0, middle - height / 2.0 - row / 2.0 - 2.0, Anchor::Start)
            };
            let label = text::shorten(&bar.label, font, canvas.width() - 16.0);
            canvas.label(&label, palette::INK, &[name]);
            let strip = Area {
                left: area.left,
                right: area.right,
                top: middle - height / 2.0,
                bottom: middle + height / 2.0,
            };
            draw_bar(&mut canvas, bar, &paints, &time, strip);
            let end = time.at(*total) + 6.0;
            let behind = bound.map_or(end, |(_, x)| x + 4.0).max(end);
            let places = [end, behind].map(|x| Place::new(x, middle, Anchor::Start));
            canvas.label_off_lines(&bar.total(), palette::INK, "", &places);
            if let Some((_, x)) = bound.filter(|_| broken) {
                canvas.line((x, strip.top - 2.0), (x, strip.bottom + 2.0), BOUND_LINE);
            }
        }
        if let Some((bound, x)) = bound {
            if !broken {
                canvas.line((x, area.top - 4.0), (x, area.bottom), BOUND_LINE);
            }
            let words = format!("bound {} s", text::number(bound));
            let y = area.top - 4.0 - row / 2.0;
            let edge = canvas.width();
            let places = [
                Place::new(x, y, Anchor::Middle),
                Place::new(x.min(edge), y, Anchor::End),
                Place::new(x, y, Anchor::Start),
            ];
            canvas.label(&words, palette::INK, &places);
        }
        canvas
    }

    /// Colour or pattern of each class.
    fn define_patterns(&self, canvas: &mut Canvas) -> [String; 6] {
        let id = identifier(&self.about.id);
        let mut index = 0;
        palette::CLASSES.map(|role| {
            let (hatch, ground) = (HATCHES[index], GROUND[index]);
            index += 1;
            if index == 1 {
                return role.css();
            }
            let paint = role.css();
            canvas.define(&format!(
                "<pattern id=\"{id}-{}\" width=\"6\" height=\"6\" patternUnits=\"userSpaceOnUse\">\
                 <rect width=\"6\" height=\"6\" fill-opacity=\"{ground}\" style=\"fill:{paint}\"/>\
                 <path d=\"{hatch}\" stroke-width=\"1.4\" style=\"stroke:{paint}\"/></pattern>",
                role.name
            ));
            format!("url(#{id}-{})", role.name)
        })
    }

    fn entries(&self, paints: &[String; 6]) -> Vec<(Sample, String)> {
        let occurs = |class: usize| self.bars.iter().any(|bar| bar.classes()[class] > 0.0);
        (0..NAMES.len())
            .filter(|class| occurs(*class))
            .map(|class| (Sample::Block(paints[class].clone()), NAMES[class].to_string()))
            .collect()
    }
}

/// The classes of one bar, one after the other.
fn draw_bar(canvas: &mut Canvas, bar: &LinkTimeBar, paints: &[String; 6], time: &Axis, strip: Area) {
    let mut from = 0.0;
    for (class, length) in bar.classes().into_iter().enumerate() {
        let (left, right) = (time.at(from), time.at(from + length));
        from += length;
        if right <= left {
            continue;
        }
        let mut pen = Pen::default();
        pen.rectangle(Area { left, right, ..strip });
        canvas.explained(&format!("{}: {} {} s", bar.label, NAMES[class], text::number(length)), |canvas| {
            canvas.fill(pen.path(), &paints[class], 1.0);
            canvas.stroke(pen.path(), Stroke::new(palette::CLASSES[class], 0.8));
        });
    }
}
