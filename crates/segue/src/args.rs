//! Options that several commands share, and readers of their values.

use clap::builder::{PossibleValue, PossibleValuesParser, TypedValueParser};
use clap::{Arg, Args, Command, ValueEnum};
use segue_console::Failure;
use segue_study::measure::Column;
use segue_study::request::{MOST_PACKETS, PACKETS};
use segue_study::times::time;
use segue_tcp::linux::cc::CcName;
use segue_words::quantity;
use segue_words::{Choice, did_you_mean, forgiven, nearest};
use segue_world::AccessLink;
use segue_world::access::LinkNames;
use segue_world::{Address, Definition, Nanos, NoticeWord, SoftWord};
use std::convert::Infallible;
use std::ffi::{OsStr, OsString};
use std::path::Path;

/// The program's version and the commit that it was built from, where that is known.
pub const VERSION: &str = env!("SEGUE_VERSION");

/// The version, and the features that are built in (docs/guide/install.md).
pub const LONG_VERSION: &str = concat!(env!("SEGUE_VERSION"), "\nfeatures: ", env!("SEGUE_FEATURES"));

/// Reads one of a few words, in any case and with blanks around it.
pub(crate) fn choice<T: Choice + Send + Sync>() -> impl TypedValueParser<Value = T> {
    Forgiving(std::marker::PhantomData)
}

#[derive(Clone)]
struct Forgiving<T>(std::marker::PhantomData<T>);

impl<T: Choice + Send + Sync> TypedValueParser for Forgiving<T> {
    type Value = T;

    fn parse_ref(&self, command: &Command, arg: Option<&Arg>, value: &OsStr) -> Result<T, clap::Error> {
        match value.to_str().and_then(|word| T::of(&forgiven(word))) {
            Some(choice) => Ok(choice),
            // Its error lists the words.
            None => PossibleValuesParser::new(T::ALL.iter().map(|choice| choice.word()))
                .try_map(|word| T::of(&word).ok_or("none of the words"))
                .parse_ref(command, arg, value),
        }
    }

    fn possible_values(&self) -> Option<Box<dyn Iterator<Item = PossibleValue> + '_>> {
        let help =
            |choice: &T| PossibleValue::new(choice.word()).help(choice.meaning().trim_end_matches('.'));
        Some(Box::new(T::ALL.iter().map(help)))
    }
}

/// Reads a word of ours.
pub(crate) fn word(word: &str) -> Result<String, Infallible> {
    Ok(forgiven(word))
}

/// Options that `compare` and `trace` share: the links, the schemes, and how they are measured.
#[derive(Debug, Args)]
pub struct BenchArgs {
    /// Link before the handoff: RATE/DELAY such as 6400kbit/9ms, or a preset, with words such as lte,loss=1%
    /// (`segue links` lists both). Or trace:PATH with up=PATH, start=300s, delay=20ms or delay-trace=PATH, queue=100p
    pub old: String,
    /// Link after the handoff, in the same words
    pub new: String,
    /// Schemes, in the order in which they are shown
    #[arg(long, value_name = "NAME,...", value_delimiter = ',', value_parser = word, default_value = "sack,etcp-v1")]
    pub schemes: Vec<String>,
    /// How long there is no link in break-before-make; 1s unless given
    #[arg(long, value_name = "TIME", value_delimiter = ',', value_parser = time, allow_hyphen_values = true)]
    pub disconnect: Vec<Nanos>,
    /// How long both links carry in a soft handoff; 1s unless given
    #[arg(long, value_name = "TIME", allow_hyphen_values = true)]
    pub overlap: Option<String>,
    /// How a soft handoff uses its two links; duplicate unless given
    #[arg(long, value_parser = choice::<SoftWord>())]
    pub soft: Option<SoftWord>,
    /// Time from the start of a ping-pong until it is back on the old link; 1s unless given
    #[arg(long = "return", value_name = "TIME", allow_hyphen_values = true)]
    pub return_after: Option<String>,
    /// Whether the mobile keeps its address; keep unless given
    #[arg(long, value_parser = choice::<Address>())]
    pub address: Option<Address>,
    /// Packets per transfer
    #[arg(long, value_name = "P", default_value_t = PACKETS, value_parser = clap::value_parser!(u32).range(1..=i64::from(MOST_PACKETS)), allow_negative_numbers = true)]
    pub packets: u32,
    /// When the transfer counts as complete
    #[arg(long, value_parser = choice::<Definition>(), default_value = "after-highest")]
    pub definition: Definition,
    /// How senders learn of the handoff
    #[arg(long, value_parser = choice::<NoticeWord>(), default_value = "instant")]
    pub notice: NoticeWord,
    /// Lose the first K of the two copies of an in-band notice
    #[arg(long, value_name = "K", default_value_t = 0, value_parser = clap::value_parser!(u32).range(0..=2), allow_negative_numbers = true)]
    pub notice_loss: u32,
    /// Errors of notices, drawn for each handoff. They are the new link's rate by up to a factor, its delay by up to a
    /// time, and how late notices come
    #[arg(long, value_name = "rate=2x,delay=30ms,late=100ms", value_parser = word, allow_hyphen_values = true)]
    pub notice_error: Option<String>,
    /// Number of other users' long downloads on each access link; they use regular TCP, or Linux with CONTROL
    #[arg(long, value_name = "N [CONTROL]", value_parser = word, allow_hyphen_values = true)]
    pub neighbours: Option<String>,
    /// One stack for all schemes, in place of their own
    #[arg(long, value_name = "STACK", value_parser = word)]
    pub stack: Option<String>,
    /// Congestion control on linux-6.12 or linux-6.18: cubic, reno, bbr, bbr3 or leocc; the last two are not validated
    /// against a kernel
    #[arg(long, value_name = "CONTROL", value_parser = word)]
    pub cc: Option<String>,
    /// A setting of a scheme or stack (see `segue schemes`); may be repeated
    #[arg(long, value_name = "KEY=VALUE", value_parser = key_value)]
    pub set: Vec<(String, String)>,
    /// Seed of start times and clock phases; ns-2's reference has 1
    #[arg(long, default_value_t = 1, allow_negative_numbers = true)]
    pub seed: u64,
    /// Names of the user's own links.
    #[arg(skip)]
    pub names: LinkNames,
}

/// Heading of the options that say what is written and where.
pub(crate) const OUTPUT: &str = "Output";

/// Whether this build makes no pages, charts and captures, so that help is silent about them.
pub(crate) const NO_PAGES: bool = cfg!(not(feature = "report"));

/// Where the results of a comparison go.
#[derive(Debug, Args)]
pub struct ResultArgs {
    /// Write the rows as JSON (- for standard output)
    #[arg(long, help_heading = OUTPUT, value_name = "FILE")]
    pub json: Option<String>,
    /// Write the rows as CSV (- for standard output)
    #[arg(long, help_heading = OUTPUT, value_name = "FILE")]
    pub csv: Option<String>,
    /// Write one CSV line per handoff and scheme (- for standard output)
    #[arg(long, help_heading = OUTPUT, value_name = "FILE")]
    pub rows: Option<String>,
    /// Write one page that explains the comparison (HTML; - for standard output)
    #[arg(long, help_heading = OUTPUT, value_name = "FILE", hide = NO_PAGES)]
    pub report: Option<String>,
    /// Put the origin of CSV at its head, in lines `# KEY: VALUE`, as on standard output; beside a file unless given
    #[arg(long, help_heading = OUTPUT, value_name = "WHERE", num_args = 0..=1, require_equals = true, default_missing_value = "inside", ignore_case = true)]
    pub origin: Option<OriginWord>,
}

/// Where CSV says where it comes from.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum OriginWord {
    /// At its head
    Inside,
    /// Nowhere: the first line has the names of the columns, also on standard output
    None,
}

/// Which columns a table has.
#[derive(Debug, Args)]
pub struct TableArgs {
    /// Print all usual columns of the table, however wide
    #[arg(long, help_heading = OUTPUT, conflicts_with = "columns")]
    pub wide: bool,
    /// Columns of the table after the scheme's name, by word or heading (`segue measures` lists them)
    #[arg(long, help_heading = OUTPUT, value_name = "COLUMN,...", value_delimiter = ',', value_parser = column)]
    pub columns: Vec<Column>,
}

impl TableArgs {
    /// The columns that are asked for, if any.
    ///
    /// Errors: a column is given twice.
    pub fn columns(&self) -> Result<Option<Vec<Column>>, Failure> {
        let twice =
            self.columns.iter().enumerate().find(|(index, column)| self.columns[..*index].contains(column));
        match twice {
            Some((_, column)) => {
                Err(Failure::User(format!("--columns: `{}` is given twice; expected it once", column.word())))
            }
            None if self.wide => Ok(Some(Column::WIDE.to_vec())),
            None => Ok((!self.columns.is_empty()).then(|| self.columns.clone())),
        }
    }
}

/// Reads a column of the table: its word, or its heading as tables print it.
fn column(word: &str) -> Result<Column, String> {
    // Tables align headings of two words by more blanks.
    let word = &forgiven(&word.split_whitespace().collect::<Vec<_>>().join(" "));
    let is_it = |column: &Column| column.word() == word || column.heading().to_lowercase() == *word;
    Column::ALL.iter().copied().find(is_it).ok_or_else(|| {
        let words = || Column::ALL.iter().map(|column| column.word());
        let all = words().collect::<Vec<_>>().join(", ");
        let headings = Column::ALL.iter().map(|column| column.heading());
        format!(
            "expected one of {all}, or a heading of the table{}",
            did_you_mean(word, words().chain(headings))
        )
    })
}

/// `segue run`, of a scenario or of a drive.
#[cfg(feature = "files")]
#[derive(Debug, Args)]
pub struct RunArgs {
    /// Scenario or drive (TOML)
    #[arg(required_unless_present_any = ["schema", "drive_schema"])]
    pub scenario: Option<String>,
    /// Print the JSON schema of scenario files
    #[arg(long, exclusive = true)]
    pub schema: bool,
    /// Print the JSON schema of drives
    #[arg(long, exclusive = true)]
    pub drive_schema: bool,
    /// Where results go.
    #[command(flatten)]
    pub results: ResultArgs,
    /// Columns of the table.
    #[command(flatten)]
    pub table: TableArgs,
    /// Write the chart of quartiles (SVG; - for standard output)
    #[arg(long, help_heading = OUTPUT, value_name = "FILE", hide = NO_PAGES)]
    pub svg: Option<String>,
    /// At most N handoff times per seed, spread evenly over those of the file; for a drive, at most N seeds
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..), allow_negative_numbers = true)]
    pub points: Option<u32>,
    /// Worker threads; all cores unless given
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u16).range(1..=1024), allow_negative_numbers = true)]
    pub threads: Option<u16>,
    /// Names of the user's own links.
    #[arg(skip)]
    pub names: LinkNames,
}

/// Reads KEY=VALUE. Keys and values are words of ours; a size such as 100kB stands in results as it is written.
pub(crate) fn key_value(word: &str) -> Result<(String, String), String> {
    match word.split_once('=').map(|(key, value)| (key.trim(), value.trim())) {
        Some((key, value)) if !key.is_empty() && !value.is_empty() => {
            let is_size = quantity::size(value).is_some();
            Ok((forgiven(key), if is_size { value.into() } else { forgiven(value) }))
        }
        _ => Err("expected KEY=VALUE".into()),
    }
}

/// Whether a word is a congestion control, or a misspelt one and no link: its message then names the nearest.
fn is_control(word: &str) -> bool {
    let is_link = || AccessLink::parse_forgiving(word, Path::new(""), &LinkNames::default()).is_ok();
    let controls = || CcName::ALL.iter().map(|control| control.name());
    CcName::named(&word.to_lowercase()).is_some() || nearest(word, controls()).is_some() && !is_link()
}

/// `--neighbours 3 cubic 30s` as one value, as if it had stood in quotes, unless a link of the user's `is_named` so.
pub fn with_neighbours_joined(words: Vec<OsString>, is_named: impl Fn(&str) -> bool) -> Vec<OsString> {
    let mut joined: Vec<OsString> = Vec::with_capacity(words.len());
    let is_number = |word: &str| word.bytes().all(|byte| byte.is_ascii_digit());
    // Words of the value so far: 0 elsewhere.
    let mut have = 0;
    for word in words {
        let text = word.to_str().unwrap_or_default();
        let belongs = match have {
            2 => is_control(text) && !is_named(text),
            3 => !text.starts_with('-') && quantity::time(text).is_some(),
            _ => false,
        };
        match joined.last_mut().filter(|_| belongs) {
            Some(value) => {
                value.push(" ");
                value.push(&word);
                have += 1;
            }
            None => {
                have = match have {
                    _ if text == "--neighbours" => 1,
                    1 if is_number(text) => 2,
                    _ if text.strip_prefix("--neighbours=").is_some_and(is_number) => 2,
                    _ => 0,
                };
                joined.push(word);
            }
        }
    }
    joined
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn neighbours_take_their_congestion_control_and_their_time() {
        for (words, expected) in [
            ("--neighbours 3 cubic wlan 5g", "--neighbours|3 cubic|wlan|5g"),
            ("--neighbours 3 cubic 30s wlan", "--neighbours|3 cubic 30s|wlan"),
            ("--neighbours 3 wlan cubic", "--neighbours|3|wlan|cubic"),
            ("--neighbours 3 cubic --at 30s", "--neighbours|3 cubic|--at|30s"),
            ("--flows 3 cubic", "--flows|3|cubic"),
            ("--neighbours 3 CUBIC wlan", "--neighbours|3 CUBIC|wlan"),
            ("--neighbours 3 cubci wlan", "--neighbours|3 cubci|wlan"),
            // The beginning of leocc, and a link.
            ("--neighbours 3 leo wlan", "--neighbours|3|leo|wlan"),
            ("--neighbours 3 --cc wlan", "--neighbours|3|--cc|wlan"),
            ("--neighbours=3 bbr wlan", "--neighbours=3 bbr|wlan"),
            ("--neighbours 3 reno wlan", "--neighbours|3|reno|wlan"),
            ("--neighbours", "--neighbours"),
        ] {
            let words = words.split(' ').map(OsString::from).collect();
            let joined: Vec<String> = with_neighbours_joined(words, |name| name == "reno")
                .into_iter()
                .map(|word| word.into_string().unwrap())
                .collect();
            assert_eq!(joined.join("|"), expected);
        }
    }
}
