//! Messages in one line.

use clap::error::{ContextKind, ContextValue, ErrorKind};
use segue_words::did_you_mean;
use std::error::Error;

/// Longest message, characters.
const LONGEST: usize = 1000;

/// Longest quotation of a user's word in an error, characters.
const LONGEST_WORD: usize = 100;

/// The beginning of a user's word.
fn shortened(word: &str) -> String {
    match word.char_indices().nth(LONGEST_WORD) {
        Some((end, _)) => format!("{}...", &word[..end]),
        None => word.to_owned(),
    }
}

/// The same message with the beginnings of the words that it quotes in backticks: every second part.
pub(crate) fn with_short_words(message: &str) -> String {
    let quotes = message.matches('`').count();
    let short = |(index, part): (usize, &str)| match index % 2 == 1 && index < quotes {
        true => shortened(part),
        false => part.to_owned(),
    };
    message.split('`').enumerate().map(short).collect::<Vec<_>>().join("`")
}

/// Whether it changes how others are read, or is not seen: marks of direction, joiners, breaks, tags (Unicode 16,
/// Default_Ignorable_Code_Point and Bidi_Control).
fn is_unseen(c: char) -> bool {
    matches!(c, '\u{ad}' | '\u{61c}' | '\u{180e}' | '\u{200b}'..='\u{200f}' | '\u{2028}'..='\u{202e}'
        | '\u{2060}'..='\u{206f}' | '\u{feff}' | '\u{fff9}'..='\u{fffb}' | '\u{e0000}'..='\u{e0fff}')
}

/// A message that quotes the user's words: one line, no control characters, no numbers of errors, not endless.
pub fn printable(message: &str) -> String {
    let mut text = String::new();
    for (index, c) in without_numbers(message).chars().enumerate() {
        if index == LONGEST {
            text.push_str("...");
            break;
        }
        match c {
            c if c.is_control() || is_unseen(c) => text.extend(c.escape_unicode()),
            c => text.push(c),
        }
    }
    text
}

/// The same message without the operating system's numbers of errors, ` (os error 2)`, which stand behind its words.
fn without_numbers(message: &str) -> String {
    let mut text = String::new();
    let mut rest = message;
    while let Some((before, after)) = rest.split_once(" (os error ") {
        match after.split_once(')') {
            Some((number, behind)) if number.bytes().all(|byte| byte.is_ascii_digit()) => {
                text.push_str(before);
                rest = behind;
            }
            _ => {
                text.push_str(before);
                text.push_str(" (os error ");
                rest = after;
            }
        }
    }
    text + rest
}

/// clap's error about the words of a command line: the fault, what was expected, the nearest valid word.
pub fn one_line(error: &clap::Error) -> String {
    let mut line = problem(error)
        .or_else(|| error.kind().as_str().map(str::to_owned))
        .unwrap_or_else(|| error.source().map_or_else(|| "unknown cause".to_owned(), ToString::to_string));
    for kind in [ContextKind::ValidValue, ContextKind::ValidSubcommand] {
        let valid = words(error, kind);
        if !valid.is_empty() {
            line.push_str(&format!("; expected one of {}", valid.join(", ")));
        }
    }
    let bad = [ContextKind::InvalidSubcommand, ContextKind::InvalidValue, ContextKind::InvalidArg];
    let bad = bad.into_iter().find_map(|kind| word(error, kind)).unwrap_or_default();
    let told = line.len();
    for kind in [ContextKind::SuggestedArg, ContextKind::SuggestedValue, ContextKind::SuggestedSubcommand] {
        line.push_str(&did_you_mean(bad, words(error, kind).iter().map(String::as_str)));
    }
    if error.kind() == ErrorKind::UnknownArgument && bad.starts_with('-') && line.len() == told {
        line.push_str(&options_of(error, bad));
    }
    line
}

/// Where the options of the command stand whose usage an error shows. A negative number was not meant as one.
fn options_of(error: &clap::Error, bad: &str) -> String {
    let shown = error.render().to_string();
    let is_number = bad.trim_start_matches('-').starts_with(|c: char| c.is_ascii_digit());
    match shown.split_once("Usage: ").filter(|_| !is_number) {
        Some((_, usage)) => {
            let usage = usage.lines().next().unwrap_or_default();
            let command = usage.split_whitespace().take_while(|word| !word.starts_with(['<', '[', '-']));
            let command = command.collect::<Vec<_>>().join(" ");
            format!("; expected one of the options that `{command} --help` lists")
        }
        None => String::new(),
    }
}

/// The fault; `None`: all that is known is the kind of error.
fn problem(error: &clap::Error) -> Option<String> {
    let short = |kind| word(error, kind).map(shortened);
    let (argument, value) = (short(ContextKind::InvalidArg), short(ContextKind::InvalidValue));
    let (argument, value) = (argument.as_deref(), value.as_deref());
    let command = short(ContextKind::InvalidSubcommand);
    let text = match error.kind() {
        ErrorKind::InvalidValue | ErrorKind::ValueValidation if value?.is_empty() => match argument? {
            list if list.contains(",...") => {
                format!("'{list}' has an empty value; expected one or more, with a comma between two")
            }
            argument => format!("a value is required for '{argument}' but none was supplied"),
        },
        ErrorKind::InvalidValue => format!("invalid value '{}' for '{}'", value?, argument?),
        ErrorKind::ValueValidation => {
            let reason =
                error.source().map(|source| format!(": {}", plain(&source.to_string()))).unwrap_or_default();
            format!("invalid value '{}' for '{}'{reason}", value?, argument?)
        }
        ErrorKind::UnknownArgument => {
            let argument = argument?;
            let quotes = match argument.starts_with('-') {
                true => "",
                false => "; expected no further word (a value with blanks needs quotes)",
            };
            format!("unexpected argument '{argument}' found{quotes}")
        }
        ErrorKind::InvalidSubcommand => {
            format!("unrecognized subcommand '{}'; --help lists the commands", command?)
        }
        ErrorKind::MissingSubcommand => {
            format!("'{}' requires a subcommand but one was not provided", command?)
        }
        ErrorKind::MissingRequiredArgument => {
            let missing = words(error, ContextKind::InvalidArg);
            format!("the following required arguments were not provided: {}", missing.join(" "))
        }
        ErrorKind::ArgumentConflict => {
            let (argument, others) = (argument?, words(error, ContextKind::PriorArg));
            match others {
                [other] if other == argument => {
                    format!("the argument '{argument}' cannot be used multiple times")
                }
                [other] => format!("the argument '{argument}' cannot be used with '{other}'"),
                [] => format!("the argument '{argument}' cannot be used with the other arguments"),
                others => format!("the argument '{argument}' cannot be used with: {}", others.join(" ")),
            }
        }
        ErrorKind::TooManyValues => {
            format!("unexpected value '{}' for '{}' found; no more were expected", value?, argument?)
        }
        _ => return None,
    };
    Some(text)
}

/// The reasons of Rust's and clap's own parsers, in words of the user.
fn plain(reason: &str) -> String {
    match reason {
        "invalid digit found in string" => "expected a whole number".to_owned(),
        "number too large to fit in target type" => "the number is too large".to_owned(),
        "number too small to fit in target type" => "the number is too small".to_owned(),
        "invalid IP address syntax" => "expected an IP address, such as 127.0.0.1".to_owned(),
        _ => match reason.split_once(" is not in ").map(|(_, range)| range.split_once("..=").ok_or(range)) {
            Some(Ok((least, most))) => format!("expected {least} to {most}"),
            Some(Err(range)) => format!("expected {} or more", range.trim_end_matches("..")),
            None => reason.to_owned(),
        },
    }
}

/// The words of a part of the error's context; none, if there is no such part.
fn words(error: &clap::Error, kind: ContextKind) -> &[String] {
    match error.get(kind) {
        Some(ContextValue::String(word)) => std::slice::from_ref(word),
        Some(ContextValue::Strings(words)) => words,
        _ => &[],
    }
}

fn word(error: &clap::Error, kind: ContextKind) -> Option<&str> {
    words(error, kind).first().map(String::as_str)
}

#[cfg(test)]
mod tests {
    use super::*;
    use clap::{Arg, ArgAction, Command, value_parser};

    fn said(words: &str) -> String {
        said_of(&words.split(' ').collect::<Vec<_>>())
    }

    fn said_of(words: &[&str]) -> String {
        let run = Command::new("run")
            .arg(Arg::new("count").long("count").value_name("N").value_parser(value_parser!(u8).range(1..=9)))
            .arg(
                Arg::new("times")
                    .long("times")
                    .value_name("N,...")
                    .value_delimiter(',')
                    .value_parser(value_parser!(u8)),
            )
            .arg(Arg::new("kind").long("kind").value_parser(["mbb", "bbm"]))
            .arg(Arg::new("all").long("all").action(ArgAction::SetTrue).conflicts_with_all(["count", "kind"]))
            .arg(Arg::new("PLAN").required(true));
        let program = Command::new("program")
            .subcommand_required(true)
            .disable_help_subcommand(true)
            .subcommands([run, Command::new("status")]);
        let error = program.try_get_matches_from(words).expect_err("it is wrong");
        one_line(&error)
    }

    #[test]
    fn what_is_wrong_and_what_was_expected() {
        for (words, line) in [
            (
                "program",
                "'program' requires a subcommand but one was not provided; expected one of run, status",
            ),
            ("program rum", "unrecognized subcommand 'rum'; --help lists the commands; did you mean `run`?"),
            ("program runner-up", "unrecognized subcommand 'runner-up'; --help lists the commands"),
            ("program run", "the following required arguments were not provided: <PLAN>"),
            (
                "program run a b",
                "unexpected argument 'b' found; expected no further word (a value with blanks needs quotes)",
            ),
            ("program run a --cont=1", "unexpected argument '--cont' found; did you mean `--count`?"),
            (
                "program run a --verbose",
                "unexpected argument '--verbose' found; expected one of the options that `program run --help` lists",
            ),
            (
                "program status -x",
                "unexpected argument '-x' found; expected one of the options that `program status --help` lists",
            ),
            ("program status -5", "unexpected argument '-5' found"),
            ("program run a --count 10", "invalid value '10' for '--count <N>': expected 1 to 9"),
            ("program run a --count 1e1", "invalid value '1e1' for '--count <N>': expected a whole number"),
            (
                "program run a --times 1,",
                "'--times <N,...>' has an empty value; expected one or more, with a comma between two",
            ),
            ("program run a --count=", "a value is required for '--count <N>' but none was supplied"),
            (
                "program run a --kind mbx",
                "invalid value 'mbx' for '--kind <kind>'; expected one of mbb, bbm; did you mean `mbb`?",
            ),
            (
                "program run a --kind mbb --kind mbb",
                "the argument '--kind <kind>' cannot be used multiple times",
            ),
            ("program run a --all --count 1", "the argument '--all' cannot be used with '--count <N>'"),
            (
                "program run a --all --count 1 --kind mbb",
                "the argument '--all' cannot be used with: --count <N> --kind <kind>",
            ),
        ] {
            assert_eq!(said(words), line, "{words}");
        }
    }

    #[test]
    fn a_word_of_two_lines_stays_one_word() {
        assert_eq!(printable(&said("program run a --kind m\nb")).lines().count(), 1);
        assert!(said("program run a b\nc").contains("'b\nc' found; "));
    }

    #[test]
    fn errors_have_words_and_no_numbers() {
        for (message, shown) in [
            ("a: No such file (os error 2)", "a: No such file"),
            ("a (os error 13), b (os error 2): c", "a, b: c"),
            ("a (os error x) (os error 2)", "a (os error x)"),
            ("a (os error 2", "a (os error 2"),
        ] {
            assert_eq!(without_numbers(message), shown);
        }
    }

    #[test]
    fn a_message_ends() {
        assert_eq!(printable(&"x".repeat(5000)).len(), LONGEST + 3);
        assert_eq!(printable("\u{1b}[31m"), "\\u{1b}[31m");
        // Right-to-left override (U+202E) would turn the rest of the line around.
        assert_eq!(printable("a\u{202e}b\u{200b}\u{2028}"), "a\\u{202e}b\\u{200b}\\u{2028}");
        assert_eq!(printable("Zürich \u{65e5}"), "Zürich \u{65e5}");
    }

    #[test]
    fn a_word_is_quoted_by_its_beginning() {
        let (long, short) = ("ü".repeat(101), format!("{}...", "ü".repeat(100)));
        let said = with_short_words(&format!("unknown link `{long}`; expected `RATE` in 日"));
        assert_eq!(said, format!("unknown link `{short}`; expected `RATE` in 日"));
        // A backtick of the user's own leaves one over, behind which nothing is quoted.
        let prose = "x".repeat(200);
        assert_eq!(with_short_words(&format!("a `b`c` {prose}")), format!("a `b`c` {prose}"));
        let said = said_of(&["program", "run", "a", "--count", &long]);
        assert!(said.starts_with(&format!("invalid value '{short}' for")), "{said}");
    }
}
