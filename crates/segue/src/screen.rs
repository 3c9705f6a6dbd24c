//! The place where text is read: colour or none, how wide, and whether somebody watches a long run.

use clap::ValueEnum;
use std::ffi::OsString;
use std::io::IsTerminal;

/// Columns of text in a file or a pipe, whatever the terminal behind it has.
pub const COLUMNS: usize = 80;
/// A narrower terminal breaks lines.
const NARROWEST: usize = 60;

/// `--color`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, ValueEnum)]
pub enum ColourWord {
    /// On a terminal, unless NO_COLOR is set
    #[default]
    Auto,
    /// Also into a file or a pipe
    Always,
    /// Never
    Never,
}

impl ColourWord {
    /// The choice among `words` that clap could not read, such as those before `--help`.
    pub fn among(words: &[OsString]) -> Self {
        let word = |index: usize| words.get(index).map(|word| word.to_string_lossy());
        let value = |index: usize| match word(index)? {
            option if option == "--color" => word(index + 1),
            option => option.strip_prefix("--color=").map(|value| value.to_string().into()),
        };
        let last = (0..words.len()).rev().find_map(value);
        last.and_then(|value| Self::from_str(&value, false).ok()).unwrap_or_default()
    }

    /// Whether text on standard output is coloured.
    pub fn on_stdout(self) -> bool {
        let no_color = std::env::var_os("NO_COLOR").is_some_and(|value| !value.is_empty());
        self.coloured(std::io::stdout().is_terminal(), no_color)
    }

    /// NO_COLOR (no-color.org) is the user's habit; an option is what he wants now.
    fn coloured(self, terminal: bool, no_color: bool) -> bool {
        match self {
            Self::Always => true,
            Self::Never => false,
            Self::Auto => terminal && !no_color,
        }
    }
}

/// `--progress`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, ValueEnum)]
pub enum ProgressWord {
    /// A bar on a terminal; elsewhere lines, if the work takes more than 10 s
    #[default]
    Auto,
    /// A bar
    Bar,
    /// A line each 30 s, if the work takes more than 10 s
    Lines,
    /// Nothing, as --quiet
    Never,
}

/// How progress is shown.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Watched {
    /// Not at all.
    Nothing,
    /// In lines.
    Lines,
    /// By a bar.
    Bar,
}

impl ProgressWord {
    fn shown(self, terminal: bool) -> Watched {
        match self {
            Self::Auto if terminal => Watched::Bar,
            Self::Auto | Self::Lines => Watched::Lines,
            Self::Bar => Watched::Bar,
            Self::Never => Watched::Nothing,
        }
    }
}

/// Properties of the screen that a command needs to know.
#[derive(Clone, Copy, Debug)]
pub struct Screen {
    /// Whether tables are coloured.
    pub colour: bool,
    /// Columns of a line.
    pub width: usize,
    /// Those of a terminal, or of the environment: what is longer breaks there. `None` in a file or a pipe.
    pub terminal: Option<usize>,
    /// How progress is shown.
    pub progress: Watched,
}

impl Screen {
    /// As the user chose it, and as standard output and standard error allow.
    pub fn new(colour: ColourWord, quiet: bool, progress: ProgressWord) -> Self {
        let watched = std::io::stdout().is_terminal() && std::io::stderr().is_terminal();
        Self {
            colour: colour.on_stdout(),
            width: columns(),
            terminal: terminal().map(|columns| width(Some(columns))),
            progress: if quiet { Watched::Nothing } else { progress.shown(watched) },
        }
    }
}

/// Columns of a line on standard output.
pub fn columns() -> usize {
    width(terminal())
}

/// Columns that the environment or the terminal says.
fn terminal() -> Option<u16> {
    wished().or_else(|| comfy_table::Table::new().width())
}

/// The columns that the environment asks for (COLUMNS, POSIX.1-2017, 8.3), whatever the terminal has.
fn wished() -> Option<u16> {
    std::env::var("COLUMNS").ok()?.parse().ok()
}

/// Columns of a line; a terminal may say that it has none.
fn width(terminal: Option<u16>) -> usize {
    match terminal {
        None | Some(0) => COLUMNS,
        Some(width) => usize::from(width).max(NARROWEST),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_last_choice_counts() {
        let among =
            |line: &str| ColourWord::among(&line.split_whitespace().map(OsString::from).collect::<Vec<_>>());
        assert_eq!(among("segue --help"), ColourWord::Auto);
        assert_eq!(among("segue --color never --help"), ColourWord::Never);
        assert_eq!(among("segue --color=never --help --color=always"), ColourWord::Always);
        assert_eq!(among("segue --help --color"), ColourWord::Auto, "a value that is missing");
    }

    #[test]
    fn an_option_counts_more_than_no_color() {
        use ColourWord::{Always, Auto, Never};
        let on_terminal = |no_color| [Auto, Always, Never].map(|word| word.coloured(true, no_color));
        assert_eq!(on_terminal(false), [true, true, false]);
        assert_eq!(on_terminal(true), [false, true, false]);
        assert!(!Auto.coloured(false, false) && Always.coloured(false, true));
    }

    #[test]
    fn a_bar_is_for_terminals_unless_it_is_wanted() {
        use ProgressWord::{Auto, Bar, Lines, Never};
        let shown = |terminal| [Auto, Bar, Lines, Never].map(|word| word.shown(terminal));
        assert_eq!(shown(true), [Watched::Bar, Watched::Bar, Watched::Lines, Watched::Nothing]);
        assert_eq!(shown(false), [Watched::Lines, Watched::Bar, Watched::Lines, Watched::Nothing]);
    }

    #[test]
    fn a_line_has_80_columns_or_those_of_a_terminal() {
        assert_eq!([None, Some(0), Some(40), Some(80), Some(132)].map(width), [80, 80, 60, 80, 132]);
    }
}
