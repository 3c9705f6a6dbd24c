//! Compiles the headers of `policy/` through `src/shim.c`, and turns the table of
//! knobs in `policy/etcp_settings.h` into the Rust type `Settings`, so that a knob is
//! written down in one place.

use std::fmt::Write as _;
use std::path::{Path, PathBuf};
use std::{env, fs};

/// One line `X(name, kind, default, "section", "meaning")` of the table.
struct Knob {
    name: String,
    kind: String,
    default: String,
    section: String,
    meaning: String,
}

fn main() {
    let crate_dir = PathBuf::from(env::var_os("CARGO_MANIFEST_DIR").expect("set by cargo"));
    let policy = crate_dir.join("../../policy");
    println!("cargo::rerun-if-changed={}", policy.display());
    println!("cargo::rerun-if-changed=src/shim.c");

    cc::Build::new()
        .file("src/shim.c")
        .include(&policy)
        .std("c11")
        .flag("-ffreestanding")
        .warnings(true)
        .extra_warnings(true)
        .warnings_into_errors(true)
        .opt_level(2)
        .compile("segue_policy");

    let out = PathBuf::from(env::var_os("OUT_DIR").expect("set by cargo"));
    let knobs = read_knobs(&policy.join("etcp_settings.h"));
    fs::write(out.join("settings.rs"), settings_source(&knobs)).expect("OUT_DIR is writable");
}

fn read_knobs(header: &Path) -> Vec<Knob> {
    let text = fs::read_to_string(header).expect("policy/etcp_settings.h");
    let knobs: Vec<Knob> = text
        .lines()
        .filter_map(|line| line.strip_prefix("\tX("))
        .map(|line| parse_knob(line).unwrap_or_else(|| panic!("not a knob: {line}")))
        .collect();
    assert!(!knobs.is_empty(), "no knobs in {}", header.display());
    knobs
}

fn parse_knob(line: &str) -> Option<Knob> {
    let body = line.trim_end_matches('\\').trim_end().strip_suffix("\")")?;
    let (head, meaning) = body.split_once("\", \"")?;
    let (head, section) = head.split_once(", \"")?;
    let mut words = head.split(", ").map(str::to_owned);
    let knob = Knob {
        name: words.next()?,
        kind: words.next()?,
        default: words.next()?,
        section: section.to_owned(),
        meaning: meaning.to_owned(),
    };
    (words.next().is_none() && !knob.meaning.contains('"')).then_some(knob)
}

fn settings_source(knobs: &[Knob]) -> String {
    let mut fields = String::new();
    let mut values = String::new();
    let mut names = String::new();
    let mut offsets = String::new();
    let mut table = String::new();
    for Knob { name, kind, default, section, meaning } in knobs {
        let kebab = name.replace('_', "-");
        let variant = kind[..1].to_uppercase() + &kind[1..];
        writeln!(fields, "    /// {meaning} (algorithms.md {section})\n    pub {name}: u32,").unwrap();
        writeln!(values, "            {name}: {default},").unwrap();
        writeln!(names, "            \"{kebab}\" => &mut self.{name},").unwrap();
        writeln!(offsets, "        std::mem::offset_of!(Settings, {name}),").unwrap();
        writeln!(
            table,
            "    Setting {{ name: {kebab:?}, kind: Kind::{variant}, default: {default}, \
             section: {section:?}, meaning: {meaning:?} }},"
        )
        .unwrap();
    }
    format!(
        "/// Which algorithms of Enhanced TCP run, and every choice that the papers leave open
/// (`policy/etcp_settings.h`, from whose table this type is made).
#[repr(C)]
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Settings {{
    /// Which algorithms run.
    pub algorithms: Algorithms,
{fields}}}

impl Settings {{
    /// The recommended choices for these algorithms.
    pub const fn new(algorithms: Algorithms) -> Self {{
        Self {{
            algorithms,
{values}        }}
    }}

    fn field(&mut self, name: &str) -> Option<&mut u32> {{
        Some(match name {{
{names}            _ => return None,
        }})
    }}
}}

/// Where C's fields must lie.
#[cfg(test)]
pub(crate) fn settings_offsets() -> Vec<usize> {{
    vec![
{offsets}    ]
}}

/// Every knob, in the order of the header.
pub static SETTINGS: &[Setting] = &[
{table}];
"
    )
}
