//! The stack `linux-6.12` against the kernel: runs packet by packet, and medians of a subset of the table.

use segue_fidelity::kernel::compare::{Agreement, agreement, ours};
use segue_fidelity::kernel::log::Log;
use segue_fidelity::kernel::outcome::{self, Handoff};
use segue_fidelity::kernel::scenario::Scenario;
use segue_fidelity::kernel::verdict::{self, Place};
use segue_fidelity::kernel::{compare, folder};
use segue_tcp::linux::cc::CcName;

/// The run with the lots that the kernel drew, as far as a seed of ours has them.
fn alike(name: &str, seed: u64) -> Agreement {
    let theirs = Log::read(&folder().join("runs").join(format!("{name}.txt.gz"))).unwrap();
    agreement(&ours(&theirs, seed), &theirs)
}

/// Every event at the sender's host, its time and its windows, to the end.
fn assert_identical(names: &[&str], seed: u64) {
    for name in names {
        let found = alike(name, seed);
        assert!(found.packets > 1000, "{name}: {found}");
        assert_eq!(found.instants, found.of_instants, "{name}: {found}");
    }
}

#[test]
fn narrated_runs_of_cubic() {
    assert_identical(
        &[
            "cubic1-1600_75-400_150-bbm1-T8.9",
            "cubic1-200_300-6400_9-bbm10-T8.2",
            "cubic1-200_300-6400_9-mbb0-T8.2",
            "cubic1-6400_9-200_300-bbm1-T8.2",
            "cubic1-6400_9-200_300-mbb0-T8.2",
        ],
        1,
    );
}

#[test]
fn narrated_runs_of_reno() {
    assert_identical(&["reno1-400_150-1600_75-bbm3-T8.9", "reno1-6400_9-200_300-mbb0-T8.2"], 1);
}

/// Packets leave in bursts: their last ones have PSH, pieces of writing end them, and they are cut from one buffer.
#[test]
fn runs_with_bursts() {
    assert_identical(
        &[
            "cubic1-1600_75-400_150-bbm1-T8.2-bursts",
            "cubic1-200_300-6400_9-mbb0-T8.2-bursts",
            "cubic1-200_300-6400_9-bbm1-T8.2-bursts",
            "cubic1-6400_9-6400_9-bbm1-T8.2-bursts",
        ],
        1,
    );
}

/// The last packet of a burst that is sent again alone has no PSH, so that its ACK is delayed.
#[test]
fn a_run_of_bbr_with_bursts() {
    assert_identical(&["bbr1-6400_9-200_300-mbb0-T8.2-bursts"], 35);
}

/// Neighbours that are SACKed are merged, which frees some of the send buffer. Without that, the application fills it
/// later, and another packet has PSH and is acknowledged at once.
#[test]
fn merged_packets_free_the_send_buffer() {
    assert_identical(&["cubic1-6400_9-6400_9-bbm0.5-T8.2"], 1);
}

/// Timers of several flows that fire in the same jiffy: the one that was set last comes first.
#[test]
fn timers_of_four_flows_fire_in_the_wheels_order() {
    assert_identical(&["cubic4-6400_9-1600_75-mbb0-T8.9"], 1);
}

/// At 10.278 s flow 2 may send three new packets. Two fill the host's queue; when they have left it, a lost packet
/// comes before the third.
#[test]
fn a_full_queue_in_the_host_lets_lost_packets_go_first() {
    assert_identical(&["cubic4-6400_9-1600_75-bbm1-T8.2"], 1);
}

/// The ACKs of three handshakes are lost in a full queue: the SYN/ACK comes again after 1 s, and is answered.
#[test]
fn the_syn_ack_is_sent_again() {
    assert_identical(&["cubic4-400_150-1600_75-bbm1-T8.2"], 1);
}

/// The longest delay of an ACK is one jiffy less than the shortest RTO.
#[test]
fn delayed_acks_stay_below_the_rto() {
    assert_identical(&["cubic4-1600_75-400_150-bbm1-T4.7"], 1);
}

/// After a SYN/ACK that was sent twice, the receiver's round trip comes from the time stamp echoed.
#[test]
fn the_receivers_round_trip_after_a_repeated_syn_ack() {
    assert_identical(&["cubic4-200_300-6400_9-bbm1-T12.4"], 1);
}

/// The receive buffer grows with what is read in a round trip. So the receiver acknowledges each packet for a while: in
/// slow start, and after a large hole is filled. When depends on the time stamps of compressed ACKs.
#[test]
fn the_receive_buffer_follows_a_fast_link() {
    assert_identical(&["cubic1-70000_40-20000_100-mbb0-T0.7"], 1);
}

/// At 0.782 s a D-SACK lies in a block of two packets, of which the first is new. The buffer of both is cut, merged, and
/// merged with what the D-SACK reports, before the walk comes to that: the kernel sees no reordering.
#[test]
fn a_duplicate_in_a_merged_buffer_is_overlooked() {
    assert_identical(&["cubic1-1000_60-12000_20-mbb0-T0.7"], 1);
}

/// At 2.234 s one hole of several is filled. The window is wider than the last that was offered, so the ACK is that of
/// a second segment. Three duplicates after it leave at once, not two.
#[test]
fn the_second_packet_after_a_hole() {
    assert_identical(&["cubic1-3000_100-10000_20-mbb0-T2.5"], 1);
}

/// Packets out of order take 4352 bytes of the receiver's buffer, and every second one of a row nothing. For so long
/// its window grows, and ACKs are sent at once. The run ends with the first tie: two packets within 500 ns, which is
/// how near two timers of User-Mode Linux may be.
#[test]
fn memory_of_packets_out_of_order() {
    let found = alike("cubic4-54000_5-24000_30-mbb0-T0.5", 1);
    assert_eq!((found.instants, found.of_instants), (1884, 2494), "{found}");
}

#[test]
fn narrated_run_of_bbr_to_a_slow_path() {
    assert_identical(&["bbr1-6400_9-200_300-mbb0-T8.2"], 23);
}

/// The receiver's compressed ACK goes with the sender's pacing timer, 86 us before its own. Both hosts of the reference
/// share a processor, and an interrupt serves all timers within whose slack it falls.
#[test]
fn narrated_runs_of_bbr_until_a_timer_of_the_other_host() {
    let found = alike("bbr1-200_300-6400_9-bbm1-T8.2", 107);
    assert_eq!((found.packets, found.of_packets), (1588, 3042), "{found}");
    let found = alike("bbr1-6400_9-6400_9-bbm1-T8.2", 66);
    assert_eq!((found.packets, found.of_packets), (7012, 9039), "{found}");
}

/// ACKs come back at the pace at which packets left, so that the pacing timer and an ACK meet in one interrupt. The
/// timer comes first (`handle_softirqs`). Otherwise the runs part with packet 33. They do part with the lot of the other
/// host's timer, as above.
#[test]
fn a_run_of_bbr_whose_timer_meets_acks() {
    let found = alike("bbr1-20000_10-3000_60-mbb0-T1.6", 3);
    assert_eq!((found.packets, found.of_packets), (2817, 4945), "{found}");
}

#[test]
fn the_first_difference_is_shown() {
    let theirs = Log::read(&folder().join("runs/reno1-400_150-1600_75-bbm3-T8.9.txt.gz")).unwrap();
    let mut ours = theirs.clone();
    ours.instants.remove(20);
    let text = compare::SideBySide { ours: &ours, theirs: &theirs, around: 2 }.to_string();
    let marked: Vec<&str> = text.lines().filter(|line| line.ends_with("<- first difference")).collect();
    assert_eq!(marked.len(), 1, "{text}");
    assert!(marked[0].contains("  -   "), "{text}");
    assert_eq!(agreement(&ours, &theirs).instants, 20);
}

/// One scenario in nine, both kinds, all controls, one flow and four, on the simulator's bench.
#[test]
fn medians_of_a_subset() {
    let handoffs = outcome::read(&folder().join("results.csv.gz")).unwrap();
    assert_eq!(handoffs.len(), 2592);
    let same = |a: &Handoff, b: &Handoff| Scenario { at: b.scenario.at, ..a.scenario } == b.scenario;
    let scenarios: Vec<&[Handoff]> = handoffs.chunk_by(same).collect();
    assert_eq!(scenarios.len(), 108);
    let subset: Vec<Handoff> = scenarios.into_iter().step_by(9).flatten().copied().collect();
    let comparisons = verdict::compare(&subset, Place::Simulator).unwrap();
    assert_eq!(comparisons.len(), 12);
    for c in &comparisons {
        let (ours, kernel) = c.medians();
        assert!(c.error().abs() <= c.step(), "{}: {ours} s is not {kernel} s", c.scenario);
    }
}

/// Links and outages that the table lacks.
#[test]
fn held_out_medians() {
    let handoffs = outcome::read(&folder().join("heldout.csv")).unwrap();
    assert_eq!(handoffs.len(), 192);
    let comparisons = verdict::compare(&handoffs, Place::Simulator).unwrap();
    assert_eq!(comparisons.len(), 16);
    for c in &comparisons {
        let (ours, kernel) = c.medians();
        assert!(c.error().abs() <= c.step(), "{}: {ours} s is not {kernel} s", c.scenario);
    }
}

/// The reference watched for the first packet that is sent again beyond the end of the transfer.
#[test]
fn first_packets_sent_again_after_the_transfer() {
    let mut handoffs = outcome::read(&folder().join("results.csv.gz")).unwrap();
    handoffs.retain(|h| h.scenario.control == CcName::Reno && h.kernel.first_rtx > h.kernel.a);
    handoffs.retain(|h| h.kernel.first_rtx.is_finite());
    assert!(handoffs.len() > 30, "{}", handoffs.len());
    let few: Vec<Handoff> = handoffs.into_iter().step_by(13).collect();
    let comparisons = verdict::compare(&few, Place::Reference).unwrap();
    let singles = verdict::singles(comparisons.iter());
    assert_eq!(singles.first_rtx, few.len());
}
