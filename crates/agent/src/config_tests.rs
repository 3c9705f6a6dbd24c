//! The configuration: its keys, and what is said of mistakes.

use super::*;
use proptest::prelude::*;

fn parse(text: &str) -> Result<Config, String> {
    Config::parse(text, "a.toml").map_err(|error| {
        assert!(error.is_users(), "{error}");
        error.to_string()
    })
}

#[test]
fn nothing_need_be_written() {
    let config = parse("").expect("defaults");
    let nets: Vec<_> = config.settings.watch.iter().map(ToString::to_string).collect();
    assert_eq!(nets, ["0.0.0.0/0", "::/0"]);
    assert_eq!((config.settings.copies, config.settings.interval), (2, 1_000_000_000));
    assert_eq!((config.control.to_str(), config.group, config.cgroup), (Some(socket::PLACE), None, None));
    assert!(config.settings.rules.is_empty());
    assert_eq!((config.uploads, config.table), (Policy::named("etcp-v1", &[]).ok(), 254));
    assert_eq!(config.receivers.devices().count(), 0);
    assert_eq!(config.others, Others { all: OTHERS, prefixes: Vec::new(), forwarded: false });
}

#[test]
fn what_is_done_for_other_peers() {
    let config = parse("[others]\nresume = false\n[[others.prefix]]\nto = \"192.0.2.0/24\"\nresume = true\n")
        .expect("a configuration");
    let net = "192.0.2.0/24".parse().expect("a prefix");
    let own = OwnTreated { resume: Some(true), window: None, freeze: None, mtu: None };
    assert_eq!(config.others.prefixes, [(net, own)]);
    assert_eq!(config.others.all, Treated { resume: false, ..OTHERS });
    let config = parse("[others]\nwindow = false\nscope = \"forwarded\"\n").expect("a configuration");
    assert_eq!(config.others.all, Treated { window: false, ..OTHERS });
    assert!(config.others.forwarded);
    let config = parse("[others]\nfreeze = \"2s\"\n[[others.prefix]]\nto = \"::/0\"\nfreeze = \"0s\"\n");
    let others = config.expect("a configuration").others;
    let treated = |to: &str| others.treated(&to.parse().expect("a prefix")).freeze;
    assert_eq!((treated("192.0.2.0/24"), treated("2001:db8::/32")), (2_000_000_000, 0));
    let config = parse("[[others.prefix]]\nto = \"192.0.2.0/24\"\nmtu = false\n");
    let others = config.expect("a configuration").others;
    let treated = |to: &str| others.treated(&to.parse().expect("a prefix")).mtu;
    assert_eq!((treated("192.0.2.0/25"), treated("198.51.100.0/24"), OTHERS.mtu), (false, true, true));
    let config = parse("[others]\nmtu = false\n").expect("a configuration");
    assert_eq!(config.others.all, Treated { mtu: false, ..OTHERS });
    for (text, said) in [
        ("[others]\nmtu = 1492\n", "a.toml, line 2, column 7: found the number 1492; expected true or false"),
        ("[others]\nwindow = 15\n", "a.toml, line 2, column 10: found the number 15; expected true or false"),
        (
            "[[others.prefix]]\nto = \"::/0\"\nwindows = true\n",
            "a.toml, line 3, column 1: unknown key `windows`, expected one of `to`, `resume`, `window`, `freeze`, `mtu`; did you mean `window`?",
        ),
        (
            "[[others.prefix]]\nto = \"::/0\"\n",
            "a.toml, line 2, column 6: to: `::/0` is treated as all others; expected `resume`, `window`, `freeze` or `mtu`",
        ),
        (
            "[others]\nfreeze = \"61s\"\n",
            "a.toml, line 2, column 10: freeze 61s is out of range; expected 0ms to 60000ms",
        ),
        (
            "[others]\nresum = true\n",
            "a.toml, line 2, column 1: unknown key `resum`, expected one of `scope`, `resume`, `window`, `freeze`, `mtu`, `prefix`; did you mean `resume`?",
        ),
        (
            "[others]\n[[others.prefix]]\nto = \"192.0.2.1/24\"\nresume = true\n",
            "a.toml, line 3, column 6: to: `192.0.2.1/24` has bits beyond its length; expected 192.0.2.0/24",
        ),
        (
            "[[others.prefix]]\nto = \"here\"\nresume = true\n",
            "a.toml, line 2, column 6: to: `here` is no prefix; expected one such as 192.0.2.0/24",
        ),
        (
            "[[others.prefix]]\nto = \"::/0\"\nresume = true\n[[others.prefix]]\nto = \"::/0\"\nresume = false\n",
            "a.toml, line 5, column 6: to: `::/0` stands twice; expected each prefix once",
        ),
    ] {
        assert_eq!(parse(text).unwrap_err(), said, "{text}");
    }
    let many = "[[others.prefix]]\nto = \"::/0\"\nresume = true\n".repeat(65);
    let said = parse(&many).unwrap_err();
    assert!(said.ends_with("prefix: expected at most 64"), "{said}");
}

#[test]
fn what_is_done_by_acks_alone() {
    let config = parse(
        "uploads = \"off\"\ntable = 100\nfreeze-before = \"200ms\"\nphas = [\"sat0\", \"wwan0\"]\nphas-for = \"3s\"\n\
         [[gaps]]\ndevice = \"sat0\"\nat = \"every 15s from 12s\"\nlength = \"80ms\"\n",
    )
    .expect("a configuration");
    assert_eq!((config.uploads, config.table), (None, 100));
    let mut receivers = config.receivers;
    assert_eq!(receivers.devices().collect::<Vec<_>>(), ["sat0", "wwan0"]);
    let ms = Duration::from_millis;
    assert_eq!((receivers.freeze_before, receivers.hold_for), (ms(200), ms(3000)));
    let closed = |receivers: &Receivers| {
        receivers.gaps[0].announced(receivers.freeze_before).expect("a time to be open").closed_for()
    };
    assert_eq!(closed(&receivers), ms(280));
    receivers.freeze(ms(150)).expect("a shorter time");
    assert_eq!(closed(&receivers), ms(230));
    assert!(receivers.freeze(ms(8000)).is_err_and(|error| error.is_user()), "hardly ever open");
    assert_eq!(receivers.freeze_before, ms(150));
}

#[test]
fn every_key_is_heard() {
    let config = parse(
        "watch = [\"192.0.2.0/24\", \"2001:db8::/32\"]\ncgroup = \"/c\"\ncontrol = \"/run/x\"\ngroup = 0\npin = \"/p\"\n\
         copies = 3\nway = \"crafted\"\ninterval = \"2s\"\nlimit = \"100ms\"\nstation-share = 50\n\
         [[link]]\ndevice = \"wwan*\"\ntype = \"wwan\"\nrate = \"8mbit\"\nup = \"2mbit\"\ndelay = \"50ms\"\n",
    )
    .expect("a configuration");
    let Settings { watch, copies, way, interval, limit, rules, station_share, .. } = config.settings;
    assert_eq!((watch.len(), copies, way, interval, limit), (2, 3, Way::Crafted, 2_000_000_000, 100_000_000));
    assert_eq!((station_share, config.group), (50, Some(socket::Group::numbered(0))));
    let link = Link { rate_kbps: 8000, delay_us: 50_000 };
    let rule = Rule { device: Some("wwan*".into()), kind: Some(Kind::Wwan), link, up_kbps: 2000 };
    assert_eq!(rules, [rule]);
    assert_eq!((config.pin, config.control), (Some("/p".into()), "/run/x".into()));
}

#[test]
fn mistakes_are_told_with_their_place() {
    let link = |more: &str| format!("[[link]]\nrate = \"1mbit\"\ndelay = \"1ms\"\n{more}");
    for (text, said) in [
        ("copies = 9".to_owned(), "line 1, column 10: copies 9 is out of range; expected 1 to 8"),
        ("copies = 300".to_owned(), "line 1, column 10: copies 300 is out of range; expected 1 to 8"),
        ("table = -1".to_owned(), "line 1, column 9: table -1 is out of range; expected 1 to 4294967295"),
        ("\nwatch = []".into(), "line 2, column 9: watch: expected 1 to 64 prefixes"),
        ("watch = [\"x\"]".into(), "watch: `x` is no prefix; expected \"default\""),
        ("watch = [\"10.0.0.1/8\"]".into(), "has bits beyond its length; expected 10.0.0.0/8"),
        ("watch = [\"default\", \"::/0\"]".into(), "`::/0` overlaps ::/0; expected"),
        ("way = \"post\"".into(), "line 1, column 7: unknown word `post`, expected one of `auto`"),
        ("interval = \"1ms\"".into(), "interval 1ms is out of range; expected 100ms to 60000ms"),
        ("interval = 1".into(), "line 1, column 12: found the number 1; expected text in quotes"),
        ("copies = \"two\"".into(), "line 1, column 10: found the text \"two\"; expected a whole number"),
        ("copies = 2.5".into(), "line 1, column 10: found the number 2.5; expected a whole number"),
        ("way = 1".into(), "line 1, column 7: expected a word in quotes"),
        ("cgroup = true".into(), "found the word true without quotes; expected a path in quotes"),
        (
            "watch = \"default\"".into(),
            "line 1, column 9: found the text \"default\"; expected a list in [ ]",
        ),
        ("watch = [1]".into(), "found the number 1; expected text in quotes"),
        ("others = 1".into(), "line 1, column 10: found the number 1; expected a table"),
        (
            "[link]\nrate = \"1mbit\"".into(),
            "found a table; expected a list in [ ], or tables below headings in [[ ]]",
        ),
        ("group = \"no such group\"".into(), "line 1, column 9: no group `no such group`"),
        ("group = [1]".into(), "expected the name or the number of a group"),
        ("control = \"a.sock\"".into(), "control: expected a path that begins with /"),
        ("uploads = \"vegas\"".into(), "line 1, column 11: uploads: "),
        (
            format!("control = \"/{}\"", "x".repeat(107)),
            "control: a path of 108 octets; expected at most 107",
        ),
        ("rate = 1".into(), "line 1, column 1: unknown key `rate`, expected one of `watch`"),
        ("intervall = \"1s\"".into(), "; did you mean `interval`?"),
        ("way = \"auto\"\nway = \"auto\"".into(), "line 2, column 1: duplicate key `way`; expected it once"),
        (link("[others]\nmtu = true\nmtu = true"), "line 6, column 1: duplicate key `mtu`; expected it once"),
        (link("delay = \"2ms\""), "line 4, column 1: duplicate key `delay`; expected it once"),
        (
            "[[link]]\nrate = \"0mbit\"\ndelay = \"1ms\"".into(),
            "line 2, column 8: `0mbit` is not a rate; expected",
        ),
        ("[[link]]\nrate = \"1mbit\"".into(), "missing key `delay`"),
        (link("device = \"a/b\""), "line 4, column 10: `a/b` is no device; expected"),
        (link("type = \"lte\""), "unknown word `lte`, expected one of `ethernet`"),
        (link("up = \"fast\""), "line 4, column 6: `fast` is not a rate"),
        ("copies = ".into(), "a.toml, line 1, column "),
    ] {
        let message = parse(&text).expect_err(&text);
        assert!(message.starts_with("a.toml, line ") && message.contains(said), "{text}: {message}");
        assert!(message.contains("expected") && message.lines().count() == 1, "{message}");
    }
    let unread = Config::read(Path::new("/nowhere/a.toml")).expect_err("no file");
    assert!(unread.to_string().contains("there is no such file; expected the agent's configuration"));
}

/// Whether a folder is a cgroup shows when the agent starts. The message still has its place.
#[test]
fn a_folder_that_is_no_cgroup_is_told_with_its_place() {
    use segue_kernel::mobile;
    let wrong = || mobile::Error::Cgroup { path: "/c".into(), source: std::io::Error::other("it is none") };
    let config = parse("copies = 2\ncgroup = \"/c\"\n").expect("a configuration");
    let told = config.in_its_place(wrong());
    assert!(told.is_users());
    let said = "a.toml, line 2, column 10: cgroup /c: it is none; expected a folder of a mounted cgroup2";
    assert_eq!(told.to_string(), said);
    let without = parse("").expect("a configuration").in_its_place(wrong());
    assert!(without.to_string().starts_with("cgroup /c: it is none"), "{without}");
    assert_eq!(
        config.in_its_place(mobile::Error::Copies(9)).to_string(),
        mobile::Error::Copies(9).to_string()
    );
}

#[test]
fn the_example_is_what_holds_without_a_file() {
    let config = Config::parse(EXAMPLE, "examples/agent.toml").expect("the example");
    let plain = parse("").expect("defaults").settings;
    assert_eq!(Settings { rules: Vec::new(), ..config.settings.clone() }, plain);
    assert_eq!((config.control.to_str(), config.group, config.cgroup), (Some(socket::PLACE), None, None));
    let kinds: Vec<_> = config.settings.rules.iter().map(|rule| rule.kind).collect();
    assert_eq!(kinds.last(), Some(&None), "the last fits every device");
}

proptest! {
    #[test]
    fn no_text_makes_it_panic(text in "\\PC{0,300}") {
        let _ = parse(&text);
    }

    #[test]
    fn no_damaged_example_makes_it_panic(at in any::<prop::sample::Index>(), what in "[\\x00-\\x7f]{0,8}", cut in 0usize..40) {
        let start = at.index(EXAMPLE.len());
        let end = (start + cut).min(EXAMPLE.len());
        let text = [EXAMPLE.as_bytes()[..start].to_vec(), what.into_bytes(), EXAMPLE.as_bytes()[end..].to_vec()].concat();
        let _ = parse(&String::from_utf8_lossy(&text));
    }
}
