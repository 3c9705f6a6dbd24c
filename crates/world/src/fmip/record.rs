//! The record of a download, and its observer.

use super::download::Download;
use crate::nodes::HostObserver;
use crate::packet::Packet;
use segue_handoff::fmipv6::{Message, Mode};
use segue_handoff::hn::State;
use segue_handoff::{LoggedScheme, Scheme};
use segue_netsim::{LinkId, LossCause, Nanos, NodeId, Observer, Passage, SECOND};
use segue_tcp::receiver::Arrival;
use segue_tcp::{AnySender, Window256};

/// The mobile node's way from one link to the other.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Way {
    /// When HO Start left, if one did.
    pub started: Option<Nanos>,
    /// When it left the old link.
    pub left: Option<Nanos>,
    /// When it was on the new link.
    pub attached: Option<Nanos>,
    /// Mode of the handover.
    pub mode: Option<Mode>,
    /// When HO Finish left.
    pub finished: Option<Nanos>,
}

impl Way {
    /// The handoff delay as the paper defines it (Eq. 2): from HO Start to HO Finish.
    pub fn handoff_delay(&self) -> Option<Nanos> {
        Some(self.finished? - self.started?)
    }
}

/// Hosts that signal.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Host {
    /// CN.
    Correspondent,
    /// HA.
    HomeAgent,
    /// PAR.
    Previous,
    /// NAR.
    New,
    /// MN.
    Mobile,
}

impl Host {
    /// From the correspondent node to the mobile one.
    pub const ALL: [Host; 5] =
        [Host::Correspondent, Host::HomeAgent, Host::Previous, Host::New, Host::Mobile];

    /// As RFC 5568 abbreviates it.
    pub fn name(self) -> &'static str {
        match self {
            Self::Correspondent => "CN",
            Self::HomeAgent => "HA",
            Self::Previous => "PAR",
            Self::New => "NAR",
            Self::Mobile => "MN",
        }
    }
}

/// A message of the handover.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Signalled {
    /// As the RFCs abbreviate it.
    pub message: &'static str,
    /// Its sender.
    pub from: Host,
    /// For whom; of an FBack through the tunnel, NAR.
    pub to: Host,
    /// When it left.
    pub sent: Nanos,
    /// When it came; `None`: it was lost, or on its way at the end.
    pub arrived: Option<Nanos>,
}

/// One download.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct DownloadRecord {
    /// L2 hint.
    pub hint: Option<Nanos>,
    /// The mobile node's way.
    pub mobile: Way,
    /// When the last byte of the file was there; `None`: never.
    pub finished: Option<Nanos>,
    /// Numbers of the data packets that reached the mobile node for the first time.
    pub received: Vec<(Nanos, u32)>,
    /// cwnd of the correspondent node whenever it changed.
    pub window: Vec<(Nanos, Window256)>,
    /// When data packets left the correspondent node.
    pub sent: Vec<Nanos>,
    /// Packets that it sent between HO Start and the end of HANDOFF.
    pub injected: u32,
    /// Expiries of its retransmission timer.
    pub timeouts: Vec<Nanos>,
    /// Its fast retransmits.
    pub fast_retransmits: Vec<Nanos>,
    /// Data packets that reached the mobile node, again or for the first time.
    pub arrived: u32,
    /// Data packets that came out of a link that was gone.
    pub lost: u32,
    /// Data packets for which NAR's buffer had no room.
    pub overflowed: u32,
    /// Data packets on links and in the buffer at the end.
    pub under_way: u32,
    /// Signalling that was sent, lost or not.
    pub signals: Vec<Signalled>,
    /// When the sender entered HANDOFF or came out of it, into WAIT or NORMAL (algorithms.md, 5.3).
    pub states: Vec<(Nanos, SenderState)>,
}

impl DownloadRecord {
    /// Mean throughput, the L2 handoff delay subtracted from the time, bit/s; 0 if the download was never done.
    pub fn goodput(&self, download: &Download) -> f64 {
        let away = download.hint.map_or(0, |_| download.disconnection);
        let seconds = |time: Nanos| time as f64 / SECOND as f64;
        self.finished
            .map_or(0.0, |finished| download.bytes as f64 * 8.0 / seconds(finished.saturating_sub(away)))
    }

    /// Bytes that left the correspondent node from `from` until `until`: the integral of Eq. 3, where this is the
    /// download without a handoff.
    pub fn sent_between(&self, download: &Download, from: Nanos, until: Nanos) -> u64 {
        let sent = self.sent.iter().filter(|&&at| (from..until).contains(&at)).count();
        sent as u64 * u64::from(download.stack.mss)
    }

    /// When data packets left the correspondent node in HANDOFF.
    pub fn sent_in_handoff(&self) -> impl Iterator<Item = Nanos> {
        let spans = self.states.iter().enumerate().filter(|(_, (_, state))| *state == SenderState::Handoff);
        spans.flat_map(|(index, &(from, _))| {
            let until = self.states.get(index + 1).map_or(Nanos::MAX, |&(at, _)| at);
            self.sent.iter().copied().filter(move |at| (from..until).contains(at))
        })
    }

    /// Full segments received by `at`, in order or not.
    pub fn received_by(&self, at: Nanos) -> usize {
        self.received.partition_point(|&(when, _)| when <= at)
    }

    /// cwnd before the hint, the least after it, and whether it ever fell after it, in 1/256 packet.
    pub fn window_after_hint(&self) -> (Window256, Window256, bool) {
        let hint = self.hint.unwrap_or(0);
        let split = self.window.partition_point(|&(at, _)| at < hint);
        let before = self.window[..split].last().map_or(0, |&(_, window)| window);
        let least = self.window[split..].iter().map(|&(_, window)| window).min().unwrap_or(before);
        let after = std::iter::once(before).chain(self.window[split..].iter().map(|&(_, window)| window));
        let after: Vec<_> = after.collect();
        (before, least.min(before), after.windows(2).any(|pair| pair[1] < pair[0]))
    }
}

/// Where a sender with Handoff Notification is (5.3).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum SenderState {
    /// No handoff, or no such sender.
    #[default]
    Normal,
    /// Between HO Start and HO Finish.
    Handoff,
    /// After the Handoff Delay timer.
    Wait,
}

impl SenderState {
    /// As algorithms.md writes it.
    pub fn name(self) -> &'static str {
        match self {
            Self::Normal => "NORMAL",
            Self::Handoff => "HANDOFF",
            Self::Wait => "WAIT",
        }
    }
}

/// Watches a download.
#[derive(Clone, Debug, Default)]
pub(super) struct DownloadObserver {
    /// Packets received in order and out of order.
    pub received: u32,
    state: SenderState,
    /// Its record so far.
    pub record: DownloadRecord,
}

impl DownloadObserver {
    /// A message has been handed to a link, or to nothing; its number.
    pub(super) fn signalled(&mut self, now: Nanos, message: Message, from: Host, to: Host) -> u32 {
        let number = self.record.signals.len() as u32;
        self.record.signals.push(Signalled { message: message.name(), from, to, sent: now, arrived: None });
        number
    }

    /// A message has come.
    pub(super) fn signal_arrived(&mut self, now: Nanos, number: u32) {
        if let Some(signal) = self.record.signals.get_mut(number as usize) {
            signal.arrived = Some(now);
        }
    }
}

impl Observer<Packet> for DownloadObserver {
    fn accepted(&mut self, _: LinkId, _: &Passage, _: &Packet) {}
    fn lost(&mut self, _: Nanos, _: LinkId, packet: &Packet, cause: LossCause) {
        assert_eq!(cause, LossCause::Disconnection, "no queue and no link of a download loses {packet:?}");
        self.record.lost += u32::from(packet.data);
    }
    fn withdrawn(&mut self, _: LinkId, _: &Packet) {}
    fn overflowed(&mut self, _: Nanos, _: NodeId, packet: &Packet) {
        self.record.overflowed += u32::from(packet.data);
    }
}

impl HostObserver for DownloadObserver {
    fn timeout(&mut self, now: Nanos, _: u16, _: u32, _: u32) {
        self.record.timeouts.push(now);
    }
    fn fast_retransmit(&mut self, now: Nanos, _: u16, _: u32, _: u32) {
        self.record.fast_retransmits.push(now);
    }
    fn sent(&mut self, now: Nanos, packet: &Packet) {
        if packet.data {
            self.record.sent.push(now);
            self.record.injected += u32::from(self.state == SenderState::Handoff);
        }
    }
    fn heard(&mut self, _: Nanos, packet: &Packet) {
        self.record.arrived += u32::from(packet.data);
    }
    fn changed(&mut self, now: Nanos, _: u16, sender: &mut AnySender<LoggedScheme>) {
        let state = match sender.advisor().scheme() {
            Scheme::HandoffNotification(scheme) => match scheme.state() {
                State::Normal => SenderState::Normal,
                State::Handoff { .. } => SenderState::Handoff,
                State::Wait { .. } => SenderState::Wait,
            },
            _ => SenderState::Normal,
        };
        if std::mem::replace(&mut self.state, state) != state {
            self.record.states.push((now, state));
        }
        let window = sender.view().cwnd;
        if self.record.window.last().is_none_or(|&(_, last)| last != window) {
            self.record.window.push((now, window));
        }
    }
    fn acknowledged(&mut self, _: Nanos, _: u16, _: u32) {}
    fn arrived(&mut self, now: Nanos, _: LinkId, packet: &Packet, arrival: Arrival) {
        if arrival == Arrival::New && !packet.segment.syn && packet.segment.is_data() {
            self.received += 1;
            self.record.received.push((now, packet.segment.seq));
        }
    }
}
