//! Compiles the headers of `policy/`. Each that ends with `SEGUE_POLICY(name, ...)` is a policy (`policy/table.h`) and
//! becomes a function of `src/headers.rs`; `src/shim.c` has what they share. Turns the tables of knobs in
//! `policy/*_settings.h` and the structures of states into Rust types, so that each is written down in one place.

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

/// A header with a table of knobs, and the Rust type that is made of it.
struct Table {
    header: &'static str,
    /// Name of the type, and of the list of its knobs.
    type_name: &'static str,
    list: &'static str,
    /// The first field, which is no knob: name, type, what it says.
    mask: [&'static str; 3],
    doc: &'static str,
}

const TABLES: [Table; 2] = [
    Table {
        header: "etcp_settings.h",
        type_name: "Settings",
        list: "SETTINGS",
        mask: ["algorithms", "Algorithms", "Which algorithms run."],
        doc: "Which algorithms of Enhanced TCP run, and every choice that the papers leave open",
    },
    Table {
        header: "tcp_ho_settings.h",
        type_name: "TcpHoSettings",
        list: "TCP_HO_SETTINGS",
        mask: ["variant", "Variant", "Which variant runs."],
        doc: "Which variant of TCP-HO runs, and every choice that the paper leaves open",
    },
];

/// A policy's state: its header, its C structure and the Rust type that is made of it.
struct State {
    header: &'static str,
    structure: &'static str,
    type_name: &'static str,
    doc: &'static str,
}

const STATES: [State; 2] = [
    State {
        header: "etcp_rules.h",
        structure: "segue_etcp",
        type_name: "Etcp",
        doc: "One flow of Enhanced TCP. The default has heard no notice and asks for nothing.",
    },
    State {
        header: "tcp_ho.h",
        structure: "segue_tcp_ho",
        type_name: "TcpHo",
        doc: "One flow of TCP-HO. The default is NORMAL: it has heard no notice and asks for nothing.",
    },
];

fn main() {
    let crate_dir = PathBuf::from(env::var_os("CARGO_MANIFEST_DIR").expect("set by cargo"));
    let policy = crate_dir.join("../../policy");
    println!("cargo::rerun-if-changed={}", policy.display());
    println!("cargo::rerun-if-changed=src/shim.c");

    let out = PathBuf::from(env::var_os("OUT_DIR").expect("set by cargo"));
    let headers = headers_with_a_table(&policy);
    let tables = out.join("tables.c");
    fs::write(&tables, tables_source(&headers)).expect("OUT_DIR is writable");
    fs::write(out.join("headers.rs"), headers_source(&headers)).expect("OUT_DIR is writable");

    cc::Build::new()
        .file("src/shim.c")
        .file(&tables)
        .include(&policy)
        .std("c11")
        .flag("-ffreestanding")
        .warnings(true)
        .extra_warnings(true)
        .warnings_into_errors(true)
        .opt_level(2)
        .compile("segue_policy");

    let sources = TABLES.map(|table| settings_source(&table, &read_knobs(&policy.join(table.header))));
    fs::write(out.join("settings.rs"), sources.concat()).expect("OUT_DIR is writable");
    let states = STATES.map(|state| state_source(&state, &policy));
    fs::write(out.join("states.rs"), states.concat()).expect("OUT_DIR is writable");
}

/// The structure of a state, line by line: `type name; /* comment */`.
fn state_source(state: &State, policy: &Path) -> String {
    let State { header, structure, type_name, doc } = state;
    let text = fs::read_to_string(policy.join(header)).expect("a header of policy/");
    let (_, body) = text.split_once(&format!("struct {structure} {{\n")).expect("the state's structure");
    let (body, _) = body.split_once("};").expect("its end");
    let mut fields = String::new();
    for line in body.lines() {
        let field = line.trim().split_once(';').and_then(|(field, _)| field.split_once(' '));
        let (kind, name) = field.unwrap_or_else(|| panic!("{header}: not a field: {line}"));
        match name.split_once('[') {
            None => writeln!(fields, "    pub(crate) {name}: {kind},").unwrap(),
            Some((name, length)) => {
                writeln!(fields, "    pub(crate) {name}: [{kind}; {}],", length.trim_end_matches(']'))
                    .unwrap();
            }
        }
    }
    format!(
        "/// {doc}
/// (`struct {structure}` of `policy/{header}`, of which this type is made).
#[repr(C)]
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct {type_name} {{
{fields}}}
"
    )
}

/// A header that is a policy: its file and the name that it gives itself.
struct Header {
    file: String,
    name: String,
}

fn headers_with_a_table(policy: &Path) -> Vec<Header> {
    let mut headers: Vec<Header> = fs::read_dir(policy)
        .expect("policy/")
        .map(|entry| entry.expect("an entry of policy/").path())
        .filter(|path| path.extension().is_some_and(|extension| extension == "h"))
        .filter_map(|path| {
            let text = fs::read_to_string(&path).expect("a header of policy/");
            let line = text.lines().find_map(|line| line.strip_prefix("SEGUE_POLICY("))?;
            let name = line.split_once(',').unwrap_or_else(|| panic!("{}: {line}", path.display())).0;
            Some(Header { file: path.file_name()?.to_str()?.to_owned(), name: name.to_owned() })
        })
        .collect();
    headers.sort_by(|a, b| a.name.cmp(&b.name));
    headers
}

fn tables_source(headers: &[Header]) -> String {
    let lines = headers.iter().map(|Header { file, .. }| format!("#include \"{file}\"\n"));
    std::iter::once("#define SEGUE_TABLES\n".to_owned()).chain(lines).collect()
}

fn headers_source(headers: &[Header]) -> String {
    let mut source = String::new();
    for Header { file, name } in headers {
        write!(
            source,
            "unsafe extern \"C\" {{
    static segue_table_{name}: Table;
}}

/// `policy/{file}`.
pub const fn {name}() -> Policy {{
    // SAFETY: the table that policy/table.h declares; it is constant.
    Policy(unsafe {{ &segue_table_{name} }})
}}
"
        )
        .unwrap();
    }
    source
}

fn read_knobs(header: &Path) -> Vec<Knob> {
    let text = fs::read_to_string(header).expect("a header of policy/");
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

fn settings_source(table: &Table, knobs: &[Knob]) -> String {
    let Table { header, type_name, list, mask: [mask, mask_type, mask_says], doc } = table;
    let mut fields = String::new();
    let mut values = String::new();
    let mut names = String::new();
    let mut offsets = String::new();
    let mut lines = String::new();
    let mut words = String::new();
    let count = knobs.len() + 1;
    for Knob { name, kind, default, section, meaning } in knobs {
        let kebab = name.replace('_', "-");
        let variant = kind[..1].to_uppercase() + &kind[1..];
        writeln!(fields, "    /// {meaning} (algorithms.md {section})\n    pub {name}: u32,").unwrap();
        writeln!(values, "            {name}: {default},").unwrap();
        writeln!(names, "            \"{kebab}\" => &mut self.{name},").unwrap();
        writeln!(offsets, "        std::mem::offset_of!({type_name}, {name}),").unwrap();
        writeln!(words, "            self.{name},").unwrap();
        writeln!(
            lines,
            "    Setting {{ name: {kebab:?}, kind: Kind::{variant}, default: {default}, \
             section: {section:?}, meaning: {meaning:?} }},"
        )
        .unwrap();
    }
    format!(
        "/// {doc}
/// (`policy/{header}`, from whose table this type is made).
#[repr(C)]
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct {type_name} {{
    /// {mask_says}
    pub {mask}: {mask_type},
{fields}}}

impl {type_name} {{
    /// The recommended choices.
    pub const fn new({mask}: {mask_type}) -> Self {{
        Self {{
            {mask},
{values}        }}
    }}

    /// Turns one knob.
    pub fn set(&mut self, name: &str, value: &str) -> Result<(), SettingError> {{
        let value = find({list}, name)?.value(value)?;
        if let Some(field) = self.field(name) {{
            *field = value;
        }}
        Ok(())
    }}

    /// A knob's value as a user writes it.
    pub fn get(&self, name: &str) -> Result<String, SettingError> {{
        let setting = find({list}, name)?;
        let mut copy = *self;
        let value = copy.field(name).map_or(setting.default, |field| *field);
        Ok(setting.kind.text(value))
    }}

    /// The fields in C's order, as a kernel program gets them.
    pub const fn words(&self) -> [u32; {count}] {{
        [
            self.{mask}.0,
{words}        ]
    }}

    fn field(&mut self, name: &str) -> Option<&mut u32> {{
        Some(match name {{
{names}            _ => return None,
        }})
    }}

    /// Where C's fields must lie.
    #[cfg(test)]
    pub(crate) fn offsets() -> Vec<usize> {{
        vec![
{offsets}        ]
    }}
}}

/// Every knob of [`{type_name}`], in the order of the header.
pub static {list}: &[Setting] = &[
{lines}];
"
    )
}
