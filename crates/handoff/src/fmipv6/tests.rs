use super::*;

/// Whether a message, the n-th of its kind from 0, is lost.
type Loses = fn(Message, u32) -> bool;

/// The four parties on links of 10 ms, of which some messages are lost.
struct Parties {
    now: Nanos,
    mobile: FastMobile,
    previous: PreviousRouter,
    new: NewRouter,
    /// The MN's link to PAR, and to NAR.
    links: [bool; 2],
    /// When, to whom, what.
    under_way: Vec<(Nanos, Party, Message)>,
    /// Messages to lose.
    lost: Loses,
    sent: Vec<(Nanos, &'static str)>,
    events: Vec<(Nanos, MobileEvent)>,
    /// When HA heard the binding, PAR began to forward, NAR released.
    bound: Option<Nanos>,
    forwards: Option<Nanos>,
    released: Option<Nanos>,
    held: Option<Nanos>,
}

const ONE_WAY: Nanos = 10 * MS;
const CONFIGURATION: Nanos = 1000 * MS;

impl Parties {
    fn new(lost: Loses) -> Self {
        Self {
            now: 0,
            mobile: FastMobile::new(CONFIGURATION),
            previous: PreviousRouter::new(100_000),
            new: NewRouter::default(),
            links: [true, false],
            under_way: Vec::new(),
            lost,
            sent: Vec::new(),
            events: Vec::new(),
            bound: None,
            forwards: None,
            released: None,
            held: None,
        }
    }

    fn drain(&mut self) {
        loop {
            let next = self.mobile.poll().or_else(|| self.previous.poll()).or_else(|| self.new.poll());
            let Some((to, message)) = next else { return };
            let nth = self.sent.iter().filter(|(_, name)| *name == message.name()).count() as u32;
            self.sent.push((self.now / MS, message.name()));
            if !(self.lost)(message, nth) {
                self.under_way.push((self.now + ONE_WAY, to, message));
            }
        }
    }

    fn event(&mut self, event: Option<MobileEvent>) {
        self.events.extend(event.map(|event| (self.now / MS, event)));
    }

    fn deliver(&mut self, to: Party, message: Message) {
        let now = self.now;
        match to {
            Party::MobileAtPrevious if self.links[0] => {
                let event = self.mobile.on_message(now, message);
                self.event(event);
            }
            // By NAR, which knows whether the MN is there.
            Party::MobileAtNew if self.new.is_attached() && message != Message::FBack || self.links[1] => {
                let event = self.mobile.on_message(now, message);
                self.event(event);
            }
            Party::MobileAtNew | Party::New => {
                if self.new.on_message(message) {
                    self.released.get_or_insert(now / MS);
                }
                if self.new.holds() {
                    self.held.get_or_insert(now / MS);
                }
            }
            Party::Previous => self.previous.on_message(now, message),
            Party::HomeAgent => {
                self.bound.get_or_insert(now / MS);
                let event = self.mobile.on_message(now + ONE_WAY, Message::BAck);
                self.event(event);
            }
            Party::MobileAtPrevious => {}
        }
        if self.previous.forwards() {
            self.forwards.get_or_insert(now / MS);
        }
    }

    fn run_until(&mut self, limit: Nanos) {
        loop {
            self.drain();
            let arrival = self.under_way.iter().map(|(at, ..)| *at).min();
            let timers = [self.mobile.deadline(), self.previous.deadline()];
            let next = timers.into_iter().flatten().chain(arrival).min();
            let Some(next) = next.filter(|&next| next < limit) else { break };
            self.now = self.now.max(next);
            if let Some(index) = self.under_way.iter().position(|(at, ..)| *at == next) {
                let (_, to, message) = self.under_way.remove(index);
                self.deliver(to, message);
                continue;
            }
            let event = self.mobile.on_timer(next);
            self.event(event);
            self.previous.on_timer(next);
        }
        self.now = limit;
    }

    /// L2 hint at 0, no link from `down` to `up`, ms.
    fn hand_over(mut self, down: Nanos, up: Nanos) -> Self {
        self.mobile.on_hint(0);
        self.run_until(down * MS);
        self.links = [false, false];
        self.mobile.on_link_down();
        self.run_until(up * MS);
        self.links[1] = true;
        let event = self.mobile.on_link_up(self.now);
        self.event(event);
        self.run_until(100_000 * MS);
        self
    }

    fn mode(&self) -> Option<Mode> {
        self.events.iter().find_map(|(_, event)| match event {
            MobileEvent::Arrived(mode) => Some(*mode),
            _ => None,
        })
    }

    fn count(&self, name: &str) -> usize {
        self.sent.iter().filter(|(_, sent)| *sent == name).count()
    }
}

/// RFC 5568, figure 2, each hop 10 ms.
#[test]
fn predictive() {
    let all = Parties::new(|_, _| false).hand_over(100, 600);
    let begin: Vec<_> = all.sent.iter().take(6).copied().collect();
    assert_eq!(
        begin,
        [(0, "RtSolPr"), (10, "PrRtAdv"), (20, "FBU"), (30, "HI"), (40, "HAck"), (50, "FBack")]
    );
    let events = [
        (20, MobileEvent::Granted(100_000)),
        (60, MobileEvent::MayLeave),
        (600, MobileEvent::Arrived(Mode::Predictive)),
    ];
    assert_eq!(all.events, events);
    assert_eq!((all.held, all.forwards, all.released), (Some(40), Some(50), Some(610)));
    assert_eq!((all.bound, all.count("FBU"), all.count("BU")), (Some(610), 1, 1));
}

/// Each message lost once: it is sent again, and the handover is predictive still, if the link lasts long enough.
#[test]
fn each_message_lost_once() {
    let losses: [(Loses, &str, Nanos); 6] = [
        (|m, n| m == Message::RtSolPr && n == 0, "RtSolPr", 120),
        (|m, n| matches!(m, Message::PrRtAdv { .. }) && n == 0, "RtSolPr", 120),
        (|m, n| m == Message::Fbu && n == 0, "FBU", 20),
        (|m, n| m == Message::Hi && n == 0, "HI", 20),
        (|m, n| m == Message::HAck && n == 0, "HI", 20),
        (|m, n| m == Message::FBack && n < 2, "FBU", 20),
    ];
    for (lost, again, granted) in losses {
        let all = Parties::new(lost).hand_over(1000, 1500);
        assert_eq!(all.mode(), Some(Mode::Predictive), "{again}");
        assert_eq!(all.events[0], (granted, MobileEvent::Granted(100_000)));
        // After 100 ms, without a round trip known (RFC 5568, 6.2.1).
        assert!(all.count(again) == 2 && all.held < all.forwards && all.released == Some(1510), "{again}");
    }
    let una: Loses = |m, _| m == Message::Una;
    let all = Parties::new(una).hand_over(100, 600);
    assert_eq!((all.mode(), all.bound), (Some(Mode::Predictive), Some(610)));
    let binding: Loses = |m, n| m == Message::Bu && n == 0;
    let all = Parties::new(binding).hand_over(100, 600);
    assert_eq!(all.bound, Some(1610), "INITIAL_BINDACK_TIMEOUT");
}

/// FBack lost, or late, and the link gone: UNA and FBU over the new link (RFC 5568, 3.3).
#[test]
fn reactive() {
    let all = Parties::new(|m, n| m == Message::FBack && n < 2).hand_over(100, 600);
    assert_eq!((all.mode(), all.count("FBU")), (Some(Mode::Reactive), 2));
    assert_eq!((all.held, all.forwards), (Some(40), Some(50)), "NAR holds all the same");
    let all = Parties::new(|m, n| m == Message::Fbu && n == 0).hand_over(100, 600);
    assert_eq!((all.mode(), all.forwards), (Some(Mode::Reactive), Some(630)), "FBU 600, HI 610, HAck 620");
    assert_eq!(all.held, None, "nothing is held for who is there already");
}

/// Nothing heard from PAR: an address by itself, a Binding Update.
#[test]
fn unassisted() {
    let all = Parties::new(|m, _| m == Message::RtSolPr).hand_over(5000, 6000);
    assert_eq!((all.mode(), all.count("RtSolPr"), all.forwards), (Some(Mode::Unassisted), 4, None));
    // At 0, and again 100, 200, 400 ms later (RTSOLPR_RETRIES 3, doubled).
    let times: Vec<Nanos> = all.sent.iter().filter(|(_, n)| *n == "RtSolPr").map(|(at, _)| *at).collect();
    assert_eq!(times, [0, 100, 300, 700]);
    assert_eq!(all.bound, Some(7010));
}

/// Every message lost for ever: the machines give up, but for the Binding Update, which goes on at most 32 s apart.
#[test]
fn all_lost() {
    let all = Parties::new(|_, _| true).hand_over(5000, 6000);
    assert_eq!((all.mode(), all.bound), (Some(Mode::Unassisted), None));
    let times: Vec<Nanos> = all.sent.iter().filter(|(_, n)| *n == "BU").map(|(at, _)| *at).collect();
    assert_eq!(times, [7000, 8000, 10_000, 14_000, 22_000, 38_000, 70_000]);
    let all = Parties::new(|m, _| m == Message::Hi).hand_over(100, 600);
    // A second FBU, over the new link, finds HI still being repeated.
    assert_eq!((all.mode(), all.count("HI"), all.forwards), (Some(Mode::Reactive), 8, None));
    assert_eq!(all.count("FBU"), 1 + 1 + 3);
}
