//! Questions made from the schema, and spoilt ones.

use crate::{Answer, GOOD, PATHS, ask, query};
use proptest::prelude::*;
use proptest::test_runner::TestCaseError;
use serde_json::Value;

fn schema(endpoint: &str) -> Value {
    ask("/api/schema").json()[endpoint].clone()
}

/// A link of the schema: a preset, or a rate and a delay whose product is allowed.
fn links(form: &Value) -> BoxedStrategy<String> {
    let presets: Vec<String> =
        form["anyOf"][0]["enum"].as_array().expect("presets").iter().map(word).collect();
    let own = &form["anyOf"][1];
    // Slow links as often as fast ones.
    let range = |of: &str| {
        let [least, most] = ["minimum", "maximum"].map(|end| own[of][end].as_f64().expect("a number"));
        (0.0..=1.0).prop_map(move |part| (least * (most / least).powf(part)).round() as u64)
    };
    let most = own["most_queued"].as_u64().expect("a number");
    let numbers = (range("rate_kbit"), range("delay_ms"))
        .prop_filter("too long", move |(rate, delay)| 2 * rate * delay / 12_000 < most)
        .prop_map(|(rate, delay)| format!("{rate}kbit/{delay}ms"));
    prop_oneof![proptest::sample::select(presets), numbers].boxed()
}

fn word(value: &Value) -> String {
    value.as_str().expect("a word").to_string()
}

/// Words that the schema allows for a key.
fn words(key: &str, form: &Value) -> BoxedStrategy<String> {
    let number = |of: &Value, end: &str| of[end].as_u64().expect("a number");
    match form {
        _ if form["anyOf"].is_array() => links(form),
        _ if form["examples"].is_array() => {
            let examples: Vec<String> =
                form["examples"].as_array().expect("words").iter().map(word).collect();
            proptest::sample::select(examples).boxed()
        }
        _ if form["enum"].is_array() => {
            let choices: Vec<String> = form["enum"].as_array().expect("words").iter().map(word).collect();
            proptest::sample::select(choices).boxed()
        }
        _ if form["type"] == "integer" => {
            (number(form, "minimum")..=number(form, "maximum")).prop_map(|n| n.to_string()).boxed()
        }
        _ if form["type"] == "array" => {
            let names: Vec<String> =
                form["items"]["enum"].as_array().expect("names").iter().map(word).collect();
            // More would be slow, not different.
            let most = number(form, "maxItems").min(3) as usize;
            proptest::sample::subsequence(names, 1..=most)
                .prop_shuffle()
                .prop_map(|names| names.join(","))
                .boxed()
        }
        _ if key == "at" => (1..=20_000u64).prop_map(|ms| format!("{ms}ms")).boxed(),
        _ => (number(&form["time_ms"], "minimum")..=number(&form["time_ms"], "maximum"))
            .prop_map(|ms| format!("{ms}ms"))
            .boxed(),
    }
}

fn word_of(words: &[(String, String)], key: &str) -> String {
    words.iter().find(|(other, _)| other == key).map(|(_, word)| word.clone()).unwrap_or_default()
}

/// Query strings that the schema allows: the required keys, and some of the others.
fn allowed(endpoint: &str) -> impl Strategy<Value = String> + use<> {
    let schema = schema(endpoint);
    let required: Vec<String> = schema["required"].as_array().expect("keys").iter().map(word).collect();
    let properties = schema["properties"].as_object().expect("keys").clone();
    let keys: Vec<_> = properties
        .iter()
        .map(|(key, form)| {
            let (key, needed) = (key.clone(), required.contains(key));
            (any::<bool>(), words(&key, form))
                .prop_map(move |(there, word)| (needed || there).then(|| (key.clone(), word)))
        })
        .collect();
    keys.prop_map(|words| {
        let mut words: Vec<(String, String)> = words.into_iter().flatten().collect();
        // JSON schema would need a dozen lines for this: only notices in band get lost.
        if !words.iter().any(|(key, word)| key == "notice" && word == "in-band") {
            words.retain(|(key, _)| key != "notice-loss");
        }
        // A congestion control is chosen where the stack is a kernel, and once.
        let stack =
            words.iter().find(|(key, _)| key == "stack").map(|(_, word)| word.clone()).unwrap_or_default();
        if !stack.starts_with("linux-6.") || stack.contains('/') {
            words.retain(|(key, _)| key != "cc");
        }
        // Neighbours begin before the handoff, of which there is one.
        let mixed = !word_of(&words, "traffic").is_empty();
        let early = word_of(&words, "at")
            .strip_suffix("ms")
            .and_then(|ms| ms.parse().ok())
            .is_some_and(|ms: u64| ms < 4_000);
        let both_links = ["soft", "ping-pong"].contains(&word_of(&words, "kind").as_str());
        let in_band = word_of(&words, "notice") == "in-band";
        words.retain(|(key, _)| key != "neighbours" || !(early || both_links));
        let shared = mixed || words.iter().any(|(key, _)| key == "neighbours");
        // Connections that end with a handoff hear of it neither in band nor at all.
        let anew = !(shared || both_links || in_band);
        words.retain(|(key, word)| key != "address" || word == "keep" || anew);
        // Several handoffs have a time between them, which is longer than each. Few of them: many would be slow.
        let is_there = |name: &str| words.iter().any(|(key, _)| key == name);
        let in_row = is_there("handoffs") && is_there("every") && !is_there("neighbours");
        let is_new = words.iter().any(|(key, word)| key == "address" && word == "new");
        let in_row = in_row && !is_new && ["", "mbb"].contains(&word_of(&words, "kind").as_str());
        words.retain(|(key, _)| in_row || !["handoffs", "every"].contains(&key.as_str()));
        for (key, word) in &mut words {
            match key.as_str() {
                "handoffs" => *word = "2".into(),
                "every" => *word = "500ms".into(),
                _ => {}
            }
        }
        // Nobody tells such connections anything.
        words.retain(|(key, _)| key != "notice-error" || !is_new);
        let alone = !words.iter().any(|(key, word)| key == "neighbours" || word == "new");
        let shared = shared || !alone;
        // Some schemes run on a few stacks only; some act elsewhere than at each sender.
        let at_senders = |name: &str| name.starts_with("etcp") || ["sack", "newreno", "rlci"].contains(&name);
        let runs = |name: &str| match name {
            "cubic" | "bbr" | "bbr3" => stack.starts_with("linux-6."),
            "near" => !shared,
            "backoff-reset" | "quic-reset" | "careful-resume" | "satcp" | "leocc" | "rtt-jump" => {
                stack.is_empty() && !shared
            }
            _ => alone || at_senders(name),
        };
        for (_, names) in words.iter_mut().filter(|(key, _)| key == "schemes") {
            let others: Vec<&str> = names.split(',').filter(|name| runs(name)).collect();
            *names = if others.is_empty() { "sack".into() } else { others.join(",") };
        }
        // A control that no scheme takes is refused.
        let control = |name: &str| ["cubic", "bbr", "bbr3", "reno"].contains(&name);
        let schemes = words.iter().find(|(key, _)| key == "schemes").map_or("sack", |(_, names)| names);
        if schemes.split(',').all(control) {
            words.retain(|(key, _)| key != "cc");
        }
        // Few handoffs: many would be slow, not different.
        if !words.iter().any(|(key, _)| key == "at") {
            words.push(("at".into(), "4s..8s/2s".into()));
        }
        form_urlencoded::Serializer::new(String::new()).extend_pairs(words).finish()
    })
}

/// Keys of the schema, for each of which all of [`bad_words`] are wrong.
fn known_keys() -> impl Strategy<Value = &'static str> {
    let known = [
        "old",
        "new",
        "kind",
        "flows",
        "schemes",
        "at",
        "disconnect",
        "notice-loss",
        "packets",
        "seed",
        "points",
        "stack",
        "overlap",
        "return",
        "soft",
        "address",
        "traffic",
        "neighbours",
        "notice-error",
        "handoffs",
        "every",
    ];
    proptest::sample::select(known.to_vec())
}

fn bad_words() -> impl Strategy<Value = String> {
    prop_oneof![
        Just("trace:/etc/passwd".to_string()),
        Just("99999999999999999999".to_string()),
        Just("-1".to_string()),
        Just("1e400".to_string()),
        Just("100gbit/10s".to_string()),
        Just("0s..1000000s/1us".to_string()),
        Just("NaN".to_string()),
        Just("sack,".repeat(100)),
        Just("x".repeat(5000)),
        Just("\u{0}\r\n\u{1b}[31m".to_string()),
    ]
}

/// One word of a good question replaced by a bad one, or a bad one added; somewhere among the others.
fn surely_bad() -> impl Strategy<Value = String> {
    (known_keys(), bad_words(), 0..=GOOD.len()).prop_map(|(key, word, place)| {
        let mut words: Vec<(&str, &str)> = GOOD.into_iter().filter(|(other, _)| *other != key).collect();
        words.insert(place.min(words.len()), (key, &word));
        query(words)
    })
}

/// Any words for any keys: chance may find some that are fine.
fn any_words() -> impl Strategy<Value = String> {
    let keys = prop_oneof![known_keys().prop_map(String::from), "\\PC{0,12}"];
    let words = proptest::collection::vec((keys, prop_oneof!["\\PC{0,40}", bad_words()]), 1..6);
    (words, 0..=GOOD.len()).prop_map(|(words, good)| {
        let words = words.iter().map(|(key, word)| (key.as_str(), word.as_str()));
        query(GOOD.into_iter().take(good).chain(words))
    })
}

/// One line that says what was expected.
fn refused(query: &str, answer: &Answer) -> Result<(), TestCaseError> {
    prop_assert_eq!(answer.status, 400, "{}", query);
    let said = answer.json()["error"].as_str().unwrap_or_default().to_string();
    prop_assert!(!said.is_empty() && said.len() < 1200 && said.lines().count() == 1, "{query}: {said}");
    Ok(())
}

proptest! {
    // An answer may take seconds: what fails is not made smaller for an hour.
    #![proptest_config(ProptestConfig {
        cases: ProptestConfig::default().cases / 5,
        max_shrink_time: 60_000,
        ..ProptestConfig::default()
    })]

    #[test]
    fn what_the_schema_allows_is_answered(query in allowed("/api/compare")) {
        let answer = ask(&format!("/api/compare?{query}"));
        prop_assert_eq!(answer.status, 200, "{}: {}", query, String::from_utf8_lossy(&answer.body));
        let rows = answer.json()["rows"].as_array().map_or(0, Vec::len);
        prop_assert!(rows > 0, "{query}");
    }

    #[test]
    fn bad_words_are_refused(query in surely_bad()) {
        for path in PATHS {
            refused(&query, &ask(&format!("{path}?{query}")))?;
        }
    }

    #[test]
    fn any_words_are_answered_or_refused(query in any_words()) {
        for path in PATHS {
            let answer = ask(&format!("{path}?{query}"));
            if answer.status != 200 {
                refused(&query, &answer)?;
            }
        }
    }
}

/// The question that the bad words spoil.
#[test]
fn a_good_question_is_answered_everywhere() {
    for path in PATHS {
        let answer = ask(&format!("{path}?{}", query(GOOD)));
        assert_eq!(answer.status, 200, "{path}: {}", String::from_utf8_lossy(&answer.body));
    }
}

proptest! {
    #![proptest_config(ProptestConfig {
        cases: ProptestConfig::default().cases / 40,
        max_shrink_time: 60_000,
        ..ProptestConfig::default()
    })]

    /// A handoff with too many packets is refused by name; every other one is told.
    #[test]
    fn one_handoff_that_the_schema_allows_is_told(query in allowed("/api/trace")) {
        let answer = ask(&format!("/view/handoff?{query}"));
        let text = String::from_utf8_lossy(&answer.body);
        let too_many = answer.status == 400 && text.contains("packets are too many");
        prop_assert!(answer.status == 200 || too_many, "{query}: {text}");
    }
}
