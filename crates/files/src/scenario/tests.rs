//! The expansion of scenario files, and the messages about bad ones.

use super::{ScenarioFile, schema};
use segue_study::measure::Column;
use segue_study::parameter::Parameter;
use segue_study::presentation::Scale;
use segue_study::request::Plan;
use segue_world::access::LinkNames;
use segue_world::{Definition, Kind, NoticeMode};

fn file(text: &str) -> ScenarioFile {
    ScenarioFile::parse(text, "f.toml").unwrap_or_else(|error| panic!("{error}"))
}

fn plan(text: &str) -> Plan {
    file(text).plan(None).unwrap_or_else(|error| panic!("{error}")).0
}

fn pairs(text: &str) -> Vec<String> {
    let pairs = plan(text).request.pairs;
    pairs.iter().map(|(old, new)| format!("{} {}", old.text, new.text)).collect()
}

#[test]
fn two_links_are_enough_and_the_rest_is_as_on_the_command_line() {
    let (plan, shown) = file("old = 'wlan'\nnew = 'egprs'").plan(None).unwrap();
    let request = plan.request;
    assert_eq!((request.kinds, request.flows), (vec![Kind::Mbb], vec![1]));
    assert_eq!(request.schemes, ["sack", "etcp-v1"]);
    assert_eq!((request.at.len(), request.at[0], request.at[199]), (200, 100_000_000, 20_000_000_000));
    assert_eq!((request.packets, request.definition), (100, Definition::AfterHighest));
    assert_eq!((request.notice, request.stack, request.settings.len()), (NoticeMode::Instant, None, 0));
    assert_eq!((request.seed, request.seeds), (1, 1));
    assert_eq!((shown.title, &shown.columns[..], shown.chart.across), (None, &Column::USUAL[..], None));
}

#[test]
fn links_combine_with_the_last_varying_fastest() {
    assert_eq!(
        pairs("old = ['wlan', 'hsdpa']\nnew = ['egprs', '1mbit/9ms']"),
        ["wlan egprs", "wlan 1mbit/9ms", "hsdpa egprs", "hsdpa 1mbit/9ms"]
    );
    assert_eq!(
        pairs("new = 'egprs'\n[old]\nrate = ['1mbit', '2mbit']\ndelay = ['9ms', '1ms']"),
        ["1mbit/9ms egprs", "1mbit/1ms egprs", "2mbit/9ms egprs", "2mbit/1ms egprs"]
    );
    assert_eq!(
        pairs("old = ['wlan', { rate = '1mbit', delay = '9ms' }]\nnew = { rate = 'same', delay = '300ms' }"),
        ["wlan 54mbit/300ms", "1mbit/9ms 1mbit/300ms"]
    );
    assert_eq!(
        pairs("old = 'egprs'\nnew = { rate = ['1mbit', '2mbit'], delay = 'same' }"),
        ["egprs 1mbit/300ms", "egprs 2mbit/300ms"]
    );
    assert_eq!(
        pairs("both_ways = true\npairs = [['wlan', 'egprs'], ['hsdpa', 'wlan']]"),
        ["wlan egprs", "egprs wlan", "hsdpa wlan", "wlan hsdpa"]
    );
}

#[test]
fn kinds_lengths_and_times() {
    let request = plan(
        "old = 'wlan'\nnew = 'egprs'\nkind = ['bbm', 'mbb']\ndisconnect = ['2s', '500ms']\nflows = [4, 1]\n\
         at = ['1s', '2s..3s/500ms']\nnotice = 'in-band'\nnotice_loss = 1\nseed = 7\nseeds = 2\n\
         [settings]\ninitial-window = 4\na1-in-bbm = false",
    )
    .request;
    assert_eq!(request.kinds, [Kind::Bbm(2_000_000_000), Kind::Bbm(500_000_000), Kind::Mbb]);
    assert_eq!(request.flows, [4, 1]);
    assert_eq!(request.at, [1_000_000_000, 2_000_000_000, 2_500_000_000, 3_000_000_000]);
    assert_eq!((request.notice, request.seed, request.seeds), (NoticeMode::InBand { lost: 1 }, 7, 2));
    let settings = [("a1-in-bbm", "off"), ("initial-window", "4")];
    assert_eq!(request.settings, settings.map(|(key, value)| (key.into(), value.into())));
    let (few, _) = file("old = 'wlan'\nnew = 'egprs'").plan(Some(10)).unwrap();
    assert_eq!((few.request.at.len(), few.request.at[0]), (10, 1_100_000_000));
}

#[test]
fn the_chart_takes_the_one_parameter_that_varies() {
    let across = |text: &str| file(&format!("{text}\n")).plan(None).unwrap().1.chart.across;
    assert_eq!(across("old = 'wlan'\nnew = 'egprs'\nflows = [1, 2]"), Some(Parameter::Flows));
    assert_eq!(
        across("new = 'wlan'\nold = { rate = '1mbit', delay = ['1ms', '9ms'] }"),
        Some(Parameter::OldDelay)
    );
    assert_eq!(across("old = 'wlan'\nnew = 'egprs'\nflows = [1, 2]\nkind = ['mbb', 'bbm']"), None);
    assert_eq!(across("old = 'wlan'\nnew = 'egprs'\nflows = [1, 2]\nchart.across = 'blocks'"), None);
    let (_, shown) = file(
        "old = 'wlan'\nnew = 'egprs'\ncolumns = 'jain'\nchart = { across = 'flows', horizontal = 'log' }",
    )
    .plan(None)
    .unwrap();
    assert_eq!((shown.columns, shown.chart.horizontal), (vec![Column::Jain], Scale::Log));
}

/// A bad file, the line and column of what is wrong, and a part of what is said.
const BAD: &[(&str, &str, &str)] = &[
    ("old = ", "1, column 7", "expected"),
    ("old = 'wlan'\nnew 'egprs'", "2, column 5", "expected"),
    ("old = 'wlan'\nold = 'egprs'", "2, column 1", "duplicate key `old`; expected it once"),
    ("warm-up = '1s'\nwarm_up = '1s'", "2, column 1", "`warm_up` and `warm-up` are the same key"),
    ("title = 'x'", "1, column 1", "`old` is missing; expected links in `old` and `new`, or in `pairs`"),
    ("old = 'wlan'", "1, column 1", "`new` is missing"),
    ("old = 'wlan'\nnew = 'egprs'\nflow = 1", "3, column 1", "unknown key `flow`"),
    ("old = 'wlan'\nnew = 'egprs'\nflow = 1", "3, column 1", "did you mean `flows`?"),
    ("old = 'wlan'\nnew = 'egprs'\nzzzzzz = 1", "3, column 1", "expected one of `title`, `old`"),
    ("old = 'wlam'\nnew = 'egprs'", "1, column 7", "did you mean `wlan`?"),
    ("old = ['wlan', 'egpr']\nnew = 'egprs'", "1, column 16", "did you mean `egprs`?"),
    ("old = 6400\nnew = 'egprs'", "1, column 7", "expected a link such as \"6400kbit/9ms\""),
    ("old = []\nnew = 'egprs'", "1, column 7", "old: the list is empty; expected at least one"),
    ("old = ['wlan', 'wlan']\nnew = 'egprs'", "1, column 16", "wlan is given twice"),
    ("old = 'wlan'\n[new]\nrate = '1mbit'", "2, column 1", "missing key `delay`"),
    ("old = 'wlan'\n[new]\nrate = []\ndelay = '1ms'", "3, column 8", "rate: the list is empty"),
    ("old = 'wlan'\n[new]\nrate = '1mbit'\ndelay = []", "4, column 9", "delay: the list is empty"),
    ("old = 'wlan'\n[new]\nrate = ['1mbit', '2mbits']\ndelay = '1ms'", "3, column 18", "bad rate `2mbits`"),
    ("old = 'wlan'\n[new]\nrate = '1mbit'\ndelay = ['1ms', '0ms']", "4, column 17", "bad delay `0ms`"),
    ("old = 'wlan'\n[new]\nrate = '1mbit'\ndelay = ['1ms', '1ms']", "4, column 17", "is given twice"),
    ("old = 'wlan'\n[new]\nrate = '1mbit'\ndelays = '1ms'", "4, column 1", "did you mean `delay`?"),
    ("new = 'wlan'\n[old]\nrate = 'same'\ndelay = '1ms'", "3, column 8", "in `new` only"),
    ("old = 'trace:/dev/null'\nnew = 'wlan'", "1, column 7", "trace is empty"),
    ("old = 'wlan'\nnew = 'trace:no/where'", "2, column 7", "cannot read no/where"),
    ("pairs = [['wlan']]", "1, column 10", "expected [OLD, NEW]"),
    ("pairs = [['wlan', 'egprs'], ['wlan', 'wlam']]", "1, column 38", "did you mean `wlan`?"),
    ("pairs = [['wlan', 'egprs', 'hsdpa']]", "1, column 10", "3 links in one pair; expected [OLD, NEW]"),
    ("old = 'wlan'\nnew = 'egprs'\nkind = 3", "3, column 8", "found the number 3; expected a word in quotes"),
    ("old = 'wlan'\nnew = 'egprs'\nnotice = 4", "3, column 10", "expected a word in quotes"),
    ("old = 'wlan'\nnew = 'egprs'\nchart = 3", "3, column 9", "found the number 3; expected a table"),
    ("old = 'wlan'\nnew = 'egprs'\noutput = []", "3, column 10", "expected a table"),
    ("old = 'wlan'\nnew = 'egprs'\nsettings = 3", "3, column 12", "expected a table"),
    (
        "old = 'wlan'\nnew = 'egprs'\nseed = 99999999999999999999",
        "3, column 8",
        "found the number 99999999999999999999; expected a whole number",
    ),
    ("pairs = [['wlan', 'egprs'], ['wlan', 'egprs']]", "1, column 29", "is given twice"),
    ("old = 'wlan'\npairs = [['wlan', 'egprs']]", "2, column 9", "expected one or the other"),
    ("both_ways = true\npairs = [['wlan', 'egprs'], ['egprs', 'wlan']]", "1, column 13", "each way once"),
    ("pairs = [['wlan', 'egprs']]\nboth_ways = 1", "2, column 13", "expected true or false"),
    (
        "old = 'wlan'\nnew = 'egprs'\nkind = 'mbx'",
        "3, column 8",
        "unknown word `mbx`, expected one of `mbb`, `bbm`, `soft`, `ping-pong`",
    ),
    ("old = 'wlan'\nnew = 'egprs'\nkind = ['mbb', 'mbb']", "3, column 16", "twice"),
    ("old = 'wlan'\nnew = 'egprs'\ndisconnect = '2s'", "3, column 14", "expected `bbm` in `kind`"),
    ("old = 'wlan'\nnew = 'egprs'\nkind = 'bbm'\ndisconnect = ['1s', '0s']", "4, column 21", "above 0"),
    ("old = 'wlan'\nnew = 'egprs'\nkind = 'bbm'\ndisconnect = 2", "4, column 14", "expected text in quotes"),
    ("old = 'wlan'\nnew = 'egprs'\nflows = [0, 1]", "3, column 10", "flows 0 is out of range; expected 1 to"),
    ("old = 'wlan'\nnew = 'egprs'\nflows = [1, 2, 1]", "3, column 16", "`1` is given twice"),
    ("old = 'wlan'\nnew = 'egprs'\nflows = 'two'", "3, column 9", "expected a whole number"),
    ("old = 'wlan'\nnew = 'egprs'\nflows = -1", "3, column 9", "expected a whole number"),
    ("old = 'wlan'\nnew = 'egprs'\nschemes = ['sak', 'sack']", "3, column 12", "did you mean `sack`?"),
    ("old = 'wlan'\nnew = 'egprs'\nstack = 'rcf'", "3, column 9", "did you mean `rfc`?"),
    ("old = 'wlan'\nnew = 'egprs'\n[settings]\na1-in-bb = 'on'", "4, column 1", "did you mean `a1-in-bbm`?"),
    ("old = 'wlan'\nnew = 'egprs'\n[settings]\na1-in-bbm = 'perhaps'", "4, column 13", "expected on or off"),
    ("old = 'wlan'\nnew = 'egprs'\n[settings]\ninitial-window = 0", "4, column 18", "1 to 1000 packets"),
    ("old = 'wlan'\nnew = 'egprs'\nnotice = 'inband'", "3, column 10", "did you mean `in-band`?"),
    ("old = 'wlan'\nnew = 'egprs'\nnotice_loss = 1", "3, column 15", "expected notice = \"in-band\""),
    ("old = 'wlan'\nnew = 'egprs'\nnotice_loss = 3", "3, column 15", "expected 0, 1 or 2"),
    ("old = 'wlan'\nnew = 'egprs'\npackets = 0", "3, column 11", "packets 0 is out of range"),
    ("old = 'wlan'\nnew = 'egprs'\nat = ['1s', '1 s']", "3, column 13", "is not a time"),
    ("old = 'wlan'\nnew = 'egprs'\nat = ['2s', '1s']", "3, column 6", "at: handoff times must increase"),
    ("old = 'wlan'\nnew = 'egprs'\nseeds = 0", "3, column 9", "1 to 100000"),
    ("old = 'wlan'\nnew = 'egprs'\ncolumns = ['q1', 'medain']", "3, column 18", "did you mean `median`?"),
    ("old = 'wlan'\nnew = 'egprs'\ncolumns = ['q1', 'median', 'q1']", "3, column 28", "`q1` is given twice"),
    (
        "{\"version\":1,\"rows\":[]}",
        "1, column 1",
        "this is JSON, perhaps a result; expected a scenario in TOML",
    ),
    ("# program: 0.2.0\nold,new,scheme", "1, column 1", "this is CSV, perhaps a result; expected a scenario"),
    (
        "old,new,kind,scheme\nwlan,hsdpa,mbb,sack",
        "1, column 1",
        "this is CSV, perhaps a result; expected a scenario",
    ),
    ("<!DOCTYPE html>", "1, column 1", "this is a page, perhaps a result; expected a scenario"),
    (
        "old = 'wlan'\nnew = 'egprs'\nobserve = '5s'",
        "1, column 1",
        "a laboratory's plan; expected a scenario",
    ),
    (
        "watch = ['default']",
        "1, column 1",
        "a configuration of the agent; expected a scenario, or segue agent run --config FILE",
    ),
    ("old = 'wlan'\nnew = 'egprs'\n[chart]\nacross = 'flow'", "4, column 10", "did you mean `flows`?"),
    (
        "old = 'wlan'\nnew = 'egprs'\nkind = ['mbb', 'bbm']\n[chart]\nacross = 'disconnect'\nhorizontal = 'log'",
        "6, column 14",
        "has no 0; expected `linear`",
    ),
    ("title = 'ä'; old = 'wlan'", "1, column 12", "expected"),
];

/// Plans of the laboratory spell keys with `-`.
#[test]
fn keys_may_be_spelt_as_plans_have_them() {
    let with = |keys: &str| {
        let plan =
            file(&format!("old = 'wlan'\nnew = 'egprs'\nnotice = 'in-band'\n{keys}")).plan(None).unwrap().0;
        format!("{plan:?}")
    };
    let scenarios = with("warm_up = '7s'\nboth_ways = true\nnotice_loss = 1");
    assert_eq!(with("warm-up = '7s'\nboth-ways = true\nnotice-loss = 1"), scenarios);
}

#[test]
fn bad_files_say_where_and_what_was_expected() {
    for &(text, place, part) in BAD {
        let refused = ScenarioFile::parse(text, "f.toml").and_then(|file| file.plan(None).map(|_| ()));
        let message = refused.expect_err(text).to_string();
        assert!(message.starts_with(&format!("f.toml, line {place}: ")), "{text}\n{message}");
        assert!(message.contains(part), "{text}\n{message}");
        assert_eq!(message.lines().count(), 1, "{message}");
        let tells = ["expected", "must", "missing", "twice", "duplicate", "cannot read", "empty"];
        assert!(tells.iter().any(|word| message.contains(word)), "{message}");
    }
}

/// Results are held until the end: a product that nobody means is refused at once.
#[test]
fn too_many_combinations_are_refused() {
    let flows: Vec<String> = (1..=1000).map(|n| n.to_string()).collect();
    let lengths: Vec<String> = (1..=30).map(|n| format!("'{n}ms'")).collect();
    let text = format!(
        "old = 'wlan'\nnew = 'egprs'\nkind = 'bbm'\nflows = [{}]\ndisconnect = [{}]\n",
        flows.join(", "),
        lengths.join(", ")
    );
    let refused = file(&text).plan(None).map(|_| ()).expect_err("30,000 blocks").to_string();
    assert!(refused.contains("30000 combinations") && refused.contains("expected fewer"), "{refused}");
}

#[test]
fn files_that_cannot_be_read_are_named() {
    for path in ["/nowhere/x.toml", "/"] {
        let message = ScenarioFile::read(path, &LinkNames::default()).unwrap_err().to_string();
        assert!(message.contains(path) && message.contains("expected a scenario"), "{message}");
    }
}

#[test]
fn the_schema_knows_every_key_and_no_null() {
    let text = serde_json::to_string(&schema()).unwrap();
    assert!(!text.contains("\"null\""), "{text}");
    for key in ["title", "pairs", "notice_loss", "columns", "horizontal", "svg"] {
        assert!(text.contains(&format!("\"{key}\":{{\"description\"")), "{key}: {text}");
    }
}

/// The schema refuses a boolean as a number of users or handoffs, as the file's reader does.
#[test]
fn the_schema_takes_counts_alone() {
    for schema in [schema(), crate::sweep::schema()] {
        let schema = serde_json::to_value(&schema).unwrap();
        for key in ["neighbours", "handoffs"] {
            let count = &schema["properties"][key];
            let count = if count["type"].is_array() { count } else { &count["anyOf"][0] };
            assert_eq!(count["type"], serde_json::json!(["string", "integer"]), "{key}: {count}");
            assert_eq!(count["minimum"], 1, "{key}: {count}");
        }
    }
}
