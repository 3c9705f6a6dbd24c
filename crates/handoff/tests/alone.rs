//! The schemes of the mobile alone: what they ask of the mobile, their settings, and where their rules stand.

use segue_handoff::{Act, AloneRule, Scheme};
use segue_tcp::Advisor;

fn rule(name: &str, settings: &[(&str, &str)]) -> Result<AloneRule, String> {
    let settings: Vec<_> = settings.iter().map(|(k, v)| (k.to_string(), v.to_string())).collect();
    let scheme = Scheme::build(name, &settings).map_err(|error| error.to_string())?;
    scheme.mobile().alone.ok_or("it is no scheme of the mobile alone".into())
}

#[test]
fn one_does_each_and_one_does_both() {
    for (name, resumes, bounds) in
        [("mobile", true, true), ("mobile-resume", true, false), ("mobile-window", false, true)]
    {
        let expected = AloneRule { resumes, bounds, lost: 0, queue: None };
        assert_eq!(rule(name, &[]), Ok(expected), "{name}");
        let scheme = Scheme::build(name, &[]).expect("a scheme");
        assert!(!scheme.mobile().announces && !scheme.listening() && !scheme.is_regular(), "{name}");
        for info in Scheme::settings_of(name) {
            assert_eq!(rule(name, &[(info.name, &info.default)]), Ok(expected), "{}", info.name);
        }
    }
}

#[test]
fn settings() {
    let lost = |value| rule("mobile", &[("alone-lost", value)]).map(|rule| rule.lost);
    assert_eq!((lost("3"), lost("all")), (Ok(3), Ok(u32::MAX)));
    assert!(lost("some").unwrap_err().contains("expected a whole number, or all"));
    let queue = |value| rule("mobile", &[("alone-queue", value)]).map(|rule| rule.queue);
    assert_eq!((queue("20"), queue("link")), (Ok(Some(20)), Ok(None)));
    assert!(queue("-1").unwrap_err().contains("expected a whole number of packets, or link"));
    assert!(
        rule("mobile", &[("lost", "3")]).unwrap_err().contains("expected one of alone-lost, alone-queue")
    );
}

/// Traces name a section of the page for each act, and the page has it.
#[test]
fn each_act_has_a_rule_that_stands_somewhere() {
    let path = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/reference/mobile.md");
    let page = std::fs::read_to_string(path).expect("the page");
    let acts = [
        Act::Message { seq: 7, lost: false },
        Act::MessageLost { seq: 7 },
        Act::MessageHeard { seq: 7, heeded: true },
        Act::LastAck { ack: 7, lost: true },
        Act::Octet { seq: 7, lost: true },
        Act::NotEchoed { ack: 7 },
        Act::Resumed,
        Act::LeftAlone,
        Act::Bounded { window: 15, raised: false },
        Act::Bounded { window: 15, raised: true },
        Act::Unbounded,
        Act::EarlyAck { ack: 7, lost: true },
    ];
    for act in acts {
        let own = act.rule().split(';').next().expect("a rule");
        let sections = own.strip_prefix("segue explain mobile ").expect("of our page").split(", ");
        for section in sections {
            let found = page.lines().any(|line| {
                line.starts_with(&format!("{section} ")) || line.starts_with(&format!("## {section}. "))
            });
            assert!(found, "{act:?}: no section {section}");
        }
    }
    let text = Act::Message { seq: 7, lost: true }.to_string();
    assert_eq!(text, "sends host unreachable about 7, and is lost");
}
