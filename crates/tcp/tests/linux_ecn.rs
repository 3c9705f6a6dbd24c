//! Explicit congestion notification as Linux has it (RFC 3168): the offer, marks that are echoed, a cut for each window.

use segue_tcp::advice::KernelAdvice;
use segue_tcp::linux::LinuxSender;
use segue_tcp::linux::receiver::LinuxReceiver;
use segue_tcp::profile::LINUX_6_12;
use segue_tcp::segment::Ecn;
use segue_tcp::{Advice, Advisor, Nanos, Segment, StackProfile, View};

const MS: Nanos = 1_000_000;

fn stack(ecn: &str) -> StackProfile {
    let mut stack = LINUX_6_12;
    stack.set("ecn", ecn).expect("a setting");
    stack
}

/// A sender and a receiver, 20 ms apart.
struct Pair<A = ()> {
    sender: LinuxSender<A>,
    receiver: LinuxReceiver,
    now: Nanos,
}

impl Pair {
    fn new(sender: &str, receiver: &str) -> Self {
        Self::advised(sender, receiver, ())
    }
}

impl<A: Advisor> Pair<A> {
    fn advised(sender: &str, receiver: &str, advisor: A) -> Self {
        let (one, other) = (stack(sender), stack(receiver));
        let kernel = |stack: &StackProfile| stack.kernel.expect("a kernel");
        let mut pair = Self {
            sender: LinuxSender::new(&one, kernel(&one), advisor),
            receiver: LinuxReceiver::new(&other, kernel(&other)),
            now: 0,
        };
        pair.sender.open(1_000_000);
        pair
    }

    fn sent(&mut self) -> Vec<Segment> {
        let now = self.now;
        std::iter::from_fn(|| self.sender.poll_transmit(now)).map(|sent| sent.segment).collect()
    }

    /// These reach the receiver; its ACKs.
    fn deliver(&mut self, segments: &[Segment]) -> Vec<Segment> {
        self.now += 20 * MS;
        let mut acks = Vec::new();
        for segment in segments {
            self.receiver.on_segment(self.now, segment);
            acks.extend(std::iter::from_fn(|| self.receiver.poll_transmit()).map(|(ack, _)| ack));
        }
        acks
    }

    /// These reach the sender; what it sends.
    fn answer(&mut self, acks: &[Segment]) -> Vec<Segment> {
        self.now += 20 * MS;
        let mut sent = Vec::new();
        for ack in acks {
            self.sender.on_segment(self.now, ack);
            sent.extend(self.sent());
        }
        sent
    }

    /// SYN and SYN/ACK, and the data that follow.
    fn connect(&mut self) -> ([Segment; 2], Vec<Segment>) {
        let syn = self.sent()[0];
        let syn_ack = self.deliver(&[syn])[0];
        ([syn, syn_ack], self.answer(&[syn_ack]))
    }

    /// It connects, and the fourth packet is marked. The ACKs of the first flight, which have not arrived.
    fn meets_a_mark(&mut self) -> Vec<Segment> {
        let (_, mut sent) = self.connect();
        let marked = sent.iter_mut().find(|segment| segment.seq == 4).expect("the fourth packet");
        marked.ecn = marked.ecn.and(Ecn::CE);
        self.deliver(&sent)
    }
}

/// Both ends must understand marks (RFC 3168, 6.1.1): then data can be marked, and nothing else can.
#[test]
fn marks_are_agreed_on() {
    for (sender, receiver) in [("on", "on"), ("on", "off"), ("off", "on"), ("off", "off")] {
        let ([syn, syn_ack], sent) = Pair::new(sender, receiver).connect();
        let both = sender == "on" && receiver == "on";
        let offer = if sender == "on" { Ecn::ECE.and(Ecn::CWR) } else { Ecn::default() };
        assert_eq!(syn.ecn, offer);
        assert_eq!(syn_ack.ecn, if both { Ecn::ECE } else { Ecn::default() });
        assert!(sent.iter().any(|segment| segment.payload > 0));
        for segment in sent {
            let capable = both && segment.payload > 0;
            assert_eq!(segment.ecn, if capable { Ecn::ECT } else { Ecn::default() }, "{segment:?}");
        }
    }
}

/// A SYN that nobody answers is repeated without the offer (6.1.1.1).
#[test]
fn an_offer_that_is_not_answered_is_withdrawn() {
    let mut pair = Pair::new("on", "on");
    assert_eq!(pair.sent()[0].ecn, Ecn::ECE.and(Ecn::CWR));
    pair.now = pair.sender.deadline().expect("a timer");
    let now = pair.now;
    assert!(pair.sender.on_timer(now));
    let again = pair.sent()[0];
    assert!(again.syn && again.ecn.is_empty());
}

/// Every ACK echoes a mark until the sender has cut (6.1.3); the sender cuts once for a window and says so once (6.1.2).
/// A packet that is sent again cannot be marked (6.1.5).
#[test]
fn a_mark_is_echoed_until_the_window_is_cut() {
    let mut pair = Pair::new("on", "on");
    // One of the first flight is marked: ACKs from then on echo it, and the first at once.
    let acks = pair.meets_a_mark();
    let first = acks.iter().position(|ack| ack.ecn == Ecn::ECE).expect("an echo");
    assert_eq!(acks[first].ack, 5, "it does not wait");
    assert!(acks[..first].iter().all(|ack| ack.ecn.is_empty()));
    assert!(acks[first..].len() >= 2 && acks[first..].iter().all(|ack| ack.ecn == Ecn::ECE));
    // The whole flight's echoes are one congestion: one cut.
    let before = pair.sender.view();
    let next = pair.answer(&acks);
    let cuts = |sent: &[Segment]| sent.iter().filter(|segment| segment.ecn.says(Ecn::CWR)).count();
    assert_eq!(cuts(&next), 1, "{next:?}");
    assert!(pair.sender.view().ssthresh < before.ssthresh);
    // The receiver hears of it and is silent, until the next mark.
    let acks = pair.deliver(&next);
    assert!(acks.last().is_some_and(|ack| ack.ecn.is_empty()), "{acks:?}");
    let ssthresh = pair.sender.view().ssthresh;
    let mut last = pair.answer(&acks);
    assert_eq!((pair.sender.view().ssthresh, cuts(&last)), (ssthresh, 0));
    // Another window may be cut again.
    last[0].ecn = last[0].ecn.and(Ecn::CE);
    let acks = pair.deliver(&last);
    let next = pair.answer(&acks);
    assert_eq!(cuts(&next), 1);
    assert!(pair.sender.view().ssthresh < ssthresh);
    // Nothing arrives: what the timers send again cannot be marked.
    let new = next.last().map_or(0, |segment| segment.seq + 1);
    let mut again = 0;
    for _ in 0..3 {
        pair.now = pair.sender.deadline().expect("a timer");
        let now = pair.now;
        pair.sender.on_timer(now);
        for segment in pair.sent().into_iter().filter(|segment| segment.seq < new) {
            assert!(segment.ecn.is_empty(), "{segment:?}");
            again += 1;
        }
    }
    assert!(again > 0);
}

/// Sets a window at a mark, and notes the windows that were about to be cut.
#[derive(Clone, Default)]
struct Marked(Vec<u32>);

impl Advisor for Marked {
    fn listening(&self) -> bool {
        true
    }
    fn on_mark(&mut self, view: &View) -> Advice {
        self.0.push(view.cwnd / 256);
        let kernel = KernelAdvice { hold_window: Some(true), ..KernelAdvice::default() };
        Advice { cwnd: Some(3 * 256), kernel, ..Advice::default() }
    }
}

/// The advisor is asked at each cut, before it, and not by further echoes of the same mark.
#[test]
fn a_mark_asks_for_advice_before_the_cut() {
    let mut pair = Pair::advised("on", "on", Marked::default());
    let acks = pair.meets_a_mark();
    assert!(acks.iter().filter(|ack| ack.ecn == Ecn::ECE).count() >= 2);
    pair.answer(&acks);
    // Ten, and one more for each of the packets that arrived before: slow start.
    let asked = pair.sender.advisor().0.clone();
    assert!(asked.len() == 1 && (10..=14).contains(&asked[0]), "{asked:?}");
    let view = pair.sender.view();
    assert_eq!(view.cwnd / 256, 3, "held");
    assert!(view.kernel.is_some_and(|tp| tp.reduces));
}

/// Notes ssthresh after each cut.
#[derive(Clone, Default)]
struct Cut(Vec<u32>);

impl Advisor for Cut {
    fn watching(&self) -> bool {
        true
    }
    fn on_cut(&mut self, view: &View) -> Advice {
        self.0.push(view.ssthresh / 256);
        Advice::default()
    }
}

/// A mark cuts the window as a loss does, and the advisor hears of it: 717/1024 of the 10 to 14 packets are left.
#[test]
fn a_mark_is_a_cut() {
    let mut pair = Pair::advised("on", "on", Cut::default());
    let acks = pair.meets_a_mark();
    pair.answer(&acks);
    let cuts = &pair.sender.advisor().0;
    assert!(cuts.len() == 1 && (7..=9).contains(&cuts[0]), "{cuts:?}");
}
