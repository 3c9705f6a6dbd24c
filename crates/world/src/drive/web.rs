//! Web users as the generator SURGE has them (algorithms.md, 4.8: the background of ten users). Source: the table of
//! model parameters of P. Barford, M. Crovella, Generating Representative Web Workloads for Network and Server
//! Performance Evaluation, SIGMETRICS 1998.
//!
//! | what | distribution | parameters |
//! |---|---|---|
//! | file sizes, body | lognormal | mu 9.357, sigma 1.318 (of ln bytes) |
//! | file sizes, tail | Pareto | from 133 kB, alpha 1.1 |
//! | embedded references of a page | Pareto | from 1, alpha 2.43 |
//! | inactive OFF times: between pages | Pareto | from 1 s, alpha 1.5 |
//! | active OFF times: between the files of a page | Weibull | scale 1.46 s, shape 0.382 |
//!
//! The values are quoted without the paper at hand and confirmed by no other source.
//!
//! `[C]`: a size is drawn from the body, and from the tail if it exceeds the tail's beginning. So 3.2 % of the files
//! are in the tail. A page is one file and the whole part of the references drawn, all asked for one after the other.
//! Files are drawn anew each time: popularity and temporal locality, which SURGE also has, matter to caches, and there
//! is none on the path. Each user begins with an inactive OFF time.

use crate::random::{Random, Stream, nanos};
use segue_netsim::{Nanos, SECOND};

/// Longest OFF time `[C]`: longer than a drive of the paper; Pareto times have no bound of their own.
const LONGEST_WAIT: Nanos = 3_600 * SECOND;
/// Most users.
const MOST_USERS: u32 = 10_000;
/// Largest object, bytes.
const LARGEST_OBJECT: u64 = 1_000_000_000_000;

/// Parameters of the web background.
#[derive(Clone, Debug, PartialEq)]
pub struct Surge {
    /// Number of users.
    pub users: u32,
    /// Mean of ln bytes in the body of the file sizes.
    pub body_mu: f64,
    /// Standard deviation of ln bytes in the body.
    pub body_sigma: f64,
    /// Where the tail of the file sizes begins, bytes.
    pub tail_from: u64,
    /// Exponent of the tail.
    pub tail_alpha: f64,
    /// Sizes are clipped to this, bytes.
    pub largest: u64,
    /// Exponent of the number of embedded references, which is 1 or more.
    pub references_alpha: f64,
    /// Shortest inactive OFF time, s.
    pub inactive_from_s: f64,
    /// Exponent of the inactive OFF times.
    pub inactive_alpha: f64,
    /// Scale of the active OFF times, s.
    pub active_scale_s: f64,
    /// Shape of the active OFF times.
    pub active_shape: f64,
}

impl Default for Surge {
    /// Ten users, as in Wu et al., Section 5.1.
    fn default() -> Self {
        Self {
            users: 10,
            body_mu: 9.357,
            body_sigma: 1.318,
            tail_from: 133_000,
            tail_alpha: 1.1,
            // [C]: the mean of a tail of exponent 1.1 hangs on its largest draws. 100 MB occupy the
            // paper's WAN of 10 Mbit/s for 80 s of a drive; one file in 45000 would be larger.
            largest: 100_000_000,
            references_alpha: 2.43,
            inactive_from_s: 1.0,
            inactive_alpha: 1.5,
            active_scale_s: 1.46,
            active_shape: 0.382,
        }
    }
}

/// A parameter out of range.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
#[error("web users: {what} is {found}; expected {expected}")]
pub struct SurgeError {
    /// The field of [`Surge`].
    pub what: &'static str,
    /// Its value.
    pub found: f64,
    /// The valid range.
    pub expected: &'static str,
}

impl Surge {
    /// The users, the same ones for a seed; a user is also the same whatever the number of users.
    pub fn users(&self, seed: u64) -> Result<Vec<User>, SurgeError> {
        self.check()?;
        let user = |number| User {
            surge: self.clone(),
            random: Random::new(seed, Stream::WebUser(number)),
            embedded: 0,
        };
        Ok((0..self.users).map(user).collect())
    }

    fn check(&self) -> Result<(), SurgeError> {
        let check = |what, found: f64, valid, expected| {
            if valid { Ok(()) } else { Err(SurgeError { what, found, expected }) }
        };
        check("users", self.users.into(), (1..=MOST_USERS).contains(&self.users), "1 to 10000")?;
        check("body_mu", self.body_mu, (0.0..=30.0).contains(&self.body_mu), "0 to 30")?;
        for (what, found) in [
            ("body_sigma", self.body_sigma),
            ("tail_alpha", self.tail_alpha),
            ("references_alpha", self.references_alpha),
            ("inactive_from_s", self.inactive_from_s),
            ("inactive_alpha", self.inactive_alpha),
            ("active_scale_s", self.active_scale_s),
            ("active_shape", self.active_shape),
        ] {
            check(what, found, (0.01..=100.0).contains(&found), "0.01 to 100")?;
        }
        check("tail_from", self.tail_from as f64, self.tail_from > 0, "more than 0 bytes")?;
        let largest = (self.tail_from..=LARGEST_OBJECT).contains(&self.largest);
        check("largest", self.largest as f64, largest, "at least tail_from, at most 1e12 bytes")
    }

    /// Bytes of a file.
    fn size(&self, random: &mut Random) -> u64 {
        let tail_from = self.tail_from as f64;
        let body = random.lognormal(self.body_mu, self.body_sigma);
        let size = if body > tail_from { random.pareto(tail_from, self.tail_alpha) } else { body };
        (libm::round(size) as u64).clamp(1, self.largest)
    }

    /// Files of a page beside the first.
    fn references(&self, random: &mut Random) -> u64 {
        random.pareto(1.0, self.references_alpha) as u64
    }

    /// OFF time before a page.
    fn inactive(&self, random: &mut Random) -> Nanos {
        nanos(random.pareto(self.inactive_from_s, self.inactive_alpha)).min(LONGEST_WAIT)
    }

    /// OFF time before a file of the same page.
    fn active(&self, random: &mut Random) -> Nanos {
        nanos(random.weibull(self.active_scale_s, self.active_shape)).min(LONGEST_WAIT)
    }
}

/// The next object that a user asks for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct WebObject {
    /// From the arrival of the object before it (or the beginning) until it is asked for, ns.
    pub wait: Nanos,
    /// Its size.
    pub bytes: u64,
}

/// An endless sequence of objects.
#[derive(Clone, Debug)]
pub struct User {
    surge: Surge,
    random: Random,
    /// Files of the page that are still to come.
    embedded: u64,
}

impl User {
    /// The next object.
    pub fn next_object(&mut self) -> WebObject {
        let Self { surge, random, embedded } = self;
        let wait = match embedded.checked_sub(1) {
            Some(rest) => {
                *embedded = rest;
                surge.active(random)
            }
            None => {
                let wait = surge.inactive(random);
                *embedded = surge.references(random);
                wait
            }
        };
        WebObject { wait, bytes: surge.size(random) }
    }

    /// The next page: all its files at once, as browsers of today ask for them.
    pub fn next_page(&mut self) -> WebObject {
        let Self { surge, random, .. } = self;
        let wait = surge.inactive(random);
        let files = 1 + surge.references(random);
        WebObject { wait, bytes: (0..files).map(|_| surge.size(random)).sum() }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::random::tests::assert_distributed;

    const DRAWS: usize = 100_000;

    fn draws(draw: impl Fn(&Surge, &mut Random) -> f64) -> Vec<f64> {
        let (surge, mut random) = (Surge::default(), Random::new(1, Stream::WebUser(0)));
        (0..DRAWS).map(|_| draw(&surge, &mut random)).collect()
    }

    /// P(X <= x) of the body as if it had no end.
    fn body(x: f64) -> f64 {
        0.5 * libm::erfc(-(x.ln() - 9.357) / 1.318 / std::f64::consts::SQRT_2)
    }

    fn quantile(sorted: &[f64], share: f64) -> f64 {
        sorted[(share * sorted.len() as f64) as usize]
    }

    #[test]
    fn sizes_have_body_and_tail() {
        let mut sizes = draws(|surge, random| surge.size(random) as f64);
        let in_tail = 1.0 - body(133_000.0);
        assert!((in_tail - 0.032).abs() < 0.0005, "{in_tail}");
        // Half a byte: sizes are whole.
        assert_distributed(sizes.clone(), |x| match x {
            ..=133_000.0 => body(x + 0.5),
            _ => 1.0 - in_tail * (133_000.0 / x).powf(1.1),
        });
        sizes.sort_by(f64::total_cmp);
        // exp(9.357) = 11.6 kB; the 99th percentile lies in the tail.
        assert!((quantile(&sizes, 0.5) / 9.357_f64.exp() - 1.0).abs() < 0.03);
        let p99 = 133_000.0 * (in_tail / 0.01).powf(1.0 / 1.1);
        assert!((quantile(&sizes, 0.99) / p99 - 1.0).abs() < 0.1, "{} {p99}", quantile(&sizes, 0.99));
    }

    /// Hill's estimator over all draws in the tail; its standard error is alpha / sqrt(n).
    #[test]
    fn the_tail_has_its_exponent() {
        let sizes = draws(|surge, random| surge.size(random) as f64);
        let tail: Vec<f64> = sizes.into_iter().filter(|size| *size > 133_000.0).collect();
        let hill = tail.len() as f64 / tail.iter().map(|size| (size / 133_000.0).ln()).sum::<f64>();
        assert!((hill - 1.1).abs() < 4.0 * 1.1 / (tail.len() as f64).sqrt(), "{hill}");
    }

    #[test]
    fn off_times_are_pareto_and_weibull() {
        let seconds = |time: Nanos| time as f64 / SECOND as f64;
        let inactive = draws(|surge, random| seconds(surge.inactive(random)));
        assert!(inactive.iter().all(|time| (1.0..=3_600.0).contains(time)));
        assert_distributed(inactive, |x| 1.0 - x.powf(-1.5));
        let mut active = draws(|surge, random| seconds(surge.active(random)));
        assert_distributed(active.clone(), |x| 1.0 - (-(x / 1.46).powf(0.382)).exp());
        active.sort_by(f64::total_cmp);
        let median = 1.46 * 2.0_f64.ln().powf(1.0 / 0.382);
        assert!((quantile(&active, 0.5) / median - 1.0).abs() < 0.05);
    }

    #[test]
    fn pages_have_one_reference_or_more() {
        let references = draws(|surge, random| surge.references(random) as f64);
        for at_least in [1.0_f64, 2.0, 3.0, 5.0] {
            let share = references.iter().filter(|n| **n >= at_least).count() as f64 / DRAWS as f64;
            let expected = at_least.powf(-2.43);
            let error = (expected * (1.0 - expected) / DRAWS as f64).sqrt();
            assert!((share - expected).abs() <= 4.0 * error, "{at_least}: {share}, not {expected}");
        }
    }

    /// After an inactive OFF time (1 s or more) come as many active ones as there are references.
    #[test]
    fn a_user_reads_page_after_page() {
        let mut user = Surge::default().users(4).unwrap().remove(3);
        let mut pages = 0;
        for _ in 0..1_000 {
            let begins = user.embedded == 0;
            let object = user.next_object();
            pages += usize::from(begins);
            assert!(!begins || object.wait >= SECOND && user.embedded >= 1, "{object:?}");
        }
        assert!((350..500).contains(&pages), "{pages}");
    }

    #[test]
    fn nothing_exceeds_the_clip() {
        let surge = Surge { largest: 200_000, ..Surge::default() };
        let mut user = surge.users(1).unwrap().remove(0);
        let sizes: Vec<u64> = (0..10_000).map(|_| user.next_object().bytes).collect();
        assert_eq!(sizes.iter().max(), Some(&200_000));
        assert!(sizes.iter().all(|size| *size > 0));
    }

    #[test]
    fn a_seed_makes_the_same_users() {
        let sequence = |mut user: User| (0..100).map(|_| user.next_object()).collect::<Vec<_>>();
        let all = |seed, users| {
            let users = Surge { users, ..Surge::default() }.users(seed).unwrap();
            users.into_iter().map(sequence).collect::<Vec<_>>()
        };
        let ten = all(1, 10);
        assert_eq!(ten, all(1, 10));
        assert_eq!(ten[..3], all(1, 3));
        let other = all(2, 10);
        assert!(ten.iter().zip(&other).all(|(a, b)| a != b));
    }

    /// Whether a size is above the median says nothing of another user, nor of the same under another seed.
    #[test]
    fn users_are_independent() {
        const OBJECTS: usize = 10_000;
        let above = |seed, user: usize| {
            let mut user = Surge::default().users(seed).unwrap().remove(user);
            let mut sign = || if user.next_object().bytes > 11_580 { 1_i32 } else { -1 };
            (0..OBJECTS).map(|_| sign()).collect::<Vec<_>>()
        };
        let sequences = [above(1, 0), above(1, 1), above(1, 9), above(2, 0), above(3, 0)];
        for (i, a) in sequences.iter().enumerate() {
            for b in &sequences[..i] {
                let product: i32 = a.iter().zip(b).map(|(a, b)| a * b).sum();
                assert!(product.abs() < 4 * 100, "{product}");
            }
        }
    }

    #[test]
    fn bad_parameters_are_refused() {
        let message = |surge: Surge| surge.users(1).unwrap_err().to_string();
        let default = Surge::default;
        assert_eq!(message(Surge { users: 0, ..default() }), "web users: users is 0; expected 1 to 10000");
        for (surge, what) in [
            (Surge { body_mu: f64::NAN, ..default() }, "body_mu is NaN; expected 0 to 30"),
            (Surge { body_sigma: 0.0, ..default() }, "body_sigma is 0; expected 0.01 to 100"),
            (Surge { tail_alpha: -1.0, ..default() }, "tail_alpha is -1; expected 0.01 to 100"),
            (Surge { active_shape: f64::INFINITY, ..default() }, "active_shape is inf; expected 0.01"),
            (Surge { tail_from: 0, ..default() }, "tail_from is 0; expected more than 0 bytes"),
            (Surge { largest: 1, ..default() }, "largest is 1; expected at least tail_from"),
        ] {
            assert!(message(surge.clone()).contains(what), "{}", message(surge));
        }
    }
}
