//! How far senders come along a short route; run when it is drawn.

use crate::ledger::{Panel, Paper};
use crate::point_error::PointError;
use crate::points::{link, nanos};
use crate::settings::settings;
use segue_study::planned::planned;
use segue_world::drive::mobility::{Drive, Stay};
use segue_world::drive::run::{DriveExperiment, WideArea};
use segue_world::{Nanos, NoticeMode, Routers, SECOND};
use std::collections::BTreeSet;
use std::sync::Arc;

/// Queue of a cell and of the wide area, packets (algorithms.md 4.8).
const QUEUE: u32 = 20;
/// Rate of the wide area, bit/s.
const WAN_RATE: u64 = 10_000_000;

/// One sender: its name in the paper, and (s, packets acknowledged) in order.
pub type Progress = (String, Vec<(f64, f64)>);

/// Runs every sender of a panel along its route.
pub fn progress(paper: &Paper, panel: &Panel) -> Result<Vec<Progress>, PointError> {
    let stays: Result<Vec<Stay>, PointError> = panel
        .route
        .iter()
        .map(|stay| {
            let link = segue_world::AccessLink { queue: QUEUE, ..link(&stay.link)? };
            Ok(Stay { network: 0, from: nanos(stay.from_s), until: nanos(stay.until_s), link })
        })
        .collect();
    let stays = stays?;
    let length = stays.last().map_or(0, |stay| stay.until);
    let drive = Arc::new(Drive::new(length, vec!["route".into()], stays)?);
    let senders = panel.senders.iter().map(|sender| {
        let name = paper.own(sender);
        let settings = settings(paper, &BTreeSet::from([name.clone()]));
        let (schemes, _) = planned(&[name], paper.defaults.stack_words(), &settings)?;
        let experiment = DriveExperiment {
            drive: drive.clone(),
            flows: 1,
            cross: 0,
            web: None,
            wan: WideArea {
                rate: WAN_RATE,
                delay: Nanos::from(panel.wan_ms.unwrap_or_default()) * SECOND / 1000,
                queue: QUEUE,
            },
            stack: schemes[0].stack,
            notice: NoticeMode::InBand { lost: 0 },
            bandwidth_error: 0.0,

            routers: Routers::default(),
            seed: 1,
        };
        let progress = experiment.progress(&schemes[0].scheme);
        let points = progress.into_iter().map(|(at, una)| (at as f64 / SECOND as f64, f64::from(una)));
        Ok((sender.clone(), points.collect()))
    });
    senders.collect()
}
