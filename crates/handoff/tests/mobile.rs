//! Rules of the mobile in schemes: who announces, how Freeze-TCP closes its window, and which settings are refused.

use segue_handoff::{Encoding, Lead, MobileRule, Scheme, Start, StartRule, WindowRule};
use segue_tcp::Advisor;

fn freeze(settings: &[(&str, &str)]) -> Result<MobileRule, String> {
    let settings: Vec<_> = settings.iter().map(|(k, v)| (k.to_string(), v.to_string())).collect();
    Scheme::build("freeze", &settings).map(|scheme| scheme.mobile()).map_err(|error| error.to_string())
}

fn window(settings: &[(&str, &str)]) -> WindowRule {
    freeze(settings).unwrap().window.unwrap()
}

/// 4.5, 9.22.
#[test]
fn freeze_closes_a_round_trip_ahead_and_opens_with_three_acks() {
    let rule = WindowRule { closes: Lead::PathRtt, missed: 0, reopen_acks: 3 };
    assert_eq!(freeze(&[]), Ok(MobileRule { announces: false, window: Some(rule), ..MobileRule::default() }));
    assert_eq!(rule.closes.on_path(80_000_000), 80_000_000);
    assert!((1..100).all(|n| rule.foresees(n)));
}

/// 5.2, 9.24: before the link goes and after it is back, quantised unless set.
#[test]
fn hn_foretells() {
    let rule = |settings: &[(String, String)]| Scheme::build("hn", settings).map(|scheme| scheme.mobile());
    let foretells = Some(StartRule { ehd: None, encoding: Encoding::Quantised });
    assert_eq!(rule(&[]), Ok(MobileRule { announces: false, foretells, ..MobileRule::default() }));
    let set = [("ehd".to_string(), "1.5s".to_string()), ("encoding".to_string(), "exact".to_string())];
    let told = rule(&set).unwrap().foretells.unwrap().start(500_000_000, 100_000);
    assert_eq!(told, Start { ehd: 1_500_000_000, pbs: 100_000 });
    let bad =
        |key: &str, value: &str| Scheme::build("hn", &[(key.into(), value.into())]).unwrap_err().to_string();
    assert!(bad("ehd", "328s").contains("up to 327.68s"));
    assert!(bad("ehd", "-1s").contains("up to 327.68s"));
    assert!(bad("ehd", "1000").contains("up to 327.68s"));
    assert!(bad("encoding", "log").contains("quantised or exact"));
    assert!(bad("pbs-field", "3").contains("expected one of ehd, encoding"));
}

/// Schemes with a rule of their own for the mobile: it has another part, or none.
fn quiet(name: &str) -> bool {
    ["freeze", "hn", "satcp", "leocc", "rtt-jump"].contains(&name)
        || name.starts_with("buffer-")
        || name.starts_with("mobile")
}

/// The sender finds out by its schedule, or by its round trips.
#[test]
fn nobody_announces_what_the_sender_finds_out() {
    for name in ["satcp", "leocc", "rtt-jump"] {
        let rule = Scheme::build(name, &[]).unwrap().mobile();
        assert_eq!(rule, MobileRule { announces: false, ..MobileRule::default() }, "{name}");
    }
}

#[test]
fn the_others_announce_unless_nobody_listens_and_leave_the_window_alone() {
    for entry in Scheme::entries().iter().filter(|entry| !quiet(entry.name)) {
        let scheme = Scheme::build(entry.name, &[]).unwrap();
        let regular = ["sack", "newreno", "reno", "cubic", "bbr", "bbr3"].contains(&entry.name);
        assert_eq!(scheme.is_regular(), regular, "{}", entry.name);
        let rule = MobileRule { announces: !regular, ..MobileRule::default() };
        assert_eq!((rule.window, rule.phas, rule.foretells, rule.alone), (None, None, None, None));
        assert_eq!(scheme.mobile(), rule, "{}", entry.name);
    }
}

#[test]
fn settings_of_freeze() {
    assert_eq!(window(&[("warn", "50ms")]).closes.on_path(80_000_000), 50_000_000);
    assert_eq!(window(&[("warn", "rtt")]).closes, Lead::PathRtt);
    assert_eq!(window(&[("warn", "0")]).closes, Lead::Time(0));
    assert!(Scheme::build("freeze", &[("warn".into(), "1".into())]).is_err(), "1 of which unit?");
    assert_eq!(window(&[("reopen-acks", "1")]).reopen_acks, 1);
    let missed = |n| {
        let rule = window(&[("missed", n)]);
        (1..=6).filter(|&k| !rule.foresees(k)).collect::<Vec<_>>()
    };
    assert_eq!(missed("0"), []);
    assert_eq!(missed("1"), [1, 2, 3, 4, 5, 6]);
    assert_eq!(missed("3"), [3, 6]);
}

#[test]
fn the_defaults_shown_are_the_defaults() {
    for info in Scheme::settings_of("freeze") {
        assert_eq!(freeze(&[(info.name, &info.default)]), freeze(&[]), "{}", info.name);
    }
    assert_eq!(Scheme::settings_of("freeze").len(), 3);
}

#[test]
fn bad_settings_are_named() {
    for (key, value, why) in [
        ("warm", "1s", "expected one of warn, missed, reopen-acks"),
        ("warn", "soon", "expected rtt, or a time such as 100ms"),
        ("warn", "-1s", "expected rtt, or a time"),
        ("missed", "2.5", "expected a whole number"),
        ("reopen-acks", "4000000000", "expected a whole number, 0 to 1000"),
    ] {
        let error = freeze(&[(key, value)]).unwrap_err();
        assert!(error.contains(why), "{key}={value}: {error}");
    }
}

/// The sender is regular TCP: it asks nobody.
#[test]
fn nobody_advises_a_frozen_sender() {
    assert!(!Scheme::build("freeze", &[]).unwrap().listening());
}
