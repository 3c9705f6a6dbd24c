//! Queues of the old and the new access link: length, and the wait of each data packet.

use crate::about::{About, Size};
use crate::axis::Spacing;
use crate::canvas::{Canvas, Stroke};
use crate::frame::Vertical;
use crate::legend::Sample;
use crate::marks::{Mark, Shape};
use crate::moments::{Point, Shown, Timeline, extremes, visible};
use crate::palette;

/// The queue of one access link.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct LinkQueue {
    /// Name for the legend, such as `old link 6400kbit/9ms`.
    pub label: String,
    /// Time in s, and packets in the queue from then on.
    pub length: Vec<Point>,
    /// Time in s, and the wait in s of a data packet that left the queue then.
    pub delays: Vec<Point>,
    /// Packets that the queue holds.
    pub limit: Option<f64>,
}

/// Queue lengths above, queueing delays below.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct QueueGraph {
    /// Id, title and description.
    pub about: About,
    /// Plotted time, handoff and notices.
    pub timeline: Timeline,
    /// The link before the handoff.
    pub old: LinkQueue,
    /// The link after it.
    pub new: LinkQueue,
}

/// How the two links look: their lines, their limits, their packets. The old one is drawn
/// thinner: it is mostly the faster one, with many packets.
const STYLES: [(Stroke, Stroke, Mark); 2] = [
    (
        Stroke::new(palette::OLD_LINK, 0.8),
        Stroke::new(palette::OLD_LINK, 1.0).dashed("2 3"),
        Mark::new(Shape::Tick, palette::OLD_LINK, 2.2),
    ),
    (
        Stroke::new(palette::NEW_LINK, 1.8),
        Stroke::new(palette::NEW_LINK, 1.0).dashed("7 3"),
        Mark::new(Shape::Dot, palette::NEW_LINK, 1.3),
    ),
];

impl QueueGraph {
    /// The picture.
    pub fn svg(&self, size: Size) -> String {
        self.drawn(size).finish(&self.about)
    }

    pub(crate) fn drawn(&self, size: Size) -> Canvas {
        let mut canvas = Canvas::new(size);
        let links = [&self.old, &self.new];
        let times = links.into_iter().flat_map(|link| link.length.iter().chain(&link.delays));
        let span = self.timeline.range(times.map(|point| point.time));
        let (_, most) = extremes(
            links.into_iter().flat_map(|link| visible(&link.length, span).chain(link.limit)).chain([1.0]),
        );
        let within = |point: &&Point| point.time >= span.0 && point.time <= span.1;
        let delays = links.into_iter().flat_map(|link| link.delays.iter().filter(within));
        let (_, longest) = extremes(delays.map(|point| point.value));
        let longest = if longest > 0.0 { longest } else { 1.0 };
        let vertical = |label: &str, high: f64, whole: bool| Vertical {
            label: label.to_string(),
            spacing: Spacing::Linear,
            low: 0.0,
            high: high * 1.08,
            whole,
        };
        let verticals = [
            vertical("queue length, packets", most, true),
            vertical("queueing delay of data, s", longest, false),
        ];
        let entries = self.entries(span);
        let panels = self.timeline.panels(&mut canvas, &self.about, span, &entries, &verticals);
        if let [lengths, delays] = panels.as_slice() {
            let same = self.old.limit == self.new.limit;
            for (index, (link, (line, limit, mark))) in links.into_iter().zip(STYLES).enumerate() {
                if let Some(most) =
                    link.limit.filter(|_| index == 0 || !same).filter(|most| lengths.value.has(*most))
                {
                    let y = lengths.value.at(most);
                    lengths.draw(&mut canvas, Shown::Line, "", |canvas| {
                        canvas.line((lengths.area.left, y), (lengths.area.right, y), limit);
                    });
                }
                let which = ["old", "new"][index];
                lengths.draw(&mut canvas, Shown::Line, &format!("{which} queue"), |canvas| {
                    canvas.stroke(lengths.steps(&link.length).path(), line);
                });
                delays.draw(&mut canvas, Shown::Mark, &format!("{which} delay"), |canvas| {
                    mark.draw(canvas, delays.places(link.delays.iter().copied()));
                });
            }
        }
        canvas
    }

    fn entries(&self, span: (f64, f64)) -> Vec<(Sample, String)> {
        let mut entries = Vec::new();
        let links = [(&self.old, "old"), (&self.new, "new")];
        for ((link, which), (line, limit, mark)) in links.into_iter().zip(STYLES) {
            if visible(&link.length, span).next().is_some() {
                entries.push((Sample::Line(line), link.label.clone()));
            }
            match (link.limit, self.old.limit == self.new.limit, which) {
                (None, ..) | (Some(_), true, "new") => {}
                (Some(_), true, _) => entries.push((Sample::Line(limit), "limit of both".to_string())),
                (Some(_), false, _) => entries.push((Sample::Line(limit), format!("{which} limit"))),
            }
            if link.delays.iter().any(|point| point.time >= span.0 && point.time <= span.1) {
                entries.push((Sample::Mark(mark), format!("data, {which} link")));
            }
        }
        entries.extend(self.timeline.entries(span));
        entries
    }
}
