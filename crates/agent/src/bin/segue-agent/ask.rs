//! `segue-agent notify` and `segue-agent status`.

use crate::config;
use segue_agent::cli::{ControlArgs, NotifyArgs, StatusArgs};
use segue_agent::control::{Notify, Reply, Request, ask};
use segue_console::{Failure, print};
use segue_output::Output;
use serde_json::Value;
use std::path::PathBuf;

fn control(args: &ControlArgs) -> Result<PathBuf, Failure> {
    match &args.control {
        Some(path) => Ok(path.clone()),
        None => Ok(config(&args.config)?.control),
    }
}

/// The answer, or what the agent has against the question.
fn answer(args: &ControlArgs, request: &Request) -> Result<Reply, Failure> {
    match ask(&control(args)?, request)? {
        Reply::Refused(problem) => Err(Failure::user(problem)),
        Reply::Failed(problem) => Err(Failure::ours(problem)),
        reply => Ok(reply),
    }
}

fn unexpected() -> Failure {
    Failure::ours("the agent answers another question; is it of another version?")
}

pub fn notify(args: &NotifyArgs) -> Result<(), Failure> {
    let notify = Notify::parse(&args.link, args.expect).map_err(Failure::user)?;
    let device = notify.device.clone();
    match answer(&args.control, &Request::Notify(notify))? {
        Reply::Noted => print(&format!(
            "{device}: noted; no watched route leads over it now, and once one does its peers are told\n"
        )),
        Reply::Rounds(rounds) => {
            let line = |round: &Value| format!("{device}, {}: {}\n", word(&round["watch"]), told(round));
            print(&rounds.iter().map(line).collect::<String>())
        }
        _ => Err(unexpected()),
    }
}

/// The counts of a round, in a line.
fn told(round: &Value) -> String {
    let number = |name: &str| round[name].as_u64().unwrap_or(0);
    let refused = |name: &str| round["refused"][name].as_u64().unwrap_or(0);
    let mut text = format!(
        "told {} in the kernel's ACKs, {} in crafted ones; {} wait for their next ACK",
        number("triggered"),
        number("crafted"),
        number("waiting"),
    );
    for (count, why) in [
        (refused("unnegotiated"), "have not negotiated"),
        (refused("closing"), "are closing"),
        (refused("unwritten"), "had no room"),
        (refused("unsent"), "could not be sent"),
    ] {
        if count > 0 {
            text.push_str(&format!("; {count} {why}"));
        }
    }
    if number("governed") > 0 {
        text.push_str(&format!("; {} of this host's own flows have the policy's window", number("governed")));
    }
    if number("resent") > 0 {
        text.push_str(&format!("; {} of this host's own flows resend", number("resent")));
    }
    if let Some(reason) = round["refused"]["reason"].as_str() {
        text.push_str(&format!(" ({reason})"));
    }
    if round["superseded"].as_bool() == Some(true) {
        text.push_str("; a newer handoff came before its end");
    }
    text
}

pub fn status(args: &StatusArgs) -> Result<(), Failure> {
    let json = args.json.as_deref().map(Output::open).transpose()?;
    let on_stdout = json.as_ref().is_some_and(Output::is_stdout);
    let Reply::Status(status) = answer(&args.control, &Request::Status)? else { return Err(unexpected()) };
    if let Some(json) = json {
        let line = serde_json::to_string(&status).map_err(Failure::ours)? + "\n";
        json.finish(line).map_err(Failure::writing)?;
    }
    if on_stdout { Ok(()) } else { print(&text(&status)) }
}

fn list(value: &Value) -> &[Value] {
    value.as_array().map_or(&[], Vec::as_slice)
}

fn word(value: &Value) -> String {
    match value {
        Value::String(text) => text.clone(),
        Value::Null => "-".to_owned(),
        other => other.to_string(),
    }
}

/// The same; yes or no, and lists.
fn plain(value: &Value) -> String {
    match value {
        Value::Bool(true) => "yes".to_owned(),
        Value::Bool(false) => "no".to_owned(),
        Value::Array(all) if all.is_empty() => "-".to_owned(),
        Value::Array(all) => all.iter().map(word).collect::<Vec<_>>().join(", "),
        other => word(other),
    }
}

fn link(estimate: &Value) -> [String; 2] {
    let Some(rate) = estimate["rate_kbps"].as_u64() else { return ["-".to_owned(), "-".to_owned()] };
    let delay = estimate["delay_us"].as_f64().unwrap_or(0.0) / 1000.0;
    [format!("{rate}kbit/{delay}ms"), word(&estimate["source"])]
}

fn text(status: &Value) -> String {
    let up = status["up_s"].as_u64().unwrap_or(0);
    let mut text = format!("process {}, at work for {up} s\n\n", word(&status["process"]));
    let watched = list(&status["watch"]).iter().map(|path| {
        let [link, source] = link(&path["estimate"]);
        [word(&path["to"]), word(&path["device"]), link, source]
    });
    text.push_str(&columns(["WATCHED", "OVER", "LINK", "FROM"], watched));
    for (title, counts) in [("CONNECTIONS NOW", &status["connections"]), ("TOLD SINCE", &status["notices"])] {
        let counts = counts.as_object().into_iter().flatten();
        text.push_str(&columns([title, ""], counts.map(|(name, count)| [name.clone(), word(count)])));
    }
    let others = status["others"].as_object().into_iter().flatten();
    text.push_str(&columns(["OTHER PEERS", ""], others.map(|(name, value)| [name.clone(), plain(value)])));
    for round in list(&status["rounds"]) {
        let [link, _] = link(&round["estimate"]);
        let head = ["number", "cause", "watch", "device"].map(|name| word(&round[name])).join(" ");
        text.push_str(&format!("{head} {link}: {}\n", told(round)));
    }
    text
}

/// Rows below their headings, and an empty line.
fn columns<const N: usize>(head: [&str; N], rows: impl Iterator<Item = [String; N]>) -> String {
    let mut all = vec![head.map(str::to_owned)];
    all.extend(rows);
    let widths: [usize; N] =
        std::array::from_fn(|column| all.iter().map(|row| row[column].chars().count()).max().unwrap_or(0));
    let line = |row: &[String; N]| {
        let cells = row.iter().zip(widths).map(|(cell, width)| format!("{cell:width$}"));
        format!(" {}\n", cells.collect::<Vec<_>>().join("  ").trim_end())
    };
    all.iter().map(line).collect::<String>() + "\n"
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_done_for_other_peers_is_shown() {
        let others = serde_json::json!({
            "resume": true, "window": false, "devices": ["w0", "w1"], "helped": 3, "closed": 0
        });
        let shown = text(&serde_json::json!({ "process": 7, "up_s": 1, "others": others }));
        let (_, block) = shown.split_once(" OTHER PEERS\n").expect("its block");
        let mut lines: Vec<_> =
            block.lines().map(|line| line.split_whitespace().collect::<Vec<_>>()).collect();
        assert_eq!(lines.pop(), Some(vec![]), "{shown}");
        lines.sort_unstable();
        let expected = [
            &["closed", "0"][..],
            &["devices", "w0,", "w1"],
            &["helped", "3"],
            &["resume", "yes"],
            &["window", "no"],
        ];
        assert_eq!(lines, expected);
        let none = text(&serde_json::json!({ "others": { "devices": [] } }));
        assert!(none.contains(" devices      -\n"), "{none}");
    }

    #[test]
    fn columns_are_as_wide_as_their_longest_word() {
        let row = |words: [&str; 3]| words.map(str::to_owned);
        let rows = [row(["0.0.0.0/0", "w0", "1kbit"]), row(["-", "-", ""])];
        assert_eq!(
            columns(["TO", "OVER", "LINK"], rows.into_iter()),
            " TO         OVER  LINK\n 0.0.0.0/0  w0    1kbit\n -          -\n\n"
        );
    }
}
