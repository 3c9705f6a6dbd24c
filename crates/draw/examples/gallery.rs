//! Writes each picture with plausible data at three widths, and a page that shows them all:
//! `cargo run -p segue-draw --example gallery -- FOLDER`.

use segue_draw::*;
use std::path::Path;

fn main() -> std::io::Result<()> {
    let folder = std::env::args().nth(1).unwrap_or_else(|| "gallery".to_string());
    let folder = Path::new(&folder);
    std::fs::create_dir_all(folder)?;
    let mut page = format!(
        "<!doctype html><meta charset=\"utf-8\"><meta name=\"viewport\" content=\"width=device-width\">\
         <title>Pictures of Segue</title><style>{}\
         body{{background:var(--segue-background);color:var(--segue-ink);margin:8px}}</style>\n",
        style_sheet()
    );
    for width in [340, 720, 1200] {
        for (name, height, picture) in pictures() {
            let id = format!("{name}-{width}");
            let svg = picture(&id, Size { width, height });
            println!("{id}: {} bytes", svg.len());
            std::fs::write(folder.join(format!("{id}.svg")), standalone(&svg))?;
            page.push_str(&format!("<p>{id}</p>\n{svg}"));
        }
    }
    std::fs::write(folder.join("index.html"), page)
}

type Picture = Box<dyn Fn(&str, Size) -> String>;

fn pictures() -> Vec<(&'static str, u32, Picture)> {
    vec![
        ("quartiles", 380, Box::new(|id, size| quartiles(id, Spacing::Linear).svg(size))),
        ("quartiles-log", 380, Box::new(|id, size| quartiles(id, Spacing::Log).svg(size))),
        ("delays", 320, Box::new(|id, size| delays(id).svg(size))),
        ("link-time", 260, Box::new(|id, size| link_time(id).svg(size))),
        ("sequence", 440, Box::new(|id, size| sequence(id, false).svg(size))),
        ("sequence-dense", 440, Box::new(|id, size| sequence(id, true).svg(size))),
        ("window", 320, Box::new(|id, size| window(id).svg(size))),
        ("queue", 420, Box::new(|id, size| queue(id).svg(size))),
        ("stalls", 220, Box::new(|id, size| stalls(id).svg(size))),
        ("queue-delay", 420, Box::new(|id, size| queue_delay(id).svg(size))),
        ("lines", 380, Box::new(|id, size| lines(id).svg(size))),
    ]
}

fn about(id: &str, title: &str) -> About {
    About {
        id: id.to_string(),
        title: title.to_string(),
        description: "Invented data that shows what the picture can do.".to_string(),
        heading: if id.ends_with("720") { title.to_string() } else { String::new() },
    }
}

fn bar(q1: f64, median: f64, q3: f64) -> Option<Quartiles> {
    Some(Quartiles { q1, median, q3 })
}

fn quartiles(id: &str, spacing: Spacing) -> QuartileChart {
    let group = |label: &str, bound: f64, bars: [Option<Quartiles>; 3]| Group {
        label: label.to_string(),
        position: 0.0,
        bound: Some(bound),
        bars: bars.to_vec(),
        ..Group::default()
    };
    QuartileChart {
        about: about(id, "Transfer time of 100 packets per flow after a handoff"),
        across: Across::Categories { label: "handoff and flows".to_string() },
        measure: "transfer time, s".to_string(),
        spacing,
        series: series(["sack", "etcp-v0", "etcp-v1"]),
        groups: vec![
            group(
                "6400kbit/9ms → 200kbit/300ms, mbb, 1 flow",
                6.726,
                [bar(11.14, 12.25, 13.96), bar(6.835, 7.069, 9.66), bar(6.835, 7.069, 9.66)],
            ),
            group(
                "6400kbit/9ms → 200kbit/300ms, bbm 1 s, 1 flow",
                7.45,
                [bar(15.67, 15.81, f64::INFINITY), bar(15.27, 15.41, 15.65), bar(15.27, 15.41, 15.65)],
            ),
            group(
                "200kbit/300ms → 6400kbit/9ms, mbb, 1 flow",
                0.229,
                [bar(0.482, 0.505, 0.532), bar(0.53, 0.643, 0.75), bar(0.53, 0.643, 0.75)],
            ),
            group(
                "200kbit/300ms → 6400kbit/9ms, bbm 1 s, 1 flow",
                0.234,
                [bar(0.705, 0.808, 0.965), bar(0.698, 0.789, 0.949), None],
            ),
        ],
    }
}

fn series<const N: usize>(labels: [&str; N]) -> Vec<Series> {
    let hues = [Hue::Grey, Hue::Green, Hue::Blue, Hue::Rose].into_iter().cycle();
    labels
        .into_iter()
        .zip(hues)
        .map(|(label, hue)| Series { label: label.to_string(), look: Look::new(hue, Marker::Square) })
        .collect()
}

fn delays(id: &str) -> QuartileChart {
    let positions = [5.0, 9.0, 18.0, 37.0, 75.0, 150.0, 300.0];
    let group = |delay: f64| Group {
        label: format!("{delay} ms"),
        position: delay,
        bound: Some(1.2 + delay * 0.018),
        bars: (0..4)
            .map(|scheme| {
                let median = 1.6 + delay * (0.042 - 0.006 * f64::from(scheme)) + 0.2 * (delay * 0.7).sin();
                bar(median * 0.9, median, median * 1.25)
            })
            .collect(),
        ..Group::default()
    };
    QuartileChart {
        about: about(id, "Transfer time over the delay of the new link"),
        across: Across::Numbers {
            label: "delay of the new link, ms (log)".to_string(),
            spacing: Spacing::Log,
        },
        measure: "transfer time, s".to_string(),
        spacing: Spacing::Linear,
        series: series(["sack", "etcp-v0", "etcp-v1", "etcp-a5"]),
        groups: positions.into_iter().map(group).collect(),
    }
}

fn link_time(id: &str) -> LinkTime {
    let bar = |label: &str, [useful, needless, idle_path, idle_window, idle_timer, idle_other]: [f64; 6]| {
        LinkTimeBar {
            label: label.to_string(),
            useful,
            needless,
            idle_path,
            idle_window,
            idle_timer,
            idle_other,
            outcome: None,
        }
    };
    LinkTime {
        about: about(id, "Where the new link's time went"),
        bound: Some(6.726),
        bars: vec![
            bar("sack", [6.1, 0.96, 0.61, 4.1, 0.9, 0.4]),
            bar("etcp-v0", [6.1, 0.15, 0.5, 1.2, 0.0, 0.1]),
            bar("etcp-v1", [6.1, 0.15, 0.5, 0.2, 0.0, 0.1]),
        ],
    }
}

/// A flow at a steady rate, a disconnection of 1 s, a timeout and slow start over a slower link.
fn sequence(id: &str, dense: bool) -> SequenceGraph {
    let mut graph =
        SequenceGraph { about: about(id, "Packets of one flow around a handoff"), ..Default::default() };
    let (before, rate) = if dense { (4400_u32, 0.0005) } else { (40, 0.05) };
    let cut = f64::from(before) * rate;
    for packet in 0..before {
        let time = f64::from(packet) * rate;
        graph.first_transmissions.push(Point::new(time, f64::from(packet)));
        if time + 0.2 < cut {
            graph.ack.push(Point::new(time + 0.2, f64::from(packet) + 1.0));
        } else {
            let place = DropPlace::Disconnection;
            graph.drops.push(Drop {
                at: Point::new(cut + 0.01 + (time + 0.2 - cut) * 0.3, f64::from(packet)),
                place,
            });
        }
    }
    let lost = graph.ack.last().map_or(0.0, |point| point.value);
    graph.timeouts.push(Timeout { at: Point::new(cut + 0.8, lost), spurious: false });
    graph.timeouts.push(Timeout { at: Point::new(cut + 1.75, lost), spurious: true });
    graph.retransmissions.push(Point::new(cut + 0.8, lost));
    let last = f64::from(before) + if dense { 600.0 } else { 60.0 };
    let mut next = lost;
    let mut time = cut + 1.75;
    let mut burst = 1.0;
    while next < last {
        for packet in 0..burst as u32 {
            if next >= last {
                break;
            }
            let at = time + f64::from(packet) * 0.012;
            match next {
                _ if next >= f64::from(before) => graph.first_transmissions.push(Point::new(at, next)),
                _ if next as u32 % 4 == 1 => graph.needless.push(Point::new(at, next)),
                _ => graph.retransmissions.push(Point::new(at, next)),
            }
            if (next as u32).is_multiple_of(if dense { 211 } else { 17 }) {
                graph.drops.push(Drop { at: Point::new(at + 0.1, next), place: DropPlace::NewQueue });
                graph.fast_retransmits.push(Point::new(at + 0.5, next));
                let (from, to) = (next + 1.0, next + 5.0);
                graph.sacks.push(Sack { time: at + 0.4, from, to });
            }
            next += 1.0;
            graph.ack.push(Point::new(at + 0.32, next));
        }
        time += 0.35;
        burst *= 1.6;
    }
    graph.drops.push(Drop { at: Point::new(time - 0.2, next - 3.0), place: DropPlace::Ack });
    graph.drops.push(Drop { at: Point::new(cut * 0.8, lost * 0.8), place: DropPlace::OldQueue });
    graph.target = Some(next - 4.0);
    graph.end = Some(time - 0.05);
    graph.timeline.handoff = Some(Handoff::Disconnection(cut, cut + 1.0));
    graph.timeline.notices.push(Notice { time: cut + 1.0, label: "notice".to_string() });
    if dense {
        graph.timeline.span = None;
    }
    graph
}

fn window(id: &str) -> WindowGraph {
    let mut graph = WindowGraph { about: about(id, "Windows of one flow"), ..Default::default() };
    let mut cwnd: f64 = 2.0;
    let mut ssthresh: f64 = 1e9;
    for step in 0..200_u32 {
        let time = f64::from(step) * 0.1;
        match step {
            60 | 160 => {
                cwnd = (cwnd / 2.0).max(2.0);
                ssthresh = cwnd;
            }
            110 => {
                ssthresh = cwnd / 2.0;
                cwnd = 1.0;
            }
            _ if cwnd < ssthresh => cwnd += 0.8,
            _ => cwnd += 0.12,
        }
        graph.cwnd.push(Point::new(time, cwnd));
        graph.ssthresh.push(Point::new(time, ssthresh));
        graph.flight.push(Point::new(time, (cwnd - f64::from(step % 3)).max(0.0).floor()));
    }
    graph.timeline.handoff = Some(Handoff::Instant(10.2));
    graph.timeline.notices.push(Notice { time: 10.24, label: "notice".to_string() });
    graph
}

fn queue(id: &str) -> QueueGraph {
    let mut graph = QueueGraph { about: about(id, "Queues of both access links"), ..Default::default() };
    graph.old =
        LinkQueue { label: "old link 6400kbit/9ms".to_string(), limit: Some(10.0), ..Default::default() };
    graph.new =
        LinkQueue { label: "new link 200kbit/300ms".to_string(), limit: Some(10.0), ..Default::default() };
    for packet in 0..3000_u32 {
        let time = f64::from(packet) * 0.002;
        let length = (5.0 + 4.5 * (time * 2.1).sin()).floor();
        graph.old.length.push(Point::new(time, length + f64::from(packet % 2)));
        graph.old.delays.push(Point::new(time, length * 0.0019));
    }
    graph.old.length.push(Point::new(6.0, 0.0));
    for packet in 0..120_u32 {
        let time = 7.0 + f64::from(packet) * 0.06;
        let length = (f64::from(packet) * 0.4).min(6.0 + 4.0 * (time * 1.7).sin()).max(0.0).floor();
        graph.new.length.push(Point::new(time, length));
        graph.new.delays.push(Point::new(time, length * 0.06));
    }
    graph.timeline.handoff = Some(Handoff::Disconnection(6.0, 7.0));
    graph.timeline.notices.push(Notice { time: 7.0, label: "notice".to_string() });
    graph
}

fn stalls(id: &str) -> StallChart {
    let mut chart = StallChart { about: about(id, "Stalls"), ..Default::default() };
    let stalls = [vec![(6.0, 9.6), (9.7, 11.2)], vec![(6.0, 7.4)], vec![(6.0, 7.2), (8.0, 8.3)]];
    let rows =
        series(["sack", "etcp-v0", "etcp-v1"]).into_iter().zip(stalls).zip([None, Some(9.1), Some(8.9)]);
    chart.rows = rows.map(|((series, stalls), end)| StallRow { series, stalls, end }).collect();
    chart.timeline.span = Some((5.0, 12.0));
    chart.timeline.handoff = Some(Handoff::Disconnection(6.0, 7.0));
    chart
}

fn queue_delay(id: &str) -> QueueDelayGraph {
    let mut graph = QueueDelayGraph { about: about(id, "Queueing delay"), ..Default::default() };
    let courses = (0..).zip(series(["sack", "etcp-v0", "etcp-v1"])).map(|(index, series)| {
        let delay = |k: u32| 0.006 + 0.02 * (f64::from(k + 40 * index) * 0.05).sin().max(-0.3);
        let delays = (0..400).map(|k| Point::new(7.0 + f64::from(k) * 0.01, delay(k)));
        QueueDelay {
            series,
            delays: delays.collect(),
            end: Some(10.5),
            drops: vec![8.0, 8.4],
            marks: vec![9.0],
        }
    });
    let courses = courses.collect();
    graph.plots.push(QueueDelayPlot { label: "new link, codel".into(), target: Some(0.005), courses });
    graph.timeline.handoff = Some(Handoff::Instant(7.0));
    graph
}

fn lines(id: &str) -> LineChart {
    let curve = |label: &str, shade: u8, height: f64, fall: f64| Line {
        label: label.to_string(),
        look: Look::new(Hue::Violet, Marker::Dot).shaded(shade),
        steps: false,
        points: (1..=10).map(|k| f64::from(k) * 5.0).map(|x| (x, height - fall * x * x)).collect(),
    };
    let plot = |lines| LinePlot { measure: "gain, segments".to_string(), lines };
    LineChart {
        about: about(id, "Mean gain over the error of an estimate"),
        across: "standard deviation, %".to_string(),
        plots: vec![
            plot(vec![curve("b = 117, c = 8", 0, 5597.0, 0.25), curve("b = 58, c = 8", 1, 1134.0, 0.06)]),
            plot(vec![curve("b = 58, c = 50", 2, 27.6, 0.06), curve("b = 58, c = 66", 3, 0.0, 0.06)]),
        ],
    }
}
