//! Freeze-TCP before an announced gap, beside a real sender: it persists, keeps what it has, and sends at once.

use super::bench;
use super::laboratory::{in_laboratory, link};
use segue_kernel::receiver::{Act, Announced, Gaps, Options, Peers, Receiver, attach};
use segue_lab::bulk::write_bulk;
use segue_lab::packet::Packet;
use segue_lab::path::{Direction, Switch};
use segue_lab::programs::Download;
use segue_lab::{Error, Family, Laboratory, MS, Nanos, Plan, Program, SenderKind};
use std::collections::BTreeMap;
use std::fs;
use std::thread::sleep;
use std::time::{Duration, Instant};

const ROUND_TRIP: Nanos = 18 * MS;

/// The window field of a TCP segment as it stands there, and whether it is a pure ACK.
fn window(packet: &Packet) -> Option<(u16, bool)> {
    let segment = packet.segment().filter(|segment| !segment.syn && !segment.rst)?;
    let head = packet.head();
    let tcp = if head[0] >> 4 == 4 { usize::from(head[0] & 15) * 4 } else { 40 };
    Some((u16::from_be_bytes([head[tcp + 14], head[tcp + 15]]), segment.payload == 0 && !segment.fin))
}

/// One counter of `TcpExt` of the server.
fn counter(lab: &Laboratory, name: &str) -> u64 {
    let path = "/proc/thread-self/net/netstat";
    let read = || std::fs::read_to_string(path).map_err(|error| Error::Fault(error.to_string()));
    let text = lab.server().namespace.within(read).expect("counters");
    let mut rows = text.lines().filter_map(|line| line.strip_prefix("TcpExt: "));
    let [names, values] = std::array::from_fn(|_| rows.next().expect("a row"));
    let mut both = names.split(' ').zip(values.split(' '));
    both.find(|(found, _)| *found == name).expect("a counter").1.parse().expect("a number")
}

#[test]
#[ignore = "needs lab"]
fn a_sender_persists_over_an_announced_gap() {
    // Others look for what this process still holds: they wait.
    let _turn = bench::turn();
    in_laboratory(|| {
        for family in [Family::Ipv4, Family::Ipv6] {
            gap(family);
        }
    });
}

#[test]
#[ignore = "a measurement: make measure"]
fn a_sender_stops_and_goes_on_when_it_is_due() {
    // Time that a run needs beside the round trip: the owner's wake-up, its pass over the sockets, the sender's.
    const ALLOWED: Nanos = 25 * MS;
    let _turn = bench::turn();
    in_laboratory(|| {
        for family in [Family::Ipv4, Family::Ipv6] {
            let late = gap(family);
            println!("closed, opened and data {late:?} ns late");
            assert!(late.iter().all(|late| *late < ALLOWED), "{late:?} ns late");
        }
    });
}

/// How much later than due the window closes and opens, and data come.
fn gap(family: Family) -> [Nanos; 3] {
    let both = link(6400, 9, Some(20));
    let plan = Plan::new(both.clone(), both, Vec::new());
    let lab = Laboratory::create(&plan, &SenderKind::builtin("cubic", None), Duration::from_secs(10))
        .expect("a laboratory");
    let options = Options { device: "segue0".into(), peers: Peers::All, phas: false };
    let attach = || attach(&options).map_err(|error| Error::Fault(error.to_string()));
    let mut receiver: Receiver = lab.mobile().namespace.within(attach).expect("it attaches");
    let folder = tempfile::tempdir().expect("a folder");
    let bulk = folder.path().join("bulk");
    write_bulk(&bulk, 64 << 20).expect("written");
    let mut download =
        Download::start(lab.hosts(), Program::Nginx, 2, family, None, Some(&bulk)).expect("flows");

    let limit = Instant::now() + Duration::from_secs(600);
    let got = |flow: u32| {
        fs::metadata(lab.hosts().folder.join(format!("curl-{flow}.out"))).map_or(0, |file| file.len())
    };
    while [0, 1].map(got).contains(&0) {
        assert!(Instant::now() < limit, "no data come");
        sleep(Duration::from_millis(20));
    }
    // A gap of 1 s that is announced 1.5 s before, 3 s from now; by this laboratory's clock as by the world's. On a busy
    // machine the window closes late, and it must be closed before the link goes.
    let (every, from) =
        (Duration::from_secs(20), Duration::from_nanos(lab.clock.now()) + Duration::from_secs(3));
    let announced = Announced::new(Gaps { every, from }, Duration::from_millis(1500), Duration::from_secs(1));
    let announced = announced.expect("closed for less than half of the time");
    let down = from.as_nanos() as Nanos;
    lab.emulator().schedule(Switch::new(down, down + 1000 * MS, true));
    let mut acts = Vec::new();
    let mut now = Duration::from_nanos(lab.clock.now());
    // As the gap begins, and as it ends: the machine may be too busy for the timers before and behind.
    let mut timeouts = [0; 2];
    for counted in &mut timeouts {
        let (at, act) = announced.next(now);
        sleep(lab.clock.until(at.as_nanos() as Nanos));
        if act == Act::Open {
            *counted = counter(&lab, "TCPTimeouts");
        }
        assert_eq!(receiver.perform(act, &announced).expect("it acts"), 2, "{act:?}");
        if act == Act::Close {
            sleep(lab.clock.until(down));
            *counted = counter(&lab, "TCPTimeouts");
        }
        acts.push((act, at.as_nanos() as Nanos));
        now = at;
    }
    let [(Act::Close, close), (Act::Open, open)] = acts[..] else { panic!("{acts:?}") };
    sleep(lab.clock.until(open + 2000 * MS));
    assert_eq!(timeouts[0], timeouts[1], "no retransmission timer has expired in the gap");
    download.check().expect("the flows live");
    let said = download.finish().expect("they end");
    assert_eq!(said.intact, Some(true));
    drop(receiver);
    let emulator = lab.close();
    let packets = emulator.stop().expect("a record").packets;

    let up: Vec<_> = packets.iter().filter(|packet| packet.direction == Direction::Up).collect();
    let windows = |from: Nanos, to: Nanos| {
        up.iter()
            .filter(move |packet| (from..to).contains(&packet.entered))
            .filter_map(|packet| window(packet))
    };
    let closing = up.iter().find(|packet| window(packet).is_some_and(|(window, _)| window == 0));
    let closing = closing.expect("a window of zero").entered;
    assert!(closing >= close, "{} us before it is due", (close - closing) / 1000);
    let opening = up
        .iter()
        .find(|packet| packet.entered > closing && window(packet).is_some_and(|(window, _)| window > 0));
    let opening = opening.expect("it opens").entered;
    assert!(opening >= open, "{} us before it is due", (open - opening) / 1000);
    assert!(windows(0, closing).all(|(window, _)| window > 0), "closed too early");
    assert!(windows(closing, opening).all(|(window, _)| window == 0), "open in between");
    // A round trip after it closed (18 ms, and 20 packets of the queue, 38 ms) nothing is under way any more. Nothing
    // comes until the window opens. On a busy machine it closes late.
    let quiet = down.max(closing + 100 * MS);
    let data = |packet: &&Packet| {
        packet.direction == Direction::Down && packet.segment().is_some_and(|segment| segment.payload > 0)
    };
    let during = packets.iter().filter(data).filter(|packet| (quiet..opening).contains(&packet.entered));
    assert_eq!(during.count(), 0, "the senders persist");
    let first = packets.iter().filter(data).find(|packet| packet.entered >= opening).expect("data");
    // They acknowledge what the last closed window did; the kernel's own ACKs, which answer new data, do not.
    let mut closed = BTreeMap::new();
    for packet in &up {
        if let (Some(segment), Some((0, true))) = (packet.segment(), window(packet)) {
            closed.insert(segment.source, segment.acknowledgment);
        }
    }
    assert_eq!(closed.len(), 2, "both connections are closed");
    for (source, acknowledgment) in closed {
        let opens = |packet: &&&Packet| {
            packet.entered >= opening
                && packet.segment().is_some_and(|s| s.source == source && s.acknowledgment == acknowledgment)
                && window(packet).is_some_and(|(window, pure)| window > 0 && pure)
        };
        let copies = up.iter().filter(opens).count();
        assert!(copies >= 3, "{source} opens its window three times: {copies}");
    }
    [closing - close, opening - open, (first.entered - open).saturating_sub(ROUND_TRIP)]
}
