//! Linux's receiver: its rules one by one, and all ACKs of recorded runs of the kernel.

use segue_tcp::linux::receiver::LinuxReceiver;
use segue_tcp::profile::LINUX_6_12;
use segue_tcp::segment::{SackList, Timestamps};
use segue_tcp::{Detail, Nanos, Segment, StackProfile};

const MS: Nanos = 1_000_000;
/// The clock of time stamps stands here at time zero, ms: 4096 jiffies.
const BOOT_MS: u64 = 16_384;

/// An ACK: `(ms, number, blocks)`.
type Sent = (u64, u32, Vec<(u32, u32)>);

/// A receiver and what it has sent: `(when, ACK)`.
struct Host {
    receiver: LinuxReceiver,
    acks: Vec<(Nanos, Segment)>,
}

impl Host {
    fn new() -> Self {
        let mut profile = StackProfile::named("linux").expect("it has SACK and time stamps");
        profile.receive_window = 1_000_000;
        Self {
            receiver: LinuxReceiver::new(&profile, LINUX_6_12.kernel.expect("a kernel")),
            acks: Vec::new(),
        }
    }

    /// After a handshake with a round trip of 50 ms that is over at 50 ms.
    fn connected() -> Self {
        let mut host = Self::new();
        host.arrives(0, packet(0, 0));
        host.arrives(50 * MS, packet(1, 50).pure());
        host.acks.clear();
        host
    }

    fn collect(&mut self, now: Nanos) {
        while let Some((ack, _)) = self.receiver.poll_transmit() {
            if !ack.syn {
                self.acks.push((now, ack));
            }
        }
    }

    /// Timers up to `end`, itself left out.
    fn wait(&mut self, end: Nanos) {
        while let Some(deadline) = self.receiver.deadline().filter(|&deadline| deadline < end) {
            self.receiver.on_timer(deadline);
            self.collect(deadline);
        }
    }

    fn arrives(&mut self, now: Nanos, segment: Segment) {
        self.wait(now);
        self.receiver.on_segment(now, &segment);
        self.collect(now);
    }

    /// Packets 1 ms apart from `from` ms on.
    fn packets(&mut self, from: u64, seqs: impl IntoIterator<Item = u32>) {
        for (ms, seq) in (from..).zip(seqs) {
            self.arrives(ms * MS, packet(seq, ms));
        }
    }

    /// Segments sent since the last call.
    fn sent(&mut self) -> Vec<Sent> {
        let acks = self.acks.drain(..);
        acks.map(|(now, ack)| (now / MS, ack.ack, ack.sack.as_slice().to_vec())).collect()
    }

    /// The same without blocks.
    fn acked(&mut self) -> Vec<(u64, u32)> {
        self.sent().into_iter().map(|(ms, ack, _)| (ms, ack)).collect()
    }
}

/// Data, or the SYN, sent at `ms`.
fn packet(seq: u32, ms: u64) -> Segment {
    Segment {
        seq,
        ack: u32::from(seq > 0),
        window: 1_000,
        payload: if seq > 0 { 1448 } else { 0 },
        syn: seq == 0,
        push: false,
        has_ack: seq > 0,
        detail: Default::default(),
        ecn: Default::default(),
        sack: SackList::default(),
        timestamps: Some(Timestamps { value: (BOOT_MS + ms) as u32, echo: 0 }),
        option: Default::default(),
    }
}

trait Pure {
    fn pure(self) -> Self;
}

impl Pure for Segment {
    fn pure(mut self) -> Self {
        self.payload = 0;
        self
    }
}

/// A SYN that comes again (`tcp_check_req`): the SYN/ACK is repeated and still echoes the first SYN, so that the sender
/// sees that this one had arrived. Its timer starts anew.
#[test]
fn a_repeated_syn_is_answered_like_the_first() {
    let mut receiver = Host::new().receiver;
    let mut answers = |now: Nanos| {
        receiver.on_segment(now, &packet(0, now / MS));
        let (answer, _) = receiver.poll_transmit().expect("a SYN/ACK");
        (answer.syn, answer.timestamps.map(|stamps| stamps.echo), receiver.deadline().expect("its timer"))
    };
    let first = answers(0);
    assert_eq!((first.0, first.1), (true, Some(BOOT_MS as u32)));
    let again = answers(600 * MS);
    assert_eq!((again.0, again.1), (true, Some(BOOT_MS as u32)));
    assert!(first.2 >= 1_000 * MS && again.2 >= 1_600 * MS, "{} {}", first.2, again.2);
}

/// A window that grows is acknowledged at once (`tcp_grow_window`). It does so for the first segments, and once more
/// for the first one out of order. Here both are over, and nothing waits for its ACK. The last segment came at `ms`.
fn grown(ms: u64) -> (Host, u32) {
    let mut host = Host::connected();
    let count = 2_000;
    let order = (1..=count).filter(|&seq| seq != count - 1).chain([count - 1]);
    for (left, seq) in (0..u64::from(count)).rev().zip(order) {
        host.arrives(ms * MS - left * MS / 100, packet(seq, ms));
    }
    assert_eq!(host.receiver.last_ack(), count + 1);
    host.acks.clear();
    (host, count + 1)
}

/// `tcp_measure_rcv_mss`: the first segment's memory says how much of the buffer may be payload. 2,280 bytes allow 162/256
/// of 4 MiB, and the window grows by 2,896 bytes with each of 193 packets. A segment that was cut from a burst takes
/// 2,304, which allow 160/256 and 182 packets. Then 16 more are acknowledged at once.
#[test]
fn quick_acks_end_earlier_where_packets_come_in_bursts() {
    for (detail, packets) in [(Detail::None, 193 + 16), (Detail::Cut, 182 + 16)] {
        let mut host = Host::connected();
        for (ms, seq) in (100..).zip(1..=packets + 2) {
            host.arrives(ms * MS, Segment { detail, ..packet(seq, ms) });
        }
        let acks: Vec<u32> = host.acked().into_iter().map(|(_, ack)| ack).collect();
        assert_eq!(acks, (2..=packets + 1).chain([packets + 3]).collect::<Vec<_>>());
    }
}

/// `__tcp_ack_snd_check`: every second full segment.
#[test]
fn every_second_segment_is_acknowledged() {
    let (mut host, next) = grown(1_000);
    host.packets(1_100, next..next + 6);
    assert_eq!(host.acked(), [(1_101, next + 2), (1_103, next + 4), (1_105, next + 6)]);
}

/// `tcp_send_delayed_ack`: a lone segment waits for 40 ms in jiffies, and the wheel adds one. An ACK that was delayed in
/// vain doubles the wait (`tcp_delack_timer_handler`), within the round trip: 50 ms are 13 jiffies.
#[test]
fn a_lone_segment_waits() {
    let (mut host, next) = grown(1_000);
    host.packets(1_101, [next]); // in the jiffy of 1,100
    host.packets(1_201, [next + 1]);
    host.wait(2_000 * MS);
    assert_eq!(host.acked(), [(1_144, next + 1), (1_256, next + 2)]);
}

/// `tcp_event_data_recv`: after more than an RTO of silence 16 segments are acknowledged at once, then every second.
#[test]
fn silence_brings_quick_acks() {
    let (mut host, next) = grown(1_000);
    host.packets(3_000, next..next + 20);
    let single = (0..16).map(|k| (3_000 + u64::from(k), next + k + 1));
    assert_eq!(host.acked(), single.chain([(3_017, next + 18), (3_019, next + 20)]).collect::<Vec<_>>());
}

/// `tcp_data_queue`: a duplicate is answered at once with a D-SACK, and so are the next 15 segments.
#[test]
fn a_duplicate_brings_quick_acks() {
    let (mut host, next) = grown(1_000);
    host.packets(1_100, [next - 1]);
    assert_eq!(host.sent(), [(1_100, next, vec![(next - 1, next)])]);
    host.packets(1_101, next..next + 17);
    let single = (0..15).map(|k| (1_101 + u64::from(k), next + k + 1));
    assert_eq!(host.acked(), single.chain([(1_117, next + 17)]).collect::<Vec<_>>());
}

/// `tcp_sack_new_ofo_skb`: the newest block first, three with time stamps; a filled hole is acknowledged at once.
#[test]
fn blocks_come_newest_first() {
    let (mut host, next) = grown(1_000);
    let at = |k: u32| (next + k, next + k + 1);
    host.packets(1_100, [next + 1, next + 3]);
    assert_eq!(host.sent(), [(1_100, next, vec![at(1)]), (1_101, next, vec![at(3), at(1)])]);
    host.packets(1_102, [next + 5]);
    assert_eq!(host.sent()[0].2, [at(5), at(3), at(1)]);
    host.packets(1_103, [next + 2]); // joins two
    host.wait(1_110 * MS);
    assert_eq!(host.sent()[0].2, [(next + 1, next + 4), at(5)]);
    host.packets(1_110, [next]);
    assert_eq!(host.sent(), [(1_110, next + 4, vec![at(5)])]);
    host.packets(1_111, [next + 4]);
    assert_eq!(host.sent(), [(1_111, next + 6, vec![])]);
}

/// `__tcp_ack_snd_check`: three duplicate ACKs go out at once, later ones wait for up to 1 ms, 0.1 ms of slack with it.
#[test]
fn the_fourth_duplicate_ack_waits() {
    let (mut host, next) = grown(1_000);
    for k in 1..=8 {
        host.arrives(1_100 * MS + u64::from(k) * MS / 10, packet(next + k, 1_100));
    }
    host.wait(1_200 * MS);
    let times: Vec<_> = host.acks.iter().map(|(now, _)| (now - 1_100 * MS) / 100_000).collect();
    assert_eq!(times, [1, 2, 3, 4 + 11]); // ms/10
    assert_eq!(host.sent()[3].2, [(next + 1, next + 9)]);
}

/// `__tcp_ack_snd_check`, `__tcp_select_window`: a second segment is acknowledged as such if the window is no smaller than
/// the last that was offered. It does not count as a duplicate ACK, of which three more go out at once. Here 100 buffers
/// of 4,352 bytes lie behind the first hole, and the ACK that fills it offers 162/256 of them less. They are read, and so
/// the second hole's ACK offers more, although a third is there.
#[test]
fn a_hole_is_filled_while_the_window_widens() {
    let (mut host, next) = grown(1_000);
    let tenth =
        |host: &mut Host, k: u64, seq: u32| host.arrives(1_100 * MS + k * MS / 10, packet(seq, 1_100));
    let behind = (1..=200).chain(202..=209).chain([211]);
    for (k, behind) in (0..).zip(behind) {
        tenth(&mut host, k, next + behind);
    }
    tenth(&mut host, 300, next);
    assert_eq!(host.acked().last(), Some(&(1_130, next + 201)));
    tenth(&mut host, 310, next + 201);
    assert_eq!(host.acked(), [(1_131, next + 210)]);
    for k in 1..=4 {
        tenth(&mut host, 310 + k, next + 211 + k as u32);
    }
    host.wait(1_140 * MS);
    let times: Vec<_> = host.acks.iter().map(|(now, _)| (now - 1_131 * MS) / 100_000).collect();
    assert_eq!(times, [1, 2, 3, 4 + 11]); // ms/10
}

/// `tcp_compressed_ack_kick` does not look at the clock: the ACK has the time stamp of the last arrival.
#[test]
fn a_compressed_ack_is_stamped_when_the_packet_came() {
    let (mut host, next) = grown(1_000);
    for k in 1..=4 {
        host.arrives(1_100 * MS + u64::from(k) * MS / 10, packet(next + k, 1_100));
    }
    host.wait(1_200 * MS);
    let (now, ack) = host.acks[3];
    assert_eq!(now, 1_101 * MS + MS / 2);
    assert_eq!(ack.timestamps.map(|stamps| stamps.value), Some((BOOT_MS + 1_100) as u32));
}

/// `tcp_validate_incoming`: PAWS discards what is older than the last time stamp by more than 1 ms; a duplicate ACK
/// answers. Its data do not count as received.
#[test]
fn old_time_stamps_are_discarded() {
    let (mut host, next) = grown(1_000);
    host.arrives(1_100 * MS, packet(next, 1_100));
    host.wait(1_200 * MS);
    host.sent();
    host.arrives(1_200 * MS, packet(next + 1, 1_098));
    assert_eq!(host.acked(), [(1_200, next + 1)]);
    assert!(!host.receiver.has(next + 1));
    host.arrives(1_201 * MS, packet(next + 1, 1_099)); // one ms may be the clock's
    assert!(host.receiver.has(next + 1));
}

/// All ACKs of three runs of the kernel: when, number, blocks. A compressed ACK may leave 0.1 ms earlier: any timer of
/// the kernel's that expires within the slack brings it along.
#[test]
fn the_kernels_acks() {
    for name in [
        "cubic1-1600_75-400_150-bbm1-T8.9",
        "cubic1-200_300-6400_9-mbb0-T8.2",
        "reno1-400_150-1600_75-bbm3-T8.9",
    ] {
        let path = format!("{}/../../reference/linux/receiver/{name}.txt", env!("CARGO_MANIFEST_DIR"));
        let text = std::fs::read_to_string(&path).unwrap_or_else(|error| panic!("{path}: {error}"));
        let mut host = Host::new();
        let (mut us, mut recorded) = (0, Vec::new());
        for line in text.lines().filter(|line| !line.starts_with('#')) {
            let words: Vec<&str> = line.split(' ').collect();
            if words[0] == ">" {
                us += words[1].parse::<u64>().unwrap();
                let block = |word: &&str| word.split_once('-').map(|(l, r)| (number(l), number(r))).unwrap();
                recorded.push((us, number(words[2]), words[3..].iter().map(block).collect::<Vec<_>>()));
                continue;
            }
            us += words[0].parse::<u64>().unwrap();
            let seq = number(words[1].trim_start_matches('a'));
            let stamp = |word: &str| (us / 1_000 + BOOT_MS - word.parse::<u64>().unwrap()) as u32;
            let mut segment = packet(seq, 0);
            segment.timestamps = Some(Timestamps { value: stamp(words[2]), echo: stamp(words[3]) });
            if words[1].starts_with('a') {
                segment = segment.pure();
            }
            host.arrives(us * 1_000, segment);
        }
        host.wait(us * 1_000 + 1_000);
        assert_eq!(host.acks.len(), recorded.len(), "{name}");
        for (k, ((now, ack), recorded)) in host.acks.iter().zip(&recorded).enumerate() {
            let early = (now / 1_000).wrapping_sub(recorded.0);
            assert!(early <= 100, "{name}, ACK {k}: {} us for {} us", now / 1_000, recorded.0);
            assert_eq!((ack.ack, ack.sack.as_slice()), (recorded.1, &recorded.2[..]), "{name}, ACK {k}");
        }
    }
}

fn number(word: &str) -> u32 {
    word.parse().unwrap_or_else(|_| panic!("a packet number, not {word:?}"))
}
