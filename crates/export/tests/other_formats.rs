//! Readers of qlog, xplot and Flent's files, who know nothing but their formats, find what the simulator did.

use segue_handoff::Scheme;
use segue_study::explain::SchemeTrace;
use segue_tcp::profile::PROFILES;
use segue_tcp::receiver::Arrival;
use segue_world::trace::{What, trace};
use segue_world::{AccessLink, Experiment, Kind};
use serde_json::Value;
use std::collections::BTreeSet;

const MS: u64 = 1_000_000;

/// A handoff to a slow link, whose small queue loses packets.
fn told(flows: usize) -> SchemeTrace {
    let link = |word| AccessLink::parse(word).expect("a link");
    let experiment = Experiment {
        kind: Kind::Bbm(1_000 * MS),
        flows,
        packets: 60,
        ..Experiment::usual(link("6400kbit/9ms"), link("200kbit/300ms"), PROFILES[0])
    };
    let scheme = Scheme::build("etcp-v1", &[]).expect("a scheme");
    let trace = trace(&experiment, 3_000 * MS, &[&scheme]).remove(0);
    SchemeTrace { scheme: "etcp-v1".into(), settings: Vec::new(), stack: experiment.stack.name, trace }
}

/// Data of a flow that left, and those of them sent again.
fn sent(told: &SchemeTrace, flow: u16) -> (usize, usize) {
    let packets = told.trace.events.iter().filter_map(|event| match &event.what {
        What::Sent(packet) if packet.data && packet.flow == flow => Some(packet.retransmission),
        _ => None,
    });
    let again: Vec<bool> = packets.collect();
    (again.len(), again.iter().filter(|again| **again).count())
}

fn number(event: &Value) -> u64 {
    event["data"]["header"]["packet_number"].as_u64().expect("a number")
}

#[test]
fn qlog_has_every_transmission_once_and_acknowledges_what_was_sent() {
    let told = told(2);
    let text = segue_export::qlog(&told, None).expect("qlog");
    // qvis takes a file for what it finds at its beginning.
    assert!(text.starts_with("{\"qlog_version\":\"0.3\",\"qlog_format\":\"JSON\","), "{}", &text[..80]);
    let file: Value = serde_json::from_str(&text).expect("JSON");
    let traces = file["traces"].as_array().expect("traces");
    assert_eq!(traces.len(), 2);
    for (flow, trace) in traces.iter().enumerate() {
        assert_eq!(trace["vantage_point"]["type"], "server");
        let events = trace["events"].as_array().expect("events");
        let times: Vec<f64> = events.iter().map(|event| event["time"].as_f64().expect("a time")).collect();
        assert!(times.is_sorted(), "in order");
        let named = |name: &str| events.iter().filter(|event| event["name"] == name).collect::<Vec<_>>();
        let (all, again) = sent(&told, flow as u16);
        assert!(again > 0, "something was lost");
        let numbers: Vec<u64> = named("transport:packet_sent").into_iter().map(number).collect();
        assert_eq!(numbers.len(), all);
        assert_eq!(named("recovery:packet_lost").len(), again, "each packet sent again was taken for lost");

        let (mut under_way, mut acknowledged) = (BTreeSet::new(), BTreeSet::new());
        for event in events {
            match event["name"].as_str().expect("a name") {
                "transport:packet_sent" => assert!(under_way.insert(number(event)), "one number twice"),
                "recovery:packet_lost" => assert!(under_way.contains(&number(event)), "never sent"),
                "transport:packet_received" => {
                    for frame in event["data"]["frames"].as_array().expect("frames") {
                        for range in frame["acked_ranges"].as_array().expect("ranges") {
                            let [first, last] = [0, 1].map(|end| range[end].as_u64().expect("a number"));
                            for number in first..=last {
                                assert!(under_way.contains(&number), "{number} was never sent");
                                assert!(acknowledged.insert(number), "{number} is new twice");
                            }
                        }
                    }
                }
                _ => {}
            }
        }
        // Each packet that the cumulative ACK covers was brought by one transmission; the SYN is packet 0.
        let targets = u64::from(told.trace.record.acknowledged[flow]);
        assert!(acknowledged.len() as u64 >= targets, "{} of {targets}", acknowledged.len());
        let metrics = named("recovery:metrics_updated");
        let window = |event: &&Value| event["data"]["congestion_window"].as_u64();
        assert!(metrics.len() > 20 && metrics.iter().all(|event| window(event) > Some(0)));
        let phases: BTreeSet<&str> = named("recovery:congestion_state_updated")
            .into_iter()
            .filter_map(|event| event["data"]["new"].as_str())
            .collect();
        assert!(phases.contains("slow_start"), "{phases:?}");
        let marks = named("simulation:marker");
        let said = |part: &str| {
            marks.iter().any(|mark| mark["data"]["message"].as_str().unwrap_or("").contains(part))
        };
        assert!(
            said("the handoff begins") && said("the new link is up") && said("lost in the disconnection")
        );
        assert!(said("notice of 200 kbit/s"), "decisions are told");
    }
}

/// Commands of an xplot file, each with its points or its text in the next line.
fn commands(text: &str) -> Vec<(String, Vec<f64>)> {
    let mut lines = text.lines().skip(7);
    let mut commands = Vec::new();
    while let Some(line) = lines.next() {
        let mut words = line.split(' ');
        let command = words.next().unwrap_or_default().to_string();
        let numbers: Vec<f64> = words.map(|word| word.parse().expect("a number")).collect();
        if command.ends_with("text") {
            assert!(lines.next().is_some_and(|label| !label.is_empty()), "a label");
        }
        commands.push((command, numbers));
    }
    commands
}

#[test]
fn xplot_draws_every_packet_and_every_ack() {
    let told = told(1);
    let text = segue_export::xplot(&told, 0);
    let head: Vec<&str> = text.lines().take(7).collect();
    assert_eq!([head[0], head[1], head[3], head[5]], ["timeval unsigned", "title", "xlabel", "ylabel"]);
    let commands = commands(&text);
    assert_eq!(commands.last().map(|(command, _)| command.as_str()), Some("go"));
    let of = |name: &str| commands.iter().filter(|(command, _)| command == name).collect::<Vec<_>>();
    let (all, again) = sent(&told, 0);
    assert_eq!((of("darrow").len(), of("uarrow").len()), (all, all));
    assert_eq!(of("atext").len(), again, "each packet sent again has its R");
    for (begin, end) in of("darrow").into_iter().zip(of("uarrow")) {
        assert_eq!(begin.1[0], end.1[0]);
        let length = end.1[1] - begin.1[1];
        assert!(length == 1.0 || length == f64::from(told.trace.experiment.stack.mss), "{length} bytes");
    }
    let points = of("line").into_iter().map(|(_, points)| points);
    for line in points {
        assert!(line.len() == 4 && line[0] <= line[2] && line[1] <= line[3], "{line:?}");
    }
    let timeouts =
        told.trace.events.iter().filter(|event| matches!(event.what, What::Timeout { .. })).count();
    assert!(text.lines().filter(|line| *line == "RTO").count() == timeouts);
}

#[test]
fn flent_finds_all_that_arrived_and_nothing_while_there_is_no_link() {
    let told = told(2);
    let text = segue_export::flent(&told, None).expect("a file");
    let file: Value = serde_json::from_str(&text).expect("JSON");
    assert_eq!((&file["version"], &file["metadata"]["NAME"]), (&4.into(), &"tcp_ndown".into()));
    let numbers = |list: &Value| -> Vec<f64> {
        list.as_array().expect("a list").iter().map(|number| number.as_f64().expect("a number")).collect()
    };
    let times = numbers(&file["x_values"]);
    assert!(times.len() > 20 && times.is_sorted());
    let step = file["metadata"]["STEP_SIZE"].as_f64().expect("a number");
    let end = *times.last().expect("a time");
    let series = |name: &str| numbers(&file["results"][name]);
    for flow in 0..2_u16 {
        let name = format!("TCP download::{}", flow + 1);
        let rates = series(&name);
        assert_eq!(rates.len(), times.len());
        let arrived = told.trace.events.iter().filter_map(|event| match &event.what {
            What::Received { packet, arrival: Some(Arrival::New) }
                if packet.flow == flow && (event.at as f64) < end * 1e9 =>
            {
                Some(f64::from(packet.segment.payload))
            }
            _ => None,
        });
        let arrived: f64 = arrived.sum();
        let bytes = rates.iter().sum::<f64>() * step * 1e6 / 8.0;
        assert!((bytes - arrived).abs() < 1.0 && arrived > 0.0, "{name}: {bytes} of {arrived}");
        let raw = file["raw_values"][&name].as_array().expect("points");
        let again: Vec<f64> = raw.iter().map(|point| point["val"].as_f64().expect("a number")).collect();
        assert_eq!(again, rates);
        // From 3 s to 4 s there is no link: whole steps of it are those that end at 3.1 s or later.
        let broken = times.iter().zip(&rates).filter(|(time, _)| **time > 3.15 && **time < 4.05);
        assert!(broken.clone().count() >= 8 && broken.into_iter().all(|(_, rate)| *rate == 0.0), "{name}");
    }
    let (sum, mean) = (series("TCP download sum"), series("TCP download avg"));
    for (index, sum) in sum.iter().enumerate() {
        let each = [1, 2].map(|flow| series(&format!("TCP download::{flow}"))[index]);
        assert!((each[0] + each[1] - sum).abs() < 1e-9 && (mean[index] * 2.0 - sum).abs() < 1e-9);
    }
}
