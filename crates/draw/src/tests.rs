//! Properties of every picture: labels keep apart, the text is XML, and no input panics.

use crate::canvas::{Area, Canvas};
use crate::*;
use proptest::collection::vec;
use proptest::option;
use proptest::prelude::*;

/// Numbers as they come, and numbers as they should not come.
fn number() -> impl Strategy<Value = f64> {
    prop_oneof![
        6 => 0.0..20.0,
        2 => 0.0..5000.0,
        1 => (0..12_i32).prop_map(|power| 10_f64.powi(power)),
        1 => proptest::num::f64::ANY,
        1 => prop::sample::select(vec![0.0, -0.0, -1.0, 1e300, 1e-300]),
        1 => prop::sample::select(vec![f64::INFINITY, f64::NEG_INFINITY, f64::NAN]),
    ]
}

fn name() -> impl Strategy<Value = String> {
    prop_oneof![
        3 => "[a-z0-9/ ,→-]{0,40}",
        1 => any::<String>(),
        1 => Just("200kbit/300ms → 6400kbit/9ms, mbb, 1 flow".to_string()),
        1 => Just("</text>&\"'<script>]]>\u{0}\u{8}".to_string()),
    ]
}

fn about() -> impl Strategy<Value = About> {
    (name(), name(), name(), name()).prop_map(|(id, title, description, heading)| About {
        id,
        title,
        description,
        heading,
    })
}

fn size() -> impl Strategy<Value = Size> {
    prop_oneof![
        Just(Size { width: 340, height: 320 }),
        Just(Size { width: 720, height: 420 }),
        Just(Size { width: 1200, height: 500 }),
        (any::<u16>(), any::<u16>())
            .prop_map(|(width, height)| Size { width: width.into(), height: height.into() }),
        (0..400_u32, 0..400_u32).prop_map(|(width, height)| Size { width, height }),
    ]
}

fn points() -> impl Strategy<Value = Vec<Point>> {
    vec((number(), number()).prop_map(|(time, value)| Point { time, value }), 0..12)
}

fn handoff() -> impl Strategy<Value = Handoff> {
    prop_oneof![
        number().prop_map(Handoff::Instant),
        (number(), number()).prop_map(|(from, to)| Handoff::Disconnection(from, to)),
    ]
}

fn timeline() -> impl Strategy<Value = Timeline> {
    let notice = (number(), name()).prop_map(|(time, label)| Notice { time, label });
    (option::of((number(), number())), option::of(handoff()), vec(notice, 0..5))
        .prop_map(|(span, handoff, notices)| Timeline { span, handoff, notices })
}

fn look() -> impl Strategy<Value = Look> {
    let hues = prop::sample::select(vec![Hue::Grey, Hue::Blue, Hue::Brown]);
    let markers = prop::sample::select(vec![Marker::Dot, Marker::Square, Marker::OpenDown]);
    (hues, markers, any::<u8>()).prop_map(|(hue, marker, shade)| Look { hue, marker, shade })
}

fn series() -> impl Strategy<Value = Series> {
    (name(), look()).prop_map(|(label, look)| Series { label, look })
}

fn quartile_chart() -> impl Strategy<Value = QuartileChart> {
    let bar = option::of((number(), number(), number()));
    let bar = bar.prop_map(|bar| bar.map(|(q1, median, q3)| Quartiles { q1, median, q3 }));
    let group = (name(), number(), option::of(number()), vec(bar, 0..6));
    let group = group.prop_map(|(label, position, bound, bars)| {
        let bounds = bars.iter().map(|bar| bar.map(|bar: Quartiles| bar.q1)).collect();
        Group { label, position, bound, bounds, bars }
    });
    let spacing = || prop_oneof![Just(Spacing::Linear), Just(Spacing::Log)];
    let across = prop_oneof![
        name().prop_map(|label| Across::Categories { label }),
        (name(), spacing()).prop_map(|(label, spacing)| Across::Numbers { label, spacing }),
    ];
    (about(), across, name(), spacing(), vec(series(), 0..10), vec(group, 0..14)).prop_map(
        |(about, across, measure, spacing, series, groups)| QuartileChart {
            about,
            across,
            measure,
            spacing,
            series,
            groups,
        },
    )
}

fn link_time() -> impl Strategy<Value = LinkTime> {
    let bar = (name(), proptest::array::uniform6(number())).prop_map(
        |(label, [useful, needless, idle_path, idle_window, idle_timer, idle_other])| LinkTimeBar {
            outcome: None,
            label,
            useful,
            needless,
            idle_path,
            idle_window,
            idle_timer,
            idle_other,
        },
    );
    (about(), option::of(number()), vec(bar, 0..9)).prop_map(|(about, bound, bars)| LinkTime {
        about,
        bound,
        bars,
    })
}

fn sequence() -> impl Strategy<Value = SequenceGraph> {
    let place = prop::sample::select(vec![
        DropPlace::OldQueue,
        DropPlace::NewQueue,
        DropPlace::Disconnection,
        DropPlace::Link,
        DropPlace::Ack,
    ]);
    let at = || (number(), number()).prop_map(|(time, value)| Point { time, value });
    let drops = vec((at(), place).prop_map(|(at, place)| Drop { at, place }), 0..9);
    let timeouts = vec((at(), any::<bool>()).prop_map(|(at, spurious)| Timeout { at, spurious }), 0..9);
    let sacks =
        vec((number(), number(), number()).prop_map(|(time, from, to)| Sack { time, from, to }), 0..9);
    let sent = (points(), points(), points(), (points(), points()));
    let ends = (option::of(number()), option::of(number()));
    (about(), timeline(), sent, (sacks, drops, timeouts, points()), ends).prop_map(
        |(about, timeline, sent, (sacks, drops, timeouts, fast_retransmits), (target, end))| {
            let (first_transmissions, retransmissions, needless, (ack, duplicate_acks)) = sent;
            SequenceGraph {
                about,
                timeline,
                first_transmissions,
                retransmissions,
                needless,
                ack,
                duplicate_acks,
                sacks,
                drops,
                timeouts,
                fast_retransmits,
                target,
                end,
            }
        },
    )
}

fn window() -> impl Strategy<Value = WindowGraph> {
    (about(), timeline(), points(), points(), points()).prop_map(
        |(about, timeline, cwnd, ssthresh, flight)| WindowGraph { about, timeline, cwnd, ssthresh, flight },
    )
}

fn queue() -> impl Strategy<Value = QueueGraph> {
    let link = || {
        (name(), points(), points(), option::of(number()))
            .prop_map(|(label, length, delays, limit)| LinkQueue { label, length, delays, limit })
    };
    (about(), timeline(), link(), link()).prop_map(|(about, timeline, old, new)| QueueGraph {
        about,
        timeline,
        old,
        new,
    })
}

fn stall_chart() -> impl Strategy<Value = StallChart> {
    let row = (series(), vec((number(), number()), 0..5), option::of(number()));
    let row = row.prop_map(|(series, stalls, end)| StallRow { series, stalls, end });
    (about(), timeline(), vec(row, 0..9)).prop_map(|(about, timeline, rows)| StallChart {
        about,
        timeline,
        rows,
    })
}

fn queue_delay() -> impl Strategy<Value = QueueDelayGraph> {
    let course = (series(), points(), option::of(number()), vec(number(), 0..5), vec(number(), 0..5));
    let course = course.prop_map(|(series, delays, end, drops, marks)| QueueDelay {
        series,
        delays,
        end,
        drops,
        marks,
    });
    let plot = (name(), option::of(number()), vec(course, 0..4));
    let plot = plot.prop_map(|(label, target, courses)| QueueDelayPlot { label, target, courses });
    (about(), timeline(), vec(plot, 0..3)).prop_map(|(about, timeline, plots)| QueueDelayGraph {
        about,
        timeline,
        plots,
    })
}

fn line_chart() -> impl Strategy<Value = LineChart> {
    let line = (name(), look(), any::<bool>(), vec((number(), number()), 0..40));
    let line = line.prop_map(|(label, look, steps, points)| Line { label, look, steps, points });
    let plot = (name(), vec(line, 0..5)).prop_map(|(measure, lines)| LinePlot { measure, lines });
    (about(), name(), vec(plot, 0..4)).prop_map(|(about, across, plots)| LineChart { about, across, plots })
}

fn journey() -> impl Strategy<Value = Journey> {
    let cell = (0..4_usize, number(), number(), name());
    let cell = cell.prop_map(|(network, from, until, label)| Cell { network, from, until, label });
    let course = (series(), points(), vec((number(), number()), 0..5));
    let course = course.prop_map(|(series, throughput, stalls)| Course { series, throughput, stalls });
    (about(), number(), vec(name(), 0..4), vec(cell, 0..9), name(), vec(course, 0..4)).prop_map(
        |(about, length, networks, cells, measure, courses)| Journey {
            about,
            length,
            networks,
            cells,
            measure,
            courses,
        },
    )
}

fn ladder() -> impl Strategy<Value = Ladder> {
    let message = (name(), 0..6_usize, 0..6_usize, number(), option::of(number()));
    let message =
        message.prop_map(|(label, from, to, sent, arrived)| LadderMessage { label, from, to, sent, arrived });
    let span = (name(), 0..6_usize, number(), number());
    let span = span.prop_map(|(label, party, from, to)| LadderSpan { label, party, from, to });
    (about(), vec(name(), 0..6), name(), vec(message, 0..20), vec(span, 0..4))
        .prop_map(|(about, parties, unit, messages, spans)| Ladder { about, parties, unit, messages, spans })
}

/// Least size of a picture in a page: in smaller ones names and numbers may have too little room for lines beside them.
const LEAST: (f64, f64) = (340.0, 320.0);

fn check(mut canvas: Canvas) {
    canvas.settle();
    let on_lines = canvas.labels_on_lines();
    let large = canvas.width() >= LEAST.0 && canvas.height() >= LEAST.1;
    assert!(!large || on_lines.is_empty(), "lines run through {on_lines:?}");
    let whole = Area { left: 0.0, top: 0.0, right: canvas.width(), bottom: canvas.height() };
    for (index, label) in canvas.labels().iter().enumerate() {
        let inside = label.left >= whole.left
            && label.top >= whole.top
            && label.right <= whole.right
            && label.bottom <= whole.bottom;
        assert!(inside, "{label:?} leaves the picture");
        for other in &canvas.labels()[index + 1..] {
            assert!(!label.overlaps(other), "{label:?} meets {other:?}");
        }
    }
    let about = About { title: "a <title> & more".to_string(), ..About::default() };
    let svg = canvas.finish(&about);
    for text in [svg.clone(), standalone(&svg), printed(&svg)] {
        let document = roxmltree::Document::parse(&text).unwrap();
        assert_eq!(document.root_element().attribute("role"), Some("img"));
    }
    assert!(!svg.contains("NaN") && !svg.contains("\"inf"), "{svg}");
}

proptest! {
    #![proptest_config(ProptestConfig {
        cases: ProptestConfig::default().cases / 4,
        failure_persistence: None,
        ..ProptestConfig::default()
    })]

    #[test]
    fn quartile_charts_hold(picture in quartile_chart(), size in size()) { check(picture.drawn(size)) }

    #[test]
    fn link_times_hold(picture in link_time(), size in size()) { check(picture.drawn(size)) }

    #[test]
    fn sequence_graphs_hold(picture in sequence(), size in size()) { check(picture.drawn(size)) }

    #[test]
    fn window_graphs_hold(picture in window(), size in size()) { check(picture.drawn(size)) }

    #[test]
    fn queue_graphs_hold(picture in queue(), size in size()) { check(picture.drawn(size)) }

    #[test]
    fn stall_charts_hold(picture in stall_chart(), size in size()) { check(picture.drawn(size)) }

    #[test]
    fn queue_delays_hold(picture in queue_delay(), size in size()) { check(picture.drawn(size)) }

    #[test]
    fn ladders_hold(picture in ladder(), size in size()) { check(picture.drawn(size)) }

    #[test]
    fn journeys_hold(picture in journey(), size in size()) { check(picture.drawn(size)) }

    #[test]
    fn line_charts_hold(picture in line_chart(), size in size()) { check(picture.drawn(size)) }

    #[test]
    fn an_axis_stays_within_its_pixels_and_its_ticks_within_its_values(
        low in number(), high in number(), value in number(), most in 0..30_usize, log in any::<bool>(),
    ) {
        let spacing = if log { Spacing::Log } else { Spacing::Linear };
        let axis = axis::Axis::new(spacing, low, high, 10.0, 200.0);
        prop_assert!(axis.low() < axis.high());
        prop_assert!((10.0..=200.0).contains(&axis.at(value)));
        let ticks = axis.ticks(most);
        prop_assert!(ticks.len() <= most.clamp(2, 20));
        prop_assert!(ticks.windows(2).all(|pair| pair[0].0 < pair[1].0));
        let slack = (axis.high() - axis.low()) * 1e-6;
        let range = axis.low() - slack..=axis.high() + slack;
        prop_assert!(ticks.iter().all(|(tick, _)| range.contains(tick)));
    }
}

#[test]
fn colours_are_far_enough_from_their_ground() {
    // Relative luminance and contrast of WCAG 2.
    let channel = |text: &str| {
        let value = f64::from(u8::from_str_radix(text, 16).unwrap()) / 255.0;
        if value <= 0.04045 { value / 12.92 } else { ((value + 0.055) / 1.055).powf(2.4) }
    };
    let luminance = |colour: &str| {
        0.2126 * channel(&colour[1..3]) + 0.7152 * channel(&colour[3..5]) + 0.0722 * channel(&colour[5..7])
    };
    let contrast = |a: &str, b: &str| {
        let (a, b) = (luminance(a), luminance(b));
        (a.max(b) + 0.05) / (a.min(b) + 0.05)
    };
    let text =
        [palette::INK, palette::MUTED, palette::NOTICE, palette::TIMEOUT, palette::WORSE, palette::ACK];
    let faint = [palette::BACKGROUND, palette::GRID, palette::SHADE];
    for role in palette::roles().filter(|role| !faint.contains(role)) {
        let least = if text.contains(&role) { 4.5 } else { 3.0 };
        let light = contrast(role.light, palette::BACKGROUND.light);
        let dark = contrast(role.dark, palette::BACKGROUND.dark);
        assert!(light >= least && dark >= least, "{}: {light:.2} {dark:.2}", role.name);
    }
}

/// A label goes to the first place that is free of lines; where none is, to the first of all, or nowhere.
#[test]
fn labels_keep_off_lines() {
    use crate::canvas::{Anchor, Place, Stroke};
    let drawn = |lines: &[f64], waits: bool| {
        let mut canvas = Canvas::new(Size { width: 300, height: 200 });
        let places = [60.0, 120.0].map(|y| Place::new(20.0, y, Anchor::Start));
        if waits {
            canvas.label_off_lines("words", palette::INK, "", &places);
        }
        for &y in lines {
            canvas.tagged(" data-as=\"line\"", |canvas| {
                canvas.line((10.0, y), (200.0, y), Stroke::new(palette::DATA, 1.0));
            });
        }
        if !waits {
            canvas.label("words", palette::INK, &places);
        }
        canvas.settle();
        canvas.labels().first().map(|label| label.top.round())
    };
    for waits in [false, true] {
        assert_eq!(drawn(&[], waits), Some(53.0));
        assert_eq!(drawn(&[61.0], waits), Some(113.0));
    }
    assert_eq!(drawn(&[61.0, 119.0], false), Some(53.0));
    assert_eq!(drawn(&[61.0, 119.0], true), None);
}

/// The fast handover of the gallery (espi-2010-fmipv6, Figure 3): thirteen arrows over five lines, many of them through one
/// point.
#[test]
fn a_ladder_has_all_names_off_its_lines() {
    let message = |label: &str, from, to, sent, arrived| LadderMessage {
        label: label.into(),
        from,
        to,
        sent,
        arrived: Some(arrived),
    };
    let span = |label: &str, party, from, to| LadderSpan { label: label.into(), party, from, to };
    let ladder = Ladder {
        about: About::default(),
        parties: ["CN", "HA", "PAR", "NAR", "MN"].map(String::from).to_vec(),
        unit: "ms after the L2 hint".into(),
        messages: vec![
            message("RtSolPr", 4, 2, 0.0, 5.0),
            message("PrRtAdv", 2, 4, 5.0, 10.1),
            message("FBU", 4, 2, 10.1, 15.1),
            message("HO Start", 4, 0, 10.1, 190.2),
            message("HI", 2, 3, 15.1, 19.7),
            message("HAck", 3, 2, 19.7, 24.5),
            message("FBack", 2, 3, 24.5, 28.9),
            message("FBack", 2, 4, 24.5, 29.6),
            message("UNA", 4, 3, 529.6, 534.6),
            message("BU", 4, 1, 529.6, 539.3),
            message("FBack", 3, 4, 534.6, 572.2),
            message("BAck", 1, 4, 539.3, 573.3),
            message("HO Finish", 4, 0, 529.6, 687.8),
        ],
        spans: vec![span("HANDOFF", 0, 190.2, 687.8), span("no link", 4, 29.6, 529.6)],
    };
    for size in [Size { width: 860, height: 560 }, Size { width: 350, height: 620 }] {
        check(ladder.drawn(size));
        let svg = ladder.svg(size);
        let named = ladder.messages.iter().map(|message| &message.label);
        for name in named.chain(ladder.spans.iter().map(|span| &span.label)) {
            let times = ladder.messages.iter().filter(|message| message.label == *name).count().max(1);
            assert_eq!(svg.matches(&format!(">{name}</text>")).count(), times, "{name}, {size:?}");
        }
    }
}

/// Words of an event stand above the plot, whatever the title of its axis and the time.
#[test]
fn the_handoff_stands_above_every_graph() {
    for (at, width) in [0.1, 1.0, 1.5, 4.0, 8.0].into_iter().flat_map(|at| [(at, 350), (at, 860)]) {
        for handoff in [Handoff::Instant(at), Handoff::Disconnection(at, at + 0.5)] {
            let timeline = Timeline { span: Some((0.0, 10.0)), handoff: Some(handoff), notices: Vec::new() };
            let size = Size { width, height: 340 };
            let queue = QueueGraph { timeline: timeline.clone(), ..QueueGraph::default() };
            let window = WindowGraph { timeline, ..WindowGraph::default() };
            for svg in [queue.svg(size), window.svg(size)] {
                let document = roxmltree::Document::parse(&svg).unwrap();
                let plot = document.descendants().find_map(|node| node.attribute("data-plot")).unwrap();
                let top: f64 = plot.split(' ').nth(1).unwrap().parse().unwrap();
                let is_it = |node: &roxmltree::Node| node.attribute("data-x").is_some();
                let label = document.descendants().find(is_it).expect("a label");
                let y: f64 = label.attribute("y").unwrap().parse().unwrap();
                assert!(y < top, "{handoff:?}, {width} px: {y} is not above {top}");
            }
        }
    }
}

/// A linear light of sRGB, as readers without one kind of cone see it. Source: G. M. Machado, M. M. Oliveira and
/// L. A. F. Fernandes, "A physiologically-based model for simulation of color vision deficiency", 2009, severity 1.
const EYES: [[[f64; 3]; 3]; 4] = [
    [[1.0, 0.0, 0.0], [0.0, 1.0, 0.0], [0.0, 0.0, 1.0]],
    [[0.152286, 1.052583, -0.204868], [0.114503, 0.786281, 0.099216], [-0.003882, -0.048116, 1.051998]],
    [[0.367322, 0.860646, -0.227968], [0.280085, 0.672501, 0.047413], [-0.011820, 0.042940, 0.968881]],
    [[1.255528, -0.076749, -0.178779], [-0.078411, 0.930809, 0.147602], [0.004733, 0.691367, 0.303900]],
];

/// Five times what is just told apart (0.02) in the space of B. Ottosson, "A perceptual color space for image
/// processing", 2020.
const TOLD_APART: f64 = 0.1;

fn transformed(matrix: &[[f64; 3]; 3], vector: [f64; 3]) -> [f64; 3] {
    matrix.map(|row| row.iter().zip(vector).map(|(a, b)| a * b).sum())
}

fn seen(eye: &[[f64; 3]; 3], colour: &str) -> [f64; 3] {
    let channel = |at: usize| {
        let value = f64::from(u8::from_str_radix(&colour[at..at + 2], 16).unwrap()) / 255.0;
        if value <= 0.04045 { value / 12.92 } else { ((value + 0.055) / 1.055).powf(2.4) }
    };
    let light = transformed(eye, [channel(1), channel(3), channel(5)]).map(|value| value.clamp(0.0, 1.0));
    let cones = [
        [0.4122214708, 0.5363325363, 0.0514459929],
        [0.2119034982, 0.6806995451, 0.1073969566],
        [0.0883024619, 0.2817188376, 0.6299787005],
    ];
    let opponents = [
        [0.2104542553, 0.7936177850, -0.0040720468],
        [1.9779984951, -2.4285922050, 0.4505937099],
        [0.0259040371, 0.7827717662, -0.8086757660],
    ];
    transformed(&opponents, transformed(&cones, light).map(f64::cbrt))
}

#[test]
fn any_two_schemes_are_told_apart_by_every_eye() {
    for eye in &EYES {
        for ground in [|role: palette::Role| role.light, |role: palette::Role| role.dark] {
            for (index, one) in palette::HUES.iter().enumerate() {
                for other in &palette::HUES[..index] {
                    let (a, b) = (seen(eye, ground(*one)), seen(eye, ground(*other)));
                    let apart: f64 = a.iter().zip(b).map(|(a, b)| (a - b).powi(2)).sum::<f64>().sqrt();
                    assert!(apart > TOLD_APART, "{} and {}: {apart:.3}, {:?}", one.name, other.name, eye[0]);
                }
            }
        }
    }
}

/// Series with bounds of their own are groups at one position: the bars stand as those of one group do.
#[test]
fn groups_at_one_position_stand_side_by_side() {
    let bar = |q1| Some(Quartiles { q1, median: q1 + 1.0, q3: q1 + 2.0 });
    let group = |position, bars| Group { label: "links".into(), position, bars, ..Group::default() };
    let chart = |groups| QuartileChart {
        about: About::default(),
        across: Across::Numbers { label: "delay, ms".into(), spacing: Spacing::Log },
        measure: "transfer time, s".into(),
        spacing: Spacing::Linear,
        series: [("sack", Hue::Grey), ("etcp", Hue::Orange)]
            .map(|(label, hue)| Series { label: label.into(), look: Look::new(hue, Marker::Dot) })
            .to_vec(),
        groups,
    };
    let size = Size { width: 720, height: 420 };
    let together = chart(vec![group(1.0, vec![bar(5.0), bar(3.0)]), group(9.0, vec![bar(2.0), bar(1.0)])]);
    let mut apart = chart(vec![
        group(1.0, vec![bar(5.0), None]),
        group(1.0, vec![None, bar(3.0)]),
        group(9.0, vec![bar(2.0), None]),
        group(9.0, vec![None, bar(1.0)]),
    ]);
    let bars =
        |svg: &str| svg.lines().filter(|line| line.contains("<path")).map(String::from).collect::<Vec<_>>();
    assert_eq!(bars(&together.svg(size)), bars(&apart.svg(size)));
    for (group, bound) in apart.groups.iter_mut().zip([4.0, 2.5, 1.5, 0.5]) {
        group.bound = Some(bound);
    }
    assert_eq!(apart.svg(size).matches("links bound: ").count(), 4);
}

/// A chart's vertical axis has two numbers or more, whatever the values and the size.
#[test]
fn every_chart_has_numbers_on_its_axis() {
    for (spacing, least, most) in [
        (Spacing::Linear, 0.249, 0.402),
        (Spacing::Linear, 0.001, 0.035),
        (Spacing::Linear, 2.0, 9.7),
        (Spacing::Linear, 80.0, 1203.0),
        (Spacing::Log, 0.010, 9.691),
        (Spacing::Log, 0.018, 7.343),
        (Spacing::Log, 0.101, 0.9),
    ] {
        for height in (150..=520).step_by(10) {
            let bar = Quartiles { q1: least, median: (least + most) / 2.0, q3: most };
            let chart = QuartileChart {
                about: About::default(),
                across: Across::Categories { label: "links".into() },
                measure: "time, s".into(),
                spacing,
                series: vec![Series { label: "sack".into(), look: Look::new(Hue::Grey, Marker::Dot) }],
                groups: vec![Group { label: "one".into(), bars: vec![Some(bar)], ..Group::default() }],
            };
            let svg = chart.svg(Size { width: 860, height });
            let numbers = svg.matches("text-anchor=\"end\"").count();
            assert!(numbers >= 2, "{numbers} numbers: {least} to {most}, {spacing:?}, {height} px");
        }
    }
}
