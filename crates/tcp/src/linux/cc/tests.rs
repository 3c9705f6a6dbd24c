//! Any sequence of events, for every control: what no control may break.

use super::rate::Delivered;
use super::*;
use proptest::prelude::*;
use std::collections::VecDeque;

/// The next event, after so many us.
#[derive(Clone, Copy, Debug)]
enum Event {
    /// As many packets leave as cwnd allows, or this many.
    Send(u32),
    /// The first packets are acknowledged; the others of the flight stay.
    Ack(u32),
    /// Packets are marked lost by an ACK of one.
    Loss(u32),
    /// The retransmission timer expires.
    Timeout,
    /// The last reduction was needless.
    Undo,
    /// The receiver's path or the application changes: the next round trips take so many us.
    RoundTrip(u32),
    AppLimited,
}

fn event() -> impl Strategy<Value = (u64, Event)> {
    let time = prop_oneof![8 => 0..3_000_u64, 4 => 3_000..300_000_u64, 1 => 300_000..30_000_000_u64];
    let event = prop_oneof![
        8 => prop_oneof![Just(u32::MAX), 1..8_u32].prop_map(Event::Send),
        12 => prop_oneof![1..4_u32, 1..200_u32].prop_map(Event::Ack),
        2 => (1..50_u32).prop_map(Event::Loss),
        1 => Just(Event::Timeout),
        1 => Just(Event::Undo),
        1 => prop_oneof![1..200_u32, 1_000..100_000_u32, 100_000..4_000_000_u32].prop_map(Event::RoundTrip),
        1 => Just(Event::AppLimited),
    ];
    (time, event)
}

/// A send queue in which every packet is new: enough of a sender to call the controls in the kernel's order.
struct Sender {
    sk: Sock,
    control: Control,
    queue: VecDeque<(u64, TxStamp)>,
    rtt_us: u32,
}

impl Sender {
    fn new(name: CcName, hz: u32, mss: u32, seed: u64) -> Self {
        let mut sk = Sock::new(hz, mss);
        sk.refresh(1_000_000_000, u32::MAX - 100 * hz); // jiffies wrap within the run
        (sk.delivered, sk.snd_una, sk.snd_nxt) = (1, 1, 1);
        let mut control = Control::new(name, seed);
        control.init(&mut sk);
        Self { sk, control, queue: VecDeque::new(), rtt_us: 50_000 }
    }

    fn enter(&mut self, state: CaState) {
        self.sk.prior_cwnd = self.sk.snd_cwnd;
        self.sk.snd_ssthresh = self.control.ssthresh(&self.sk);
        self.set_state(state);
    }

    fn set_state(&mut self, state: CaState) {
        self.control.set_state(&mut self.sk, state);
        self.sk.ca_state = state;
    }

    fn send(&mut self, most: u32) {
        for _ in 0..most.min(3_000) {
            let sk = &mut self.sk;
            if sk.packets_in_flight() >= sk.snd_cwnd {
                break;
            }
            if sk.packets_in_flight() == 0 {
                self.control.cwnd_event(sk, CaEvent::TxStart);
            }
            sk.lsndtime = sk.jiffies;
            let stamp = sk.rate_skb_sent(sk.tcp_mstamp);
            self.queue.push_back((sk.tcp_mstamp, stamp));
            sk.packets_out += 1;
            sk.snd_nxt += 1;
        }
        let sk = &mut self.sk;
        sk.max_packets_out = sk.packets_out;
        sk.is_cwnd_limited = sk.packets_in_flight() >= sk.snd_cwnd;
    }

    fn ack(&mut self, packets: u32, losses: u32) {
        let sk = &mut self.sk;
        let packets = packets.min(sk.packets_out);
        if packets == 0 {
            return;
        }
        let mut rs = RateSample { prior_in_flight: sk.packets_in_flight(), ..RateSample::default() };
        for _ in 0..packets {
            let (sent_us, mut stamp) = self.queue.pop_front().expect("as many as are outstanding");
            sk.delivered += 1;
            sk.snd_una += 1;
            sk.packets_out -= 1;
            let packet =
                Delivered { sent_us, end_seq: sk.snd_una, retransmitted: sk.lost_out > 0, sacked: false };
            sk.rate_skb_delivered(&mut stamp, &packet, &mut rs);
        }
        sk.lost_out = sk.lost_out.min(sk.packets_out);
        sk.retrans_out = sk.lost_out;
        let losses = losses.min(sk.packets_out - sk.lost_out);
        for k in 0..losses {
            sk.lost += 1;
            sk.lost_out += 1;
            let stamp = self.queue[k as usize].1;
            self.control.skb_marked_lost(sk, &stamp);
        }
        if sk.lost_out == 0 {
            rs.rtt_us = i64::from(self.rtt_us);
            sk.rtt_min.running_min(300 * sk.hz, sk.jiffies, self.rtt_us);
            sk.srtt_us = self.rtt_us * 8;
        }
        self.control.pkts_acked(sk, &AckSample { pkts_acked: packets, rtt_us: rs.rtt_us });
        if losses > 0 && self.sk.ca_state < CaState::Cwr {
            self.enter(CaState::Recovery);
        } else if self.sk.lost_out == 0 && self.sk.ca_state > CaState::Open {
            if self.sk.in_cwnd_reduction() && !self.control.has_cong_control() {
                self.sk.set_cwnd(self.sk.snd_ssthresh.max(1));
            }
            self.set_state(CaState::Open);
        }
        let sk = &mut self.sk;
        sk.rate_gen(packets, losses, false, &mut rs);
        if self.control.has_cong_control() {
            self.control.cong_control(sk, &rs);
        } else {
            if sk.in_cwnd_reduction() {
                sk.set_cwnd(sk.packets_in_flight() + 1); // PRR at its least
            } else {
                self.control.cong_avoid(sk, packets);
            }
            sk.update_pacing_rate(200, 120);
        }
    }

    fn timeout(&mut self) {
        if self.sk.packets_out == 0 {
            return;
        }
        if self.sk.ca_state < CaState::Cwr {
            self.enter(CaState::Loss);
        }
        let sk = &mut self.sk;
        sk.lost += sk.packets_out - sk.lost_out;
        (sk.lost_out, sk.retrans_out) = (sk.packets_out, 0);
        (sk.snd_cwnd, sk.snd_cwnd_cnt) = (sk.packets_in_flight() + 1, 0);
        self.set_state(CaState::Loss);
    }

    fn undo(&mut self) {
        if self.sk.ca_state >= CaState::Cwr {
            let cwnd = self.control.undo_cwnd(&self.sk);
            assert!(cwnd >= self.sk.snd_cwnd, "undo leaves less than before");
            self.sk.set_cwnd(cwnd);
            (self.sk.lost_out, self.sk.retrans_out) = (0, 0);
            self.set_state(CaState::Open);
        }
    }

    fn follow(&mut self, event: Event) {
        match event {
            Event::Send(packets) => self.send(packets),
            Event::Ack(packets) => self.ack(packets, 0),
            Event::Loss(packets) => self.ack(1, packets),
            Event::Timeout => self.timeout(),
            Event::Undo => self.undo(),
            Event::RoundTrip(us) => self.rtt_us = us,
            Event::AppLimited => self.sk.rate_check_app_limited(),
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig::default())]

    /// cwnd >= 1, ssthresh >= 2, a rate to send at, no overflow; and the same seed gives the same numbers.
    #[test]
    fn any_sequence_of_events(
        events in prop::collection::vec(event(), 1..400),
        hz in prop_oneof![Just(100_u32), Just(250), Just(300), Just(1_000)],
        mss in prop_oneof![Just(536_u32), Just(1_448), Just(8_948)],
        seed in any::<u64>(),
    ) {
        for &name in CcName::ALL {
            let mut senders = [Sender::new(name, hz, mss, seed), Sender::new(name, hz, mss, seed)];
            let mut now = 1_000_000;
            for &(us, event) in &events {
                now += us;
                for sender in &mut senders {
                    let jiffies = sender.sk.jiffies;
                    let passed = now * u64::from(hz) / 1_000_000 - (now - us) * u64::from(hz) / 1_000_000;
                    sender.sk.refresh(now * 1_000, jiffies.wrapping_add(passed as u32));
                    sender.follow(event);
                    let sk = &sender.sk;
                    prop_assert!(sk.snd_cwnd >= 1 && sk.snd_cwnd <= sk.snd_cwnd_clamp, "{name:?}");
                    prop_assert!(sk.snd_ssthresh >= 2, "{name:?}");
                    // LeoCC goes by a filter that may have heard nothing yet; then the kernel does not pace.
                    prop_assert!(sk.pacing_rate > 0 || name == CcName::Leocc, "{name:?}");
                    prop_assert!(sender.control.min_tso_segs(sk).is_none_or(|least| least > 0), "{name:?}");
                }
                let [a, b] = &senders;
                prop_assert_eq!(
                    (a.sk.snd_cwnd, a.sk.snd_ssthresh, a.sk.pacing_rate),
                    (b.sk.snd_cwnd, b.sk.snd_ssthresh, b.sk.pacing_rate)
                );
            }
        }
    }
}

/// Names on the command line.
#[test]
fn controls_are_found_by_name() {
    for &name in CcName::ALL {
        assert_eq!(CcName::named(name.name()), Some(name));
        assert_eq!(Control::new(name, 1).name(), name);
    }
    assert_eq!(CcName::named("vegas"), None);
}
