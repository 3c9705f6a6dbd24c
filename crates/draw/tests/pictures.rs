//! One small picture of each kind, held as text, and what a page may rely on.

use segue_draw::*;

const SIZE: Size = Size { width: 420, height: 260 };

fn about(id: &str) -> About {
    About {
        id: id.to_string(),
        title: format!("Title of {id}"),
        description: "What there is to see.".to_string(),
        heading: String::new(),
    }
}

fn points(points: &[(f64, f64)]) -> Vec<Point> {
    points.iter().map(|&(time, value)| Point::new(time, value)).collect()
}

fn disconnection() -> Timeline {
    Timeline {
        span: Some((0.0, 4.0)),
        handoff: Some(Handoff::Disconnection(1.0, 2.0)),
        notices: vec![Notice { time: 2.0, label: "notice".to_string() }],
    }
}

fn quartile_chart() -> QuartileChart {
    let bar = |q1, median, q3| Some(Quartiles { q1, median, q3 });
    let group = |label: &str, position, bars| Group {
        label: label.to_string(),
        position,
        bound: Some(6.726),
        bars,
        ..Group::default()
    };
    QuartileChart {
        about: about("quartiles"),
        across: Across::Categories { label: String::new() },
        measure: "transfer time, s".to_string(),
        spacing: Spacing::Linear,
        series: vec![
            Series { label: "sack".to_string(), look: Look::new(Hue::Grey, Marker::Dot) },
            Series { label: "etcp-v1".to_string(), look: Look::new(Hue::Blue, Marker::Square).shaded(1) },
        ],
        groups: vec![
            group("mbb, 1 flow", 1.0, vec![bar(11.14, 12.25, 13.96), bar(6.835, 7.069, 9.66)]),
            group("bbm 1 s, 1 flow", 4.0, vec![bar(15.67, 15.81, f64::INFINITY), None]),
        ],
    }
}

fn sequence_graph() -> SequenceGraph {
    SequenceGraph {
        about: about("sequence"),
        timeline: disconnection(),
        first_transmissions: points(&[(0.1, 1.0), (0.3, 2.0), (0.5, 3.0), (0.9, 4.0), (3.6, 5.0)]),
        retransmissions: points(&[(2.4, 3.0)]),
        needless: points(&[(2.6, 4.0)]),
        ack: points(&[(0.3, 2.0), (0.5, 3.0), (2.8, 5.0), (3.9, 6.0)]),
        duplicate_acks: points(&[(2.5, 3.0)]),
        sacks: vec![Sack { time: 2.7, from: 4.0, to: 5.0 }],
        drops: vec![
            Drop { at: Point::new(1.1, 3.0), place: DropPlace::Disconnection },
            Drop { at: Point::new(0.7, 3.0), place: DropPlace::Ack },
        ],
        timeouts: vec![Timeout { at: Point::new(2.4, 3.0), spurious: true }],
        fast_retransmits: Vec::new(),
        target: Some(5.5),
        end: Some(3.9),
    }
}

#[test]
fn quartiles_over_categories() {
    insta::assert_snapshot!(quartile_chart().svg(SIZE));
}

#[test]
fn quartiles_over_numbers() {
    let across = Across::Numbers { label: "flows".to_string(), spacing: Spacing::Log };
    insta::assert_snapshot!(QuartileChart { across, spacing: Spacing::Log, ..quartile_chart() }.svg(SIZE));
}

#[test]
fn link_time() {
    let sack = LinkTimeBar {
        label: "sack".to_string(),
        useful: 6.1,
        needless: 0.9,
        idle_path: 0.6,
        idle_window: 4.1,
        idle_timer: 0.9,
        idle_other: 0.4,
        outcome: None,
    };
    let better =
        LinkTimeBar { label: "etcp-v1".to_string(), idle_window: 0.2, idle_timer: 0.0, ..sack.clone() };
    let picture = LinkTime { about: about("link-time"), bound: Some(6.726), bars: vec![sack, better] };
    insta::assert_snapshot!(picture.svg(SIZE));
}

#[test]
fn sequence() {
    insta::assert_snapshot!(sequence_graph().svg(SIZE));
}

#[test]
fn window() {
    let picture = WindowGraph {
        about: about("window"),
        timeline: Timeline { handoff: Some(Handoff::Instant(1.5)), ..disconnection() },
        cwnd: points(&[(0.0, 2.0), (0.5, 4.0), (1.0, 8.0), (2.5, 1.0), (3.0, 2.0), (3.5, 4.0)]),
        ssthresh: points(&[(0.0, 1e9), (2.5, 4.0)]),
        flight: points(&[(0.0, 2.0), (0.5, 4.0), (1.0, 7.0), (2.5, 1.0), (3.0, 2.0), (3.5, 3.0)]),
    };
    insta::assert_snapshot!(picture.svg(SIZE));
}

#[test]
fn queue() {
    let picture = QueueGraph {
        about: about("queue"),
        timeline: disconnection(),
        old: LinkQueue {
            label: "old link".to_string(),
            length: points(&[(0.1, 1.0), (0.4, 3.0), (0.9, 0.0)]),
            delays: points(&[(0.3, 0.01), (0.8, 0.02)]),
            limit: Some(5.0),
        },
        new: LinkQueue {
            label: "new link".to_string(),
            length: points(&[(2.4, 1.0), (2.6, 2.0), (3.2, 1.0), (3.8, 0.0)]),
            delays: points(&[(3.2, 0.12), (3.8, 0.06)]),
            limit: None,
        },
    };
    insta::assert_snapshot!(picture.svg(SIZE));
}

fn stall_chart() -> StallChart {
    let row = |label: &str, hue, stalls: &[(f64, f64)], end| StallRow {
        series: Series { label: label.to_string(), look: Look::new(hue, Marker::Square) },
        stalls: stalls.to_vec(),
        end,
    };
    StallChart {
        about: about("stalls"),
        timeline: disconnection(),
        rows: vec![
            row("sack", Hue::Grey, &[(0.9, 3.2), (3.3, 3.9)], None),
            row("etcp-v1", Hue::Blue, &[(0.9, 2.1), (7.0, 8.0)], Some(3.1)),
        ],
    }
}

#[test]
fn stalls() {
    insta::assert_snapshot!(stall_chart().svg(SIZE));
}

/// The axis has four seconds. A stall that lies beyond it has no bar.
#[test]
fn a_bar_is_as_long_as_its_stall() {
    let svg = stall_chart().svg(SIZE);
    let document = roxmltree::Document::parse(&svg).unwrap();
    let plot = document.descendants().find_map(|node| node.attribute("data-plot")).unwrap();
    let edges: Vec<f64> = plot.split(' ').map(|edge| edge.parse().unwrap()).collect();
    let (left, right) = (edges[0], edges[2]);
    let bars = document.descendants().filter(|node| node.attribute("data-as") == Some("span"));
    let bars: Vec<(String, f64, f64)> = bars
        .map(|bar| {
            let path = bar.attribute("d").unwrap();
            let from: f64 = path[1..].split(' ').next().unwrap().parse().unwrap();
            let width: f64 = path.split('h').nth(1).unwrap().split('v').next().unwrap().parse().unwrap();
            let second = |px: f64| (px / (right - left) * 4.0 * 100.0).round() / 100.0;
            (bar.attribute("data-name").unwrap().to_string(), second(from - left), second(width))
        })
        .collect();
    let expected = [("sack stall", 0.9, 2.3), ("sack stall", 3.3, 0.6), ("etcp-v1 stall", 0.9, 1.2)];
    assert_eq!(bars, expected.map(|(name, from, width)| (name.to_string(), from, width)));
}

#[test]
fn queue_delay() {
    let course = |label: &str, hue, delays: &[(f64, f64)], drops: &[f64], marks: &[f64]| QueueDelay {
        series: Series { label: label.to_string(), look: Look::new(hue, Marker::Square) },
        delays: points(delays),
        end: marks.first().map(|_| 3.4),
        drops: drops.to_vec(),
        marks: marks.to_vec(),
    };
    let plot = |label: &str, target, courses| QueueDelayPlot { label: label.to_string(), target, courses };
    let picture = QueueDelayGraph {
        about: about("queue-delay"),
        timeline: disconnection(),
        plots: vec![
            plot("old link", None, vec![course("sack", Hue::Grey, &[(0.1, 0.01), (0.9, 0.0)], &[], &[])]),
            plot(
                "new link, codel",
                Some(0.005),
                vec![
                    course("sack", Hue::Grey, &[(2.2, 0.004), (2.6, 0.02), (3.5, 0.0)], &[2.7], &[]),
                    course("etcp-v1", Hue::Blue, &[(2.1, 0.006), (2.9, 0.0)], &[], &[2.4]),
                ],
            ),
        ],
    };
    insta::assert_snapshot!(picture.svg(SIZE));
}

#[test]
fn journey() {
    let cell = |network, from, until| Cell { network, from, until, label: format!("cell from {from} s") };
    let course = |label: &str, hue, stalls: &[(f64, f64)]| Course {
        series: Series { label: label.to_string(), look: Look::new(hue, Marker::Dot) },
        throughput: points(&[(0.0, 180.0), (10.0, 40.0), (20.0, 900.0)]),
        stalls: stalls.to_vec(),
    };
    let picture = Journey {
        about: about("journey"),
        length: 30.0,
        networks: vec!["wcdma".to_string(), "wlan".to_string()],
        cells: vec![cell(0, 0.0, 9.0), cell(0, 12.0, 18.0), cell(1, 19.0, 30.0)],
        measure: "throughput, kbit/s".to_string(),
        courses: vec![
            course("newreno", Hue::Grey, &[(8.9, 14.0), (17.9, 21.0)]),
            course("tcp-ho", Hue::Violet, &[(8.9, 12.4)]),
        ],
    };
    insta::assert_snapshot!(picture.svg(SIZE));
}

#[test]
fn ladder() {
    let message = |label: &str, from, to, sent, arrived| LadderMessage {
        label: label.to_string(),
        from,
        to,
        sent,
        arrived,
    };
    let picture = Ladder {
        about: about("ladder"),
        parties: ["PAR", "NAR", "MN"].map(String::from).to_vec(),
        unit: "ms after the hint".to_string(),
        messages: vec![
            message("FBU", 2, 0, 10.0, Some(15.1)),
            message("HI", 0, 1, 15.1, Some(20.3)),
            message("HAck", 1, 0, 20.3, None),
            message("UNA", 2, 1, 540.0, Some(545.1)),
        ],
        spans: vec![LadderSpan { label: "no link".to_string(), party: 2, from: 40.0, to: 540.0 }],
    };
    insta::assert_snapshot!(picture.svg(SIZE));
}

#[test]
fn lines() {
    let line = |label: &str, points: &[(f64, f64)]| Line {
        label: label.to_string(),
        look: Look::new(Hue::Blue, Marker::Square).shaded(label.len() as u8 % 6),
        steps: label == "steps",
        points: points.to_vec(),
    };
    let plot = |lines| LinePlot { measure: "gain, segments".to_string(), lines };
    let picture = LineChart {
        about: about("lines"),
        across: "error, %".to_string(),
        plots: vec![
            plot(vec![line("b = 117", &[(5.0, 5589.3), (25.0, 5392.0), (50.0, 4963.0)])]),
            plot(vec![
                line("b = 58", &[(5.0, 26.0), (25.0, -20.5), (50.0, -121.0)]),
                line("broken", &[(5.0, -1.5), (15.0, f64::NAN), (25.0, -48.1), (50.0, -148.6)]),
            ]),
            plot(vec![line("steps", &[(5.0, 1.0), (30.0, 3.0), (50.0, 2.0)]), line("b = 58", &[(5.0, 2.0)])]),
        ],
    };
    insta::assert_snapshot!(picture.svg(SIZE));
}

/// Two curves that run together: a few markers on each, none on one of the other.
#[test]
fn markers_of_long_curves_stand_apart() {
    let line = |label: &str| Line {
        label: label.to_string(),
        look: Look::new(if label == "a" { Hue::Blue } else { Hue::Green }, Marker::Square),
        steps: true,
        points: (0..1000).map(|k| (f64::from(k) / 100.0, f64::from(k / 100))).collect(),
    };
    let chart = |lines| LineChart {
        about: about("apart"),
        across: "time, s".to_string(),
        plots: vec![LinePlot { measure: "cwnd".to_string(), lines }],
    };
    let both = chart(vec![line("a"), line("b")]).svg(SIZE);
    // One path per curve has all its markers, each closed by a `z`; the legend's sample has one.
    let filled = both.lines().filter(|line| line.contains("fill:var(--segue-hue"));
    let markers: Vec<&str> = filled.filter(|line| line.matches('z').count() > 1).collect();
    let counts: Vec<usize> = markers.iter().map(|line| line.matches('z').count()).collect();
    assert_eq!(counts, [7, 7], "{both}");
    let first = |line: &str| -> f64 {
        let number = line.split("d=\"M").nth(1).and_then(|rest| rest.split(' ').next());
        number.and_then(|number| number.parse().ok()).expect("a position")
    };
    assert!(first(markers[1]) - first(markers[0]) > 20.0, "{both}");
}

#[test]
fn five_thousand_packets_stay_small() {
    let mut graph = SequenceGraph { about: about("dense"), ..SequenceGraph::default() };
    for packet in 0..5000 {
        let time = f64::from(packet) * 0.00213;
        // Bursts, losses and an ACK for each packet.
        let sent = time - f64::from(packet % 13) * 0.002;
        graph.first_transmissions.push(Point::new(sent, f64::from(packet)));
        graph.ack.push(Point::new(time + 0.3, f64::from(packet)));
        if packet % 10 == 0 {
            graph.retransmissions.push(Point::new(time + 0.5, f64::from(packet)));
            graph.drops.push(Drop { at: Point::new(time, f64::from(packet)), place: DropPlace::NewQueue });
        }
    }
    let svg = graph.svg(Size { width: 1200, height: 600 });
    assert!(svg.len() < 200_000, "{} bytes", svg.len());
    assert!(svg.lines().count() < 80, "one path per class");
}

#[test]
fn a_page_finds_title_and_description_by_unique_ids() {
    let svg = sequence_graph().svg(SIZE);
    let document = roxmltree::Document::parse(&svg).unwrap();
    let root = document.root_element();
    let text = |id: &str| {
        document.descendants().find(|node| node.attribute("id") == Some(id)).and_then(|node| node.text())
    };
    assert_eq!(root.attribute("role"), Some("img"));
    assert_eq!(root.attribute("aria-labelledby"), Some("sequence-title sequence-description"));
    assert_eq!(text("sequence-title"), Some("Title of sequence"));
    assert_eq!(text("sequence-description"), Some("What there is to see."));
}

#[test]
fn every_colour_of_a_picture_is_in_the_style_sheet_and_none_is_left_when_printed() {
    let sheet = style_sheet();
    let svg = sequence_graph().svg(SIZE) + &quartile_chart().svg(SIZE);
    for rest in svg.split("var(").skip(1) {
        let name = rest.split(')').next().unwrap();
        assert!(sheet.contains(&format!("{name}:#")), "{name}");
    }
    assert!(!printed(&svg).contains("var("));
}

#[test]
fn a_picture_alone_brings_the_style_sheet() {
    let text = standalone(&sequence_graph().svg(SIZE));
    let document = roxmltree::Document::parse(&text).unwrap();
    let first = document.root_element().children().find(roxmltree::Node::is_element).unwrap();
    assert_eq!(first.tag_name().name(), "style");
    assert!(first.text().unwrap().contains("prefers-color-scheme:dark"));
    // Other programs than browsers, such as rsvg-convert, drop what they do not know of a style.
    let coloured = |node: &roxmltree::Node| node.attribute("style").is_some();
    for node in document.descendants().filter(coloured) {
        let plain = |name| node.attribute(name).is_some_and(|colour: &str| colour.starts_with('#'));
        assert!(plain("fill") || plain("stroke"), "{node:?}");
    }
}

#[test]
fn equal_data_give_equal_bytes() {
    assert_eq!(sequence_graph().svg(SIZE), sequence_graph().svg(SIZE));
}
