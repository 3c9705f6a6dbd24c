//! The log: a line per event, of words and values or one object (`segue schema agent-log`). tracing-subscriber does far
//! more, and its size would be in memory all the time.

use crate::cli::{LogForm, LogLevel};
use segue_console::printable;
use std::fmt::{Debug, Write as _};
use std::io::Write as _;
use std::time::{Duration, SystemTime, UNIX_EPOCH};
use tracing::field::{Field, Visit};
use tracing::span::{Attributes, Id, Record};
use tracing::{Event, Level, Metadata, Subscriber};

/// Writes what is at least as grave as this level on standard error.
pub fn start(form: LogForm, level: LogLevel) {
    // Nobody may read the log: then the line is lost.
    let write = |line: &str| drop(std::io::stderr().write_all(line.as_bytes()));
    // One that is there already stays.
    let _ = tracing::subscriber::set_global_default(lines(form, level, write));
}

/// Hands what is at least as grave as this level to `write`, a line at a time.
pub fn lines(
    form: LogForm,
    level: LogLevel,
    write: impl Fn(&str) + Send + Sync + 'static,
) -> impl Subscriber + Send + Sync {
    let level = match level {
        LogLevel::Error => Level::ERROR,
        LogLevel::Warn => Level::WARN,
        LogLevel::Info => Level::INFO,
    };
    let write = move |event: &Event<'_>| {
        let since = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
        write(&line(form, &timestamp(since), event));
    };
    Log { level, write }
}

/// Hands on events of a level; there are no spans.
struct Log<W> {
    level: Level,
    write: W,
}

impl<W: Fn(&Event<'_>) + 'static> Subscriber for Log<W> {
    fn enabled(&self, metadata: &Metadata<'_>) -> bool {
        metadata.is_event() && *metadata.level() <= self.level
    }

    fn event(&self, event: &Event<'_>) {
        (self.write)(event);
    }

    fn new_span(&self, _: &Attributes<'_>) -> Id {
        Id::from_u64(1)
    }

    fn record(&self, _: &Id, _: &Record<'_>) {}

    fn record_follows_from(&self, _: &Id, _: &Id) {}

    fn enter(&self, _: &Id) {}

    fn exit(&self, _: &Id) {}
}

fn line(form: LogForm, timestamp: &str, event: &Event<'_>) -> String {
    let mut fields = Fields { form, message: String::new(), rest: String::new() };
    event.record(&mut fields);
    let Fields { message, rest, .. } = fields;
    let level = event.metadata().level();
    match form {
        LogForm::Text => printable(&format!("{timestamp} {level:>5} {message}{rest}")) + "\n",
        LogForm::Json => {
            let message = json(&message);
            format!("{{\"timestamp\":\"{timestamp}\",\"level\":\"{level}\",\"message\":{message}{rest}}}\n")
        }
    }
}

/// Fields of an event.
struct Fields {
    form: LogForm,
    message: String,
    rest: String,
}

impl Fields {
    fn add(&mut self, field: &Field, value: &dyn Debug) {
        let name = field.name();
        // A string takes all that is written.
        let _ = match self.form {
            LogForm::Text => write!(self.rest, " {name}={value:?}"),
            LogForm::Json => write!(self.rest, ",{}:{value:?}", json(name)),
        };
    }
}

impl Visit for Fields {
    fn record_debug(&mut self, field: &Field, value: &dyn Debug) {
        match (field.name(), self.form) {
            ("message", _) => self.message = format!("{value:?}"),
            (_, LogForm::Text) => self.add(field, value),
            (_, LogForm::Json) => self.record_str(field, &format!("{value:?}")),
        }
    }

    fn record_str(&mut self, field: &Field, value: &str) {
        match self.form {
            LogForm::Text => self.add(field, &value),
            LogForm::Json => self.add(field, &format_args!("{}", json(value))),
        }
    }

    fn record_u64(&mut self, field: &Field, value: u64) {
        self.add(field, &value);
    }

    fn record_i64(&mut self, field: &Field, value: i64) {
        self.add(field, &value);
    }

    fn record_bool(&mut self, field: &Field, value: bool) {
        self.add(field, &value);
    }
}

fn json(text: &str) -> String {
    serde_json::Value::from(text).to_string()
}

/// RFC 3339, in UTC, with microseconds.
fn timestamp(since_epoch: Duration) -> String {
    let seconds = since_epoch.as_secs();
    let (year, month, day) = date(seconds / 86_400);
    let (hour, minute, second) = (seconds / 3600 % 24, seconds / 60 % 60, seconds % 60);
    let micros = since_epoch.subsec_micros();
    format!("{year:04}-{month:02}-{day:02}T{hour:02}:{minute:02}:{second:02}.{micros:06}Z")
}

/// The date, so many days after 1970-01-01. Years begin in March here: the leap day is the last of one.
fn date(days: u64) -> (u64, u64, u64) {
    const FOUR_CENTURIES: u64 = 146_097;
    let since_march_0 = days + 719_468;
    let (era, day_of_era) = (since_march_0 / FOUR_CENTURIES, since_march_0 % FOUR_CENTURIES);
    let year_of_era = (day_of_era - day_of_era / 1460 + day_of_era / 36_524 - day_of_era / 146_096) / 365;
    let day_of_year = day_of_era - (365 * year_of_era + year_of_era / 4 - year_of_era / 100);
    let month = (5 * day_of_year + 2) / 153;
    let day = day_of_year - (153 * month + 2) / 5 + 1;
    let year = era * 400 + year_of_era + u64::from(month >= 10);
    (year, if month < 10 { month + 3 } else { month - 9 }, day)
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::{Arc, Mutex};

    #[test]
    fn dates() {
        // `date --utc --date=@SECONDS`
        for (seconds, text) in [
            (0, "1970-01-01T00:00:00.000000Z"),
            (951_782_400, "2000-02-29T00:00:00.000000Z"),
            (951_868_799, "2000-02-29T23:59:59.000000Z"),
            (1_709_251_200, "2024-03-01T00:00:00.000000Z"),
            (4_107_542_399, "2100-02-28T23:59:59.000000Z"),
            (4_107_542_400, "2100-03-01T00:00:00.000000Z"),
        ] {
            assert_eq!(timestamp(Duration::from_secs(seconds)), text);
        }
        assert!(timestamp(Duration::from_micros(1_000_042)).ends_with(":01.000042Z"));
    }

    /// Lines of events whose time is T.
    fn written(form: LogForm) -> String {
        let lines = Arc::new(Mutex::new(String::new()));
        let kept = lines.clone();
        let write = move |event: &Event<'_>| kept.lock().expect("ours").push_str(&line(form, "T", event));
        tracing::subscriber::with_default(Log { level: Level::WARN, write }, || {
            let (error, path) = ("a \"b\"", std::path::Path::new("/x"));
            tracing::info!("less grave");
            tracing::warn!(number = 7u64, late = -3, over = true, device = "w\n0", %error, path = %path.display(), "a {}", "handoff");
        });
        let lines = lines.lock().expect("ours");
        lines.clone()
    }

    #[test]
    fn an_event_is_a_line() {
        assert_eq!(
            written(LogForm::Text),
            "T  WARN a handoff number=7 late=-3 over=true device=\"w\\n0\" error=a \"b\" path=/x\n"
        );
        assert_eq!(
            written(LogForm::Json),
            "{\"timestamp\":\"T\",\"level\":\"WARN\",\"message\":\"a handoff\",\"number\":7,\"late\":-3,\"over\":true,\
             \"device\":\"w\\n0\",\"error\":\"a \\\"b\\\"\",\"path\":\"/x\"}\n"
        );
    }
}
