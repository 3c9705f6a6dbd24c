use super::*;

const SECOND: u64 = 1000 * MS;

fn watch() -> &'static str {
    "0.0.0.0/0"
}

fn flow(waiting: u32, acks: usize) -> Flow<u32> {
    Flow { waiting, acks, round_trip: 18 * MS, closed: false, anew: false, mtu: None, told: None, idle: None }
}

/// All that a connection is sent which gets no answer: when, and what.
fn script(outage: u64, acks: usize) -> Vec<(u64, Vec<Say>)> {
    script_of(outage, flow(1, acks))
}

fn script_of(outage: u64, flow: Flow<u32>) -> Vec<(u64, Vec<Say>)> {
    let mut resumes = Resumes::new();
    assert_eq!(resumes.begin(0, watch(), outage, 100_000, [flow]), 1);
    let mut said = Vec::new();
    while let Some(at) = resumes.deadline() {
        let Due { id, says, last, .. } = resumes.next(at).expect("it is due");
        assert!(says.len() <= BURST);
        said.push((at / MS, says));
        if last {
            resumes.end(id);
        }
    }
    said
}

#[test]
fn a_silent_peer_is_told_in_this_order() {
    // 0.2, 0.6, 1.4, 3, 6.2 s: five doublings in 10 s; seven messages about a number, three of them at once
    let said = script(10 * SECOND, 2);
    let at_once = [Say::About(0), Say::About(1), Say::Ack].map(|say| (0, vec![say; 3]));
    assert_eq!(said[..3], at_once);
    let single = |at| (at, vec![Say::AboutNext]);
    assert_eq!(said[3..7], [38, 113, 188, 263].map(single));
    assert_eq!(said[7..], [(338, vec![Say::Ack])], "the end");
}

/// The rest is as without.
#[test]
fn three_single_messages_tell_a_smaller_mtu() {
    let anew = Flow { anew: true, ..flow(1, 2) };
    let said = script_of(10 * SECOND, Flow { mtu: Some(1492), ..anew.clone() });
    let big = |at| (at, vec![Say::AboutNext, Say::TooBig(1492)]);
    let singles = said.iter().position(|(_, says)| says[0] == Say::AboutNext).expect("single messages");
    assert_eq!(said[singles..singles + 3], [38, 113, 188].map(big));
    assert_eq!(said[singles + 3], (263, vec![Say::AboutNext]));
    let without = |says: &[Say]| -> Vec<Say> {
        says.iter().copied().filter(|say| !matches!(say, Say::TooBig(_))).collect()
    };
    let rest: Vec<_> = said.iter().map(|(at, says)| (*at, without(says))).collect();
    assert_eq!(rest, script_of(10 * SECOND, anew));
}

/// All that it resends at once would be too much for the new path.
#[test]
fn a_peer_that_does_not_begin_anew_is_told_no_mtu() {
    assert_eq!(script_of(10 * SECOND, Flow { mtu: Some(1492), ..flow(1, 2) }), script(10 * SECOND, 2));
}

/// After a handoff that lost nothing as far as is known, no path is said to be narrower.
#[test]
fn a_doubted_outage_tells_no_mtu() {
    let mut resumes = Resumes::new();
    resumes.doubt(0, watch(), 2 * SECOND, 100_000, [Flow { mtu: Some(1492), anew: true, ..flow(1, 2) }]);
    while let Some(at) = resumes.deadline() {
        let Due { id, says, last, .. } = resumes.next(at).expect("it is due");
        assert!(says.iter().all(|say| !matches!(say, Say::TooBig(_))), "{says:?}");
        if last {
            resumes.end(id);
        }
    }
}

#[test]
fn a_peer_that_was_told_hears_single_messages_two_round_trips_later() {
    let mut resumes = Resumes::new();
    let told = Flow { told: Some(5 * MS), anew: true, ..flow(1, 4) };
    assert_eq!(resumes.begin(0, watch(), 3 * SECOND, 100_000, [told, flow(2, 1)]), 2);
    let mut said = Vec::new();
    while let Some(at) = resumes.deadline() {
        let Due { id, waiting, says, begins, last, .. } = resumes.next(at).expect("it is due");
        assert_eq!(begins, (*waiting, at / MS) == (1, 61) || (*waiting, at) == (2, 0), "{waiting} at {at}");
        said.extend((*waiting == 1).then_some((at / MS, says)));
        if last {
            resumes.end(id);
        }
    }
    // 5 + 2 * 18 + 20 ms; four doublings and two
    let messages = [61, 136, 211, 286, 361, 511].map(|at| (at, vec![Say::AboutNext]));
    assert_eq!(said[..6], messages);
    assert_eq!(said[6..], [(811, vec![Say::Ack])], "the end");
}

#[test]
fn after_a_handoff_that_may_have_lost_packets_the_same_begins_two_round_trips_later() {
    let mut resumes = Resumes::new();
    resumes.doubt(0, watch(), 2 * SECOND, 100_000, [flow(1, 2)]);
    let mut said = Vec::new();
    while let Some(at) = resumes.deadline() {
        let Due { id, says, begins, doubted, last, .. } = resumes.next(at).expect("it is due");
        assert!(doubted && begins == said.is_empty());
        said.push((at / MS, says));
        if last {
            resumes.end(id);
        }
    }
    // 2 * 18 + 20 ms; then as after 2 s: three doublings, and two messages more
    let at_once = [Say::About(0), Say::About(1), Say::Ack].map(|say| (56, vec![say; 3]));
    assert_eq!(said[..3], at_once);
    let single = |at| (at, vec![Say::AboutNext]);
    assert_eq!(said[3..], [single(94), single(169), (244, vec![Say::Ack])]);
}

/// A packet takes 6.7 ms at 100 kbit/s. One who is well takes no time from one who waits.
#[test]
fn whoever_needs_no_help_takes_no_turn() {
    let mut resumes = Resumes::new();
    resumes.doubt(0, watch(), 2 * SECOND, 100, [flow(1, 2), flow(2, 2)]);
    let at = resumes.deadline().expect("they are listed");
    let well = resumes.next(at).expect("it is due").id;
    assert!(resumes.deadline() > Some(at), "its packets take time");
    resumes.end(well);
    resumes.unsent(at);
    assert_eq!(resumes.deadline(), Some(at));
    assert!(resumes.next(at).is_some());
}

/// All that is sent to a peer which nothing shows to wait, and which said its last so long before a handoff without an
/// outage. 56 ms later it is found silent.
fn to_an_idle_peer(idle: u64) -> Vec<(u64, Vec<Say>)> {
    let mut resumes = Resumes::new();
    resumes.doubt(0, watch(), 2 * SECOND, 100_000, [Flow { idle: Some(idle), anew: true, ..flow(1, 4) }]);
    let mut said = Vec::new();
    while let Some(at) = resumes.deadline() {
        let Due { id, says, last, doubted, .. } = resumes.next(at).expect("it is due");
        assert!(doubted);
        said.push((at / MS, says));
        if last {
            resumes.end(id);
        }
    }
    said
}

/// A page is there, and the station roams: mostly the peer has nothing to send.
#[test]
fn an_idle_peer_hears_no_more_than_its_silence_can_have_doubled_the_timer() {
    // with the 56 ms: none before 200 ms, one from there on, two from 600 ms, three from 1.4 s
    for (idle, messages) in [(0, 0), (143, 0), (144, 1), (543, 1), (544, 2), (1343, 2)] {
        let said = to_an_idle_peer(idle * MS);
        let expected = [vec![Say::About(0); messages], vec![Say::Ack]].concat();
        assert_eq!(said, [(56, expected), (294, vec![])], "{idle} ms");
    }
    let three = [(56, vec![Say::About(0); 3]), (56, vec![Say::Ack]), (294, vec![])];
    for idle in [1344 * MS, 2 * SECOND, 60 * SECOND] {
        assert_eq!(to_an_idle_peer(idle), three, "{idle} ns");
    }
}

/// The new link is there without a foreseen break: some peers are told of an open window, others may wait.
#[test]
fn a_window_that_opens_does_not_cancel_a_doubt() {
    let mut resumes = Resumes::new();
    resumes.open(0, watch(), 100_000, [Flow { closed: true, ..flow(1, 4) }]);
    resumes.doubt(0, watch(), 2 * SECOND, 100_000, [flow(2, 2)]);
    assert_eq!(resumes.len(), 2, "both");
    let mut said = Vec::new();
    while let Some(at) = resumes.deadline() {
        let Due { id, waiting, says, doubted, last, .. } = resumes.next(at).expect("it is due");
        assert_eq!(doubted, *waiting == 2);
        said.push((*waiting, at / MS, says[0]));
        if last {
            resumes.end(id);
        }
    }
    assert_eq!(said[..3], [(1, 0, Say::Ack), (1, 38, Say::Ack), (2, 56, Say::About(0))]);
    // And the other way round.
    resumes.doubt(0, watch(), 2 * SECOND, 100_000, [flow(2, 2)]);
    resumes.open(0, watch(), 100_000, [Flow { closed: true, ..flow(1, 4) }]);
    assert_eq!(resumes.len(), 2, "both");
}

/// The link is back, and a word about it follows: the help goes on.
#[test]
fn a_further_change_does_not_put_off_the_help() {
    let mut resumes = Resumes::new();
    resumes.begin(0, watch(), SECOND, 100_000, [flow(1, 2)]);
    resumes.doubt(0, watch(), 2 * SECOND, 100_000, [flow(1, 2), flow(2, 2)]);
    assert_eq!((resumes.len(), resumes.deadline()), (1, Some(0)));
    resumes.stop(&watch());
    for _ in 0..2 {
        resumes.doubt(MS, watch(), 2 * SECOND, 100_000, [flow(1, 2), flow(2, 2)]);
        assert_eq!((resumes.len(), resumes.deadline()), (2, Some(57 * MS)), "the last one counts");
    }
    assert_eq!(resumes.begin(2 * MS, watch(), SECOND, 100_000, [flow(1, 2)]), 1);
    assert_eq!((resumes.len(), resumes.deadline()), (1, Some(2 * MS)), "an outage is known now");
}

#[test]
fn a_peer_that_begins_anew_hears_of_single_octets_before_the_ack() {
    let at_once = |flow: Flow<u32>| {
        let mut resumes = Resumes::new();
        resumes.begin(0, watch(), 10 * SECOND, 100_000, [flow]);
        let mut said = Vec::new();
        while let Some(at) = resumes.deadline().filter(|at| *at < 30 * MS) {
            said.extend(resumes.next(at).expect("it is due").says);
        }
        said.retain(|say| !matches!(say, Say::About(_)));
        said
    };
    let anew = |acks| Flow { anew: true, ..flow(1, acks) };
    let acks = [Say::Ack; 3];
    assert_eq!(at_once(anew(4)), [&[3, 2, 1].map(Say::Octet)[..], &acks[..]].concat());
    assert_eq!(at_once(anew(1)), acks, "whoever has heard it has heard all");
    assert_eq!(at_once(Flow { closed: true, ..anew(4) }), acks, "nothing is under way");
}

#[test]
fn a_peer_begins_anew_where_its_window_is_soon_back_or_of_little_use() {
    let path = |kbps: u64, delay: u64, queue| Path {
        rate: kbps * 1000,
        round_trip: 2 * delay * MS,
        queue,
        packet_bits: 12_000,
    };
    // 25, 9, 112 and 20 packets
    let (fast, slow) = (path(6400, 9, 15), path(200, 100, 5));
    let (long, far) = (path(6400, 100, 5), path(200, 300, 10));
    assert!(begins_anew(&fast, &fast), "five round trips of 18 ms");
    assert!(begins_anew(&slow, &long), "it holds more than twice as much");
    assert!(!begins_anew(&fast, &far), "five of 600 ms");
    assert!(!begins_anew(&long, &long));
    // 7 packets: three round trips of 18 ms, but a packet takes 120 ms.
    let narrow = path(100, 9, 5);
    assert!(!begins_anew(&fast, &narrow));
    let vast = Path { rate: 100_000_000_000, round_trip: 7200 * SECOND, queue: 9, packet_bits: 12_000 };
    assert_eq!(vast.full(), u32::MAX);
    assert!(!begins_anew(&vast, &vast));
    let nothing = Path { rate: 1, round_trip: 0, queue: 0, packet_bits: 12_000 };
    assert!(begins_anew(&nothing, &nothing));
}

#[test]
fn a_peer_whose_window_was_closed_hears_the_ack_first() {
    let mut resumes = Resumes::new();
    resumes.begin(0, watch(), 10 * SECOND, 100_000, [Flow { closed: true, ..flow(1, 1) }]);
    let says = |resumes: &mut Resumes<_, _>| {
        let now = resumes.deadline().expect("more");
        resumes.next(now).map(|due| due.says).expect("due")
    };
    assert_eq!(says(&mut resumes), [Say::Ack; 3]);
    assert_eq!(says(&mut resumes), [Say::About(0); 3]);
    assert_eq!(says(&mut resumes), [Say::AboutNext]);
}

/// Without an outage there is nothing that a message could be about.
#[test]
fn a_window_that_opens_without_an_outage_is_told_in_acks_alone() {
    let mut resumes = Resumes::new();
    resumes.begin(0, "::/0", SECOND, 100_000, [flow(7, 4)]);
    resumes.open(0, watch(), 100_000, [Flow { closed: true, ..flow(1, 4) }]);
    assert_eq!(resumes.len(), 2, "the other prefix keeps its help");
    resumes.stop(&"::/0");
    let mut said = Vec::new();
    while let Some(at) = resumes.deadline() {
        let Due { id, says, last, .. } = resumes.next(at).expect("it is due");
        said.push((at / MS, says));
        if last {
            resumes.end(id);
        }
    }
    assert_eq!(said, [(0, vec![Say::Ack; 3]), (38, vec![Say::Ack])]);
    // A bound here, too.
    resumes.open(0, watch(), 100_000, (0..5000).map(|number| flow(number, 4)));
    assert_eq!(resumes.len(), MOST);
}

#[test]
fn messages_are_no_more_than_the_doublings_and_two() {
    for (outage, doublings) in
        [(100 * MS, 0), (SECOND, 2), (3 * SECOND, 4), (10 * SECOND, 5), (30 * SECOND, 7)]
    {
        assert_eq!(super::doublings(outage), doublings, "{outage}");
        let said = script(outage, 4);
        let about = |say: &Say| matches!(say, Say::About(0) | Say::AboutNext);
        let messages: usize = said.iter().map(|(_, says)| says.iter().filter(|say| about(say)).count()).sum();
        assert_eq!(messages as u32, (doublings + 2).max(4), "{outage}");
    }
    // 30 s: six of them; after the fourth 75, 150 and 300 ms follow
    let times: Vec<_> = script(30 * SECOND, 1).iter().map(|(at, _)| *at).collect();
    assert_eq!(times, [0, 0, 38, 113, 188, 263, 338, 488, 788]);
}

#[test]
fn connections_have_their_turns() {
    let mut resumes = Resumes::new();
    // 1 Mbit/s up, half of it for this: 500 bits a ms
    let packet = ACK_OCTETS * 8 * MS / 500;
    assert_eq!(resumes.begin(0, watch(), SECOND, 1000, [flow(1, 1), flow(2, 4)]), 2);
    let mut now = 0;
    for (waiting, bursts) in [(1, 2), (2, 5)] {
        for _ in 0..bursts {
            assert_eq!(resumes.deadline(), Some(now));
            let due = resumes.next(now).expect("its turn");
            assert_eq!((*due.waiting, due.says.len(), due.last), (waiting, 3, false));
            assert!(resumes.next(now + 3 * packet - 1).is_none(), "half of the uplink");
            now += 3 * packet;
        }
    }
}

#[test]
fn who_has_new_data_is_told_nothing_more() {
    let mut resumes = Resumes::new();
    resumes.begin(0, watch(), SECOND, 100_000, [flow(1, 4)]);
    let id = resumes.next(0).expect("due").id;
    resumes.end(id);
    assert_eq!((resumes.len(), resumes.deadline()), (0, None));
    // The link goes again; another prefix has its own.
    let other = "::/0";
    resumes.begin(SECOND, watch(), SECOND, 100_000, [flow(1, 4)]);
    resumes.begin(SECOND, other, SECOND, 100_000, [flow(2, 4), flow(3, 4)]);
    resumes.stop(&watch());
    assert_eq!(resumes.len(), 2);
    // One more outage: from the beginning.
    assert_eq!(resumes.begin(2 * SECOND, other, SECOND, 100_000, [flow(4, 4)]), 1);
    assert_eq!(resumes.next(2 * SECOND).map(|due| *due.waiting), Some(4));
}

#[test]
fn there_is_a_bound() {
    let mut resumes = Resumes::new();
    let flows = (0..5000).map(|number| flow(number, 4));
    assert_eq!(resumes.begin(0, watch(), SECOND, 100_000, flows), MOST);
}
