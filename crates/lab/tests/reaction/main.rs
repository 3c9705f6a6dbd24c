//! Effects of a notice on a real connection.

#[path = "../bench/mod.rs"]
mod bench;
mod near;
mod outages;
#[path = "../rto_max/mod.rs"]
mod rto_max;

use bench::peer::{ACK, Peer, Segment};
use bench::{Bench, count, flow, patient_timers};
use nix::sys::socket::getsockopt;
use rto_max::RtoMaxMs;
use segue_kernel::sender::{Around, Options, Sender, attach};
use segue_policy::Link;
use segue_policy::wire::ReportType;
use std::io::Write;
use std::net::{TcpListener, TcpStream};
use std::process::Command;
use std::thread;
use std::time::{Duration, Instant};

const OLD: Link = Link { rate_kbps: 1600, delay_us: 75_000 };
const NEW: Link = Link { rate_kbps: 400, delay_us: 150_000 };
const FAST: Link = Link { rate_kbps: 6400, delay_us: 9_000 };

/// A server that writes without end; the thread goes with the connection.
fn bulk(listener: &TcpListener) -> TcpStream {
    let (stream, _) = listener.accept().expect("a connection");
    let mut writer = stream.try_clone().expect("a handle");
    thread::spawn(move || while writer.write_all(&[7; 65536]).is_ok() {});
    stream
}

fn cwnd(sender: &Sender, peer: &Peer) -> (u32, u32) {
    let flow = flow(&sender.status().expect("a status"), peer.local);
    (flow.cwnd, flow.ssthresh)
}

/// Lets cwnd grow to more than this, with an RTT of a few milliseconds.
fn grow(sender: &Sender, peer: &mut Peer, beyond: u32) {
    grow_slowly(sender, peer, beyond, Duration::from_millis(5), Instant::now());
}

/// The same with a pause before each ACK; nothing was sent before `since`. No round trip has been longer than what is
/// returned.
fn grow_slowly(sender: &Sender, peer: &mut Peer, beyond: u32, pause: Duration, since: Instant) -> Duration {
    let mut longest = Duration::ZERO;
    let mut since = since;
    for _ in 0..200 {
        peer.drain(pause);
        // The next data are sent later than this.
        let now = Instant::now();
        peer.acknowledge(&[]);
        longest = longest.max(since.elapsed());
        since = now;
        if cwnd(sender, peer).0 > beyond {
            return longest;
        }
    }
    panic!("cwnd stays at {:?}", cwnd(sender, peer));
}

/// Packets of 1500 octets that this link holds in this time, rounded up.
fn packets(link: Link, time: Duration) -> u32 {
    (f64::from(link.rate_kbps) * time.as_secs_f64() / 12.0).ceil() as u32
}

/// algorithms.md 3.1: bdp_new = 11.03 packets; what is under way is more than twice that.
#[test]
#[ignore = "needs kernel bbr"]
fn a_fall_of_the_bandwidth_reduces_the_window() {
    let bench = Bench::new();
    // The timer would cut the window.
    patient_timers(Duration::from_secs(60));
    for (around, port) in [(Around::Cubic, 4001), (Around::Bbr, 4002)] {
        let sender = attach(&Options { around, ..bench.options("etcp-v1") }).expect("it attaches");
        let listener = bench.listen();
        let mut peer = Peer::v4(&bench.device, port);
        peer.connect(OLD);
        let _stream = bulk(&listener);
        grow(&sender, &mut peer, 30);
        let mut sent = peer.drain(Duration::from_millis(20)).len();
        while sent < 24 {
            peer.acknowledge(&[]);
            sent = peer.drain(Duration::from_millis(20)).len();
        }
        let before = cwnd(&sender, &peer);
        // An ACK of nothing new: the reaction alone.
        let una = peer.ack - 1460 * sent as u32;
        let notice = peer.report(ReportType::Completed, 1, NEW);
        peer.send(ACK, peer.seq, una, &notice);
        bench::eventually("it is accepted", || count(&sender, "accepted") == 1);
        let after = cwnd(&sender, &peer);
        assert_eq!(after.0, 11, "{around:?}: {before:?} -> {after:?} with {sent} under way");
        // BBR keeps no ssthresh
        if around == Around::Cubic {
            assert_eq!(after.1, 11, "{before:?} -> {after:?}");
        }
        assert_eq!(sender.status().expect("a status").refused(), 0);
    }
}

/// So far away is a peer beyond its link.
const FAR: Duration = Duration::from_millis(150);

/// The round trip that the host sees is not longer than what is returned.
fn connect_from_afar(peer: &mut Peer) -> Duration {
    let begin = Instant::now();
    peer.open(true);
    thread::sleep(FAR);
    let first = peer.report(ReportType::First, 0, FAST);
    peer.acknowledge(&first);
    begin.elapsed()
}

/// A notice tells of the access link; a peer may be far beyond it, and W is of the whole path.
#[test]
#[ignore = "needs kernel bbr"]
fn what_lies_beyond_the_link_counts() {
    let bench = Bench::new();
    let slow = Link { rate_kbps: 1000, ..FAST };
    for (around, new, port) in [
        (Around::Cubic, FAST, 4001),
        (Around::Cubic, slow, 4002),
        (Around::Bbr, FAST, 4003),
        (Around::Bbr, slow, 4004),
    ] {
        let sender = attach(&Options { around, ..bench.options("etcp-v1") }).expect("it attaches");
        let listener = bench.listen();
        let mut peer = Peer::v4(&bench.device, port);
        let handshake = connect_from_afar(&mut peer);
        let begin = Instant::now();
        let _stream = bulk(&listener);
        let longest = grow_slowly(&sender, &mut peer, 40, FAR, begin).max(handshake);
        let una = peer.ack;
        let sent = peer.drain(FAR / 2).len();
        assert!(sent >= 40, "{sent} under way");
        let before = cwnd(&sender, &peer).0;
        let notice = peer.report(ReportType::Completed, 1, new);
        peer.send(ACK, peer.seq, una, &notice);
        bench::eventually("it is accepted", || count(&sender, "accepted") == 1);
        // The silence may have been long enough for an outage: then two packets have asked what was lost.
        peer.send(ACK, peer.seq, una, &[]);
        if new == FAST {
            // bdp_new of the link alone is 10.6 packets, of the path 80.
            bench::eventually("the window is as before", || cwnd(&sender, &peer).0 == before);
        } else {
            // 150 ms of 1 Mbit/s and a packet; of the link alone it would be 3.
            let most = packets(slow, longest) + 2;
            bench::eventually("the window falls", || (12..=most).contains(&cwnd(&sender, &peer).0));
        }
    }
}

/// The connection as `ss` shows it.
fn ss(stream: &TcpStream) -> String {
    let port = stream.peer_addr().expect("an address").port();
    let output = Command::new("ss").args(["-tinoH", &format!("dport = :{port}")]).output().expect("iproute2");
    String::from_utf8(output.stdout).expect("text")
}

/// A number in what `ss` tells of a connection.
fn number(text: &str, name: &str) -> Option<f64> {
    text.split_whitespace().find_map(|word| word.strip_prefix(name)?.parse().ok())
}

/// algorithms.md 4.3: one segment, and ssthresh from bandwidth and the SRTT before the outage.
#[test]
#[ignore = "needs kernel"]
fn tcp_ho_resumes_and_remembers_the_round_trip() {
    let bench = Bench::new();
    let sender = bench.attach("tcp-ho");
    let listener = bench.listen();
    let mut peer = Peer::v4(&bench.device, 4001);
    peer.connect(FAST);
    let begin = Instant::now();
    let _stream = bulk(&listener);
    let longest = grow_slowly(&sender, &mut peer, 40, Duration::from_millis(20), begin);
    peer.acknowledge(&[]);
    let una = peer.ack;
    peer.outage(una, 3);
    // Fast enough for the product to be more than its floor of two packets.
    let faster = Link { rate_kbps: 100_000, delay_us: 9_000 };
    let notice = peer.report(ReportType::Completed, 1, faster);
    peer.send(ACK, peer.seq, una, &notice);
    let burst: Vec<_> = std::iter::from_fn(|| peer.receive_within(Duration::from_millis(15))).collect();
    assert!((1..=2).contains(&burst.len()), "{} resent", burst.len());
    let (_, ssthresh) = cwnd(&sender, &peer);
    // The pauses of 20 ms and more lead SRTT from nothing to 5 ms at least: 42 packets of 100 Mbit/s.
    let most = packets(faster, longest);
    assert!((42..=most).contains(&ssthresh), "ssthresh {ssthresh}, at most {most}");
}

/// How often the kernel has doubled the RTO of the flow, as `ss` tells it. With it come the segments that have come to
/// the peer until then. Each expiry of the timer doubles it once and resends the head once.
fn doublings(stream: &TcpStream, peer: &mut Peer) -> (i64, Vec<Segment>) {
    let read = || ss(stream).split_whitespace().find_map(|word| word.strip_prefix("backoff:")?.parse().ok());
    let mut come = Vec::new();
    for _ in 0..1000 {
        // Not told: none.
        let before: i64 = read().unwrap_or(0);
        come.extend(peer.drain(Duration::from_millis(10)));
        if read().unwrap_or(0) == before {
            return (before, come);
        }
    }
    panic!("the timer never rests: {}", ss(stream));
}

/// RFC 6069: with one segment under way, raising cwnd resends nothing; the ICMP does. Whenever the timer expires, it
/// resends the head and doubles the RTO. So without ICMP there are as many doublings as resends; an ICMP takes
/// doublings back.
#[test]
#[ignore = "needs kernel"]
fn an_icmp_resends_a_lonely_head() {
    let bench = Bench::new();
    for (mut peer, icmp) in [
        (Peer::v4(&bench.device, 4001), false),
        (Peer::v4(&bench.device, 4002), true),
        (Peer::v6(&bench.device, 4003), true),
    ] {
        let mut sender = attach(&Options { icmp, ..bench.options("etcp-v1") }).expect("it attaches");
        let listener = bench.listen();
        peer.connect(FAST);
        let (mut stream, _) = listener.accept().expect("a connection");
        stream.write_all(&[7; 100]).expect("a segment");
        let una = peer.ack;
        let first = peer.receive().expect("a segment");
        assert_eq!(first.payload, 100);
        // A probe of the tail, and the timer. The silence is longer than the first RTO, unless the machine is too busy
        // for it. Then an ICMP shortens the timer, and does not resend by itself.
        peer.outage(una, 4);
        peer.drain(Duration::from_millis(500));
        let (before, _) = doublings(&stream, &mut peer);
        let notice = peer.report(ReportType::Completed, 1, FAST);
        peer.send(ACK, peer.seq, una, &notice);
        bench::eventually("it is accepted", || count(&sender, "accepted") == 1);
        let mut resent = 0;
        bench::eventually("it is sent again", || {
            sender.serve(Duration::from_millis(10)).expect("it serves");
            let (after, come) = doublings(&stream, &mut peer);
            assert!(come.iter().all(|segment| (segment.seq, segment.payload) == (una, 100)), "{come:?}");
            resent += come.len() as i64;
            let taken_back = before + resent - after;
            assert!(icmp || taken_back == 0, "{resent} resent without ICMP, doublings {before}, {after}");
            resent > 0 && (taken_back > 0 || !icmp)
        });
    }
}

/// N of Figs. 1 to 3: who has data under way counts, an idle connection does not.
#[test]
#[ignore = "needs kernel"]
fn only_busy_flows_share_the_link() {
    let bench = Bench::new();
    let sender = bench.attach("etcp-v1");
    let listener = bench.listen();
    let mut idle = Peer::v4(&bench.device, 4001);
    idle.connect(OLD);
    let (mut quiet, _) = listener.accept().expect("a connection");
    let mut peers: Vec<_> = (0..3).map(|n| Peer::v4(&bench.device, 4010 + n)).collect();
    let mut streams = Vec::new();
    for peer in &mut peers {
        peer.connect(OLD);
        let (mut stream, _) = listener.accept().expect("a connection");
        stream.write_all(&[7; 4000]).expect("data");
        streams.push(stream);
    }
    let n = |peer: &Peer| flow(&sender.status().expect("a status"), peer.local).flows;
    assert_eq!(n(&idle), 3);
    // The idle one sends something and is done with it.
    quiet.write_all(&[7; 100]).expect("data");
    assert_eq!(n(&idle), 4);
    idle.receive().expect("a segment");
    idle.acknowledge(&[]);
    assert_eq!(n(&idle), 3);
    // One has all of its data acknowledged, one is reset.
    let done = &mut peers[0];
    done.ack = done.ack.wrapping_add(4000);
    done.acknowledge(&[]);
    assert_eq!(n(&idle), 2);
    let gone = &mut peers[1];
    gone.send(bench::peer::RST | ACK, gone.seq, gone.ack, &[]);
    bench::eventually("a closed flow is gone", || n(&idle) == 1);
    // The last one is done, too: nobody is counted, which is to say one, who asks.
    let last = &mut peers[2];
    last.ack = last.ack.wrapping_add(4000);
    last.acknowledge(&[]);
    streams[2].write_all(&[7; 100]).expect("data");
    quiet.write_all(&[7; 100]).expect("data");
    assert_eq!(n(&idle), 2);
}

/// A flow that waits for no ACK hears nothing, whatever its link does: a notice to it is none after an outage. Seen
/// by the bound of the RTO, which comes with the end of an outage alone.
#[test]
#[ignore = "needs kernel linux-6.15"]
fn the_silence_of_an_idle_flow_is_no_outage() {
    let bench = Bench::new();
    for (around, idle, port) in [
        (Around::Cubic, true, 4001),
        (Around::Cubic, false, 4002),
        (Around::Bbr, true, 4003),
        (Around::Bbr, false, 4004),
    ] {
        let sender = attach(&Options { around, ..bench.options("etcp-v1") }).expect("it attaches");
        let listener = bench.listen();
        let mut peer = Peer::v4(&bench.device, port);
        peer.connect(FAST);
        let (mut stream, _) = listener.accept().expect("a connection");
        let own = getsockopt(&stream, RtoMaxMs).expect("an option");
        stream.write_all(&[7; 100]).expect("a segment");
        let segment = peer.receive().expect("a segment");
        assert_eq!(segment.payload, 100);
        if idle {
            peer.acknowledge(&[]);
            // Far longer than a round trip of the told link, 18 ms.
            std::thread::sleep(Duration::from_secs(1));
        } else {
            peer.outage(segment.seq, 2);
        }
        let notice = peer.report(ReportType::Completed, 1, FAST);
        peer.acknowledge(&notice);
        bench::eventually("it is accepted", || count(&sender, "accepted") == 1);
        let bounded = getsockopt(&stream, RtoMaxMs).expect("an option") < own;
        assert_eq!(bounded, !idle, "{around:?}, idle: {idle}");
    }
}

/// The pacing rate of a connection, bit/s.
fn pacing(stream: &TcpStream) -> f64 {
    let text = ss(stream);
    let mut words = text.split_whitespace().skip_while(|word| *word != "pacing_rate");
    let rate = words.nth(1).and_then(|word| word.strip_suffix("bps")?.parse().ok());
    rate.unwrap_or_else(|| panic!("no pacing rate in {text}"))
}

/// Leaves at most this many packets under way, and no ACK for them: the peer has room for no more. The first of them.
fn leave_under_way(peer: &mut Peer, most: u32) -> u32 {
    let wide = peer.window;
    // The window is in units of 128 octets (the peer's SYN).
    peer.window = u16::try_from(most * 1460 / 128).expect("a window");
    for _ in 0..100 {
        peer.acknowledge(&[]);
        let una = peer.ack;
        let sent = peer.drain(Duration::from_millis(30)).len() as u32;
        // Packets sent before this window was told have come by now, or are acknowledged in the next round.
        if (1..=most).contains(&sent) && peer.ack.wrapping_sub(una) <= 1460 * most {
            peer.window = wide;
            return una;
        }
    }
    panic!("more than {most} packets stay under way");
}

/// The pacing rate of BBR only grows until its startup is over. A rate that was told, and was found wrong in the
/// trial, must not stay in it.
///
/// After the outage 64 packets leave at once. The trial forgives as many losses as packets were under way, for the
/// kernel may find those lost once more, and ten (bpf/sender/trial.h). At most 40 are under way. So a burst of which
/// only the last packet arrives is more than it forgives, whether RACK or a timer finds the losses.
#[test]
#[ignore = "needs kernel bbr"]
fn a_retreat_takes_the_told_pacing_rate_back() {
    retreats(false);
}

/// near.md, 8.13: announcements on each ACK keep no trial from its end, whatever the scheme.
#[test]
#[ignore = "needs kernel bbr"]
fn announcements_save_no_trial() {
    retreats(true);
}

fn retreats(announces: bool) {
    const LIE: Link = Link { rate_kbps: 10_000_000, delay_us: 9_000 };
    const UNDER_WAY: u32 = 40;
    let bench = Bench::new();
    let sender = attach(&Options { around: Around::Bbr, ..bench.options("etcp-v1") }).expect("it attaches");
    let listener = bench.listen();
    let mut peer = Peer::v4(&bench.device, 4001);
    peer.connect(FAST);
    let stream = bulk(&listener);
    grow(&sender, &mut peer, 40);
    let una = leave_under_way(&mut peer, UNDER_WAY);
    peer.outage(una, 3);
    let notice = peer.report(ReportType::Completed, 1, LIE);
    peer.send(ACK, peer.seq, una, &notice);
    bench::eventually("it is accepted", || count(&sender, "accepted") == 1);
    let told = pacing(&stream);
    assert!(told >= 1e10, "{told} bit/s at the notice");
    // The last segment of each burst alone arrives, so that all before it are lost.
    let (mut last, mut number) = (None, 1);
    bench::eventually("a retreat", || {
        let burst = peer.drain(Duration::from_millis(30));
        if cwnd(&sender, &peer).1 < 64 {
            return true;
        }
        let sent = burst.iter().filter(|segment| segment.seq != una && segment.payload > 0);
        last = sent.map(|segment| (segment.seq.wrapping_sub(una), segment.payload)).chain(last).max();
        if let Some((from, length)) = last {
            let left = una.wrapping_add(from);
            let block = [left.to_be_bytes(), left.wrapping_add(length as u32).to_be_bytes()].concat();
            number = if number == u8::MAX { 2 } else { number + 1 };
            let expected =
                if announces { peer.report(ReportType::Expected, number, LIE).to_vec() } else { Vec::new() };
            peer.send(ACK, peer.seq, una, &[&[1, 1, 5, 10][..], &block, &expected].concat());
        }
        false
    });
    let rate = pacing(&stream);
    // Five packets and less than half of a burst in a round trip of milliseconds are some 100 Mbit/s at most.
    assert!(rate < 1e9, "{rate} bit/s after the retreat: {}", ss(&stream));
}
