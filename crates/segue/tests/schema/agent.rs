//! The status of an agent, whose types say which fields it has, and its log.

use segue_agent::cli::{LogForm, LogLevel};
use segue_agent::estimate::{Estimate, Source};
use segue_agent::log;
use segue_agent::round::{Cause, Refused, Round, WatchStatus};
use segue_agent::status::{Connections, Notices, Origin, Status};
use segue_agent::{OthersStatus, ReceiverStatus};
use std::sync::{Arc, Mutex};

fn round(cause: Cause, estimate: Option<Estimate>, reason: Option<&str>) -> Round {
    Round {
        number: 1,
        cause,
        watch: "192.0.2.0/24".parse().expect("a prefix"),
        device: "wlan0".into(),
        estimate,
        waited_ns: 1,
        took_ns: 2,
        triggered: 3,
        crafted: 4,
        acked: 5,
        waiting: 6,
        resent: 7,
        governed: 8,
        left: 9,
        helped: 10,
        refused: Refused { reason: reason.map(String::from), ..Refused::default() },
        superseded: false,
    }
}

#[test]
fn the_status_of_an_agent_is_as_its_schema_says() {
    let told = |source| Some(Estimate { rate_kbps: 20_000, delay_us: 10_000, up_kbps: 5_000, source });
    let causes =
        [Cause::Moved, Cause::Returned, Cause::Resumed, Cause::Restarted, Cause::Told, Cause::Foreseen];
    let mut rounds: Vec<Round> =
        causes.into_iter().map(|cause| round(cause, told(Source::Told), None)).collect();
    rounds.push(round(Cause::Moved, None, Some("no room")));
    let watch = |device: Option<&str>, estimate| WatchStatus {
        to: "::/0".parse().expect("a prefix"),
        device: device.map(String::from),
        estimate,
    };
    let sources = [Source::Told, Source::Station, Source::Delivered, Source::Rule];
    let receiver = ReceiverStatus {
        device: "wwan0".into(),
        attached: true,
        freeze: true,
        phas: false,
        closed: 1,
        dropped: 2,
        triggered: 3,
    };
    let status = Status {
        version: 1,
        process: 7,
        up_s: 60,
        triggers: true,
        stations: false,
        uploads: None,
        receivers: vec![receiver],
        others: OthersStatus { devices: vec!["wwan0".into()], ..OthersStatus::default() },
        watch: sources.into_iter().map(|source| watch(Some("wlan0"), told(source))).collect(),
        connections: Connections::default(),
        notices: Notices::default(),
        rounds,
        denied: 0,
        origin: Origin::default(),
    };
    for uploads in [None, Some("etcp-v1".to_string())] {
        let mut status = Status { uploads, ..status.clone() };
        status.watch.push(watch(None, None));
        super::assert_is("agent-status", &serde_json::to_string(&status).expect("JSON"));
    }
}

/// Lines of all levels, without values and with one of each type.
#[test]
fn the_log_of_an_agent_is_as_its_schema_says() {
    let lines = Arc::new(Mutex::new(Vec::new()));
    let kept = lines.clone();
    let write = move |line: &str| kept.lock().expect("ours").push(line.to_string());
    tracing::subscriber::with_default(log::lines(LogForm::Json, LogLevel::Info, write), || {
        tracing::error!("a failure");
        let (error, none) = ("\"quoted\"", None::<u32>);
        tracing::warn!(number = 7u64, late = -3, over = true, device = "w\n0", %error, ?none, "values");
        tracing::info!(rate = 1.5, "a rate");
    });
    let lines = lines.lock().expect("ours");
    assert_eq!(lines.len(), 3);
    lines.iter().for_each(|line| super::assert_is("agent-log", line));
}
