//! Where in its tick each sender's clock stands at time zero, and when flows start.
//!
//! ns-2 draws the phase of every TCP agent from its generator, L'Ecuyer's MRG32k3a (Operations Research 47(1), 1999).
//! It does so once when the agent is made and again when the simulation begins. The reference results were made with
//! seed 5; our seed 1 repeats them, other seeds draw anew.

use rand_core::RngCore;
use rand_pcg::Pcg64Mcg;
use segue_netsim::Nanos;

const MS: Nanos = 1_000_000;
/// ns-2's tick.
const TICK: Nanos = 10 * MS;

/// MRG32k3a with all six words of its state set to the seed, as ns-2 seeds it.
struct Mrg32k3a {
    s1: [i64; 3],
    s2: [i64; 3],
}

impl Mrg32k3a {
    const M1: i64 = 4_294_967_087;
    const M2: i64 = 4_294_944_443;

    fn seeded(seed: i64) -> Self {
        Self { s1: [seed; 3], s2: [seed; 3] }
    }

    /// The next number of `0..M1`, in units of 1/(M1 + 1).
    fn next(&mut self) -> i64 {
        let p1 = (1_403_580 * self.s1[1] - 810_728 * self.s1[0]).rem_euclid(Self::M1);
        self.s1 = [self.s1[1], self.s1[2], p1];
        let p2 = (527_612 * self.s2[2] - 1_370_589 * self.s2[0]).rem_euclid(Self::M2);
        self.s2 = [self.s2[1], self.s2[2], p2];
        if p1 > p2 { p1 - p2 } else { p1 - p2 + Self::M1 }
    }
}

/// When each flow starts and where its clock stands.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Start {
    /// The application opens the connection.
    pub opens: Nanos,
    /// Clock phase at time zero.
    pub phase: Nanos,
}

/// Time between the starts of two flows with seed 1, unless it is told.
pub const APART: Nanos = MS;

/// Other seeds draw the starts within so many times that.
const WITHIN: Nanos = 20;

/// Starts of `flows` flows: flow i at i times `apart` with seed 1, at random within 20 times that otherwise.
pub fn starts(flows: usize, seed: u64, apart: Nanos) -> Vec<Start> {
    if seed == 1 {
        let mut ns2 = Mrg32k3a::seeded(5);
        let draws: Vec<i64> = (0..2 * flows).map(|_| ns2.next()).collect();
        let phase = |draw: i64| (i128::from(draw) * i128::from(TICK) / i128::from(Mrg32k3a::M1 + 1)) as Nanos;
        return (0..flows)
            .map(|i| Start { opens: i as Nanos * apart, phase: phase(draws[flows + i]) })
            .collect();
    }
    let mut random = Pcg64Mcg::new(u128::from(seed) << 1 | 1);
    // The first outputs of neighbouring seeds are alike.
    for _ in 0..16 {
        random.next_u64();
    }
    (0..flows)
        .map(|_| Start {
            opens: random.next_u64() % (WITHIN * apart).max(1),
            phase: random.next_u64() % TICK,
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// `$defaultRNG seed 5; $defaultRNG uniform 0 0.01` in ns-2 2.35, the first six draws.
    #[test]
    fn draws_are_those_of_ns2() {
        let one = starts(1, 1, APART);
        assert_eq!(one[0], Start { opens: 0, phase: 7_793_930 });
        let two = starts(2, 1, APART);
        assert_eq!([two[0].phase, two[1].phase], [710_074, 4_405_975]);
        let three = starts(3, 1, APART);
        assert_eq!([three[0].phase, three[1].phase, three[2].phase], [4_405_975, 2_058_458, 9_957_614]);
    }

    #[test]
    fn other_seeds_spread_the_flows() {
        assert_eq!(starts(4, 2, APART), starts(4, 2, APART));
        assert_ne!(starts(4, 2, APART), starts(4, 3, APART));
        assert!(starts(100, 9, APART).iter().all(|s| s.opens < 20 * MS && s.phase < TICK));
    }

    /// Half a second apart: the fourth flow at 1.5 s; with other seeds all within 10 s, and some beyond 5 s. At once is 0.
    #[test]
    fn flows_start_as_far_apart_as_is_asked() {
        let opens = |seed, apart| starts(4, seed, apart).iter().map(|s| s.opens / MS).collect::<Vec<_>>();
        assert_eq!(opens(1, 500 * MS), [0, 500, 1000, 1500]);
        assert_eq!((opens(1, 0), opens(7, 0)), (vec![0; 4], vec![0; 4]));
        let many = starts(100, 9, 500 * MS);
        assert!(many.iter().all(|s| s.opens < 10_000 * MS) && many.iter().any(|s| s.opens > 5_000 * MS));
        // The clocks do not depend on it.
        let phases = |apart| starts(4, 3, apart).iter().map(|s| s.phase).collect::<Vec<_>>();
        assert_eq!(phases(APART), phases(500 * MS));
    }
}
