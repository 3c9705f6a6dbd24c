//! Time-sequence graph of one flow, as users of tcptrace know it.

use crate::about::{About, Size};
use crate::axis::Spacing;
use crate::canvas::{Anchor, Canvas, LINE, Pen, Place, Stroke};
use crate::frame::Vertical;
use crate::legend::Sample;
use crate::marks::{Mark, Shape, thinned};
use crate::moments::{Panel, Point, Shown, Timeline, extremes, label_at, moment_label, visible};
use crate::palette;
use crate::text;

/// Where a packet was lost.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum DropPlace {
    /// It found the old link's queue full.
    OldQueue,
    /// It found the new link's queue full.
    NewQueue,
    /// It came out of the old link while there was none.
    Disconnection,
    /// A link that was up lost it.
    Link,
    /// It was an ACK; the value of its point is what it acknowledged.
    Ack,
}

/// A lost packet.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Drop {
    /// When, and which packet.
    pub at: Point,
    /// Place of the drop.
    pub place: DropPlace,
}

/// An expiry of the retransmission timer.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Timeout {
    /// When, and the first unacknowledged packet.
    pub at: Point,
    /// Whether the packet was still coming.
    pub spurious: bool,
}

/// Packets beyond the cumulative ACK that the receiver reported to have.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Sack {
    /// When, in s.
    pub time: f64,
    /// First packet.
    pub from: f64,
    /// The packet after the last.
    pub to: f64,
}

/// Time-sequence graph. Points carry the time in s and the number of a packet.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct SequenceGraph {
    /// Id, title and description.
    pub about: About,
    /// Plotted time, handoff and notices.
    pub timeline: Timeline,
    /// Packets sent for the first time.
    pub first_transmissions: Vec<Point>,
    /// Packets sent again that brought something new.
    pub retransmissions: Vec<Point>,
    /// Packets sent again that brought nothing new; not in `retransmissions`.
    pub needless: Vec<Point>,
    /// Cumulative ACK: the next packet expected, from each time on.
    pub ack: Vec<Point>,
    /// ACKs that repeat the one before, where they are to be seen one by one.
    pub duplicate_acks: Vec<Point>,
    /// SACK-ed ranges.
    pub sacks: Vec<Sack>,
    /// Lost packets.
    pub drops: Vec<Drop>,
    /// Expiries of the retransmission timer.
    pub timeouts: Vec<Timeout>,
    /// Entries into fast recovery.
    pub fast_retransmits: Vec<Point>,
    /// Packet up to which the transfer is measured.
    pub target: Option<f64>,
    /// End of the transfer, s.
    pub end: Option<f64>,
}

/// A packet that is at least this high in px is drawn as an upright line, else as a dot.
const UPRIGHT: f64 = 2.5;
/// Fast retransmits that are labelled one by one.
const MOST_LABELS: usize = 6;
/// The class of first transmissions under the cursor.
const FIRST_NAME: &str = "first transmission";
const ACK_LINE: Stroke = Stroke::new(palette::ACK, 1.2);
const SACK_LINE: Stroke = Stroke::new(palette::SACK, 1.0);
const TARGET_LINE: Stroke = Stroke::new(palette::MUTED, 1.0).dashed("1 3");
const END_LINE: Stroke = Stroke::new(palette::MUTED, 1.0).dashed("1 3");
const FIRST: Mark = Mark::new(Shape::Dot, palette::DATA, 0.9);
const AGAIN: Mark = Mark::new(Shape::Dot, palette::RETRANSMISSION, 2.0);
const NEEDLESS: Mark = Mark::new(Shape::Box, palette::NEEDLESS, 2.8);
const DUPLICATE: Mark = Mark::new(Shape::Plus, palette::ACK, 2.6);
const FAST: Mark = Mark::new(Shape::FilledDiamond, palette::TIMEOUT, 4.0);
const EXPIRY: Mark = Mark::new(Shape::FilledDown, palette::TIMEOUT, 5.0);
const SPURIOUS: Mark = Mark::new(Shape::Down, palette::TIMEOUT, 5.0);
const PLACES: [(DropPlace, &str, Mark); 5] = [
    (DropPlace::OldQueue, "dropped, old queue", Mark::new(Shape::Cross, palette::DROP, 3.0)),
    (DropPlace::NewQueue, "dropped, new queue", Mark::new(Shape::Plus, palette::DROP, 3.5)),
    (DropPlace::Disconnection, "lost, no link", Mark::new(Shape::Star, palette::DROP, 3.5)),
    (DropPlace::Link, "lost on the link", Mark::new(Shape::Up, palette::DROP, 3.5)),
    (DropPlace::Ack, "ACK lost", Mark::new(Shape::Diamond, palette::ACK, 3.0)),
];

/// The middle of a packet: it reaches from its number to the next.
fn middle(point: Point) -> Point {
    Point { value: point.value + 0.5, ..point }
}

impl SequenceGraph {
    /// The picture.
    pub fn svg(&self, size: Size) -> String {
        self.drawn(size).finish(&self.about)
    }

    pub(crate) fn drawn(&self, size: Size) -> Canvas {
        let mut canvas = Canvas::new(size);
        let span = self.timeline.range(self.times());
        let (low, high) = self.packets(span);
        let vertical =
            Vertical { label: "packet".to_string(), spacing: Spacing::Linear, low, high, whole: true };
        let entries = self.entries(span);
        let panels = self.timeline.panels(&mut canvas, &self.about, span, &entries, &[vertical]);
        for panel in &panels {
            self.draw_lines(&mut canvas, panel);
            self.draw_packets(&mut canvas, panel);
            self.draw_events(&mut canvas, panel);
        }
        canvas
    }

    /// All points that stand for one packet each.
    fn points(&self) -> impl Iterator<Item = Point> + '_ {
        let sent = self.first_transmissions.iter().chain(&self.retransmissions).chain(&self.needless);
        let drops = self.drops.iter().map(|drop| drop.at);
        let timeouts = self.timeouts.iter().map(|timeout| timeout.at);
        sent.copied().chain(drops).chain(timeouts).chain(self.fast_retransmits.iter().copied())
    }

    fn times(&self) -> impl Iterator<Item = f64> + '_ {
        let acks = self.ack.iter().map(|point| point.time);
        let sacks = self.sacks.iter().map(|sack| sack.time);
        let duplicates = self.duplicate_acks.iter().map(|point| point.time);
        self.points().map(|point| point.time).chain(acks).chain(duplicates).chain(sacks).chain(self.end)
    }

    /// Least and greatest packet to show.
    fn packets(&self, span: (f64, f64)) -> (f64, f64) {
        let within = |time: f64| time >= span.0 && time <= span.1;
        let points = self.points().chain(self.duplicate_acks.iter().copied());
        let sent = points.filter(|point| within(point.time)).map(|point| point.value);
        let sacks = self.sacks.iter().filter(|sack| within(sack.time)).flat_map(|sack| [sack.from, sack.to]);
        let all = sent.chain(visible(&self.ack, span)).chain(sacks).chain(self.target);
        let (low, high) = extremes(all);
        if low > high {
            return (0.0, 1.0);
        }
        let room = ((high - low) * 0.03).max(1.0);
        (low - room, high + room)
    }

    fn entries(&self, span: (f64, f64)) -> Vec<(Sample, String)> {
        let within = |point: &Point| point.time >= span.0 && point.time <= span.1;
        let mut entries = Vec::new();
        let mut add = |occurs: bool, sample: Sample, words: &str| {
            if occurs {
                entries.push((sample, words.to_string()));
            }
        };
        let upright = Sample::Upright(Stroke::new(palette::DATA, 1.6));
        add(self.first_transmissions.iter().any(within), upright, "first transmission");
        add(self.retransmissions.iter().any(within), Sample::Mark(AGAIN), "retransmission");
        add(self.needless.iter().any(within), Sample::Mark(NEEDLESS), "needless retransmission");
        add(visible(&self.ack, span).next().is_some(), Sample::Line(ACK_LINE), "cumulative ACK");
        add(self.duplicate_acks.iter().any(within), Sample::Mark(DUPLICATE), "duplicate ACK");
        let sacked = |sack: &Sack| within(&Point::new(sack.time, sack.from));
        add(self.sacks.iter().any(sacked), Sample::Upright(SACK_LINE), "SACK");
        for (place, words, mark) in PLACES {
            let lost = |drop: &Drop| drop.place == place && within(&drop.at);
            add(self.drops.iter().any(lost), Sample::Mark(mark), words);
        }
        for (spurious, words, mark) in [(false, "timeout", EXPIRY), (true, "spurious timeout", SPURIOUS)] {
            let expired = |timeout: &Timeout| timeout.spurious == spurious && within(&timeout.at);
            add(self.timeouts.iter().any(expired), Sample::Mark(mark), words);
        }
        add(self.fast_retransmits.iter().any(within), Sample::Mark(FAST), "fast retransmit");
        entries.extend(self.timeline.entries(span));
        entries
    }

    fn draw_lines(&self, canvas: &mut Canvas, panel: &Panel) {
        if let Some(target) = self.target.filter(|target| panel.value.has(*target)) {
            let y = panel.value.at(target);
            panel.draw(canvas, Shown::Line, "", |canvas| {
                canvas.line((panel.area.left, y), (panel.area.right, y), TARGET_LINE);
            });
            let half = canvas.font() * LINE / 2.0 + 1.0;
            let parts = [0.01, 0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8]
                .map(|part| panel.area.left + panel.area.width() * part);
            let places = parts.map(|x| [-half, half].map(|beside| Place::new(x, y + beside, Anchor::Start)));
            canvas.label_off_lines("target", palette::MUTED, "", places.as_flattened());
        }
        if let Some(end) = self.end.filter(|end| panel.time.has(*end)) {
            let x = panel.time.at(end);
            panel.draw(canvas, Shown::Line, "", |canvas| {
                canvas.line((x, panel.area.top - 6.0), (x, panel.area.bottom), END_LINE);
            });
            moment_label(canvas, panel, end, "end", palette::MUTED, Anchor::End);
        }
        let mut ranges = Pen::default();
        let shown = self.sacks.iter().filter(|sack| panel.time.has(sack.time));
        let places =
            shown.map(|sack| (panel.time.at(sack.time), panel.value.at(sack.from), panel.value.at(sack.to)));
        for (x, from, to) in thinned(places.collect(), |sack| [sack.0, sack.1, sack.2]) {
            if from != to {
                ranges.segment((x, from), (x, to));
            }
        }
        panel.draw(canvas, Shown::Run, "SACK", |canvas| canvas.stroke(ranges.path(), SACK_LINE));
        panel.draw(canvas, Shown::Line, "cumulative ACK", |canvas| {
            canvas.stroke(panel.steps(&self.ack).path(), ACK_LINE);
        });
    }

    fn draw_packets(&self, canvas: &mut Canvas, panel: &Panel) {
        let height = panel.area.height() / (panel.value.high() - panel.value.low());
        if height >= UPRIGHT {
            let mut pen = Pen::default();
            let places = panel.places(self.first_transmissions.iter().copied());
            for (x, y) in thinned(places.collect(), |place| [place.0, place.1, 0.0]) {
                pen.segment((x, y), (x, y - height));
            }
            panel.draw(canvas, Shown::Run, FIRST_NAME, |canvas| {
                canvas.stroke(pen.path(), Stroke::new(palette::DATA, 1.6));
            });
        } else {
            panel.draw(canvas, Shown::Packet, FIRST_NAME, |canvas| {
                FIRST.draw(canvas, panel.places(self.first_transmissions.iter().copied().map(middle)));
            });
        }
        for (name, mark, packets) in [
            ("retransmission", AGAIN, &self.retransmissions),
            ("needless retransmission", NEEDLESS, &self.needless),
        ] {
            panel.draw(canvas, Shown::Packet, name, |canvas| {
                mark.among(packets.len()).draw(canvas, panel.places(packets.iter().copied().map(middle)));
            });
        }
        panel.draw(canvas, Shown::Mark, "duplicate ACK", |canvas| {
            DUPLICATE
                .among(self.duplicate_acks.len())
                .draw(canvas, panel.places(self.duplicate_acks.iter().copied()));
        });
    }

    fn draw_events(&self, canvas: &mut Canvas, panel: &Panel) {
        for (place, name, mark) in PLACES {
            let lost = self.drops.iter().filter(|drop| drop.place == place).map(|drop| match place {
                DropPlace::Ack => drop.at,
                _ => middle(drop.at),
            });
            let shown = if place == DropPlace::Ack { Shown::Mark } else { Shown::Packet };
            panel.draw(canvas, shown, name, |canvas| {
                mark.among(self.drops.len()).draw(canvas, panel.places(lost));
            });
        }
        let fast: Vec<_> = panel.places(self.fast_retransmits.iter().copied().map(middle)).collect();
        panel
            .draw(canvas, Shown::Packet, "fast retransmit", |canvas| FAST.draw(canvas, fast.iter().copied()));
        // More than a few would hide the packets that they are about; the legend has the marker.
        let few = if fast.len() <= MOST_LABELS { fast } else { Vec::new() };
        let mut labels: Vec<_> = few.into_iter().map(|place| (place, "FR")).collect();
        for (spurious, words, mark) in [(true, "spurious RTO", SPURIOUS), (false, "RTO", EXPIRY)] {
            let expired = self.timeouts.iter().filter(|timeout| timeout.spurious == spurious);
            let places: Vec<_> = panel.places(expired.map(|timeout| middle(timeout.at))).collect();
            panel.draw(canvas, Shown::Packet, words, |canvas| mark.draw(canvas, places.iter().copied()));
            labels.extend(places.into_iter().map(|place| (place, words)));
        }
        // Timeouts explain more than fast retransmits: they come first where room is short.
        for ((x, y), words) in labels.into_iter().rev() {
            let half = canvas.font() * LINE / 2.0 + 5.0;
            let beside = |down: f64| {
                [Place::new(x + 8.0, y + down, Anchor::Start), Place::new(x - 8.0, y + down, Anchor::End)]
            };
            let middle = |down: f64| Place::new(x, y + down, Anchor::Middle);
            let [below, above] = [beside(half), beside(-half)];
            let near = [[middle(half), middle(-half)], beside(0.0), below, above];
            let far = [0.5, 1.5, 2.0, 2.5, 3.0].map(|times| {
                let down = half * times;
                [[middle(down), middle(-down)], beside(down), beside(-down)]
            });
            let places = [near.as_flattened(), far.as_flattened().as_flattened()].concat();
            let width = text::width(words, canvas.font());
            let within = |place: &&Place| {
                let left = match place.anchor {
                    Anchor::Start => place.x,
                    Anchor::Middle => place.x - width / 2.0,
                    Anchor::End => place.x - width,
                };
                place.y > panel.area.top + 6.0 && place.y < panel.area.bottom - 6.0 && left > panel.area.left
            };
            let places: Vec<Place> = places.iter().filter(within).copied().collect();
            label_at(canvas, words, palette::TIMEOUT, x, &places);
        }
    }
}
