//! Our measurement: the `sack` scheme at the 200 handoff times of a scenario.

use crate::Error;
use crate::scenario::Scenario;
use segue_world::{Experiment, Nanos, RunRecord, SECOND, WarmRun, check_scheme};

/// Handoff times: 0.1, 0.2, ..., 20.0 s.
const POINTS: u32 = 200;

/// One handoff of ours.
#[derive(Clone, Copy, Debug)]
pub struct Handoff {
    /// T in tenths of a second.
    pub tenths: u32,
    /// Transfer time in s by definition A (after-highest); infinite if incomplete.
    pub a: f64,
    /// Transfer time in s by definition B (after-ack); infinite if incomplete.
    pub b: f64,
    /// Timeouts from completion to the end.
    pub timeouts: u32,
    /// Drops in queues.
    pub drops: u32,
    /// Packets sent again.
    pub retransmissions: u32,
}

/// Quartiles by linear interpolation (type 7).
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Quartiles {
    /// A quarter of the values lies below.
    pub q1: f64,
    /// Half of them.
    pub median: f64,
    /// Three quarters.
    pub q3: f64,
}

/// Fields of a line of a summary, ours or ns-2's.
#[derive(Clone, Copy, Debug)]
pub struct Summary {
    /// Definition A.
    pub a: Quartiles,
    /// Definition B.
    pub b: Quartiles,
    /// Timeouts per handoff from completion to the end of A.
    pub timeouts: f64,
    /// Drops in queues, data and ACKs, in the same window.
    pub drops: f64,
    /// Packets sent again, in the same window.
    pub retransmissions: f64,
}

/// Nanoseconds as seconds; `None` is for ever.
pub fn seconds(time: Option<Nanos>) -> f64 {
    time.map_or(f64::INFINITY, |t| t as f64 / SECOND as f64)
}

/// One run with the `sack` scheme.
pub fn record(warm: &mut WarmRun, at: Nanos) -> Result<RunRecord, Error> {
    let sack = check_scheme("sack", &[]).map_err(|e| Error::Scheme(e.to_string()))?;
    Ok(warm.fork(at).complete().run(&sack))
}

/// All handoffs of a scenario.
pub fn handoffs(scenario: &Scenario, packets: u32) -> Result<Vec<Handoff>, Error> {
    handoffs_of(scenario.experiment(packets)?)
}

/// The same of an experiment, which may have other settings.
pub fn handoffs_of(experiment: Experiment) -> Result<Vec<Handoff>, Error> {
    let mut warm = WarmRun::new(experiment);
    let mut handoffs = Vec::new();
    for tenths in 1..=POINTS {
        let record = record(&mut warm, u64::from(tenths) * (SECOND / 10))?;
        handoffs.push(Handoff {
            tenths,
            a: seconds(record.after_highest),
            b: seconds(record.after_ack),
            timeouts: record.timeouts_after().count() as u32,
            drops: record.drops,
            retransmissions: record.retransmissions,
        });
    }
    Ok(handoffs)
}

/// Quartiles of `values`, of which there must be one at least.
pub fn quartiles(mut values: Vec<f64>) -> Quartiles {
    values.sort_by(f64::total_cmp);
    let at = |p: f64| {
        let place = (values.len() - 1) as f64 * p;
        let (below, above) = (values[place.floor() as usize], values[place.ceil() as usize]);
        // Equal ends may be infinite: no difference of them is taken then.
        if below == above { below } else { below + place.fract() * (above - below) }
    };
    Quartiles { q1: at(0.25), median: at(0.5), q3: at(0.75) }
}

/// The summary of handoffs, of which there must be one at least.
pub fn summarise(handoffs: &[Handoff]) -> Summary {
    let mean = |count: fn(&Handoff) -> u32| {
        handoffs.iter().map(|h| f64::from(count(h))).sum::<f64>() / handoffs.len() as f64
    };
    Summary {
        a: quartiles(handoffs.iter().map(|h| h.a).collect()),
        b: quartiles(handoffs.iter().map(|h| h.b).collect()),
        timeouts: mean(|h| h.timeouts),
        drops: mean(|h| h.drops),
        retransmissions: mean(|h| h.retransmissions),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn type_7() {
        let found = quartiles(vec![4.0, 1.0, 3.0, 2.0]);
        assert_eq!(found, Quartiles { q1: 1.75, median: 2.5, q3: 3.25 });
        let found = quartiles(vec![1.0, f64::INFINITY, f64::INFINITY]);
        assert_eq!(found.q3, f64::INFINITY);
    }
}
