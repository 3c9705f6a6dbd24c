//! Congestion window, slow start threshold and FlightSize of one flow.

use crate::about::{About, Size};
use crate::axis::Spacing;
use crate::canvas::{Canvas, Stroke};
use crate::frame::Vertical;
use crate::legend::Sample;
use crate::moments::{Point, Shown, Timeline, extremes, visible};
use crate::palette;

/// Window graph of one flow. Points carry the time in s and packets that hold from then on.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct WindowGraph {
    /// Id, title and description.
    pub about: About,
    /// Plotted time, handoff and notices.
    pub timeline: Timeline,
    /// Congestion window.
    pub cwnd: Vec<Point>,
    /// Slow start threshold; cut off where it is far above the other two.
    pub ssthresh: Vec<Point>,
    /// Packets under way.
    pub flight: Vec<Point>,
}

const CWND_LINE: Stroke = Stroke::new(palette::WINDOW, 1.8);
const SSTHRESH_LINE: Stroke = Stroke::new(palette::THRESHOLD, 1.4).dashed("6 3");
const FLIGHT_LINE: Stroke = Stroke::new(palette::FLIGHT, 1.0);

impl WindowGraph {
    /// The picture.
    pub fn svg(&self, size: Size) -> String {
        self.drawn(size).finish(&self.about)
    }

    pub(crate) fn drawn(&self, size: Size) -> Canvas {
        let mut canvas = Canvas::new(size);
        let lines = [&self.cwnd, &self.flight, &self.ssthresh];
        let span = self.timeline.range(lines.into_iter().flatten().map(|point| point.time));
        let high = self.highest(span);
        let vertical =
            Vertical { label: "packets".to_string(), spacing: Spacing::Linear, low: 0.0, high, whole: true };
        let entries = self.entries(span, high);
        let panels = self.timeline.panels(&mut canvas, &self.about, span, &entries, &[vertical]);
        for panel in &panels {
            for (name, points, line) in [
                ("FlightSize", &self.flight, FLIGHT_LINE),
                ("ssthresh", &self.ssthresh, SSTHRESH_LINE),
                ("cwnd", &self.cwnd, CWND_LINE),
            ] {
                panel.draw(&mut canvas, Shown::Line, name, |canvas| {
                    canvas.stroke(panel.steps(points).path(), line);
                });
            }
        }
        canvas
    }

    /// Top of the plot. A threshold of more than twice the other two, as at the start of a flow, would
    /// press them to the ground.
    fn highest(&self, span: (f64, f64)) -> f64 {
        let (_, most) = extremes(visible(&self.cwnd, span).chain(visible(&self.flight, span)));
        let limit = if most.is_finite() { most * 2.0 } else { f64::INFINITY };
        let thresholds = visible(&self.ssthresh, span).filter(|value| *value <= limit);
        let (_, most) = extremes(thresholds.chain([most, 1.0]));
        most * 1.06
    }

    fn entries(&self, span: (f64, f64), high: f64) -> Vec<(Sample, String)> {
        let mut entries = Vec::new();
        if visible(&self.cwnd, span).next().is_some() {
            entries.push((Sample::Line(CWND_LINE), "cwnd".to_string()));
        }
        if visible(&self.ssthresh, span).any(|value| value <= high) {
            entries.push((Sample::Line(SSTHRESH_LINE), "ssthresh".to_string()));
        } else if visible(&self.ssthresh, span).next().is_some() {
            entries.push((Sample::Line(SSTHRESH_LINE), "ssthresh (above the plot)".to_string()));
        }
        if visible(&self.flight, span).next().is_some() {
            entries.push((Sample::Line(FLIGHT_LINE), "FlightSize".to_string()));
        }
        entries.extend(self.timeline.entries(span));
        entries
    }
}
