//! Queueing delay over time under active queue management. It shows how long each sender's data waits in the queue of a
//! link, beside the delay that the queue aims at (RFC 8289, section 4.3; RFC 8033, section 4.2). One plot per link.

use crate::about::{About, Size};
use crate::axis::{Axis, Spacing};
use crate::canvas::{Canvas, Stroke};
use crate::frame::Vertical;
use crate::legend::Sample;
use crate::look::Series;
use crate::marks::{Mark, Shape};
use crate::moments::{Panel, Point, Shown, Timeline, extremes, visible};
use crate::palette;

/// One sender's data in one queue.
#[derive(Clone, Debug, PartialEq)]
pub struct QueueDelay {
    /// Name, hue and marker.
    pub series: Series,
    /// Time in s, and the wait in s of what leaves the queue from then on; 0 where it is empty.
    pub delays: Vec<Point>,
    /// Nothing is known from then on, s; `None`: all is known.
    pub end: Option<f64>,
    /// When the queue dropped a packet, s.
    pub drops: Vec<f64>,
    /// When it marked one, s.
    pub marks: Vec<f64>,
}

/// A queue.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct QueueDelayPlot {
    /// Which one, such as `new link, fq_codel`.
    pub label: String,
    /// The delay that it aims at, s.
    pub target: Option<f64>,
    /// The senders.
    pub courses: Vec<QueueDelay>,
}

/// Delays in queues, all senders in one plot.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct QueueDelayGraph {
    /// Id, title and description.
    pub about: About,
    /// Plotted time, handoff and notices.
    pub timeline: Timeline,
    /// From top to bottom.
    pub plots: Vec<QueueDelayPlot>,
}

const TARGET_LINE: Stroke = Stroke::new(palette::BOUND, 1.2).dashed("6 2");
/// Markers on a curve: they tell curves apart, and do not hide them.
const MARKERS: usize = 6;

impl QueueDelay {
    /// Drops and marks are shown at the delay of their time.
    fn at(&self, time: f64) -> Point {
        let before = self.delays.partition_point(|point| point.time <= time);
        Point::new(time, before.checked_sub(1).map_or(0.0, |index| self.delays[index].value))
    }

    fn cross(&self) -> Mark {
        Mark::new(Shape::Cross, self.series.look.role(), 3.2)
    }

    fn plus(&self) -> Mark {
        Mark::new(Shape::Plus, self.series.look.role(), 3.2)
    }

    /// `shift`: where its first marker stands, of the distance between two.
    fn draw(&self, canvas: &mut Canvas, panel: &Panel, shift: f64) {
        let name = &self.series.label;
        let end = self.end.unwrap_or(f64::INFINITY);
        panel.draw(canvas, Shown::Line, name, |canvas| {
            canvas.stroke(panel.steps_until(&self.delays, end).path(), self.series.look.stroke());
        });
        let apart = (panel.time.high() - panel.time.low()) / MARKERS as f64;
        let places = (0..MARKERS).map(|k| self.at(panel.time.low() + apart * (k as f64 + shift)));
        let begun = self.delays.first().map_or(f64::INFINITY, |point| point.time);
        let places: Vec<Point> = places.filter(|point| (begun..=end).contains(&point.time)).collect();
        panel.draw(canvas, Shown::Mark, "", |canvas| {
            self.series.look.mark_of_curve().draw(canvas, panel.places(places));
        });
        for (times, mark) in [(&self.drops, self.cross()), (&self.marks, self.plus())] {
            panel.draw(canvas, Shown::Mark, "", |canvas| {
                mark.draw(canvas, panel.places(times.iter().map(|&time| self.at(time))));
            });
        }
    }
}

impl QueueDelayGraph {
    /// The picture.
    pub fn svg(&self, size: Size) -> String {
        self.drawn(size).finish(&self.about)
    }

    pub(crate) fn drawn(&self, size: Size) -> Canvas {
        let mut canvas = Canvas::new(size);
        let courses = || self.plots.iter().flat_map(|plot| &plot.courses);
        let times = courses().flat_map(|course| course.delays.iter().map(|point| point.time));
        let span = self.timeline.range(times);
        let verticals: Vec<Vertical> = self.plots.iter().map(|plot| plot.vertical(span)).collect();
        let entries = self.entries(span);
        let panels = self.timeline.panels(&mut canvas, &self.about, span, &entries, &verticals);
        for (panel, plot) in panels.iter().zip(&self.plots) {
            if let Some(target) = plot.target.filter(|target| panel.value.has(*target)) {
                let y = panel.value.at(target);
                canvas.line((panel.area.left, y), (panel.area.right, y), TARGET_LINE);
            }
            for (index, course) in plot.courses.iter().enumerate() {
                course.draw(&mut canvas, panel, (index as f64 + 0.5) / plot.courses.len() as f64);
            }
        }
        canvas
    }

    fn entries(&self, span: (f64, f64)) -> Vec<(Sample, String)> {
        let mut entries: Vec<(Sample, String)> = Vec::new();
        for course in self.plots.iter().flat_map(|plot| &plot.courses) {
            let label = &course.series.label;
            if visible(&course.delays, span).next().is_some()
                && entries.iter().all(|(_, known)| known != label)
            {
                let look = course.series.look;
                entries.push((Sample::Marked(look.stroke(), look.mark_of_curve()), label.clone()));
            }
        }
        let time = Axis::new(Spacing::Linear, span.0, span.1, 0.0, 1.0);
        let courses = || self.plots.iter().flat_map(|plot| &plot.courses);
        let first = |times: fn(&QueueDelay) -> &[f64]| {
            courses().find(|course| times(course).iter().any(|at| time.has(*at)))
        };
        if let Some(course) = first(|course| &course.drops) {
            entries.push((Sample::Mark(course.cross()), "dropped".to_string()));
        }
        if let Some(course) = first(|course| &course.marks) {
            entries.push((Sample::Mark(course.plus()), "marked".to_string()));
        }
        if self.plots.iter().any(|plot| plot.target.is_some()) {
            entries.push((Sample::Line(TARGET_LINE), "target of the queue".to_string()));
        }
        entries.extend(self.timeline.entries(span));
        entries
    }
}

impl QueueDelayPlot {
    /// The axis has the target on it, too.
    fn vertical(&self, span: (f64, f64)) -> Vertical {
        let delays = self.courses.iter().flat_map(|course| visible(&course.delays, span));
        let (_, most) = extremes(delays.chain(self.target));
        let high = if most > 0.0 { most * 1.08 } else { 1.0 };
        let label = format!("{}: queueing delay, s", self.label);
        Vertical { label, spacing: Spacing::Linear, low: 0.0, high, whole: false }
    }
}
