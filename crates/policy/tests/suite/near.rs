//! docs/reference/near.md: its worked numbers, for 6400kbit/9ms -> 200kbit/300ms with 4 ms beyond the access link.

use crate::common::near_vectors::near_sender;
use crate::common::*;
use proptest::prelude::*;
use segue_policy::headers::near;
use segue_policy::{Link, Near, Notice, Out, grant};

fn notice(old: &str, new: &str) -> Notice {
    let link = |word: &str| {
        let (rate, delay) = word.split_once('/').expect("a link");
        let number = |word: &str| word.parse::<u32>().expect("a number");
        Link { rate_kbps: number(rate), delay_us: 1000 * number(delay) }
    };
    Notice { old_link: link(old), new_link: link(new), flows: 1, disconnected: 0 }
}

const US: u64 = 1_000;
const MS: u64 = 1_000_000;

/// The old link's round trip as told is 2 * 9 + 1540 * 8 / 6400 = 19.925 ms.
const MIN_RTT: u64 = 27_925 * US;

fn told(flows: u32, own: u32) -> Near {
    Near::new(&Notice { flows, ..notice("6400/9", "200/300") }, MIN_RTT, 1500, own)
}

#[test]
fn section_2_path_slot_and_window() {
    let near = told(1, 1);
    assert_eq!(near.delay_beyond_ns, 4 * MS);
    assert_eq!((near.old_slot_ns, near.slot_ns), (1_875 * US, 60 * MS));
    assert_eq!((near.ack_owd_ns, near.data_owd_ns), (305_600 * US, 364 * MS));
    assert_eq!((near.rtt_ns, near.old_data_owd_ns), (669_600 * US, 14_875 * US));
    assert_eq!(near.window, u64::from(packets(12))); // 11.16
}

/// One flow of four that share the link has every fourth slot.
#[test]
fn section_2_slots_are_shared_with_flows_of_others() {
    let near = told(4, 1);
    assert_eq!((near.slot_ns, near.rtt_ns), (240 * MS, 669_600 * US));
    assert_eq!(near.window, u64::from(packets(3))); // 2.79
    // A host with more flows than the notice says has all slots, and no more.
    assert_eq!(told(1, 4), told(1, 1));
}

/// N, and this host's flows, count up to 2047, with one clock for all flows and for one flow alone.
#[test]
fn section_2_no_more_flows_count_than_the_limit() {
    let limit = Near::FLOWS_LIMIT;
    let slots = |of: fn(u32) -> Near| [limit - 1, limit, limit + 1, u32::MAX].map(|flows| of(flows).slot_ns);
    let most = u64::from(limit) * 60 * MS;
    assert_eq!(slots(|flows| told(flows, 1)), [most - 60 * MS, most, most, most]);
    // A host that has all flows but one, and one that has them all.
    let slots = [limit - 1, limit, limit + 1].map(|own| told(u32::MAX, own).slot_ns);
    assert_eq!(slots, [60 * MS * u64::from(limit) / u64::from(limit - 1), 60 * MS, 60 * MS]);
    // 4,188,162 kbit/s are 2046 * 2047. The window has too few packets for a rate probe, so that the pace is a slot's.
    let pace = |flows| {
        let mut flow = near().start();
        let path = Notice { flows, disconnected: 1, ..notice("6400/9", "4188162/1") };
        flow.on_notice(&near_sender(100, 0), &path);
        flow.claim(&Out { snd_una: 100, unit: 1, ..Out::default() }).expect("it lasts").kbps
    };
    assert_eq!([limit - 1, limit, limit + 1, u32::MAX].map(pace), [2047, 2046, 2046, 2046]);
}

/// A path that was never measured is taken to end at the access links, and so is one that is shorter than told.
#[test]
fn section_2_without_a_measurement() {
    for min_rtt in [0, 19 * MS] {
        let near = Near::new(&notice("6400/9", "200/300"), min_rtt, 1500, 1);
        assert_eq!((near.delay_beyond_ns, near.rtt_ns), (0, 661_600 * US));
    }
}

#[test]
fn section_2_completion_and_link() {
    let near = told(1, 1);
    let completion = near.completion(1_000 * MS);
    assert_eq!((completion, near.completion(100 * MS)), (694_400 * US, 0));
    assert!(near.on_old_link(completion, 692_399 * US));
    assert!(!near.on_old_link(completion, 692_400 * US));
}

#[test]
fn section_3_packets_out() {
    // Twelve packets wait, or eleven.
    assert!(told(1, 1).overflows(720 * MS, 0) && !told(1, 1).overflows(719 * MS, 0));
    assert!(!told(1, 1).overflows(0, 720 * MS));
    assert_eq!(Near::flight_limit(told(1, 1).window, 1), 12 + 2);
    assert_eq!(Near::flight_limit(told(8, 8).window, 8), 12 + 16);
}

/// Three packets sent at 0, 1 and 50 ms; the one before arrives at 20 ms.
#[test]
fn section_4_arrivals_over_the_old_link() {
    let near = told(1, 1);
    let first = near.old_arrival(0, 20 * MS);
    let second = near.old_arrival(MS, first);
    assert_eq!((first, second), (21_875 * US, 23_750 * US));
    assert_eq!(near.old_arrival(50 * MS, second), 64_875 * US, "the queue has run dry");
}

/// The new link has carried 24 packets at 24 * 60 + 364 ms.
#[test]
fn section_4_what_comes_too_late() {
    let near = told(1, 1);
    assert_eq!((near.horizon(20), near.horizon(25)), (24, 25));
    assert!(!near.too_late(0, 24, 1_804 * MS));
    assert!(near.too_late(0, 24, 1_804 * MS + 1));
}

#[test]
fn section_4_waiting_and_telling() {
    let near = told(1, 1);
    assert_eq!(near.loss_deadline(100 * MS), (100_000 + 305_600 + 2 * 1_875 + 10_000) * US);
    let broken = Notice { disconnected: 1, ..notice("6400/9", "200/300") };
    assert_eq!(Near::join_delay_ns(&broken, 4), 6 * 1_600 * US);
    assert_eq!(Near::join_delay_ns(&broken, 1), 0);
    assert_eq!(Near::join_delay_ns(&notice("6400/9", "200/300"), 4), 0);
}

#[test]
fn section_5_loss_and_growth() {
    let near = told(1, 1);
    assert!(near.acks_original(665_599 * US) && !near.acks_original(665_600 * US));
    assert_eq!(Near::after_loss(u64::from(packets(12)), 1), u64::from(packets(6)));
    assert_eq!(Near::after_loss(u64::from(packets(12)), 4), u64::from(packets(12)) * 7 / 8);
    assert_eq!(Near::after_loss(u64::from(packets(1)), 1), u64::from(packets(1)));
    // Six packets of six are a round trip.
    assert_eq!(Near::after_acks(u64::from(packets(6)), 6, 1), u64::from(packets(7)) + 1);
    // 2 * 669.6 + 12 * 60 + 200 ms
    assert_eq!((near.rto_ns(0), near.rto_ns(2)), (2_259_200 * US, 4 * 2_259_200 * US));
    assert_eq!(near.rto_ns(6), near.rto_ns(60));
}

#[test]
fn section_6_a_faster_clock() {
    let near = told(1, 1);
    assert!(!near.queued(789_600 * US) && near.queued(789_600 * US + 1)); // 669.6 + 2 * 60
    let shorter = near.with_rtt(540 * MS);
    assert_eq!(
        (shorter.rtt_ns, shorter.window, shorter.slot_ns),
        (540 * MS, u64::from(packets(10)), 60 * MS)
    );
    let faster = near.with_steps(2);
    assert_eq!((faster.slot_ns, faster.window), (38_400 * US, 4800)); // 60 * 0.64, 12 * 1.5625
    assert_eq!(faster.rtt_ns, near.rtt_ns);
    assert_eq!(near.with_steps(16), near.with_steps(1_000_000));
    assert_eq!([0, 1, 2, 3, 5].map(Near::steps_after_queue), [0, 0, 0, 1, 3]);
}

/// Competing traffic is beyond 669.6 + 2 * 60 + 3 * 60 ms (7.2). Fifteen packets in flight, and two, explain 1,020 ms.
#[test]
fn section_7_queues() {
    let near = told(1, 1);
    assert!(near.queue_of_others(969_601 * US, 10) && !near.queue_of_others(969_600 * US, 10));
    assert!(near.queue_of_others(1_021 * MS, 15) && !near.queue_of_others(1_020 * MS, 15));
    let drains = |window, own| near.drain_limit(u64::from(packets(window)), own);
    assert_eq!([drains(20, 1), drains(20, 3), drains(20, 4), drains(7, 1)], [12, 12, 16, 7]);
    assert_eq!(near.shared_slot_ns(), 50 * MS);
}

/// At the clock's rate the last of five packets of a rate probe comes back 120 ms later than the first. Half of that is
/// the limit. If the window has held it back for 30 ms, 90 ms are left, and nothing is decided if less than 60 ms are.
#[test]
fn section_6_a_rate_probe() {
    let near = told(1, 1);
    let passes = |apart, rtt| near.probe_passes(4, apart * MS, 700 * MS, rtt);
    assert!(passes(120, 760 * MS - 1) && !passes(120, 760 * MS));
    assert!(passes(150, 745 * MS - 1) && !passes(150, 745 * MS));
    assert!(passes(180, 730 * MS - 1) && !passes(181, 700 * MS));
    assert!(!near.probe_passes(0, 0, 700 * MS, 700 * MS), "it takes two packets");
    assert_eq!([0, 3, 15, 16].map(Near::steps_after_probe), [3, 6, 16, 16]);
    assert_eq!(near.with_steps(3).slot_ns, 30_720 * US);
}

#[test]
fn section_7_a_flows_part() {
    assert_eq!([1, 4, 5, 12, 13].map(|own| told(1, 1).share(own)), [12, 3, 3, 1, 1]);
    assert_eq!(told(4, 1).share(1), 3);
    // 669.6 + 2 * 60 + 12 * 60 / 4 ms
    assert!(!told(1, 1).competing_traffic(969_600 * US) && told(1, 1).competing_traffic(969_600 * US + 1));
}

/// Alone 12 packets and two that a delayed ACK holds back; one of four flows has three and two.
#[test]
fn section_8_a_flow_on_linux() {
    assert_eq!([1, 4].map(|flows| told(flows, 1).share(1)), [12, 3]);
    assert_eq!([200, 50].map(|kbps| grant::payload_rate(kbps, 1448)), [24_133, 6_033]);
    assert_eq!([0, 14, 900].map(grant::claim_window), [1, 14, 900]);
    assert_eq!([0, 5].map(|more| grant::window_after_claim(14, 12, false, more)), [12, 14]);
    assert_eq!([14, 1].map(|cwnd| grant::window_after_claim(cwnd, 12, true, 0)), [6, 1]);
}

proptest! {
    /// A slot takes time, the window holds a packet, and no number is far off its neighbours, whatever a notice says.
    #[test]
    fn any_notice_gives_a_path(
        old in any::<(u32, u32)>(), new in any::<(u32, u32)>(), flows: u32, own: u32, bytes: u32, min_rtt: u64,
    ) {
        let link = |(rate_kbps, delay_us)| Link { rate_kbps, delay_us };
        let told = Notice { old_link: link(old), new_link: link(new), flows, disconnected: 1 };
        let near = Near::new(&told, min_rtt, bytes, own);
        prop_assert!(near.slot_ns >= 1 && near.window >= 256);
        prop_assert_eq!(near.rtt_ns, near.ack_owd_ns + near.data_owd_ns);
        prop_assert!(near.delay_beyond_ns <= 10_000 * MS);
        let window = Near::after_acks(near.window / 2, own, own);
        prop_assert!(window >= near.window / 2);
        prop_assert!(Near::after_loss(window, own) >= 256);
        prop_assert!(near.rto_ns(u32::MAX) >= near.rto_ns(0));
        prop_assert!(near.share(own) >= 1);
    }
}
