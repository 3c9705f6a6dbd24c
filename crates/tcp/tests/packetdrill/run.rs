//! Plays a script against Linux's sender, packet by packet of the script's MSS.
//!
//! The sender opens the connection itself. Where a script has the other side do that, the script's SYN stands for the
//! moment at which our SYN leaves. The ACK that ends the handshake stands for the SYN-ACK. Both give the same round
//! trip. Not compared are PSH, the window of what the sender sends, its options, and how the connection is closed.

use std::collections::VecDeque;

use segue_tcp::linux::cc::{CaState, CcName, PacingStatus};
use segue_tcp::linux::{LinuxSender, LinuxSettings, TcpInfo};
use segue_tcp::profile::LINUX_6_12;
use segue_tcp::segment::{Ecn, Timestamps};
use segue_tcp::{Advice, Nanos, SackList, Segment, StackProfile};

use crate::code::{self, Names};
use crate::script::{Call, Event, Kind, Packet, Script};

/// By how much a packet may be early or late where a script says nothing.
const TOLERANCE: Nanos = 12_000_000;
/// Largest segment that the sender's link takes, bytes.
const MSS: u32 = 1460;
/// Jiffies between the phases of the host's clock that are tried, and how many. Together they are a granule of the
/// timer wheel's third level, in which timers of half a second to four seconds fire.
const PHASE_STEP: Nanos = 4;
const PHASES: Nanos = 16;

/// A host on which scripts run.
#[derive(Clone, Copy, Debug)]
pub struct Host {
    /// Jiffies per second.
    pub hz: u32,
    pub tolerance: Nanos,
}

impl Default for Host {
    /// The kernel's own tests expect 1000.
    fn default() -> Self {
        Self { hz: 1000, tolerance: TOLERANCE }
    }
}

/// Plays `script`; the error names the line that does not hold.
///
/// A script cannot say where the host's jiffies stand, but by up to an eighth of its length a timer is late by that.
/// So a script holds if all of it does for one phase of the clock.
pub fn play(script: &Script, host: Host) -> Result<(), String> {
    let jiffy = 1_000_000_000 / Nanos::from(host.hz);
    let first = play_at(script, host, 0);
    if first.is_ok() || (1..PHASES).any(|k| play_at(script, host, k * PHASE_STEP * jiffy).is_ok()) {
        return Ok(());
    }
    first
}

fn play_at(script: &Script, host: Host, phase: Nanos) -> Result<(), String> {
    let mut drill = Drill::new(script.tolerance.unwrap_or(host.tolerance), host.hz, phase);
    for event in &script.events {
        drill.step(event).map_err(|what| format!("line {}: {what}", event.line))?;
    }
    Ok(())
}

/// A packet that the sender has put on the wire; numbers count bytes.
#[derive(Clone, Copy, Debug)]
struct Sent {
    at: Nanos,
    seq: u32,
    len: u32,
    syn: bool,
    ecn: Ecn,
    stamp: u32,
}

struct Drill {
    tolerance: Nanos,
    settings: LinuxSettings,
    /// An offer of ECN is taken up (`tcp_ecn` 1 and 2).
    takes_up_ecn: bool,
    /// Absent before the handshake.
    sender: Option<LinuxSender<()>>,
    /// The script's other side opens the connection.
    passive: bool,
    mss: u32,
    wscale: u32,
    /// The other side uses time stamps.
    stamps: bool,
    written: u32,
    now: Nanos,
    /// When the last event was to happen, if it was a packet that came in.
    anchor: Option<Nanos>,
    sent: VecDeque<Sent>,
    /// Time stamps of the script, and what the sender has sent in their place.
    echoes: Vec<(u32, u32)>,
    closed: bool,
    names: Names,
}

impl Drill {
    fn new(tolerance: Nanos, hz: u32, phase: Nanos) -> Self {
        let defaults = LINUX_6_12.kernel.expect("a kernel");
        Self {
            tolerance,
            settings: LinuxSettings { hz, phase, ..defaults },
            takes_up_ecn: true,
            sender: None,
            passive: true,
            mss: 0,
            wscale: 0,
            stamps: false,
            written: 0,
            now: 0,
            anchor: None,
            sent: VecDeque::new(),
            echoes: Vec::new(),
            closed: false,
            names: constants(),
        }
    }

    fn step(&mut self, event: &Event) -> Result<(), String> {
        let inbound = matches!(event.kind, Kind::In(_) | Kind::Unreachable(_));
        let (mut from, mut to) = (self.now, self.now);
        if let Some(time) = event.time {
            // As packetdrill has it: between packets that come in, late packets that go out add up to nothing.
            let base = match self.anchor.filter(|_| inbound) {
                _ if !time.relative => 0,
                Some(anchor) => anchor,
                None => self.now,
            };
            (from, to) = (base + time.from, base + time.to);
        }
        self.anchor = inbound.then_some(from);
        if !matches!(event.kind, Kind::Out(_)) {
            self.advance(from);
        }
        match &event.kind {
            Kind::Command(text) => self.command(text),
            Kind::Code(text) => self.code(text),
            Kind::Call(call) => self.call(call),
            Kind::In(packet) => self.receive(packet),
            Kind::Out(packet) => self.expect(packet, from, to),
            &Kind::Unreachable(seq) => {
                let (now, packet) = (self.now, self.packet(seq)?);
                self.sender()?.on_unreachable(now, packet);
                self.drain();
                Ok(())
            }
        }
    }

    fn sender(&mut self) -> Result<&mut LinuxSender<()>, String> {
        self.sender.as_mut().ok_or("there is no connection yet".into())
    }

    /// The packet that starts with byte `seq`.
    fn packet(&self, seq: u32) -> Result<u32, String> {
        match seq.checked_sub(1) {
            Some(before) if before % self.mss == 0 => Ok(before / self.mss + 1),
            _ => Err(format!("byte {seq} starts no segment of {} bytes", self.mss)),
        }
    }

    // ------------------------------------------------------------------------------------- the sender

    /// Lets the time run to `to`.
    fn advance(&mut self, to: Nanos) {
        while self.fire(to) {}
        self.now = self.now.max(to);
    }

    /// Lets the next timer expire that does so by `until`, and says whether there was one.
    fn fire(&mut self, until: Nanos) -> bool {
        let Some(sender) = &mut self.sender else { return false };
        let Some(deadline) = sender.deadline().filter(|&deadline| deadline <= until) else { return false };
        self.now = self.now.max(deadline);
        sender.on_timer(self.now);
        self.drain();
        true
    }

    fn drain(&mut self) {
        let Some(sender) = &mut self.sender else { return };
        while let Some(transmit) = sender.poll_transmit(self.now) {
            let segment = transmit.segment;
            let bytes = |packet: u32| if packet == 0 { 0 } else { (packet - 1) * self.mss + 1 };
            self.sent.push_back(Sent {
                at: self.now,
                // A window probe repeats the last byte, whatever its packet.
                seq: if segment.is_data() || segment.seq == sender.snd_max() {
                    bytes(segment.seq)
                } else {
                    bytes(segment.seq + 1) - 1
                },
                len: segment.payload.into(),
                syn: segment.syn,
                ecn: segment.ecn,
                stamp: segment.timestamps.map_or(0, |stamps| stamps.value),
            });
        }
    }

    /// A sender that sends its SYN.
    fn open(&mut self, options: &crate::script::Options) {
        let profile = StackProfile {
            mss: self.mss as u16,
            sack_blocks: if options.sack_ok { LINUX_6_12.sack_blocks } else { 0 },
            kernel: Some(self.settings),
            ..LINUX_6_12
        };
        let mut sender = LinuxSender::new(&profile, self.settings, ());
        sender.open(0);
        self.sender = Some(sender);
        self.drain();
    }

    // ------------------------------------------------------------------------------------- events

    fn call(&mut self, call: &Call) -> Result<(), String> {
        match call {
            Call::Other => {}
            Call::Close => self.closed = true,
            Call::Congestion(name) => {
                self.settings.control = CcName::named(name).ok_or(format!("no control `{name}`"))?;
            }
            Call::Connect => {
                // A SYN offers what the stack has; the answer cannot take SACK away here.
                self.passive = false;
                self.mss = MSS;
                self.open(&crate::script::Options { sack_ok: true, ..Default::default() });
            }
            &Call::Write(bytes) => {
                // The rest of a write that is not whole segments counts as one.
                self.written += bytes.div_ceil(self.mss);
                let written = self.written;
                self.sender()?.open(written);
                self.drain();
            }
        }
        Ok(())
    }

    /// A packet of the other side.
    fn receive(&mut self, packet: &Packet) -> Result<(), String> {
        if packet.ecn.says(Ecn::CE) {
            return Err("an ACK is marked".into());
        }
        if packet.fin && self.closed {
            return Ok(());
        }
        if packet.fin {
            return Err("the other side closes first".into());
        }
        // Data that comes with an ACK does not matter to this sender: with SACK, duplicate ACKs are not counted.
        if packet.len > 0 && packet.options.sack.is_empty() {
            return Err("the other side sends data without SACK blocks".into());
        }
        if packet.syn {
            let options = &packet.options;
            self.wscale = options.wscale;
            self.stamps = options.stamps.is_some();
            if self.passive {
                // The time stamps take 12 bytes of every segment.
                self.mss = options.mss.unwrap_or(536).min(MSS) - if self.stamps { 12 } else { 0 };
                self.settings.ecn = packet.ecn.says(Ecn::ECE.and(Ecn::CWR)) && self.takes_up_ecn;
                self.open(options);
                return Ok(());
            }
        }
        let handshake = !self.sender()?.is_established();
        let window = packet.window.ok_or("no window")?;
        let scale = if packet.syn { 0 } else { self.wscale };
        let mut sack = SackList::default();
        for &(left, right) in &packet.options.sack {
            // Packets that a block covers in part get nothing from the kernel's SACK tags (`tcp_match_skb_to_sack`).
            let (left, right) = (self.packets_before(left + self.mss - 1), self.packets_before(right));
            if left < right {
                sack.push(left, right);
            }
        }
        let segment = Segment {
            seq: 1,
            ack: self.packets_before(packet.ack),
            window: (window << scale) / self.mss,
            timestamps: packet
                .options
                .stamps
                .map(|(value, echo)| Timestamps { value, echo: self.echo(echo) }),
            payload: 0,
            syn: handshake,
            push: false,
            has_ack: packet.has_ack,
            detail: Default::default(),
            // The other side opens the connection in the script, and answers here: its offer was taken up.
            ecn: if handshake && self.passive && self.settings.ecn { Ecn::ECE } else { packet.ecn },
            option: Default::default(),
            sack,
        };
        let (now, passive) = (self.now, self.passive);
        self.sender()?.on_segment(now, &segment);
        self.drain();
        if handshake && passive {
            self.sent.retain(|sent| sent.len > 0); // our ACK of the SYN-ACK, for which the script has no place
        }
        Ok(())
    }

    /// The first packet that does not end by byte `seq`.
    fn packets_before(&self, seq: u32) -> u32 {
        if seq == 0 { 0 } else { (seq - 1) / self.mss + 1 }
    }

    /// The sender's time stamp that a script's stands for.
    fn echo(&self, echo: u32) -> u32 {
        self.echoes.iter().rev().find(|&&(theirs, _)| theirs == echo).map_or(echo, |&(_, ours)| ours)
    }

    /// The sender must send `packet` between `from` and `to`, in segments as it pleases.
    fn expect(&mut self, packet: &Packet, from: Nanos, to: Nanos) -> Result<(), String> {
        if self.closed {
            let farewell = packet.fin || packet.len == 0;
            return if farewell { Ok(()) } else { Err("data after close()".into()) };
        }
        let latest = to + self.tolerance;
        let end = packet.seq + packet.len;
        let mut next = packet.seq;
        loop {
            while self.sent.is_empty() && self.fire(latest) {}
            let Some(sent) = self.sent.pop_front() else {
                self.advance(latest);
                return Err(format!("byte {next} is not sent by {}", seconds(latest)));
            };
            let said = sent.ecn.says(Ecn::CWR) && !sent.syn;
            if said != (packet.ecn.says(Ecn::CWR) && !packet.syn && next == packet.seq) {
                return Err(format!("CWR of byte {next} is {said}"));
            }
            if (sent.syn, sent.seq) != (packet.syn, next)
                || sent.len > end - next
                || (sent.len == 0) != (packet.len == 0)
            {
                return Err(format!(
                    "sent is {} bytes from {} on at {}",
                    sent.len,
                    sent.seq,
                    seconds(sent.at)
                ));
            }
            if sent.at + self.tolerance < from || sent.at > latest {
                let span = format!("{} to {}", seconds(from), seconds(to));
                return Err(format!("byte {next} is sent at {}, not from {span}", seconds(sent.at)));
            }
            if let Some((value, _)) = packet.options.stamps {
                self.echoes.push((value, sent.stamp));
            }
            next += sent.len;
            if next == end {
                return Ok(());
            }
        }
    }

    /// Sets what a shell command sets; unknown ones may change anything, so they are refused.
    fn command(&mut self, text: &str) -> Result<(), String> {
        let text = text.replace("\\\n", " ");
        for command in text.split([';', '\n']).map(str::trim) {
            let words: Vec<&str> =
                command.split_whitespace().take_while(|word| !word.starts_with('#')).collect();
            match words[..] {
                [] => {}
                [program] if program.ends_with("defaults.sh") => self.settings.slow_start_after_idle = false,
                [program] if program.contains("sysctl_restore") => {}
                ["sysctl", ref settings @ ..] => self.sysctls(settings)?,
                [program, ref settings @ ..] if program.ends_with("set_sysctls.py") => {
                    self.sysctls(settings)?
                }
                ["tc", "qdisc", "add" | "replace", "dev", "tun0", "root", "pfifo"] => {}
                ["tc", "qdisc", "add" | "replace", "dev", "tun0", "root", "fq"] => {
                    self.settings.pacing = PacingStatus::Fq;
                }
                // The host drops what it sends: here it holds back retransmissions, and nothing else waits.
                ["tc", "qdisc", "replace", "dev", "tun0", "root", "pfifo", "limit", "0"] => {
                    let now = self.now;
                    self.sender()?.enact(now, &Advice { hold_holes: true, ..Advice::default() });
                    self.drain();
                }
                ["echo", "3", ">", "/sys/module/tcp_cubic/parameters/hystart_detect"] => {}
                _ => return Err(format!("unknown command `{command}`")),
            }
        }
        Ok(())
    }

    fn sysctls(&mut self, settings: &[&str]) -> Result<(), String> {
        for setting in settings.iter().filter(|setting| !setting.starts_with('-')) {
            let Some((name, value)) = setting.split_once('=') else { continue };
            match (name.rsplit(['.', '/']).next().unwrap_or(""), value) {
                ("tcp_slow_start_after_idle", _) => self.settings.slow_start_after_idle = value == "1",
                // They concern segments of more than one packet, and buffers, or are the default.
                ("tcp_tso_win_divisor" | "tcp_min_tso_segs" | "tcp_rmem", _) => {}
                ("tcp_ecn", _) => {
                    self.settings.ecn = value == "1";
                    self.takes_up_ecn = value != "0";
                }
                ("tcp_timestamps", _) | ("tcp_pacing_ss_ratio", "200") => {}
                ("tcp_congestion_control", name) => {
                    self.settings.control = CcName::named(name).ok_or(format!("no control `{name}`"))?;
                }
                // Off against probes on a busy machine; this clock is exact.
                ("tcp_early_retrans", "0") => {}
                _ => return Err(format!("unknown setting `{setting}`")),
            }
        }
        Ok(())
    }

    fn code(&mut self, text: &str) -> Result<(), String> {
        let info = self.sender()?.info();
        show(&info, &mut self.names);
        code::run(text, &mut self.names)
    }
}

fn seconds(at: Nanos) -> String {
    format!("{}.{:06} s", at / 1_000_000_000, at / 1_000 % 1_000_000)
}

/// `TCP_CA_*`.
fn constants() -> Names {
    let states = ["Open", "Disorder", "CWR", "Recovery", "Loss"];
    states.iter().zip(0..).map(|(name, value)| (format!("TCP_CA_{name}"), value)).collect()
}

/// `tcpi_*`.
fn show(info: &TcpInfo, names: &mut Names) {
    let ca_state = match info.ca_state {
        CaState::Open => 0,
        CaState::Disorder => 1,
        CaState::Cwr => 2,
        CaState::Recovery => 3,
        CaState::Loss => 4,
    };
    names.insert("tcpi_ca_state".into(), ca_state);
    for (name, value) in [
        ("retransmits", info.retransmits),
        ("backoff", info.backoff),
        ("rto", info.rto),
        ("snd_mss", info.snd_mss),
        ("unacked", info.unacked),
        ("sacked", info.sacked),
        ("lost", info.lost),
        ("retrans", info.retrans),
        ("rtt", info.rtt),
        ("rttvar", info.rttvar),
        ("snd_ssthresh", info.snd_ssthresh),
        ("snd_cwnd", info.snd_cwnd),
        ("reordering", info.reordering),
        ("total_retrans", info.total_retrans),
        ("min_rtt", info.min_rtt),
        ("delivered", info.delivered),
        ("dsack_dups", info.dsack_dups),
        ("reord_seen", info.reord_seen),
    ] {
        names.insert(format!("tcpi_{name}"), value.into());
    }
}
