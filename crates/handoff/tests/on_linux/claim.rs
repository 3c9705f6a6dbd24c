//! `near` (near.md, section 8): the new path holds W = 11 packets, and two for a delayed ACK. 12 packets are out.

use super::*;
use segue_tcp::Advice;
use segue_tcp::advice::Pace;

const OLD: Link = Link { rate_kbps: 1200, delay_us: 100_000 };
const NEW: Link = Link { rate_kbps: 1200, delay_us: 45_000 };

fn near() -> Scheme {
    Scheme::build("near", &[("enact".into(), "linux".into())]).expect("a scheme")
}

/// Open, 12 packets out, at the 210.4 ms of the old path.
fn view() -> View {
    let view = View { snd_una: 100, snd_max: 112, flight: 12, cwnd: 12 * PACKET, ..open(0) };
    with(&view, |tp| {
        (tp.cwnd, tp.ssthresh, tp.in_flight, tp.marked) = (12, 12, 12, 0);
        (tp.min_rtt_us, tp.quiet_since) = (210_347, tp.now);
    })
}

fn told(view: &View, disconnected: u32) -> Scheme {
    let mut sender = near();
    let notice = Notice { old_link: OLD, new_link: NEW, flows: 1, disconnected };
    let advice = sender.on_notice(view, &notice);
    assert_eq!(advice.kernel.pace, Some(Pace::Begins));
    assert_eq!(advice.ssthresh, Some(11 * PACKET), "100.35 ms hold ten slots: W is 11");
    sender
}

fn asked(sender: &mut Scheme, view: &View) -> (Option<u32>, Option<Pace>) {
    assert!(sender.claims());
    let advice = sender.before_sending(view);
    (advice.cwnd.map(|cwnd| cwnd / PACKET), advice.kernel.pace)
}

/// A packet in 5 ms is 289,600 bytes of payload a second: a claim begins with a rate probe (8.7).
const TWICE: Option<Pace> = Some(Pace::At(289_600));
/// A packet in 10 ms.
const SLOTS: Option<Pace> = Some(Pace::At(144_800));

#[test]
fn what_the_old_link_holds_is_beside_the_window() {
    let mut sender = told(&view(), 1);
    assert_eq!(asked(&mut sender, &view()), (Some(11 + 12 + 2), TWICE));
    // Five are acknowledged, three of the seven SACKed or lost.
    let later = View { snd_una: 105, ..with(&view(), |tp| (tp.marked, tp.in_flight) = (3, 4)) };
    assert_eq!(asked(&mut sender, &later), (Some(11 + 4 + 2), TWICE));
    // Two of the three were sent since the notice.
    let new = with(&later, |tp| tp.sacks[3] = (112, 114));
    assert_eq!(asked(&mut sender, &new), (Some(11 + 6 + 2), TWICE));
    // Something has held the six packets back for longer than four slots.
    let late = with(&later, |tp| tp.now += 41 * MS);
    assert_eq!(asked(&mut sender, &late), (Some(11 + 4 + 2), SLOTS));
}

/// All of before is acknowledged, `ms` after the notice, and the packet that left `age` ms ago took `rtt_us`.
fn drained(ms: u64, age: u64, rtt_us: u32) -> View {
    let drained = View { snd_una: 112, snd_max: 130, ..view() };
    with(&drained, |tp| {
        tp.now += ms * MS;
        (tp.cwnd, tp.ssthresh) = (40, 40);
        (tp.last_sent, tp.last_rtt_us) = (tp.now - age * MS, rtt_us);
    })
}

/// Rounds of the new path, once all of before is acknowledged. Alone would be 100.35 + 10 + 20 ms; a packet
/// of before tells nothing. One round with a longer one may be chance, two in a row show others. The last round trip
/// holds three packets more than the reported one, and half of all is left. At the end cubic starts again: its curve
/// is as old as the claim.
#[test]
fn a_claim_ends_where_others_show() {
    for (is_of_before, rtt_us, goes_on) in
        [(false, 130_346, true), (false, 130_348, false), (true, 500_000, true)]
    {
        let round = |ms| drained(ms, if is_of_before { ms } else { 90 }, rtt_us);
        let mut sender = told(&view(), 1);
        assert_eq!(asked(&mut sender, &drained(0, 0, 0)), (Some(11 + 2), TWICE));
        assert!(asked(&mut sender, &round(202)).0.is_some());
        let advice = sender.before_sending(&round(304));
        assert_eq!(sender.claims(), goes_on, "{rtt_us}");
        assert_eq!(advice.cwnd == Some((11 + 3) / 2 * PACKET), !goes_on, "{:?}", advice.cwnd);
        assert_eq!(
            advice.kernel.anew,
            (!goes_on).then_some(Anew::ClaimOver { cut: false, refuted: false, before: None }),
            "{rtt_us}"
        );
    }
}

/// 8.13: a handoff that is expected bounds the pace for a second, and leaves the window and its reductions to the
/// congestion control. A link of 1200 kbit/s has slots of 10 ms. During a claim the announcement says nothing.
#[test]
fn only_the_pace_is_bounded_before_a_handoff_that_is_expected() {
    let expected = Notice { old_link: OLD, new_link: NEW, flows: 1, disconnected: 0 };
    let hear = |sender: &mut Scheme, view: &View| {
        sender.expect(view, &expected);
        sender.on_ack(view)
    };
    let mut sender = near();
    let advice = hear(&mut sender, &view());
    assert_eq!((advice.cwnd, advice.ssthresh), (None, None));
    assert_eq!(advice.kernel.pace, Some(Pace::Begins));
    let paced = Some(Pace::NoFasterThan(144_800));
    assert_eq!(asked(&mut sender, &view()), (None, paced));
    let cut = View { in_fast_recovery: true, ..view() };
    assert_eq!(sender.on_cut(&cut), Advice::default());
    let after = |ms: u64| with(&view(), |tp| tp.now += ms * MS);
    assert_eq!(asked(&mut sender, &after(1_000)), (None, paced));
    assert_eq!(asked(&mut sender, &after(1_001)), (None, Some(Pace::Ends)));
    assert!(!sender.claims());

    hear(&mut sender, &view());
    let notice = sender.on_notice(&view(), &expected);
    assert_eq!((notice.ssthresh, notice.kernel.pace), (Some(11 * PACKET), Some(Pace::Begins)));
    let claimed = asked(&mut sender, &view());
    assert_eq!(claimed.1, TWICE);
    assert_eq!(hear(&mut sender, &view()).kernel.pace, None, "a claim lasts");
    assert_eq!(asked(&mut sender, &view()), claimed);
}

/// A path of 125 ms holds two packets more than one of 100.347 ms (8.1). It is no longer than the first rounds show:
/// more packets would lengthen the flow's own queue until it looked like competing traffic.
#[test]
fn a_queue_of_its_own_makes_no_longer_path() {
    for (first_us, later_us, more) in
        [(125_000, 125_000, 2), (105_000, 125_000, 0), (125_000, 105_000, 0), (0, 125_000, 2)]
    {
        let mut sender = told(&view(), 1);
        assert_eq!(asked(&mut sender, &drained(100, 0, 0)).0, Some(11 + 2));
        assert!(asked(&mut sender, &drained(202, 90, first_us)).0.is_some());
        assert_eq!(asked(&mut sender, &drained(300, 90, later_us)).0, Some(11 + more + 2), "{first_us}");
        assert_eq!(asked(&mut sender, &drained(304, 90, 0)).0, Some(11 + more + 2), "{first_us}");
    }
}

/// The path holds W = 11 at 1200 kbit/s. The fifth of a rate probe has met no queue, and the claim has 1200 *
/// 1.25^3 kbit/s. 100.347 ms of them are 19.6 packets, where they were 10.03.
#[test]
fn a_link_that_is_faster_is_found() {
    let mut sender = told(&view(), 1);
    let begins = drained(10, 0, 0);
    let sent = |packets: u32, ms: u64, left: u64| {
        let view = View { transmissions: begins.transmissions + packets, ..begins };
        with(&view, |tp| {
            tp.now += ms * MS;
            tp.last_sent = begins.kernel.expect("a kernel's").now + left * MS;
            tp.last_rtt_us = if left < ms { 100_347 } else { 0 };
        })
    };
    assert_eq!(asked(&mut sender, &begins), (Some(11 + 2), TWICE));
    // The sixth, and 3.5 slots: 2400 / 7 kbit/s.
    assert_eq!(asked(&mut sender, &sent(5, 25, 25)).1, Some(Pace::At(41_268)));
    assert_eq!(asked(&mut sender, &sent(6, 60, 60)), (Some(11 + 2), SLOTS));
    assert_eq!(asked(&mut sender, &sent(6, 101, 0)), (Some(11 + 2), SLOTS));
    // 2343 kbit/s in whole ones, and twice that for the next rate probe.
    assert_eq!(asked(&mut sender, &sent(6, 121, 20)), (Some(11 + 9 + 2), Some(Pace::At(565_444))));
}

/// Four flows had 300 kbit/s each. When others have ended, twice as much arrives of this one, and the link is no
/// faster. 60 packets of 1448 bytes a second are 695 kbit/s, 208 are 2,409.
#[test]
fn the_part_of_others_is_no_faster_link() {
    for (delivered, ssthresh, expects) in
        [(60, None, false), (208, Some(u32::MAX), false), (208, Some(u32::MAX), true)]
    {
        let mut sender = near();
        let notice = Notice { old_link: OLD, new_link: NEW, flows: 4, disconnected: 1 };
        sender.on_notice(&view(), &notice);
        let later = |rounds: u32| with(&open(rounds), |tp| tp.now += 5_000 * MS);
        sender.on_new_ack(&later(1));
        sender.on_cut(&View { in_fast_recovery: true, ..later(1) });
        assert!(!sender.claims());
        for rounds in 1..=4 {
            sender.on_ack(&later(rounds));
        }
        if expects {
            // The next handoff is announced, and this one's rate is checked all the same.
            sender.expect(&later(4), &Notice { disconnected: 0, ..notice });
            sender.on_ack(&later(4));
            assert!(sender.claims());
        }
        let fast = with(&later(5), |tp| {
            (tp.rate_delivered, tp.rate_interval_us) = (delivered, 1_000_000);
        });
        assert_eq!(sender.on_ack(&fast).ssthresh, ssthresh, "{delivered}");
    }
}

/// The timer may expire because the path is longer: the kernel sends the head alone until an ACK has come. That all is
/// marked lost then does not fail the trial.
#[test]
fn an_expiry_is_believed_by_the_next_ack() {
    let small = View { cwnd: 6 * PACKET, ..with(&view(), |tp| tp.cwnd = 6) };
    let mut sender = told(&small, 0);
    let expired = View { in_rto_recovery: true, ..with(&small, |tp| tp.lost += 60) };
    sender.on_cut(&expired);
    assert_eq!(asked(&mut sender, &expired), (None, TWICE));
    assert_eq!(sender.on_ack(&expired).kernel.anew, None);
    // In the ACK's way, 45.35 ms, the old link has let out five of the twelve: seven are on it.
    assert_eq!(asked(&mut sender, &expired).0, Some(11 + 7 + 2));
    let lost = with(&expired, |tp| tp.lost += 23);
    assert_eq!(sender.on_ack(&lost).kernel.anew, Some(Anew::Retreat { found: 5, before: Some(6) }));
}

/// 8.13: what an announcement bounds is no claim, and an expiry fails the trial of the notice before.
#[test]
fn an_announcement_saves_no_trial() {
    let mut sender = told(&view(), 1);
    sender.on_cut(&View { in_fast_recovery: true, snd_una: 112, ..view() });
    sender.on_new_ack(&View { snd_una: 112, ..view() });
    sender.on_cut(&View { in_fast_recovery: true, snd_una: 112, ..view() });
    assert!(!sender.claims(), "it has ended by a loss of what was sent since the notice");
    sender.expect(&view(), &Notice { old_link: NEW, new_link: OLD, flows: 1, disconnected: 0 });
    sender.on_ack(&view());
    assert!(sender.claims(), "it is expected");
    let delivered = with(&view(), |tp| (tp.lost, tp.delivered) = (tp.lost + 60, tp.delivered + 40));
    sender.on_cut(&View { in_rto_recovery: true, ..delivered });
    let mut announced = sender.clone();
    announced.expect(&delivered, &Notice { old_link: NEW, new_link: OLD, flows: 1, disconnected: 0 });
    for (name, sender) in [("an ACK", &mut sender), ("one with another announcement", &mut announced)] {
        let anew = sender.on_ack(&delivered).kernel.anew;
        assert!(matches!(anew, Some(Anew::Retreat { .. })), "{name}: {anew:?}");
    }
}

/// Without an outage the window grew. The first reduction for what was sent since
/// the notice refutes it and ends the claim.
/// In 0.4 s 40 packets have arrived: the path carries ten in a round trip of 100 ms, and five are left. But it is no more
/// than the window before.
#[test]
fn a_raise_is_refuted_by_the_first_reduction() {
    for (una, lasts, before, left) in [(105, true, 10, 0), (112, false, 10, 5), (112, false, 4, 4)] {
        let small = View { cwnd: before * PACKET, ..with(&view(), |tp| tp.cwnd = before) };
        let mut sender = told(&small, 0);
        let cut = with(&View { in_fast_recovery: true, snd_una: una, ..small }, |tp| {
            (tp.ssthresh, tp.delivered, tp.now) = (7, tp.delivered + 40, tp.now + 400 * MS);
        });
        let cut = View { srtt: 100 * MS, ..cut };
        sender.on_new_ack(&cut);
        let advice = sender.on_cut(&cut);
        assert_eq!((sender.claims(), advice.kernel.pace), (lasts, (!lasts).then_some(Pace::Ends)), "{una}");
        assert_eq!(advice.ssthresh, (!lasts).then_some(left * PACKET), "{una} {before}");
        let over = Anew::ClaimOver { cut: true, refuted: true, before: Some(before) };
        assert_eq!(advice.kernel.anew, (!lasts).then_some(over), "{una}");
    }
}

/// Without an outage the window grew, and the first round has a round trip that shows competing traffic. That refutes the
/// raise: half of the path's eleven packets and of three more are left, but no more than the window before. In a recovery
/// that is what the recovery leads to. For ten seconds no such notice raises it again. Later grants are no smaller.
#[test]
fn a_raise_is_refuted_by_competing_traffic() {
    let told_of = |before: u32, recovery: Option<u32>| {
        let (cwnd, ssthresh) = (before, recovery.unwrap_or(40));
        let small = View {
            cwnd: cwnd * PACKET,
            ssthresh: ssthresh * PACKET,
            in_fast_recovery: recovery.is_some(),
            ..with(&view(), |tp| (tp.cwnd, tp.ssthresh) = (cwnd, ssthresh))
        };
        told(&small, 0)
    };
    for (before, recovery, left) in [(10, None, 7), (4, None, 4), (1, None, 2), (1, Some(6), 6)] {
        let mut sender = told_of(before, recovery);
        let crowded = |ms| drained(ms, 90, 130_348);
        asked(&mut sender, &drained(0, 0, 0));
        assert_eq!(asked(&mut sender, &crowded(150)).0, Some(11 + 3 + 2));
        let advice = sender.before_sending(&crowded(202));
        assert!(!sender.claims());
        let windows = [advice.cwnd, advice.ssthresh];
        assert_eq!(windows, [Some(left * PACKET); 2], "{before} {recovery:?}");
        assert_eq!(
            advice.kernel.anew,
            Some(Anew::ClaimOver { cut: false, refuted: true, before: Some(recovery.unwrap_or(before)) })
        );
        for (ms, disconnected, granted) in [(9_000, 0, None), (9_000, 1, Some(11))] {
            let mut sender = sender.clone();
            let notice = Notice { old_link: OLD, new_link: NEW, flows: 1, disconnected };
            let advice = sender.on_notice(&with(&view(), |tp| tp.now += ms * MS), &notice);
            assert_eq!(advice.ssthresh, granted.map(|packets: u32| packets * PACKET), "{ms} {disconnected}");
        }
    }
}

/// A notice without an outage would raise the window. It ends the claim of another one that came less than ten seconds
/// before, and asks for nothing. A raise is refuted then, or a receiver that lies could end it before anything else does.
/// One that lowers the window is answered.
#[test]
fn a_notice_soon_after_another_ends_its_claim() {
    let again = Notice { old_link: OLD, new_link: NEW, flows: 1, disconnected: 0 };
    let hear = |sender: &mut Scheme, view: &View| {
        let view = with(view, |tp| tp.quiet_since = tp.now);
        assert!(sender.pend(&view, &again));
        sender.on_ack(&view)
    };
    for (disconnected, ms, left) in [(1, 1_000, 11), (0, 1_000, 4), (0, 9_999, 4)] {
        let small = View { cwnd: 4 * PACKET, ..with(&view(), |tp| tp.cwnd = 4) };
        let mut sender = told(&small, disconnected);
        let lowered = hear(&mut sender.clone(), &drained(ms, 0, 0));
        assert_eq!((lowered.ssthresh, lowered.kernel.pace), (Some(11 * PACKET), Some(Pace::Begins)));
        let later = View { cwnd: 10 * PACKET, ..drained(ms, 0, 0) };
        let advice = hear(&mut sender, &later);
        assert_eq!((advice.cwnd, advice.kernel.pace), (None, None));
        let over = sender.before_sending(&later);
        assert_eq!((sender.claims(), over.kernel.pace), (false, Some(Pace::Ends)));
        assert_eq!(over.cwnd, Some(left * PACKET), "{disconnected} {ms}");
        let refuted = disconnected == 0;
        let before = refuted.then_some(4);
        assert_eq!(over.kernel.anew, Some(Anew::ClaimOver { cut: false, refuted, before }));
        // The sender's own host does not lie to itself.
        let own = told(&small, disconnected).on_notice(&later, &again);
        assert_eq!(own.kernel.pace, Some(Pace::Begins), "{disconnected} {ms}");
    }
    let mut sender = told(&view(), 0);
    let advice = hear(&mut sender, &View { cwnd: 10 * PACKET, ..drained(10_000, 0, 0) });
    assert_eq!(advice.kernel.pace, Some(Pace::Begins));
}

/// A raise was refuted. A later notice that raises nothing is accepted, and its claim ends by itself: that refutes nothing.
#[test]
fn a_refutation_is_of_one_notice() {
    let small = View { cwnd: 4 * PACKET, ..with(&view(), |tp| tp.cwnd = 4) };
    let mut sender = told(&small, 0);
    let cut = View { in_fast_recovery: true, snd_una: 112, ..small };
    sender.on_new_ack(&cut);
    let over = sender.on_cut(&cut).kernel.anew;
    assert_eq!(over, Some(Anew::ClaimOver { cut: true, refuted: true, before: Some(4) }));
    let later = with(&view(), |tp| tp.now += 20_000 * MS);
    sender.on_notice(&later, &Notice { old_link: OLD, new_link: NEW, flows: 1, disconnected: 0 });
    let cut = View { in_fast_recovery: true, snd_una: 112, ..later };
    sender.on_new_ack(&cut);
    assert_eq!(
        sender.on_cut(&cut).kernel.anew,
        Some(Anew::ClaimOver { cut: true, refuted: false, before: None })
    );
}

/// Old packets are waited for no longer, and the claim is over. Its raise is still on trial for three round trips. A
/// reduction refutes it, and the window before it bounds what the congestion control grows back to.
#[test]
fn a_raise_is_refuted_after_its_claim() {
    let small = View { cwnd: 4 * PACKET, ..with(&view(), |tp| tp.cwnd = 4) };
    let mut sender = told(&small, 0);
    let over = sender.before_sending(&with(&small, |tp| tp.now += 5_000 * MS));
    let ended = Anew::ClaimOver { cut: false, refuted: false, before: None };
    assert_eq!((sender.claims(), over.kernel.anew), (false, Some(ended)));
    let acknowledged = View { snd_una: 112, ..small };
    sender.on_new_ack(&acknowledged);
    let advice = sender.on_cut(&View { in_fast_recovery: true, ..acknowledged });
    assert_eq!(advice.kernel.anew, Some(Anew::Refuted { before: 4 }));
    assert_eq!(advice.ssthresh, Some(4 * PACKET));
}

/// A second notice comes while the first raise is on trial. The window before the first one counts.
#[test]
fn a_raise_upon_a_raise_leaves_no_more() {
    for (first, left) in [(4, 4), (10, 5)] {
        let small = View { cwnd: first * PACKET, ..with(&view(), |tp| tp.cwnd = first) };
        let mut sender = told(&small, 0);
        let raised =
            View { cwnd: 10 * PACKET, ..with(&view(), |tp| (tp.cwnd, tp.now) = (10, tp.now + 10_000 * MS)) };
        sender.on_notice(&raised, &Notice { old_link: OLD, new_link: NEW, flows: 1, disconnected: 0 });
        let cut = with(&View { in_fast_recovery: true, snd_una: 112, ..raised }, |tp| tp.delivered += 2);
        sender.on_new_ack(&cut);
        assert_eq!(sender.on_cut(&cut).ssthresh, Some(left * PACKET), "{first}");
    }
}

/// For ten seconds after that a notice without an outage changes nothing; one after an outage does. Later it raises
/// the window no further than was found. A trial that too many losses end refutes a raise as well: while what was sent
/// before the notice is missing, no cut does.
#[test]
fn a_refuted_raise_is_not_repeated() {
    let small = View { cwnd: 4 * PACKET, ..with(&view(), |tp| tp.cwnd = 4) };
    let by_cut = |sender: &mut Scheme| {
        let cut = View { in_fast_recovery: true, snd_una: 112, ..small };
        sender.on_new_ack(&cut);
        assert_eq!(sender.on_cut(&cut).ssthresh, Some(4 * PACKET), "the window before");
    };
    let by_losses = |sender: &mut Scheme| {
        let advice = sender.on_ack(&with(&small, |tp| tp.lost += 12 + 10 + 1));
        assert_eq!(advice.kernel.anew, Some(Anew::Retreat { found: 4, before: Some(4) }));
    };
    let refutations: [&dyn Fn(&mut Scheme); 2] = [&by_cut, &by_losses];
    for refuted in refutations {
        for (ms, disconnected, answered) in [(9_000, 0, None), (9_000, 1, Some(5)), (10_000, 0, Some(5))] {
            let mut sender = told(&small, 0);
            refuted(&mut sender);
            let later = with(&small, |tp| tp.now += ms * MS);
            let notice = Notice { old_link: OLD, new_link: NEW, flows: 1, disconnected };
            let advice = sender.on_notice(&later, &notice);
            let expected = answered.map(|packets| packets * PACKET);
            assert_eq!(advice.ssthresh, expected, "{ms} {disconnected}");
            assert_eq!(advice.kernel.pace.is_some(), answered.is_some(), "{ms} {disconnected}");
        }
    }
}
