//! Between a laboratory's plan and the machine that runs it.

use crate::{Failure, agent};
use segue_capture::LivePacket;
use segue_kernel::sender::Policy;
use segue_lab::packet::Packet;
use segue_lab::path::{Direction, Fate};
use segue_study::lab_plan::{Around, Conditions, LabSender, LabSenderKind, NoticeBy};
use segue_study::{DriveRun, LabDrive, LabPlan, LiveRun, Moment};
use segue_world::access::LinkSeed;
use segue_world::{AccessLink, Kind, Nanos};
use std::time::Duration;

/// One run of one sender.
#[derive(Clone, Debug)]
pub struct Measured {
    /// Its name.
    pub sender: String,
    /// The handoff.
    pub kind: Kind,
    /// Number of the run, from 0.
    pub run: u32,
    /// The run's measures.
    pub measures: LiveRun,
    /// Packets that the emulator saw, if it was asked to keep them.
    pub packets: Vec<LivePacket>,
}

/// How the machine is to be used.
#[derive(Clone, Copy, Debug)]
pub struct Use {
    /// Number of laboratories at once.
    pub jobs: u16,
    /// Whether packets are kept.
    pub keep_packets: bool,
}

/// Makes all runs of a plan over one kind of handoff: in each round every sender once. They come back by round, then
/// by sender; `done` hears how many more are finished.
pub fn laboratory(
    plan: &LabPlan,
    kind: Kind,
    how: Use,
    done: &mut dyn FnMut(u64),
) -> Result<Vec<Measured>, Failure> {
    let asked = asked(plan, kind, how)?;
    let records = segue_lab::run(&asked, &mut more(done)).map_err(failure)?;
    // By round, then by sender as listed: the laboratory's names of them need not be the plan's.
    let names = plan.senders.iter().map(|sender| &sender.name).cycle();
    Ok(records.into_iter().zip(names).map(|(record, name)| measured(record, name, kind)).collect())
}

/// Makes all runs of a drive whose handoffs are of one kind: the runs of each sender, as the plan lists them.
pub fn drive(
    drive: &LabDrive,
    kind: Kind,
    jobs: u16,
    done: &mut dyn FnMut(u64),
) -> Result<Vec<Vec<DriveRun>>, Failure> {
    let plan = asked(&drive.plan, kind, Use { jobs, keep_packets: false })?;
    let asked = segue_lab::drive::Drive {
        plan,
        stays: drive.stays.iter().map(|&stay| Duration::from_nanos(stay)).collect(),
        load: drive.load,
    };
    let records = segue_lab::drive::drive(&asked, &mut more(done)).map_err(failure)?;
    let mut runs = vec![Vec::new(); drive.plan.senders.len()];
    let places = (0..runs.len()).cycle();
    for (record, place) in records.iter().zip(places) {
        runs[place].push(driven(record, kind));
    }
    Ok(runs)
}

fn driven(record: &segue_lab::drive::DriveRecord, kind: Kind) -> DriveRun {
    let handoff = |one: &segue_lab::RunRecord| measured(one.clone(), &record.sender, kind).measures;
    let echo = |key: &segue_lab::shell::Keystroke| Some((key.echoed? - key.typed?) as f64 / 1e9);
    let typed = record.keystrokes.iter().filter(|key| key.typed.is_some());
    DriveRun {
        handoffs: record.handoffs.iter().map(handoff).collect(),
        octets: record.octets,
        completed_s: record.completed.map(|time| time.as_secs_f64()),
        intact: record.intact,
        echoes_s: typed.map(echo).collect(),
        first_echoes_s: record
            .first_echoes()
            .into_iter()
            .map(|time| time.map(|time| time.as_secs_f64()))
            .collect(),
        gave_up: record.gave_up,
    }
}

/// From how many runs are finished to how many more.
fn more(done: &mut dyn FnMut(u64)) -> impl FnMut(segue_lab::Progress) {
    let mut before = 0;
    move |progress| {
        done((progress.done - before) as u64);
        before = progress.done;
    }
}

fn failure(error: segue_lab::Error) -> Failure {
    match error {
        segue_lab::Error::Plan(_) => Failure::user(error),
        _ => Failure::ours(error),
    }
}

/// A plan as the machine knows it.
fn asked(plan: &LabPlan, kind: Kind, how: Use) -> Result<segue_lab::Plan, Failure> {
    let mut senders = plan.senders.iter().map(sender).collect::<Result<Vec<_>, _>>()?;
    for sender in &mut senders {
        if let segue_lab::SenderKind::Builtin { freeze_before: Some(before), .. } = sender {
            *before = Duration::from_nanos(plan.freeze_before);
        }
    }
    let mut asked =
        segue_lab::Plan::new(link(&plan.old, plan.seed, 1), link(&plan.new, plan.seed, 2), senders);
    asked.kind = if kind == Kind::Mbb { segue_lab::Kind::Mbb } else { segue_lab::Kind::Bbm };
    asked.disconnect = Duration::from_nanos(kind.disconnection());
    asked.flows = plan.flows as u32;
    asked.runs = plan.runs;
    asked.program = plan.program;
    asked.warm_up = Some(Duration::from_nanos(plan.warm_up));
    asked.observe = Duration::from_nanos(plan.observe);
    asked.family = plan.ip;
    asked.seed = plan.seed;
    asked.parallel = u32::from(how.jobs);
    asked.wired = Duration::from_nanos(plan.wired);
    asked.packets = how.keep_packets;
    asked.told_rate = plan.told_rate;
    asked.ecn = plan.ecn();
    asked.end = this_program(&["lab-end"]);
    let Conditions { dead, gateway, lost_icmp, lost_messages, agent_mtu, announce } = plan.conditions;
    (asked.dead, asked.gateway, asked.agent_mtu) = (dead, gateway, agent_mtu);
    asked.announce = announce.map(Duration::from_nanos);
    asked.unheard = segue_lab::unheard::Unheard { icmp: lost_icmp, first: lost_messages };
    Ok(asked)
}

fn measured(record: segue_lab::RunRecord, sender: &str, kind: Kind) -> Measured {
    let count = |of: u64| u32::try_from(of).unwrap_or(u32::MAX);
    Measured {
        sender: sender.to_string(),
        kind,
        run: record.run,
        measures: LiveRun {
            moment: Moment {
                age: record.handoff_at.as_nanos() as Nanos,
                clock: record.link_down.as_nanos() as Nanos,
                notice: record.notice_after_link_up.map(|time| time.as_nanos() as Nanos),
            },
            first_send_s: record.first_send_after_link_up.map(|time| time.as_secs_f64()),
            first_retransmission_s: record.first_retransmission_after_link_up.map(|time| time.as_secs_f64()),
            first_data_s: record.first_data_after_link_up.map(|time| time.as_secs_f64()),
            share_after_round_trip: record
                .bytes_1s_after_round_trip
                .map(|bytes| bytes as f64 / record.capacity_1s_after_round_trip.max(1) as f64),
            bytes_1s: record.bytes_1s,
            bytes_5s: record.bytes_5s,
            bytes_10s: record.bytes_10s,
            drops: count(record.after.drops),
            lost_in_disconnection: count(record.after.lost_in_disconnection),
            retransmissions: count(record.after.retransmissions),
            gave_up: record.gave_up,
        },
        packets: record.packets.iter().filter_map(at_server).collect(),
    }
}

/// A packet at the server's end of the emulator, if it has been there.
fn at_server(packet: &Packet) -> Option<LivePacket> {
    let at = match (packet.direction, packet.fate) {
        (Direction::Down, _) => packet.entered,
        (Direction::Up, Fate::Delivered(at)) => at,
        (Direction::Up, _) => return None,
    };
    let comment = match packet.fate {
        Fate::Dropped(_) => Some("dropped: the queue was full".to_string()),
        Fate::Lost(_) => Some("lost on the link".to_string()),
        Fate::Disconnected(_) => Some("lost in the disconnection".to_string()),
        Fate::Delivered(_) | Fate::UnderWay => None,
    };
    let (at, length) = (Duration::from_nanos(at), u32::from(packet.length));
    Some(LivePacket { at, length, bytes: packet.head().to_vec(), comment })
}

/// A sender as the machine knows it.
pub fn sender(sender: &LabSender) -> Result<segue_lab::SenderKind, Failure> {
    match &sender.kind {
        LabSenderKind::BuiltIn { congestion_control, rto_max_ms, freeze, agent } => {
            Ok(segue_lab::SenderKind::Builtin {
                congestion_control: congestion_control.clone(),
                rto_max_ms: *rto_max_ms,
                // How long is the plan's.
                freeze_before: freeze.then_some(Duration::ZERO),
                agent: if *agent { agent_command()? } else { Vec::new() },
            })
        }
        LabSenderKind::Scheme { name, around, icmp } => aware(sender, Some(name), *around, *icmp),
        LabSenderKind::Unaware { around } => aware(sender, None, *around, false),
    }
}

/// A sender of ours: what it does on a notice, and around which congestion control of the kernel's.
fn aware(
    sender: &LabSender,
    scheme: Option<&str>,
    around: Around,
    icmp: bool,
) -> Result<segue_lab::SenderKind, Failure> {
    let policy = Policy::named(scheme.unwrap_or("unaware"), &sender.settings).map_err(Failure::user)?;
    let around = match around {
        Around::Cubic => segue_kernel::sender::Around::Cubic,
        Around::Bbr => segue_kernel::sender::Around::Bbr,
    };
    let segue = segue_lab::Segue { policy, around, icmp };
    let notice_by = match sender.notice_by {
        NoticeBy::Laboratory => segue_lab::NoticeBy::Laboratory,
        NoticeBy::Agent => segue_lab::NoticeBy::Agent(agent_command()?),
    };
    Ok(segue_lab::SenderKind::Aware { name: sender.name.clone(), segue, notice_by })
}

/// The words that start the agent.
fn agent_command() -> Result<Vec<String>, Failure> {
    Ok(vec![agent::program()?.display().to_string(), "run".into()])
}

/// Words that start this program with others, also when its file has been replaced meanwhile.
pub fn this_program(words: &[&str]) -> Vec<String> {
    let program = format!("/proc/{}/exe", std::process::id());
    std::iter::once(program).chain(words.iter().map(|&word| word.into())).collect()
}

/// The simulator's link, which is the laboratory's.
fn link(link: &AccessLink, seed: u64, number: u64) -> segue_lab::access_link::AccessLink {
    let place = LinkSeed { seed, link: number };
    segue_lab::access_link::AccessLink { down: link.down_config(place), up: link.up_config(place) }
}

/// The kernel that sends, as rows name it: `linux-6.18.5`.
pub fn kernel() -> String {
    let release = std::fs::read_to_string("/proc/sys/kernel/osrelease").unwrap_or_default();
    match release.trim() {
        "" => "linux".into(),
        release => format!("linux-{release}"),
    }
}
