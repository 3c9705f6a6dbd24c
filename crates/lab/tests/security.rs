//! Reports that must not count, one reason each: the policy never hears of them, and they are counted.

mod bench;

use bench::peer::{ACK, Peer, RST, SYN};
use bench::{Bench, count, flow};
use segue_kernel::sender::Sender;
use segue_policy::Link;
use segue_policy::wire::ReportType;
use std::io::Write;
use std::net::TcpStream;

const OLD: Link = Link { rate_kbps: 1600, delay_us: 75_000 };
const NEW: Link = Link { rate_kbps: 400, delay_us: 150_000 };

/// A negotiated connection with 14000 bytes under way, and the sender that serves it.
struct Victim<'a> {
    sender: &'a Sender,
    peer: Peer<'a>,
    /// The last number acknowledged.
    una: u32,
    _stream: TcpStream,
}

impl Victim<'_> {
    fn of<'a>(bench: &'a Bench, sender: &'a Sender) -> Victim<'a> {
        let listener = bench.listen();
        let mut peer = Peer::v4(&bench.device, 4001);
        peer.connect(OLD);
        let (mut stream, _) = listener.accept().expect("a connection");
        stream.write_all(&[7; 14_000]).expect("data");
        let una = peer.ack;
        peer.drain(std::time::Duration::from_millis(20));
        Victim { sender, peer, una, _stream: stream }
    }

    fn notice(&self, seq: u8) -> Vec<u8> {
        self.peer.report(ReportType::Completed, seq, NEW)
    }

    /// Sends it on a duplicate of the last ACK.
    fn send(&mut self, option: &[u8]) {
        self.peer.send(ACK, self.peer.seq, self.una, option);
    }

    /// Nothing is left for which the kernel's timer could cut the window meanwhile.
    fn acknowledge(&mut self) {
        self.peer.acknowledge(&[]);
        self.una = self.peer.ack;
    }

    /// Counts: accepted, and refused for this reason.
    fn counted(&self, reason: &str) -> (u64, u64) {
        (count(self.sender, "accepted"), count(self.sender, reason))
    }

    /// Sends it and demands that it is refused for this reason alone.
    fn is_refused(&mut self, option: &[u8], reason: &str) {
        let before = self.sender.status().expect("a status");
        let flow_before = flow(&before, self.peer.local);
        self.send(option);
        let after = self.sender.status().expect("a status");
        let flow_after = flow(&after, self.peer.local);
        assert_eq!(after.count("accepted"), before.count("accepted"), "{reason}");
        assert_eq!(after.count(reason), before.count(reason).map(|count| count + 1), "{reason}");
        assert_eq!(after.refused(), before.refused() + 1, "{reason}: for no other reason");
        assert_eq!(flow_after.refused, flow_before.refused + 1, "{reason}");
        assert_eq!(
            (flow_after.cwnd, flow_after.ssthresh),
            (flow_before.cwnd, flow_before.ssthresh),
            "{reason}"
        );
    }

    /// The connection still hears a true one.
    fn still_hears(&mut self, seq: u8) {
        let before = count(self.sender, "accepted");
        self.send(&self.notice(seq));
        assert_eq!(count(self.sender, "accepted"), before + 1);
    }
}

macro_rules! victim {
    ($victim:ident) => {
        let bench = Bench::new();
        let sender = bench.attach("etcp-v1");
        #[allow(unused_mut, reason = "some tests only send")]
        let mut $victim = Victim::of(&bench, &sender);
    };
}

#[test]
#[ignore = "needs kernel"]
fn a_wrong_nonce() {
    victim!(victim);
    let mut option = victim.notice(1);
    option[7] ^= 1;
    victim.is_refused(&option, "wrong-nonce");
    assert_eq!(
        flow(&victim.sender.status().expect("a status"), victim.peer.local).link.expect("first").rate_kbps,
        1600
    );
    victim.still_hears(1);
}

/// Right sequence number, right nonce, wrong ACK number: who sends it does not see the flow.
#[test]
#[ignore = "needs kernel"]
fn an_ack_number_outside_the_window() {
    victim!(victim);
    let option = victim.notice(1);
    for ack in [victim.una.wrapping_sub(1), victim.una.wrapping_sub(5000), victim.una.wrapping_add(1 << 20)] {
        let (accepted, refused) = victim.counted("bad-ack");
        victim.peer.send(ACK, victim.peer.seq, ack, &option);
        assert_eq!(victim.counted("bad-ack"), (accepted, refused + 1), "ACK {ack}");
    }
    victim.still_hears(1);
}

/// A guess at the ACK number of a segment whose sequence number is out of the window is not even looked at.
#[test]
#[ignore = "needs kernel"]
fn a_sequence_number_outside_the_window() {
    victim!(victim);
    let option = victim.notice(1);
    let before = victim.sender.status().expect("a status");
    victim.peer.send(ACK, victim.peer.seq.wrapping_add(1 << 30), victim.una, &option);
    let after = victim.sender.status().expect("a status");
    assert_eq!((after.count("accepted"), after.refused()), (before.count("accepted"), before.refused()));
    victim.still_hears(1);
}

#[test]
#[ignore = "needs kernel"]
fn a_replay() {
    victim!(victim);
    let option = victim.notice(1);
    victim.still_hears(1);
    victim.is_refused(&option, "repeated");
}

#[test]
#[ignore = "needs kernel"]
fn an_older_report_after_a_newer_one() {
    victim!(victim);
    victim.still_hears(9);
    let older = victim.notice(8);
    victim.is_refused(&older, "repeated");
    // 128 further on the circle is older, too.
    let far = victim.notice(9u8.wrapping_add(128));
    victim.is_refused(&far, "repeated");
}

#[test]
#[ignore = "needs kernel"]
fn a_truncated_option() {
    victim!(victim);
    let mut option = victim.notice(1);
    for length in [4, 8, 11] {
        option.truncate(length);
        option[1] = length as u8;
        victim.is_refused(&option, "bad-length");
        option = victim.notice(1);
    }
    // The length says more than the header holds: the kernel itself stops reading there.
    option.truncate(8);
    let before = victim.sender.status().expect("a status");
    victim.send(&option);
    let after = victim.sender.status().expect("a status");
    assert_eq!(after.count("accepted"), before.count("accepted"));
    victim.still_hears(1);
}

#[test]
#[ignore = "needs kernel"]
fn an_oversized_option() {
    victim!(victim);
    for length in [13, 16, 40] {
        let mut option = victim.notice(1);
        option.resize(length, 0);
        option[1] = length as u8;
        victim.is_refused(&option, "bad-length");
    }
    victim.still_hears(1);
}

#[test]
#[ignore = "needs kernel"]
fn a_rate_of_zero() {
    victim!(victim);
    let mut option = victim.notice(1);
    option[8..10].copy_from_slice(&[0, 0]);
    victim.is_refused(&option, "zero-rate");
    // An exponent with nothing to shift is none, either.
    option[8..10].copy_from_slice(&[0xf8, 0]);
    victim.is_refused(&option, "zero-rate");
    victim.still_hears(1);
}

#[test]
#[ignore = "needs kernel"]
fn another_version_and_an_unknown_type() {
    victim!(victim);
    let mut option = victim.notice(1);
    option[4] = 0x22;
    victim.is_refused(&option, "bad-version");
    for kind in [0, 4, 15] {
        option[4] = 0x10 | kind;
        victim.is_refused(&option, "bad-type");
    }
    victim.still_hears(1);
}

/// The largest numbers that the option can hold make no burst beyond what the peer has room for.
#[test]
fn absurd_values_are_bounded() {
    for (rate, delay) in
        [([0xff, 0xff], [0xff, 0xff]), ([0xff, 0xff], [0, 0]), ([0, 1], [0xff, 0xff]), ([0, 1], [0, 0])]
    {
        victim!(victim);
        let mut option = victim.notice(1);
        option[8..10].copy_from_slice(&rate);
        option[10..12].copy_from_slice(&delay);
        // In RTO recovery, where a window is set whatever is under way.
        victim.peer.drain(std::time::Duration::from_millis(1200));
        let before = flow(&victim.sender.status().expect("a status"), victim.peer.local);
        victim.send(&option);
        let after = flow(&victim.sender.status().expect("a status"), victim.peer.local);
        assert_eq!(after.accepted, 1);
        assert_ne!((before.cwnd, before.ssthresh), (after.cwnd, after.ssthresh), "it was heard");
        let room = 60_000 * 128 / 1460 + 1;
        assert!((2..=room).contains(&after.cwnd), "{rate:?} {delay:?}: {after:?}");
        assert!(after.ssthresh >= 2, "{rate:?} {delay:?}: {after:?}");
        // The connection lives on: what it has written arrives.
        victim.peer.acknowledge(&[]);
        victim.peer.drain(std::time::Duration::from_millis(20));
    }
}

#[test]
#[ignore = "needs kernel"]
fn more_than_one_a_second() {
    victim!(victim);
    victim.acknowledge();
    let mut heard = std::time::Instant::now();
    victim.still_hears(1);
    for seq in 2..12 {
        let (accepted, too_soon) = victim.counted("too-soon");
        let option = victim.notice(seq);
        let sent = std::time::Instant::now();
        victim.send(&option);
        if victim.counted("too-soon") != (accepted, too_soon + 1) {
            // A busy machine may have taken a second for them.
            assert_eq!(victim.counted("too-soon"), (accepted + 1, too_soon));
            assert!(heard.elapsed() >= std::time::Duration::from_secs(1), "{:?}", heard.elapsed());
            heard = sent;
        }
    }
    std::thread::sleep(std::time::Duration::from_millis(1100));
    victim.still_hears(12);
    // A notice that came too soon was no handoff to the policy, but the link it told is known.
    let option = victim.notice(13);
    victim.is_refused(&option, "too-soon");
}

/// Thirty, with a tenth of a second between: of any eleven in a row, which take a second, one is heard.
#[test]
#[ignore = "needs kernel"]
fn a_flood_is_heard_once_a_second() {
    victim!(victim);
    let begin = std::time::Instant::now();
    for seq in 1..=30 {
        let option = victim.notice(seq);
        victim.send(&option);
        std::thread::sleep(std::time::Duration::from_millis(100));
    }
    let (accepted, too_soon) = victim.counted("too-soon");
    let most = begin.elapsed().as_secs() + 1;
    assert!((3..=most).contains(&accepted), "{accepted} of 30, {most} seconds");
    assert_eq!(accepted + too_soon, 30);
    let of_flow = flow(&victim.sender.status().expect("a status"), victim.peer.local);
    assert_eq!((u64::from(of_flow.accepted), u64::from(of_flow.refused)), (accepted, too_soon));
}

/// On Linux 6.18 whatever passes tcp_validate_incoming, after which we see the options, also passes tcp_ack, but for a
/// wrong ACK number, which is refused before. Not so where the program has chosen another congestion control: nobody
/// tells us what is acknowledged, and no report counts.
#[test]
#[ignore = "needs kernel"]
fn another_congestion_control_consumes_nothing() {
    victim!(victim);
    let ours = rustix::net::sockopt::tcp_congestion(&victim._stream).expect("an option").to_string();
    rustix::net::sockopt::set_tcp_congestion(&victim._stream, "reno").expect("always there");
    let option = victim.notice(1);
    victim.send(&option);
    assert_eq!(victim.counted("not-consumed"), (0, 0), "it waits");
    victim.is_refused(&victim.notice(2), "not-consumed");
    // Back on ours, the one that waits is not taken for the next segment's.
    rustix::net::sockopt::set_tcp_congestion(&victim._stream, &ours).expect("it is registered");
    let before = victim.counted("not-consumed");
    victim.send(&[]);
    assert_eq!(victim.counted("not-consumed"), (before.0, before.1 + 1));
    victim.still_hears(3);
}

/// Segments that the kernel throws away before it looks at options: a SYN and a RST in the window (RFC 5961, 3.2 and
/// 4.2).
#[test]
#[ignore = "needs kernel"]
fn segments_that_are_answered_with_a_challenge() {
    victim!(victim);
    let option = victim.notice(1);
    let before = victim.sender.status().expect("a status");
    for flags in [SYN | ACK, RST | ACK] {
        victim.peer.send(flags, victim.peer.seq.wrapping_add(1), victim.una, &option);
    }
    let after = victim.sender.status().expect("a status");
    assert_eq!((after.count("accepted"), after.refused()), (before.count("accepted"), before.refused()));
    victim.still_hears(1);
}

/// A handoff to come, to a scheme that does not use it.
#[test]
#[ignore = "needs kernel"]
fn a_foreseen_handoff_does_nothing() {
    victim!(victim);
    let before = flow(&victim.sender.status().expect("a status"), victim.peer.local);
    let option = victim.peer.report(ReportType::Expected, 1, NEW);
    victim.send(&option);
    let after = flow(&victim.sender.status().expect("a status"), victim.peer.local);
    assert_eq!(before, after);
    assert_eq!(count(victim.sender, "foreseen"), 1);
    victim.still_hears(2);
}
