//! Plans: what files mean, and mistakes in them.

use super::*;
use segue_study::lab_plan::{Around, NoticeBy};

const LINKS: &str = "old = \"6400kbit/9ms\"\nnew = \"200kbit/300ms\"\n";

fn plan(more: &str) -> Result<LabPlan, String> {
    let text = format!("{LINKS}{more}");
    LabFile::parse(&text, "p.toml").and_then(|file| file.plan(None)).map_err(|error| error.to_string())
}

#[test]
fn links_are_enough() {
    let plan = plan("").unwrap();
    assert_eq!((plan.kinds.as_slice(), plan.flows, plan.runs), (&[Kind::Bbm(SECOND)][..], 1, 5));
    let names: Vec<_> = plan.senders.iter().map(|sender| sender.name.as_str()).collect();
    assert_eq!(names, ["cubic", "etcp-v1"]);
    // 5 s, 100 packets of 1.875 ms, ten round trips of 26 ms
    assert_eq!((plan.warm_up, plan.observe, plan.wired), (5_447_500_000, 10 * SECOND, 4_000_000));
    assert_eq!((plan.program, plan.ip, plan.seed, plan.old.queue), (Program::Iperf3, Family::Ipv4, 1, 10));
    assert_eq!(plan.noise, 50_000);
    assert!(plan.conditions.agent_mtu && plan.conditions.words().is_empty());
}

/// The simulator's mobile tells no MTU: it is asked all the same.
#[test]
fn an_agent_that_tells_no_mtu_is_simulated() {
    let words = plan("wired = \"0s\"\nagent-mtu = false\n").expect("a plan").conditions_in_words();
    assert_eq!(words, "agent-mtu = false, wired = 0 s (simulator: 0.004 s)");
}

/// Cubic, which hears nothing of it, and near have simulated twins; etcp-v1 has none, nor has near beyond a second.
#[test]
fn a_handoff_is_announced() {
    let senders = "senders = [\"cubic\", \"etcp-v1\", \"near\"]";
    let announced =
        |time: &str| plan(&format!("kind = \"mbb\"\n{senders}\nannounce = \"{time}\"\n")).expect("a plan");
    assert_eq!(plan("kind = \"mbb\"\n").expect("a plan").conditions.announce, None);
    for (time, announce, words) in [
        ("30ms", 30_000_000, "announce = 0.03 s"),
        ("0s", 0, "announce = 0 s"),
        ("5447500us", 5_447_500_000, "announce = 5.4475 s"),
    ] {
        let plan = announced(time);
        assert_eq!(plan.conditions.announce, Some(announce));
        assert_eq!(plan.conditions_in_words(), words);
        let simulated = |index: usize| plan.simulated(&plan.senders[index], Kind::Mbb, &[]).is_some();
        assert_eq!([0, 1, 2].map(simulated), [true, false, announce <= SECOND], "{time}");
    }
    let at_laboratory =
        plan("kind = \"mbb\"\nsenders = [\"near@laboratory\"]\nannounce = \"1s\"").expect("a plan");
    assert_eq!(at_laboratory.conditions.announce, Some(SECOND));
    let refused = |more: &str| plan(more).expect_err("a mistake");
    for (more, part) in [
        (
            "announce = \"30ms\"",
            "line 3, column 12: `announce` is for make-before-break; expected kind = \"mbb\"",
        ),
        ("kind = \"bbm\"\nannounce = \"0s\"", "line 4, column 12: `announce` is for make-before-break"),
        (
            "kind = \"mbb\"\nsenders = [\"cubic\", \"cubic+agent\", \"unaware\"]\nannounce = \"30ms\"",
            "line 5, column 12: `announce` is of senders with notices, such as etcp-v1; expected one of them",
        ),
        (
            "kind = \"mbb\"\nwarm-up = \"1s\"\nannounce = \"2s\"",
            "line 5, column 12: announce 2s is out of range; expected 0 s to 1 s",
        ),
        ("kind = \"mbb\"\nannounce = \"soon\"", "line 4, column 12: `soon` is not a time; expected a number"),
        ("kind = \"mbb\"\nannounce = 30", "line 4, column 12: "),
    ] {
        let message = refused(more);
        assert!(message.contains(part) && message.lines().count() == 1, "{more}: {message}");
    }
}

/// Senders ask for ECN where a link marks.
#[test]
fn links_that_mark_are_noticed() {
    for (words, ecn) in [(",queue=codel,ecn", true), (",queue=codel", false), (",up-queue=red,up-ecn", true)]
    {
        let text = LINKS.replace("300ms", &format!("300ms{words}"));
        let plan = LabFile::parse(&text, "p.toml").and_then(|file| file.plan(None)).expect("a plan");
        assert_eq!(plan.ecn(), ecn, "{words}");
    }
}

/// Scenarios spell keys with `_`.
#[test]
fn keys_may_be_spelt_as_scenarios_have_them() {
    let plan = plan("warm_up = \"7s\"\nlost_icmp = 0.5\ntold_rate = 2\n").expect("a plan");
    assert_eq!(plan.warm_up, 7 * SECOND);
}

#[test]
fn every_key_is_heard() {
    let plan = plan(
        "title = \"T\"\nkind = \"bbm\"\ndisconnect = [\"2s\", \"10s\"]\nflows = 3\nruns = 7\nwarm-up = \"5s\"\n\
         senders = [\"reno-rto1500ms\", \"etcp-v1/bbr\", \"unaware\", \"etcp:a1+a3\"]\nobserve = \"20s\"\nwired = \"0s\"\n\
         program = \"nginx\"\nip = 6\nqueue = 12\nseed = 9\ndead = \"down-first\"\nlost-icmp = 1.0\n\
         lost-messages = 0.5\nagent-mtu = false\nnoise = \"0s\"\n[settings]\nrest-us = \"100ms\"\n",
    )
    .unwrap();
    assert_eq!(plan.kinds, [Kind::Bbm(2 * SECOND), Kind::Bbm(10 * SECOND)]);
    assert_eq!((plan.flows, plan.runs, plan.seed, plan.ip), (3, 7, 9, Family::Ipv6));
    assert_eq!((plan.old.queue, plan.new.queue, plan.program), (12, 12, Program::Nginx));
    assert_eq!((plan.warm_up, plan.observe, plan.wired), (5 * SECOND, 20 * SECOND, 0));
    assert_eq!(plan.noise, 0);
    let conditions = Conditions {
        dead: Dead::DownFirst,
        lost_icmp: 1.0,
        lost_messages: 0.5,
        gateway: Gateway::None,
        agent_mtu: false,
        announce: None,
    };
    assert_eq!(plan.conditions, conditions);
    assert_eq!(
        conditions.words(),
        "dead = down-first, lost-icmp = 1, lost-messages = 0.5, agent-mtu = false"
    );
    assert_eq!(plan.count(), 2 * 4 * 7);
    let kinds: Vec<_> = plan.senders.iter().map(|sender| sender.kind.clone()).collect();
    let scheme = |name: &str, around| LabSenderKind::Scheme { name: name.into(), around, icmp: false };
    let expected = [
        LabSenderKind::BuiltIn {
            congestion_control: "reno".into(),
            rto_max_ms: Some(1500),
            freeze: false,
            agent: false,
        },
        scheme("etcp-v1", Around::Bbr),
        LabSenderKind::Unaware { around: Around::Cubic },
        scheme("etcp:a1+a3", Around::Cubic),
    ];
    assert_eq!(kinds, expected);
    assert!(plan.senders.iter().all(|sender| sender.notice_by == NoticeBy::Agent));
    let rest = [("rest-us".to_string(), "100ms".to_string())];
    assert_eq!(plan.senders[1].settings, rest);
    assert!(plan.senders[0].settings.is_empty());
}

#[test]
fn mistakes_are_told_with_their_place() {
    for (more, part) in [
        ("kind = \"bmb\"", "line 3, column 8: unknown word `bmb`, expected `mbb` or `bbm`"),
        ("warmup = \"1s\"", "line 3, column 1: unknown key `warmup`"),
        (
            "senders = [\"cubic\", \"cubik\"]",
            "line 3, column 21: unknown sender `cubik`; expected one of cubic, bbr",
        ),
        ("senders = [\"cubik\"]", "did you mean `cubic`?"),
        ("senders = [\"freeze\"]", "unknown sender `freeze`"),
        ("senders = [\"cubic/bbr\"]", "unknown sender `cubic/bbr`"),
        ("senders = [\"etcp-v1/vegas\"]", "no sender runs around `vegas`; expected cubic or bbr"),
        ("senders = [\"cubic-rto1\"]", "expected a longest RTO of 1s to 120s"),
        ("senders = [\"cubic-rto999ms\"]", "expected a longest RTO of 1s to 120s"),
        ("senders = [\"cubic\", \"cubic\"]", "column 21: `cubic` is given twice"),
        ("senders = []", "the list is empty; expected at least one"),
        ("kind = \"mbb\"\ndisconnect = \"1s\"", "line 4, column 14: `disconnect` is for break-before-make"),
        ("disconnect = [\"1s\", \"1000ms\"]", "`1000ms` is given twice"),
        ("disconnect = \"301s\"", "out of range; expected 0.001 s to 300 s"),
        ("observe = \"soon\"", "line 3, column 11: `soon` is not a time; expected a number with unit"),
        ("flows = 65", "flows 65 is out of range; expected 1 to 64"),
        ("dead = \"up\"", "unknown word `up`, expected `both` or `down-first`"),
        ("kind = \"mbb\"\ndead = \"down-first\"", "line 4, column 8: `dead` is for break-before-make"),
        ("ip = 6\ngateway = \"nat\"", "line 4, column 11: a NAT of IPv6; expected ip = 4 beside it"),
        ("lost-icmp = 1.5", "lost-icmp 1.5 is out of range; expected 0 to 1"),
        ("noise = \"101ms\"", "line 3, column 9: noise 101ms is out of range; expected 0 s to 0.1 s"),
        ("noise = \"0.05\"", "line 3, column 9: `0.05` is not a time; expected a number with unit"),
        ("ip = 5", "ip 5: expected 4 or 6"),
        ("queue = 0", "queue 0 is out of range"),
        ("runs = 0", "runs 0 is out of range"),
        (
            "program = \"wget\"",
            "unknown word `wget`, expected one of `iperf3`, `nginx`, `thin`, `page`, `ssh`, `ssh-idle`",
        ),
        ("[settings]\nrto = 1", "line 4, column 1: unknown setting `rto`"),
        (
            "senders = [\"cubic\", \"cubic+freeze\"]\ntold-rate = 2",
            "line 4, column 13: `told-rate` is of senders with notices or an agent, such as etcp-v1 or cubic+agent; expected",
        ),
        ("[settings]\nenact = \"paper\"", "unknown setting `enact`"),
        ("[settings]\nguard = true", "unknown setting `guard`"),
        (
            "[settings]\nrest-us = \"x\"",
            "line 4, column 11: setting of scheme `etcp-v1`: `x` is no value of rest-us",
        ),
    ] {
        let message = plan(more).unwrap_err();
        assert!(message.starts_with("p.toml, line ") && message.contains(part), "{more}: {message}");
        assert!(message.contains("expected") && message.lines().count() == 1, "{message}");
    }
    let missing = LabFile::parse("old = \"wlan\"", "p.toml").unwrap_err().to_string();
    assert!(missing.contains("missing key `new`; expected a laboratory's plan in TOML"), "{missing}");
    let unread = LabFile::read("/nowhere/p.toml", &LinkNames::default()).unwrap_err().to_string();
    assert!(unread.contains("there is no such file; expected a laboratory's plan"), "{unread}");
    let link =
        LabFile::parse("old = \"wlan\"\nnew = \"6400kbit\"", "p.toml").and_then(|file| file.plan(None));
    assert!(link.unwrap_err().to_string().starts_with("p.toml, line 2, column 7: "));
}

fn drive(more: &str) -> Result<LabDrive, String> {
    let text = format!("{LINKS}{more}");
    LabFile::parse(&text, "p.toml").and_then(|file| file.drive(None)).map_err(|error| error.to_string())
}

#[test]
fn a_drive_has_stays_and_a_load() {
    let plain = drive("stays = [\"8s\", \"10s\", \"500ms\"]\n").unwrap();
    assert_eq!((plain.stays, plain.load), (vec![8 * SECOND, 10 * SECOND, SECOND / 2], Load::Bulk));
    let two = "stays = [\"8s\", \"10s\"]\n";
    let load = |more: &str| drive(&format!("{two}{more}")).map(|drive| drive.load);
    assert_eq!(load("program = \"ssh\""), Ok(Load::Typing));
    assert_eq!(load("program = \"ssh-idle\""), Ok(Load::Watching));
    assert_eq!(load("program = \"nginx\""), Ok(Load::File(20_000_000)));
    assert_eq!(load("program = \"nginx\"\nbytes = \"300kB\""), Ok(Load::File(300_000)));
    assert_eq!(load("program = \"nginx\"\nbytes = \"1.5MB\""), Ok(Load::File(1_500_000)));
    assert_eq!(load("program = \"page\""), Ok(Load::Page(2_000_000)));
    assert_eq!(load("program = \"page\"\nbytes = \"300kB\""), Ok(Load::Page(300_000)));
    for (message, part) in [
        (drive(""), "missing key `stays`"),
        (drive("stays = [\"8s\"]"), "line 3, column 9: stays: expected two times or more"),
        (drive("stays = [\"8s\", \"1ms\"]"), "line 3, column 16: stays 1ms is out of range"),
        (drive(&format!("{two}observe = \"5s\"")), "observe is of `segue lab run`; expected `stays`"),
        (drive(&format!("{two}program = \"thin\"")), "`thin` is of one handoff; expected `segue lab run`"),
        (drive(&format!("{two}lost-messages = 0.5")), "line 4, column 17: `lost-messages` is of one handoff"),
        (drive(&format!("{two}noise = \"0s\"")), "line 4, column 9: `noise` is of one handoff"),
        (drive(&format!("{two}announce = \"0s\"")), "line 4, column 12: `announce` is of one handoff"),
        (drive(&format!("{two}dead = \"both\"")), "line 4, column 8: `dead` is of one handoff"),
        (drive(&format!("{two}bytes = \"5MB\"")), "line 4, column 9: `bytes` is of nginx"),
        (drive(&format!("{two}program = \"nginx\"\nbytes = \"5\"")), "bytes `5`: expected a size as 20MB"),
        (
            drive(&format!("{two}program = \"page\"\nbytes = \"11GB\"")),
            "bytes `11GB`: expected a size as 20MB",
        ),
    ] {
        let message = message.unwrap_err();
        assert!(message.contains(part) && message.lines().count() == 1, "{message}");
    }
    for (more, part) in [
        (two, "`stays` is of drives"),
        ("program = \"ssh\"", "column 11: `ssh` is of drives"),
        ("program = \"ssh-idle\"", "column 11: `ssh-idle` is of drives"),
        ("program = \"page\"", "column 11: `page` is of drives"),
        ("bytes = \"5MB\"", "`bytes` is of drives"),
    ] {
        let message = plan(more).unwrap_err();
        assert!(message.contains(part) && message.contains("expected `segue lab drive`"), "{message}");
    }
}

#[test]
fn a_mobile_freezes_before_handoffs() {
    let frozen =
        |more: &str| drive(&format!("stays = [\"8s\", \"2s\"]\nsenders = [\"cubic+freeze\"]\n{more}"));
    assert_eq!(frozen("").map(|drive| drive.plan.freeze_before), Ok(SECOND * 3 / 20));
    assert_eq!(frozen("freeze-before = \"1s\"").map(|drive| drive.plan.freeze_before), Ok(SECOND));
    let late = frozen("freeze-before = \"2100ms\"").unwrap_err();
    assert!(late.contains("freeze-before 2100ms is out of range; expected 0.001 s to 2 s"), "{late}");
    let nobody = drive("stays = [\"8s\", \"2s\"]\nfreeze-before = \"1s\"").unwrap_err();
    assert!(
        nobody.contains("line 4, column 17: `freeze-before` is of senders such as cubic+freeze"),
        "{nobody}"
    );
    // One handoff: before it is the warm-up.
    let frozen = |more: &str| plan(&format!("senders = [\"cubic+freeze\", \"bbr+agent+freeze\"]\n{more}"));
    assert_eq!(frozen("").map(|plan| plan.freeze_before), Ok(SECOND * 3 / 20));
    assert_eq!(frozen("freeze-before = \"1s\"").map(|plan| plan.freeze_before), Ok(SECOND));
    let late = frozen("warm-up = \"2s\"\nfreeze-before = \"2100ms\"").unwrap_err();
    assert!(late.contains("freeze-before 2100ms is out of range; expected 0.001 s to 2 s"), "{late}");
    let short = frozen("warm-up = \"100ms\"").unwrap_err();
    let problem = "windows close 0.15 s before; expected `freeze-before`, 0.1 s at most";
    assert!(short.contains("line 3, column 11: ") && short.contains(problem), "{short}");
    let enough = frozen("warm-up = \"100ms\"\nfreeze-before = \"50ms\"");
    assert_eq!(enough.map(|plan| plan.freeze_before), Ok(SECOND / 20));
    let nobody = plan("freeze-before = \"1s\"").unwrap_err();
    assert!(nobody.contains("`freeze-before` is of senders such as cubic+freeze"), "{nobody}");
}

#[test]
fn the_examples_are_plans() {
    let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/../../examples");
    let plan = |name: &str| {
        LabFile::read(&format!("{folder}/{name}"), &LinkNames::default()).and_then(|file| file.plan(Some(2)))
    };
    let outage = plan("lab-bbm-10s.toml").unwrap();
    assert_eq!((outage.kinds, outage.senders.len(), outage.runs), (vec![Kind::Bbm(10 * SECOND)], 6, 2));
    let slower = plan("lab-mbb.toml").unwrap();
    assert_eq!((slower.kinds, slower.new.queue), (vec![Kind::Mbb], 10));
    let drive = |name: &str| {
        LabFile::read(&format!("{folder}/{name}"), &LinkNames::default())
            .and_then(|file| file.drive(Some(2)))
            .unwrap()
    };
    let download = drive("lab-drive-umts-lte.toml");
    assert_eq!((download.load, download.stays.len()), (Load::File(20_000_000), 5));
    assert_eq!((drive("lab-ssh.toml").load, drive("lab-starlink.toml").load), (Load::Typing, Load::Bulk));
    assert_eq!(drive("lab-page.toml").load, Load::Page(2_000_000));
    let foreseen = plan("lab-freeze.toml").unwrap();
    assert_eq!((foreseen.kinds.len(), foreseen.freeze_before), (4, SECOND * 3 / 20));
}
