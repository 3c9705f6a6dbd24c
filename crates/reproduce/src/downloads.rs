//! Downloads during a fast handover (paper 002): from a point and a sender's name to measures.

use crate::ledger::{Defaults, DownloadCurve, Measure, Panel, Paper};
use crate::point_error::PointError;
use crate::points::OneDownload;
use crate::sample::Sample;
use crate::settings::{scheme_of, settings};
use segue_handoff::Scheme;
use segue_handoff::hn::TELLABLE_PBS;
use segue_study::planned::{PlannedScheme, planned};
use segue_world::fmip::{Download, DownloadRecord};
use segue_world::{Nanos, SECOND};
use std::collections::BTreeSet;

/// After this the received data are counted, from the attachment on.
const SOON: Nanos = SECOND;

/// The buffer that a sender's name gives, bytes.
fn buffer_of(name: &str) -> Result<Option<u64>, PointError> {
    let Some((_, size)) = name.split_once('@') else { return Ok(None) };
    let bytes = size.strip_suffix("kB").and_then(|number| number.parse::<u64>().ok()).map(|kb| kb * 1000);
    let bytes = bytes.filter(|bytes| TELLABLE_PBS.contains(bytes));
    bytes
        .map(Some)
        .ok_or(PointError::Download { word: name.to_string(), expected: "SCHEME@1kB to SCHEME@32768kB" })
}

/// One-way delays of c and d: `20/5` in ms.
fn access(text: &str) -> Result<[Nanos; 2], PointError> {
    let ms = |word: &str| word.parse::<u64>().ok().filter(|&ms| ms <= 100_000).map(|ms| ms * (SECOND / 1000));
    let both = text.split_once('/').and_then(|(c, d)| Some([ms(c)?, ms(d)?]));
    both.ok_or(PointError::Download {
        word: text.to_string(),
        expected: "delays of c and d in ms, such as 20/5",
    })
}

impl OneDownload {
    /// The simulated download, with the first seed, and the sender.
    pub fn plan(
        &self,
        defaults: &Defaults,
        name: &str,
        settings: &[(String, String)],
    ) -> Result<(Download, PlannedScheme), PointError> {
        let of_download =
            |key: &str| segue_world::fmip::DOWNLOAD_SETTINGS.iter().any(|known| known.name == key);
        let (own, others): (Vec<_>, Vec<_>) = settings.iter().cloned().partition(|(key, _)| of_download(key));
        let names = [scheme_of(name).to_string()];
        let (mut schemes, _) = planned(&names, defaults.stack_words(), &others)?;
        let scheme = schemes.pop().ok_or(PointError::NoSchemes)?;
        let mut download = Download::new(scheme.stack);
        for (key, value) in &own {
            download
                .set(key, value)
                .unwrap_or(Ok(()))
                .map_err(|expected| PointError::Download { word: format!("{key}={value}"), expected })?;
        }
        download.disconnection = self.disconnect;
        if let Some(buffer) = buffer_of(name)? {
            download.buffer = buffer;
        }
        if let Some(text) = &self.access_ms {
            download.access = access(text)?;
        }
        Ok((download, scheme))
    }

    /// The sample of so many seeds.
    pub fn sample(
        &self,
        paper: &Paper,
        name: &str,
        seeds: u64,
        done: &(dyn Fn(u64) + Sync),
    ) -> Result<Sample, PointError> {
        let (download, planned) = self.plan(&paper.defaults, name, &settings(paper, &named(name)))?;
        let mut sample = Sample::default();
        for seed in 1..=seeds {
            done(0);
            let download = Download { seed, ..download.clone() };
            measure(&mut sample, &download, &planned.scheme);
            done(1);
        }
        Ok(sample)
    }
}

fn named(name: &str) -> BTreeSet<String> {
    BTreeSet::from([name.to_string()])
}

fn kilobytes(packets: usize, download: &Download) -> f64 {
    packets as f64 * f64::from(download.stack.mss) / 1000.0
}

/// Every measure of one download.
fn measure(sample: &mut Sample, download: &Download, scheme: &Scheme) {
    let record = download.run(scheme);
    let undisturbed = Download { hint: None, ..download.clone() };
    let still = undisturbed.run(scheme);
    let way = record.mobile;
    let (_, least, falls) = record.window_after_hint();
    let hint = record.hint.unwrap_or(0);
    let since_hint = record.timeouts.iter().filter(|&&at| at >= hint).count();
    let soon = way.attached.map(|at| record.received_by(at + SOON));
    let mut add = |measure, value| sample.add(measure, value);
    add(Measure::Goodput, record.goodput(download) / 1000.0);
    add(Measure::UndisturbedGoodput, still.goodput(&undisturbed) / 1000.0);
    add(Measure::Injected, kilobytes(record.injected as usize, download));
    add(Measure::WindowFalls, f64::from(u8::from(falls)));
    add(Measure::LeastWindow, f64::from(least) / 256.0);
    add(Measure::TimeoutsFromT, since_hint as f64);
    add(Measure::DataDrops, f64::from(record.overflowed));
    if let Some(packets) = soon {
        add(Measure::ReceivedSoon, kilobytes(packets, download));
    }
    if let (Some(from), Some(until)) = (way.started, way.finished) {
        let integral = still.sent_between(download, from, until) as f64;
        add(Measure::BufferGap, (integral - download.buffer as f64) / 1000.0);
    }
}

/// One curve.
#[derive(Clone, Debug, PartialEq)]
pub struct Curve {
    /// The sender, by the paper's name.
    pub sender: String,
    /// Which download, where a panel has several.
    pub download: Option<String>,
    /// (s, value) in order; a value stays until the next.
    pub points: Vec<(f64, f64)>,
}

impl Curve {
    /// The name by which it differs from the others of its panel.
    pub fn name(&self) -> String {
        match &self.download {
            Some(download) => format!("{}, {download}", self.sender),
            None => self.sender.clone(),
        }
    }
}

/// The one download of a panel with its one sender, with the first seed.
pub fn handover(paper: &Paper, panel: &Panel) -> Result<DownloadRecord, PointError> {
    let points = panel.downloads.as_ref().map_or(Vec::new(), |downloads| downloads.all());
    let (Some(point), Some(sender)) = (points.first(), panel.senders.first()) else {
        return Err(PointError::NoSchemes);
    };
    let name = paper.own(sender);
    let (download, planned) = point.plan(&paper.defaults, &name, &settings(paper, &named(&name)))?;
    Ok(download.run(&planned.scheme))
}

/// Curves of a panel over time, one for each sender and download, with the first seed.
pub fn curves(paper: &Paper, panel: &Panel) -> Result<Vec<Curve>, PointError> {
    let points = panel.downloads.as_ref().map_or(Vec::new(), |downloads| downloads.all());
    let mut curves = Vec::new();
    for sender in &panel.senders {
        for point in &points {
            let name = paper.own(sender);
            let (download, planned) = point.plan(&paper.defaults, &name, &settings(paper, &named(&name)))?;
            let record = download.run(&planned.scheme);
            let which = (points.len() > 1).then(|| format!("{} s", point.disconnect as f64 / SECOND as f64));
            let points = values(panel, &record, &download);
            curves.push(Curve { sender: sender.clone(), download: which, points });
        }
    }
    Ok(curves)
}

fn values(panel: &Panel, record: &DownloadRecord, download: &Download) -> Vec<(f64, f64)> {
    let seconds = |at: Nanos| at as f64 / SECOND as f64;
    match panel.shows {
        Some(DownloadCurve::Window) => {
            record.window.iter().map(|&(at, window)| (seconds(at), f64::from(window) / 256.0)).collect()
        }
        Some(DownloadCurve::Injected) => {
            let after = |packets: usize| kilobytes(packets, download);
            let start = record.states.first().map(|&(at, _)| (seconds(at), 0.0));
            let sent = record.sent_in_handoff().enumerate();
            let curve = start.into_iter().chain(sent.map(|(index, at)| (seconds(at), after(index + 1))));
            let end = record.states.get(1).map(|&(at, _)| (seconds(at), after(record.injected as usize)));
            curve.chain(end).collect()
        }
        Some(DownloadCurve::Sequence) | None => {
            let byte =
                |seq: u32| f64::from(panel.first_sequence) + f64::from(seq) * f64::from(download.stack.mss);
            record.received.iter().map(|&(at, seq)| (seconds(at), byte(seq))).collect()
        }
    }
}
