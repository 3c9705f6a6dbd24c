//! A trace as a data file for the plots and comparisons of Flent (The FLExible Network Tester). Format: version 4,
//! "The Data File Format" of its manual. The test is `tcp_ndown`, as a host in the mobile's place sees it. It has that
//! test's rates of all downloads, and no ping, because nobody pings here.

use crate::Provenance;
use segue_study::explain::SchemeTrace;
use segue_study::story::headline;
use segue_tcp::receiver::Arrival;
use segue_world::trace::What;
use segue_world::{Nanos, SECOND};
use serde_json::{Map, Value, json};

/// Rates are those of so long: Flent's own 200 ms would hide half of a short break.
const STEP: Nanos = SECOND / 10;
/// When simulated time begins, by the clock of the file. A real time would make each file another one.
const BEGINNING: &str = "1970-01-01T00:00:00.000000Z";

/// The file of a scheme: Mbit/s of data new to the mobile, without headers, in each whole step since the first SYN.
///
/// # Errors
/// The JSON writer's.
pub fn flent(told: &SchemeTrace, origin: Option<&Provenance>) -> Result<String, serde_json::Error> {
    let trace = &told.trace;
    let experiment = &trace.experiment;
    let steps = usize::try_from(trace.end / STEP).unwrap_or(usize::MAX);
    let mut bits = vec![vec![0_u64; steps]; experiment.flows];
    for event in &trace.events {
        let What::Received { packet, arrival } = &event.what else { continue };
        let step = usize::try_from(event.at / STEP).unwrap_or(usize::MAX);
        let place = bits.get_mut(usize::from(packet.flow)).and_then(|flow| flow.get_mut(step));
        if let Some(sum) = place.filter(|_| packet.data && *arrival == Some(Arrival::New)) {
            *sum += u64::from(packet.segment.payload) * 8;
        }
    }
    let seconds = |time: Nanos| time as f64 / SECOND as f64;
    // At the end of its step, when it is known.
    let times: Vec<f64> = (1..=steps as u64).map(|step| seconds(step * STEP)).collect();
    let rate = |bits: u64, time: Nanos| bits as f64 / seconds(time.max(1)) / 1e6;
    let rates = |bits: &[u64]| bits.iter().map(|&bits| rate(bits, STEP)).collect::<Vec<f64>>();
    let sums: Vec<u64> = (0..steps).map(|step| bits.iter().map(|flow| flow[step]).sum()).collect();
    let mean: Vec<f64> = rates(&sums).iter().map(|rate| rate / experiment.flows.max(1) as f64).collect();

    let (mut results, mut raw, mut about) = (Map::new(), Map::new(), Map::new());
    for (index, flow) in bits.iter().enumerate() {
        let name = format!("TCP download::{}", index + 1);
        let points = times.iter().zip(rates(flow)).map(|(t, val)| json!({ "t": t, "val": val }));
        let whole = rate(flow.iter().sum(), steps as u64 * STEP);
        about.insert(name.clone(), json!({ "MEAN_VALUE": whole, "UNITS": "Mbits/s" }));
        raw.insert(name.clone(), Value::Array(points.collect()));
        results.insert(name, json!(rates(flow)));
    }
    for (name, values) in [("TCP download avg", mean), ("TCP download sum", rates(&sums))] {
        about.insert(name.into(), json!({ "UNITS": "Mbits/s" }));
        results.insert(name.into(), json!(values));
    }
    let mut file = json!({
        "version": 4,
        "metadata": {
            "NAME": "tcp_ndown",
            // A legend repeats it at each line.
            "TITLE": told.scheme,
            "NOTE": format!(
                "Segue {}, a simulation: {}. The handoff begins at {} s, the new link is up at {} s",
                env!("CARGO_PKG_VERSION"),
                headline(experiment),
                seconds(trace.record.at),
                seconds(trace.record.completion)
            ),
            "TIME": BEGINNING,
            "T0": BEGINNING,
            "HOST": "sender",
            "HOSTS": ["sender"],
            "LOCAL_HOST": "mobile",
            "LENGTH": steps as u64 * STEP / SECOND,
            "TOTAL_LENGTH": seconds(steps as u64 * STEP),
            "STEP_SIZE": seconds(STEP),
            "TEST_PARAMETERS": { "download_streams": experiment.flows.to_string() },
            "DATA_FILENAME": crate::file_name(&told.scheme, "flent"),
            "SERIES_META": about,
        },
        "x_values": times,
        "results": results,
        "raw_values": raw,
    });
    // Flent keeps metadata that it does not know.
    if let Some(origin) = origin {
        file["metadata"]["SEGUE"] = serde_json::to_value(origin)?;
    }
    serde_json::to_string(&file).map(|text| text + "\n")
}
