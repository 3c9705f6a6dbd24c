//! Peers that run nothing of ours: after an outage the agent has their connections go on ([`segue_mobile::resume`]),
//! through the programs of [`segue_kernel::mobile`]. On a slower link it bounds their windows ([`super::windows`]), and
//! before a foreseen break it closes them ([`super::freezes`]). Peers that have negotiated hear notices; after an outage
//! they are reminded, where that brings nothing.

use super::Error;
use super::doubts::{Doubts, list};
use super::event::Event;
use super::freezes::{Freezes, Frozen};
use super::links::Links;
use super::order::{Moved, Outage};
use super::pace::closing;
use super::rounds::Rounds;
use super::settings::{Config, Treated};
use super::windows::{Windows, path};
use ipnet::IpNet;
use segue_kernel::mobile::{Exit, Mobile, Progress, Scope, Treatment, Waiting};
use segue_mobile::resume::{Due, Flow, MOST, Resumes, Say, begins_anew};
use segue_policy::Link;
use serde::Serialize;
use std::collections::{BTreeMap, BTreeSet};
use std::net::IpAddr;
use std::time::Duration;

/// Help for peers that run nothing of ours, as `status` shows it.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct OthersStatus {
    /// Whether connections with any are helped.
    pub resume: bool,
    /// Whether windows that any are told are bounded on a slower link.
    pub window: bool,
    /// Whether windows that any are told are closed before a foreseen break.
    pub freeze: bool,
    /// Whether connections that this host forwards are helped, too.
    pub forwarded: bool,
    /// Devices whose segments are seen.
    pub devices: Vec<String>,
    /// Connections that are being helped.
    pub helping: usize,
    /// Connections that have been helped since the start, each time.
    pub helped: u64,
    /// Helped connections on which new data has come before the end of the help.
    pub resumed: u64,
    /// ICMP messages.
    pub messages: u64,
    /// ACKs of all that has come.
    pub acks: u64,
    /// ACKs of a single octet, after which a peer begins anew.
    pub octets: u64,
    /// Connections whose peers have negotiated, and that were sent ICMP messages because a notice brought nothing;
    /// each time.
    pub reminded: u64,
    /// Those messages, and an ACK at the end of each.
    pub reminders: u64,
    /// Packets that this host could not send.
    pub unsent: u64,
    /// Segments whose stamp was from before an outage, and was not echoed.
    pub unechoed: u64,
    /// Connections whose windows are bounded.
    pub bounded: usize,
    /// Segments whose window became smaller.
    pub narrowed: u64,
    /// ACKs over the old link, after handoffs to a slower one.
    pub early: u64,
    /// Prefixes whose windows are closed now.
    pub frozen: usize,
    /// Connections that were told of an open window after a closed one, each time.
    pub opened: u64,
    /// Segments whose window became zero.
    pub closed: u64,
}

/// How connections of a prefix are treated.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Prefix {
    to: IpNet,
    treated: Treated,
    stale: u64,
    /// By this device, until then: windows are closed.
    closed: Option<(u32, u64)>,
}

/// All of it.
pub(super) struct Others {
    prefixes: Vec<Prefix>,
    /// Devices that rules name: they may be the next.
    named: BTreeSet<String>,
    followed: BTreeMap<u32, String>,
    /// Devices whose egress is not ours, and why.
    problems: BTreeMap<String, String>,
    resumes: Resumes<IpNet, Waiting>,
    doubts: Doubts,
    windows: Windows,
    freezes: Freezes,
    counts: OthersStatus,
}

/// The treatment of each watched prefix, and of each within one that has its own.
fn prefixes(config: &Config) -> Vec<Prefix> {
    let others = &config.others;
    let watch = &config.settings.watch;
    let within = |to: &&IpNet| watch.iter().any(|watched| watched != *to && watched.contains(*to));
    let own = others.prefixes.iter().map(|(to, _)| to).filter(within);
    let all = watch.iter().chain(own);
    all.map(|to| Prefix { to: *to, treated: others.treated(to), stale: 0, closed: None }).collect()
}

/// A connection is told of a closed window at once on which something has come within so long, ns.
const CLOSED_SINCE: u64 = 2_000_000_000;

/// A connection as the schedule sees it. `access`: both ways over the access link, ns; `links`: before and now.
fn flow(waiting: Waiting, access: u64, links: Option<[Link; 2]>) -> Flow<Waiting> {
    let rtt = waiting.rtt.map(|rtt| u64::try_from(rtt.as_nanos()).unwrap_or(0));
    let (acks, round_trip) = (waiting.acks.len(), rtt.unwrap_or(0).max(access));
    let anew = anew(rtt, links);
    Flow { acks, round_trip, closed: waiting.closed, anew, mtu: None, told: None, idle: None, waiting }
}

/// One whose packets a handoff at `now` may have lost.
fn doubted_flow(now: u64, waiting: Waiting, access: u64, links: Option<[Link; 2]>) -> Flow<Waiting> {
    let heard = u64::try_from(waiting.heard.as_nanos()).unwrap_or(u64::MAX);
    let idle = (!waiting.under_way).then(|| now.saturating_sub(heard));
    Flow { idle, ..flow(waiting, access, links) }
}

/// One whose peer has negotiated, and whose notice has left `told` ns after the link is back.
fn told_flow(waiting: Waiting, access: u64, told: u64) -> Flow<Waiting> {
    Flow { told: Some(told), ..flow(waiting, access, None) }
}

/// Whether a peer had better begin anew. `rtt`: of the old path, ns; where it is not known, as on a router, the peer's
/// timeouts are its own to judge.
fn anew(rtt: Option<u64>, links: Option<[Link; 2]>) -> bool {
    rtt.zip(links).is_some_and(|(rtt, [old, new])| {
        let beyond = rtt.saturating_sub(2 * u64::from(old.delay_us) * 1000);
        begins_anew(&path(old, beyond), &path(new, beyond))
    })
}

/// How this peer is treated; none: it is left alone.
fn treated(prefixes: &[Prefix], remote: IpAddr) -> Option<Treated> {
    let around = prefixes.iter().filter(|prefix| prefix.to.contains(&remote));
    Some(around.max_by_key(|prefix| prefix.to.prefix_len())?.treated)
}

/// Whether windows that this peer is told may be bounded.
fn bounds(prefixes: &[Prefix], remote: IpAddr) -> bool {
    treated(prefixes, remote).is_some_and(|treated| treated.window)
}

/// Has packets about this connection, which this host forwards, leave as frames to the router that they would go to.
/// While its hardware address is not known, they go as this host's own.
fn lead(waiting: &Waiting, links: &Links, mobile: &mut Mobile) {
    let Some(path) = links.path(&waiting.remote().ip().into()) else { return };
    let bare = mobile.is_bare(path.device);
    let Some(hardware) = path.hardware.or_else(|| bare.then(Vec::new)) else {
        let _ = mobile.forward_by(None);
        return;
    };
    if mobile.exit().is_some_and(|exit| exit.is(path.device, &hardware)) {
        return;
    }
    if let Err(error) = Exit::new(path.device, &hardware).and_then(|exit| mobile.forward_by(Some(exit))) {
        tracing::error!(%error, "a forwarded connection is not helped");
    }
}

impl Others {
    pub(super) fn attach(config: &Config, rounds: &Rounds, mobile: &mut Mobile) -> Result<Self, Error> {
        let named = config.settings.rules.iter().filter_map(|rule| rule.device.clone());
        let prefixes = prefixes(config);
        // A kernel that cannot see what leaves has said so already.
        let sees = mobile.can_follow();
        let mut others = Self {
            counts: OthersStatus {
                resume: sees && prefixes.iter().any(|prefix| prefix.treated.resume),
                window: sees && prefixes.iter().any(|prefix| prefix.treated.window),
                freeze: sees && prefixes.iter().any(|prefix| prefix.treated.freeze > 0),
                forwarded: sees && config.others.forwarded,
                ..OthersStatus::default()
            },
            prefixes,
            named: named.filter(|name| !name.ends_with('*')).collect(),
            followed: BTreeMap::new(),
            problems: BTreeMap::new(),
            resumes: Resumes::new(),
            doubts: Doubts::default(),
            windows: Windows::default(),
            freezes: Freezes::default(),
        };
        others.treat(mobile)?;
        mobile.follow_forwarded(others.counts.forwarded)?;
        others.follow(rounds, mobile);
        Ok(others)
    }

    fn treat(&self, mobile: &mut Mobile) -> Result<(), Error> {
        let treatment = |prefix: &Prefix| Treatment {
            to: Scope { address: prefix.to.network(), bits: prefix.to.prefix_len(), notified: true },
            resume: prefix.treated.resume,
            window: prefix.treated.window,
            freeze: prefix.treated.freeze > 0,
            stale: Duration::from_nanos(prefix.stale),
            closed: prefix.closed.map(|(device, until)| (device, Duration::from_nanos(until))),
        };
        let all: Vec<_> = self.prefixes.iter().map(treatment).collect();
        Ok(mobile.treat_others(&all)?)
    }

    /// Sees what leaves by the devices in use, and by those that may be next.
    fn follow(&mut self, rounds: &Rounds, mobile: &mut Mobile) {
        if !mobile.can_follow() {
            return;
        }
        let in_use = rounds.devices();
        let named = self.named.iter().filter_map(|name| rounds.links().named(name));
        let wanted: BTreeSet<u32> = in_use.into_iter().chain(named.map(|device| device.index)).collect();
        for index in wanted {
            let Some(device) = rounds.links().device(index) else { continue };
            if self.followed.contains_key(&index) {
                continue;
            }
            match mobile.follow(&device.name) {
                Ok(()) => {
                    self.problems.remove(&device.name);
                    self.followed.insert(index, device.name.clone());
                }
                Err(error) => {
                    let problem = error.to_string();
                    if self.problems.get(&device.name) != Some(&problem) {
                        tracing::warn!(
                            device = device.name,
                            %error,
                            "peers over the device are echoed stamps of before an outage, and those that have not negotiated are not helped"
                        );
                        self.problems.insert(device.name.clone(), problem);
                    }
                }
            }
        }
    }

    /// Follows devices and outages. `rounds`: as they are after these events.
    pub(super) fn on_events(&mut self, events: &[Event], rounds: &Rounds, mobile: &mut Mobile) {
        let gone = |index: &u32| {
            rounds.links().device(*index).is_none() || events.contains(&Event::DeviceGone(*index))
        };
        let left: Vec<u32> = self.followed.keys().copied().filter(gone).collect();
        for index in left {
            mobile.forget(index);
            self.followed.remove(&index);
        }
        self.follow(rounds, mobile);
        let broken: Vec<_> = rounds.broken().collect();
        for (watch, since) in broken {
            self.resumes.stop(&watch);
            self.mark(&watch, since, mobile);
        }
    }

    /// Marks packets heard from peers of this prefix before `stale` as older than an outage.
    fn mark(&mut self, watch: &IpNet, stale: u64, mobile: &mut Mobile) {
        let mut changed = false;
        for prefix in self.prefixes.iter_mut().filter(|prefix| watch.contains(&prefix.to)) {
            changed |= prefix.stale < stale;
            prefix.stale = prefix.stale.max(stale);
        }
        if changed && let Err(error) = self.treat(mobile) {
            tracing::error!(%error, "time stamps from before an outage are echoed");
        }
    }

    /// A break of about `gap` ns is foreseen. Windows of connections over the present links are closed, as far as they
    /// may be before so long a break.
    pub(super) fn foresee(&mut self, now: u64, gap: u64, rounds: &Rounds, mobile: &mut Mobile) {
        if !self.counts.freeze {
            return;
        }
        for watch in rounds.watches(now) {
            let (Some(name), Some(estimate)) = (&watch.device, watch.estimate) else { continue };
            let Some(device) = rounds.links().named(name).map(|device| device.index) else { continue };
            let mut within = self.prefixes.iter_mut().filter(|prefix| watch.to.contains(&prefix.to));
            if !within.any(|prefix| prefix.treated.freeze > 0 && prefix.treated.freeze >= gap) {
                continue;
            }
            let opens = self.freezes.close(now, watch.to, device, gap, estimate.up_kbps);
            for prefix in self.prefixes.iter_mut().filter(|prefix| watch.to.contains(&prefix.to)) {
                let closes = prefix.treated.freeze > 0 && prefix.treated.freeze >= gap;
                prefix.closed = closes.then_some((device, opens));
            }
            if let Err(error) = self.treat(mobile) {
                tracing::error!(%error, "windows are not closed");
                continue;
            }
            // Peers of connections that send nothing by themselves are told now.
            let since = now.saturating_sub(CLOSED_SINCE);
            let busy = list(&watch.to, since, rounds.links(), mobile);
            let told = busy.iter().filter(|waiting| waiting.closed).take(closing(estimate.up_kbps));
            let told = told.filter(|waiting| mobile.send_closed(waiting).is_ok()).count();
            tracing::info!(
                watch = %watch.to,
                device = name,
                gap_ms = gap / 1_000_000,
                told,
                "windows are closed before a foreseen break"
            );
        }
    }

    /// There is no break, or none any more: peers that were told of closed windows are told of open ones.
    pub(super) fn no_break(&mut self, now: u64, links: &Links, mobile: &mut Mobile) {
        for watch in self.freezes.watches() {
            self.open(now, &watch, links, mobile);
        }
    }

    /// The windows of this prefix are the sockets' own again. Returns the freeze that ends; none: they were not closed.
    fn unfreeze(&mut self, watch: &IpNet, mobile: &mut Mobile) -> Option<Frozen> {
        let frozen = self.freezes.open(watch)?;
        for prefix in self.prefixes.iter_mut().filter(|prefix| watch.contains(&prefix.to)) {
            prefix.closed = None;
        }
        if let Err(error) = self.treat(mobile) {
            // The program's own limit ends it.
            tracing::error!(%error, "windows stay closed until the break's time is over");
        }
        Some(frozen)
    }

    /// The same; and the peers are told, if there is a link.
    fn open(&mut self, now: u64, watch: &IpNet, links: &Links, mobile: &mut Mobile) {
        let Some(frozen) = self.unfreeze(watch, mobile) else { return };
        if links.path(watch).is_none() {
            return;
        }
        let closed = list(watch, u64::MAX, links, mobile);
        let closed: Vec<_> = closed.into_iter().filter(|waiting| waiting.closed).collect();
        tracing::info!(%watch, connections = closed.len(), "windows are open again without a break");
        self.tell_open(now, watch, frozen.up_kbps, closed);
    }

    fn tell_open(&mut self, now: u64, watch: &IpNet, up_kbps: u32, closed: Vec<Waiting>) {
        self.counts.opened += closed.len() as u64;
        self.resumes.open(now, *watch, up_kbps, closed.into_iter().map(|waiting| flow(waiting, 0, None)));
    }

    /// The link is back: the connections that wait are helped from now on. How many they are.
    pub(super) fn begin(&mut self, now: u64, outage: &Outage, mobile: &mut Mobile) -> u32 {
        // An ACK may have been delayed until after the link's end.
        self.mark(&outage.watch, now, mobile);
        self.unfreeze(&outage.watch, mobile);
        if !self.counts.resume && !self.counts.freeze {
            return 0;
        }
        let since = Duration::from_nanos(outage.since);
        let cannot = |error| {
            tracing::error!(%error, "connections whose peers have not negotiated cannot be helped");
            Vec::new()
        };
        let mut waiting = mobile.waiting(since).unwrap_or_else(cannot);
        if self.counts.forwarded {
            let forwarded = mobile.forwarded_waiting(since).unwrap_or_else(cannot);
            waiting.extend(forwarded.into_iter().filter(|flow| outage.watch.contains(&flow.remote().ip())));
        }
        let (negotiated, waiting): (Vec<_>, Vec<_>) =
            waiting.into_iter().partition(|waiting| waiting.negotiated);
        // Peers that are to have no help still must be told of an open window.
        let (waiting, only_closed): (Vec<_>, Vec<_>) =
            waiting.into_iter().partition(|waiting| waiting.resumes);
        let found = waiting.len();
        self.counts.opened += waiting.iter().filter(|waiting| waiting.closed).count() as u64;
        let access = 2 * u64::from(outage.delay_us) * 1000;
        let may_tell =
            |waiting: &Waiting| treated(&self.prefixes, waiting.remote().ip()).is_some_and(|t| t.mtu);
        let flows = waiting.into_iter().map(|waiting| {
            let mtu = waiting.smaller_mtu().filter(|_| may_tell(&waiting));
            Flow { mtu, ..flow(waiting, access, outage.links) }
        });
        // The kernel's list has an order of its own: none is taken to be told before the last.
        let told = outage.pace.clone().time_of(u32::try_from(negotiated.len()).unwrap_or(u32::MAX));
        let flows = flows.chain(negotiated.into_iter().map(|waiting| told_flow(waiting, access, told)));
        self.resumes.begin(now, outage.watch, outage.length, outage.up_kbps, flows);
        let helped = found.min(MOST);
        self.counts.helped += helped as u64;
        self.tell_open(now, &outage.watch, outage.up_kbps, only_closed);
        if found > 0 {
            tracing::info!(
                watch = %outage.watch,
                helped,
                left = found.saturating_sub(MOST),
                outage_ms = outage.length / 1_000_000,
                "connections whose peers have not negotiated are helped"
            );
        }
        u32::try_from(helped).unwrap_or(u32::MAX)
    }

    /// A handoff has completed, and no outage is known: connections of which nothing comes are helped later. They are
    /// listed when notices have left.
    pub(super) fn doubt(&mut self, change: Outage) {
        if self.counts.resume {
            self.doubts.push(change);
        }
    }

    fn list_doubted(&mut self, now: u64, change: &Outage, links: &Links, mobile: &mut Mobile) {
        let access = 2 * u64::from(change.delay_us) * 1000;
        let waiting = self.doubts.list(change, links, mobile).into_iter();
        let flows = waiting.map(|waiting| doubted_flow(now, waiting, access, change.links));
        self.resumes.doubt(now, change.watch, change.length, change.up_kbps, flows);
    }

    /// A handoff has completed.
    pub(super) fn on_moved(&mut self, now: u64, moved: &Moved, links: &Links, mobile: &mut Mobile) {
        // The new link came without the break.
        self.open(now, &moved.watch, links, mobile);
        if self.counts.window {
            self.windows.begin(now, moved, |remote| bounds(&self.prefixes, remote), mobile);
        }
    }

    /// When there is something to be sent.
    pub(super) fn deadline(&self) -> Option<u64> {
        self.resumes.deadline()
    }

    /// When windows that are closed are to be opened.
    pub(super) fn opening(&self) -> Option<u64> {
        self.freezes.deadline()
    }

    /// When windows are to be divided anew.
    pub(super) fn round(&self) -> Option<u64> {
        self.windows.deadline()
    }

    /// Divides windows anew, if it is time.
    pub(super) fn divide(&mut self, now: u64, mobile: &mut Mobile) {
        self.windows.act(now, |remote| bounds(&self.prefixes, remote), mobile);
    }

    /// Sends what is due, to those on which nothing new has come.
    pub(super) fn act(&mut self, now: u64, links: &Links, mobile: &mut Mobile) {
        while let Some(watch) = self.freezes.due(now) {
            self.open(now, &watch, links, mobile);
        }
        while let Some(change) = self.doubts.pop() {
            self.list_doubted(now, &change, links, mobile);
        }
        while let Some(Due { id, watch, waiting, says, begins, doubted, last }) = self.resumes.next(now) {
            if doubted && begins {
                if self.doubts.has_heard(now, watch, waiting, links, mobile) {
                    self.resumes.end(id);
                    self.resumes.unsent(now);
                    continue;
                }
                self.counts.helped += 1;
            }
            let progress = mobile.progress(waiting).unwrap_or(Progress::Gone);
            if progress == Progress::None {
                if waiting.forwarded {
                    lead(waiting, links, mobile);
                }
                // A peer that has resent something would resend it again.
                let is_late =
                    |say: &Say| matches!(say, Say::TooBig(_)) && !mobile.is_silent(waiting).unwrap_or(false);
                let says: Vec<Say> = says.into_iter().filter(|say| !is_late(say)).collect();
                for say in &says {
                    let sent = match say {
                        Say::About(number) => mobile.send_unreachable(waiting, waiting.acks[*number]),
                        Say::AboutNext => mobile.send_unreachable(waiting, waiting.next()),
                        Say::TooBig(mtu) => mobile.send_too_big(waiting, waiting.next(), *mtu),
                        Say::Octet(number) => mobile.send_octet(waiting, waiting.acks[*number]),
                        Say::Ack => mobile.send_ack(waiting),
                    };
                    match (sent, say) {
                        (Err(_), _) => self.counts.unsent += 1,
                        (Ok(()), _) if waiting.negotiated => self.counts.reminders += 1,
                        (Ok(()), Say::Ack) => self.counts.acks += 1,
                        (Ok(()), Say::Octet(_)) => self.counts.octets += 1,
                        (Ok(()), _) => self.counts.messages += 1,
                    }
                }
            }
            self.counts.reminded += u64::from(waiting.negotiated && begins && progress == Progress::None);
            self.counts.resumed += u64::from(!waiting.negotiated && progress == Progress::Resumed);
            if progress != Progress::None {
                self.resumes.unsent(now);
            }
            if progress != Progress::None || last {
                self.resumes.end(id);
                if self.resumes.is_empty() {
                    let OthersStatus { helped, resumed, messages, acks, octets, unsent, reminded, .. } =
                        self.counts;
                    tracing::info!(
                        helped,
                        resumed,
                        messages,
                        acks,
                        octets,
                        unsent,
                        reminded,
                        "connections have been helped, since the start"
                    );
                }
            }
        }
    }

    pub(super) fn status(&self, mobile: &Mobile) -> OthersStatus {
        OthersStatus {
            devices: self.followed.values().cloned().collect(),
            helping: self.resumes.len(),
            unechoed: mobile.unechoed().map_or(0, u64::from),
            bounded: self.windows.connections(),
            early: self.windows.early(),
            narrowed: mobile.narrowed().map_or(0, u64::from),
            frozen: self.freezes.watches().len(),
            closed: mobile.closed().map_or(0, u64::from),
            ..self.counts.clone()
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// 6400 kbit/s and 9 ms: five round trips of 18 ms are soon over, of 58 ms they are not.
    #[test]
    fn whether_a_peer_begins_anew_is_asked_only_of_a_path_that_is_known() {
        let link = Link { rate_kbps: 6400, delay_us: 9000 };
        let ms = |rtt: u64| Some(rtt * 1_000_000);
        assert!(anew(ms(18), Some([link; 2])));
        assert!(!anew(ms(58), Some([link; 2])));
        assert!(!anew(None, Some([link; 2])), "a router knows the link only");
        assert!(!anew(ms(18), None));
    }

    #[test]
    fn the_longest_prefix_decides() {
        let text = "watch = [\"default\"]\n[others]\nresume = true\n\
                    [[others.prefix]]\nto = \"192.0.2.0/24\"\nresume = false\n\
                    [[others.prefix]]\nto = \"192.0.2.8/29\"\nresume = true\n\
                    [[others.prefix]]\nto = \"::/0\"\nresume = false\n";
        let config = Config::parse(text, "a.toml").expect("a configuration");
        let said: Vec<_> =
            prefixes(&config).iter().map(|prefix| (prefix.to.to_string(), prefix.treated.resume)).collect();
        let expected =
            [("0.0.0.0/0", true), ("::/0", false), ("192.0.2.0/24", false), ("192.0.2.8/29", true)];
        assert_eq!(said, expected.map(|(to, resume)| (to.to_owned(), resume)));
        // The watched prefix is part of a prefix that is left alone.
        let text = "watch = [\"192.0.2.0/24\"]\n[[others.prefix]]\nto = \"192.0.0.0/16\"\nresume = false\n";
        let config = Config::parse(text, "a.toml").expect("a configuration");
        assert_eq!(prefixes(&config).iter().map(|prefix| prefix.treated.resume).collect::<Vec<_>>(), [false]);
    }

    #[test]
    fn a_prefix_says_one_thing_and_leaves_the_other_to_the_prefix_around_it() {
        let text = "[others]\nresume = false\nwindow = true\n\
                    [[others.prefix]]\nto = \"192.0.2.0/24\"\nwindow = false\n\
                    [[others.prefix]]\nto = \"192.0.2.8/29\"\nresume = true\n\
                    [[others.prefix]]\nto = \"192.0.2.8/32\"\nwindow = true\n";
        let prefixes = prefixes(&Config::parse(text, "a.toml").expect("a configuration"));
        let said: Vec<_> =
            prefixes.iter().map(|prefix| (prefix.treated.resume, prefix.treated.window)).collect();
        // 0.0.0.0/0, ::/0, and the three in order
        assert_eq!(said, [(false, true), (false, true), (false, false), (true, false), (true, true)]);
        let bounds = |remote: &str| bounds(&prefixes, remote.parse().expect("an address"));
        assert_eq!(
            ["192.0.2.8", "192.0.2.9", "192.0.2.1", "198.51.100.1", "fd00::1"].map(bounds),
            [true, false, false, true, true]
        );
    }
}
