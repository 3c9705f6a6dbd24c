//! The gain of TCP-HO, computed. Source: paper 003 of X. Wu, M. C. Chan, A. L. Ananda. It is "Improving TCP performance
//! in heterogeneous mobile environments by exploiting the explicit cooperation between server and mobile host".
//!
//! Section 6.2 asks what a wrong estimate of the new bandwidth costs ([`Handoff`]; docs/reference/algorithms.md 4.7).
//! After a handoff TCP goes on with its old threshold `c`. TCP-HO goes on with the estimate `x` of the new path's BDP,
//! which in truth is `b`. Both start at once. Below its threshold a window doubles every round trip; above it the
//! window grows by one segment. At `b` the path is full, and what is more waits in a queue without loss. The gain is
//! what TCP-HO has sent more than TCP when both have reached `b`, in segments. Its mean is taken over a normal estimate
//! with mean `b`.
//!
//! Section 5 asks how much of a disconnection an immediate transmission saves ([`Wait`]; 4.6). TCP falls silent until
//! the next expiry of its timer, which doubles.

use quadrature::integrate;
use std::f64::consts::LN_2;

/// Settings that the models cannot compute.
#[derive(Clone, Copy, Debug, PartialEq, thiserror::Error)]
pub enum BadInput {
    /// The BDP.
    #[error("b = {0}: no BDP in segments; expected a number above 0 and at most {MOST_SEGMENTS}")]
    Bdp(f64),
    /// The threshold.
    #[error("c = {0}: no threshold in segments; expected a number above 0")]
    Threshold(f64),
    /// A threshold that would overflow the queue: Section 6.2.2 leaves losses out.
    #[error("c = {c} with b = {b}: TCP would lose segments, which the model leaves out; expected c below 2b = {}", 2.0 * b)]
    Overflow {
        /// The BDP, segments.
        b: f64,
        /// The threshold, segments.
        c: f64,
    },
    /// The standard deviation.
    #[error("sigma = {0}: no standard deviation in segments; expected a number above 0")]
    Sigma(f64),
    /// The retransmission timeout.
    #[error("an RTO of {0} s; expected one above 0 and at most {LONGEST_RTO_S} s")]
    Rto(f64),
}

/// Largest BDP, segments: more than any path holds, and single segments still count beside b² in a double.
pub const MOST_SEGMENTS: f64 = 1e6;

/// The four handoffs of Section 6.2.3: class, BDP after the handoff and threshold before it, segments.
pub const PAPER_HANDOFFS: [(&str, f64, f64); 4] =
    [("U-VH", 117.0, 8.0), ("U-VH", 58.0, 8.0), ("H-HH", 58.0, 50.0), ("H-HH", 58.0, 66.0)];

/// A handoff as Section 6.2 sees it.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Handoff {
    b: f64,
    c: f64,
}

impl Handoff {
    /// `b`: BDP of the new path; `c`: TCP's threshold from before the handoff; segments.
    pub fn new(b: f64, c: f64) -> Result<Self, BadInput> {
        if !(b > 0.0 && b <= MOST_SEGMENTS) {
            return Err(BadInput::Bdp(b));
        }
        if !(c > 0.0 && c.is_finite()) {
            return Err(BadInput::Threshold(c));
        }
        if c >= 2.0 * b {
            return Err(BadInput::Overflow { b, c });
        }
        Ok(Self { b, c })
    }

    /// BDP of the new path, segments.
    pub fn b(&self) -> f64 {
        self.b
    }

    /// TCP's threshold, segments.
    pub fn c(&self) -> f64 {
        self.c
    }

    /// The paper's class of the handoff, if it is one of its four.
    pub fn class(&self) -> Option<&'static str> {
        PAPER_HANDOFFS.iter().find(|(_, b, c)| (*b, *c) == (self.b, self.c)).map(|(class, ..)| *class)
    }

    /// Which equation gives the mean gain: 1 for a threshold below the BDP, else 2.
    pub fn equation(&self) -> u8 {
        if self.c < self.b { 1 } else { 2 }
    }

    /// N_tcp: segments that TCP sends until both have reached `b`, TCP-HO's estimate being `x` > 0 segments
    /// (Sections 6.2.1 and 6.2.2).
    pub fn tcp_segments(&self, x: f64) -> f64 {
        self.segments(self.c, x)
    }

    /// N_tcp-ho: the same of TCP-HO.
    pub fn tcp_ho_segments(&self, x: f64) -> f64 {
        self.segments(x, self.c)
    }

    /// Slow start up to the threshold carries as many segments as that, the climb to `b` the area below it. The sender
    /// with the higher threshold then sends at `b` until the other is there (T4 of the paper). The other climbed by
    /// single segments where this one had doubled its window. Two thresholds from `b` on make one curve: b segments
    /// each.
    fn segments(&self, threshold: f64, other: f64) -> f64 {
        let b = self.b;
        let (own, other) = (threshold.min(b), other.min(b));
        let until_full = own + (b * b - own * own) / 2.0;
        if other < own { until_full + b * (own - other - (own / other).log2()) } else { until_full }
    }

    /// Round trips until a window with this threshold, segments, has grown from 1 to `b`.
    pub fn full_after(&self, threshold: f64) -> f64 {
        let knee = threshold.min(self.b);
        knee.log2() + (self.b - knee)
    }

    /// Window with this threshold, segments, so many round trips after it was 1 (Figures 13 and 14). It doubles up to
    /// the threshold, then grows by one, and stays at `b`.
    pub fn window(&self, threshold: f64, round_trips: f64) -> f64 {
        let knee = threshold.min(self.b);
        let beyond = round_trips - knee.log2();
        if beyond < 0.0 { round_trips.exp2() } else { (knee + beyond).min(self.b) }
    }

    /// The gain at an estimate of `x` > 0 segments, N_tcp-ho - N_tcp, segments. If c < b it is Delta_1 = Delta_2 for
    /// x < b and Delta_3 above it. Otherwise it is nabla_1, and nabla_2 = nabla_3 = 0. With
    /// f(s) = (b + 1) s - s²/2 - b log2 s these are f(x) - f(c), f(b) - f(c), f(x) - f(b) and 0.
    pub fn gain(&self, x: f64) -> f64 {
        let b = self.b;
        let f = |s: f64| (b + 1.0) * s - s * s / 2.0 - b * s.log2();
        f(x.min(b)) - f(self.c.min(b))
    }

    /// The mean gain, segments, for a normal estimate with mean `b` and standard deviation `sigma` segments, confined
    /// to 0..2b: Equations 1 and 2.
    pub fn mean_gain(&self, sigma: f64) -> Result<f64, BadInput> {
        if !(sigma > 0.0 && sigma.is_finite()) {
            return Err(BadInput::Sigma(sigma));
        }
        // In standard deviations from the mean, so that no width of the bell is too small or too large.
        let reach = (self.b / sigma).min(REACH);
        let below = ((self.c - self.b) / sigma).clamp(-reach, 0.0);
        let density = |z: f64| (-z * z / 2.0).exp();
        let weighed = |z: f64| self.gain(self.b + sigma * z) * density(z);
        // The formulas change at c and at b.
        let gain = integral(weighed, &[-reach, below, 0.0, reach]);
        Ok(gain / integral(density, &[-reach, 0.0, reach]))
    }
}

/// The mean gain of one handoff over the error of the estimate: a curve of Figure 15.
#[derive(Clone, Debug, PartialEq)]
pub struct Curve {
    /// The handoff.
    pub handoff: Handoff,
    /// Standard deviation in percent of `b`, and the mean gain, segments.
    pub gains: Vec<(f64, f64)>,
}

impl Curve {
    /// The curve over standard deviations in percent of `b`.
    pub fn over(handoff: Handoff, percents: &[f64]) -> Result<Self, BadInput> {
        let gain = |&percent: &f64| Ok((percent, handoff.mean_gain(handoff.b * percent / 100.0)?));
        Ok(Self { handoff, gains: percents.iter().map(gain).collect::<Result<_, _>>()? })
    }
}

/// Standard deviations of a normal density beyond which less than 1e-32 of it lies.
const REACH: f64 = 12.0;

/// The integral of `f` over consecutive ranges. The double exponential rule has no node at the ends of a range but many
/// near it, which the logarithm at x = 0 needs. An error of 0 makes it use all its nodes, some 350 a range.
fn integral(f: impl Fn(f64) -> f64, limits: &[f64]) -> f64 {
    let ranges = limits.windows(2).filter(|range| range[0] < range[1]);
    ranges.map(|range| integrate(&f, range[0], range[1], 0.0).integral).sum()
}

/// Longest retransmission timeout, s (Section 2).
pub const LONGEST_RTO_S: f64 = 64.0;

/// The part of a disconnection that an immediate transmission saves in the mean. The instants of consecutive timeouts,
/// counted from the break, have the ratio 2. It is Section 5's 2 ln 2 - 1, the limit after many timeouts.
pub const LIMIT_OF_SAVING: f64 = 2.0 * LN_2 - 1.0;

/// The time between two consecutive timeouts of a sender whose link is gone. If the link comes back in between, TCP
/// waits for the second; TCP-HO and Freeze-TCP transmit at once.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Wait {
    /// Timeouts so far.
    pub timeouts: u32,
    /// The last of them, s after the break.
    pub from_s: f64,
    /// The next one, s after the break.
    pub to_s: f64,
}

/// Part of a disconnection that sending at once saves. The link is back `x` after the break, and the next timeout would
/// have come at `next` (algorithms.md 4.6: `(2T - x)/x` between T and 2T).
pub fn saving_at(x: f64, next: f64) -> f64 {
    (next - x) / x
}

impl Wait {
    /// k: ratio of the two instants.
    pub fn ratio(&self) -> f64 {
        self.to_s / self.from_s
    }

    /// Mean saving of an immediate transmission, as a part of the disconnection `x`. It is the mean of (to - x)/x for x
    /// anywhere between the two instants, k ln k/(k - 1) - 1.
    pub fn mean_saving(&self) -> f64 {
        let more = (self.to_s - self.from_s) / self.from_s;
        (1.0 + more) * more.ln_1p() / more - 1.0
    }

    /// Largest saving, s; the least is 0, and all between is equally likely. Never more than 64 s.
    pub fn longest_saving_s(&self) -> f64 {
        self.to_s - self.from_s
    }
}

/// The waits of a sender whose timeout is `rto_s` seconds when the link breaks and doubles up to 64 s. Timeouts come at
/// 1, 3, 7, ... times that, later every 64 s.
pub fn waits(rto_s: f64) -> Result<impl Iterator<Item = Wait>, BadInput> {
    if !(rto_s > 0.0 && rto_s <= LONGEST_RTO_S) {
        return Err(BadInput::Rto(rto_s));
    }
    let mut rto = rto_s;
    let mut last = rto_s;
    Ok((1..).map(move |timeouts| {
        rto = (rto * 2.0).min(LONGEST_RTO_S);
        let wait = Wait { timeouts, from_s: last, to_s: last + rto };
        last = wait.to_s;
        wait
    }))
}
