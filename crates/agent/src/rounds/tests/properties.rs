//! Rules that any events keep.

use super::*;
use proptest::prelude::*;

#[derive(Clone, Debug)]
enum Step {
    Event(Event),
    Told(bool, bool, u32),
    Resume,
    Wait(u64),
}

fn steps() -> impl Strategy<Value = Vec<Step>> {
    let index = prop_oneof![Just(WIFI), Just(WWAN)];
    let step = prop_oneof![
        (index.clone(), any::<bool>()).prop_map(|(index, alive)| Step::Event(device(index, alive))),
        (index.clone(), any::<bool>()).prop_map(|(index, present)| Step::Event(route(index, present))),
        index.clone().prop_map(|index| Step::Event(Event::DeviceGone(index))),
        index.clone().prop_map(|index| Step::Event(Event::Roamed(index))),
        (index.clone(), any::<u64>())
            .prop_map(|(device, octets)| Step::Event(Event::Received { device, octets })),
        (index, any::<u32>(), any::<u32>()).prop_map(|(device, down_kbps, up_kbps)| Step::Event(
            Event::Station { device, down_kbps, up_kbps }
        )),
        (any::<bool>(), any::<bool>(), 1u32..)
            .prop_map(|(wifi, expect, rate)| Step::Told(wifi, expect, rate)),
        Just(Step::Resume),
        (0..3 * SECOND).prop_map(Step::Wait),
    ];
    proptest::collection::vec(step, 0..120)
}

proptest! {
    /// Invariants of any events: rounds begin and end in turn, no faster than allowed, over a link that is alive and
    /// has a rate. Every round that was promised ends. It comes to rest.
    #[test]
    fn rounds_keep_their_rules(steps in steps(), unpaid in proptest::collection::vec(0u32..50, 1..20)) {
        let mut rounds = Rounds::new(settings());
        let (mut now, mut running, mut begins) = (0u64, false, Vec::new());
        let (mut promised, mut ended) = (Vec::new(), Vec::new());
        let mut answers = unpaid.iter().cycle();
        for step in steps.into_iter().chain([
            Step::Event(device(WIFI, true)),
            Step::Event(route(WIFI, true)),
            Step::Wait(1000 * SECOND),
        ]) {
            let mut until = now;
            match step {
                Step::Event(event) => rounds.on_events(now, &[event]),
                Step::Told(wifi, expect, rate_kbps) => {
                    let told = Told { link: Link { rate_kbps, delay_us: 1 }, up_kbps: rate_kbps };
                    let name = if wifi { "wlan0" } else { "wwan0" };
                    let answer = if expect {
                        rounds.on_foreseen(now, name, told)
                    } else {
                        rounds.on_told(now, name, told)
                    };
                    promised.extend(answer.unwrap_or_default());
                }
                Step::Resume => rounds.on_resume(now),
                Step::Wait(time) => until += time,
            }
            for _ in 0..100_000 {
                match rounds.next(now) {
                    Some(Order::Begin(notice, scope, _)) => {
                        prop_assert!(!running && notice.link.rate_kbps > 0 && !scope.is_empty());
                        prop_assert!(rounds.devices().len() == 1, "over a link that is alive");
                        running = true;
                        begins.push(now);
                    }
                    Some(Order::Pass(budget)) => {
                        prop_assert!(running && budget > 0);
                        let unpaid = *answers.next().expect("a cycle");
                        rounds.on_pass(now, &pass(budget, unpaid));
                    }
                    Some(Order::Done(round)) => {
                        running = running && round.estimate.is_none();
                        ended.push(round.number);
                    }
                    Some(Order::First(link)) => prop_assert!(link.rate_kbps > 0),
                    Some(Order::Resume(outage) | Order::Doubt(outage)) => {
                        prop_assert!(running && outage.up_kbps > 0);
                    }
                    Some(Order::Moved(moved)) => prop_assert!(running && moved.links[1].rate_kbps > 0),
                    None => match rounds.deadline().filter(|due| *due <= until) {
                        Some(due) => {
                            prop_assert!(due > now, "no turning on the spot");
                            now = due;
                        }
                        None => break,
                    },
                }
            }
            now = until;
        }
        prop_assert_eq!(next_order(&mut rounds, now), None);
        prop_assert_eq!(rounds.deadline(), None);
        prop_assert!(!running);
        prop_assert!(promised.iter().all(|number| ended.contains(number)), "{:?} of {:?}", promised, ended);
        prop_assert!(begins.windows(3).all(|three| three[2] - three[0] >= SECOND), "{:?}", begins);
    }
}
