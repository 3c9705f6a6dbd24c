//! `segue explain`: rules, sections of the specification, open points, papers, schemes, settings and measures by name.
//! The text is docs/reference/algorithms.md and the tables that the program itself goes by.

mod glossary;
mod link_words;
mod markdown;
mod mobile;
mod options;

use crate::args::forgiven;
use crate::layout::wrapped;
use crate::screen::Screen;
use crate::table::meanings_of_letter;
use crate::{Failure, print};
use clap::Args;
use markdown::{flowing, hanging};
use segue_console::printable;
use segue_handoff::Scheme;
use segue_policy::rules::{ETCP_RULES, RLCI_RULES, Rule, TCP_HO_RULES};
use segue_study::bench_words::{BENCH_WORDS, BenchWord};
use segue_study::measure::{Column, FIELDS, MEASURES, OPTIONAL, OPTIONAL_FIELDS};
use segue_study::specification::{PLACE, SPECIFICATION, Section, section, sections};
use segue_tcp::StackProfile;
use segue_tcp::profile::{STACK_SETTINGS, stack_names};
use segue_words::did_you_mean;
use segue_world::access::{PRESETS, variants};
use segue_world::router_settings::ROUTER_SETTINGS;

/// Families of rules, with the table of each, and how the names of its schemes begin.
const FAMILIES: [(&str, &[Rule], &str); 3] =
    [("Enhanced TCP", ETCP_RULES, "etcp"), ("TCP-HO", TCP_HO_RULES, "tcp-ho"), ("RLCI", RLCI_RULES, "rlci")];

/// `segue explain`.
#[derive(Debug, Args)]
pub struct ExplainArgs {
    /// A rule (A1, Fig. 3), section (2.2), open point (9.17), paper (001), scheme, setting or measure; also a column (vs
    /// first), option, link parameter (loss) or term (BDP). All kinds of names unless given
    #[arg(value_name = "NAME", num_args = 0..)]
    pub name: Vec<String>,
}

/// Runs the command.
pub fn run(args: &ExplainArgs, screen: &Screen) -> Result<(), Failure> {
    if args.name.is_empty() {
        return print(&overview(screen));
    }
    let name = args.name.join(" ");
    // Names of schemes and settings are forgiven their case, as everywhere.
    let mut explained = answers(name.trim(), screen);
    for answer in answers(&forgiven(&name), screen) {
        if !explained.contains(&answer) {
            explained.push(answer);
        }
    }
    if explained.is_empty() {
        let names = names();
        let hint = did_you_mean(&name, names.iter().map(String::as_str));
        return Err(Failure::User(format!(
            "nothing is called `{}`; expected a rule such as A1, a section such as 2.2, a paper such as 001, a scheme, a \
             setting, a measure, a column, an option or a word of links or of the glossary{hint}",
            printable(&name)
        )));
    }
    print(&explained.join("\n"))
}

/// All that is called so. A name may be a rule's and a setting's as well.
fn answers(name: &str, screen: &Screen) -> Vec<String> {
    let all = [rule(name, screen), numbered(name, screen), scheme(name, screen), setting(name, screen)];
    let of_tables = glossary::heading(name, screen.width);
    let words = [glossary::word(name, screen.width), link_words::word(name, screen.width)];
    let words = words.into_iter().flatten().chain(link(name, screen)).chain(mark(name, screen));
    let options = options::told(name, screen.width);
    let letter = letter(name, screen);
    all.into_iter()
        .chain([mobile::rule(name, screen.width)])
        .flatten()
        .chain(measure(name, screen))
        .chain(of_tables)
        .chain(letter)
        .chain(words)
        .chain(options)
        .collect()
}

/// Whether a rule's name is the one asked for, or begins with it: `A1` is also `A1, case 2`.
fn names_rule(rule: &Rule, name: &str) -> bool {
    let asked = name.to_lowercase();
    rule.name.to_lowercase().strip_prefix(&asked).is_some_and(|rest| !rest.starts_with(char::is_alphanumeric))
}

/// The rules of that name, their source and settings, and the sections that they cite.
fn rule(name: &str, screen: &Screen) -> Option<String> {
    let mut text = String::new();
    let mut cited: Vec<&str> = Vec::new();
    for (family, rules, schemes) in FAMILIES {
        let found: Vec<&Rule> = rules.iter().filter(|rule| names_rule(rule, name)).collect();
        if found.is_empty() {
            continue;
        }
        text.push_str(&format!("Rules of {family}\n"));
        let mut of_family: Vec<&str> = Vec::new();
        for rule in found {
            let head = format!("  {} ({}): ", rule.name, rule.section);
            text.push_str(&hanging(&head, rule.says, 4, screen.width));
            for section in rule.section.split(", ") {
                if !of_family.contains(&section) {
                    of_family.push(section);
                }
            }
        }
        text.push_str(&sources(&of_family, screen));
        let settings = settings_of_sections(schemes, &of_family);
        if !settings.is_empty() {
            text.push_str(&hanging("  Settings: ", &settings.join(", "), 4, screen.width));
        }
        cited.extend(of_family);
    }
    for section in &cited {
        text.push('\n');
        text.push_str(&section_text(section, screen)?);
    }
    (!text.is_empty()).then_some(text)
}

/// The papers that the chapters of these sections are about.
fn sources(cited: &[&str], screen: &Screen) -> String {
    let mut lines: Vec<String> = Vec::new();
    for chapter in cited.iter().filter_map(|number| section(number.split('.').next()?)) {
        let Some((_, source)) = chapter.heading.split_once('(') else { continue };
        let source = source.trim_end_matches(')');
        let line = match source.strip_prefix("paper ").and_then(|number| Some((number, reference(number)?))) {
            Some((number, reference)) => hanging(&format!("  Paper {number}: "), &reference, 4, screen.width),
            None => hanging("  Source: ", source, 4, screen.width),
        };
        if !lines.contains(&line) {
            lines.push(line);
        }
    }
    lines.concat()
}

/// The settings of these schemes that name such a section, its chapter, or an open point that its text cites.
fn settings_of_sections(schemes: &str, cited: &[&str]) -> Vec<String> {
    let texts: Vec<Section> = cited.iter().filter_map(|number| section(number)).collect();
    let is_of = |place: &str| {
        let around = format!("{place}.");
        let is_cited = |text: &str| {
            text.split(|letter: char| !letter.is_ascii_digit() && letter != '.')
                .any(|word| word.trim_end_matches('.') == place)
        };
        cited.iter().any(|number| *number == place || number.starts_with(&around))
            || (place.starts_with("9.")
                && texts.iter().any(|text| is_cited(text.heading) || is_cited(text.body)))
    };
    let mut names: Vec<String> = Vec::new();
    let entries = Scheme::entries().into_iter().filter(|entry| entry.name.starts_with(schemes));
    for setting in entries.flat_map(|entry| Scheme::settings_of(entry.name)) {
        if setting.section.split(", ").any(is_of) && !names.iter().any(|name| name == setting.name) {
            names.push(setting.name.to_string());
        }
    }
    names
}

/// A mark of the specification, which says where a statement comes from: `[T]`.
fn mark(name: &str, screen: &Screen) -> Option<String> {
    let letters = name.strip_prefix('[')?.strip_suffix(']')?;
    let text = SPECIFICATION.split_whitespace().collect::<Vec<_>>().join(" ");
    let (_, told) = text.split_once(&format!("**[{}]** ", letters.to_uppercase()))?;
    let told = told.split([';', '.']).next()?;
    let head = format!("Mark [{}]: ", letters.to_uppercase());
    Some(hanging(&head, told, 2, screen.width) + &format!("  {PLACE}\n"))
}

/// A section, an open point or a paper.
fn numbered(name: &str, screen: &Screen) -> Option<String> {
    // As results and messages cite it: `algorithms.md, section 9.17`.
    let number = name.trim_start_matches("algorithms.md").trim_start_matches(',').trim_start();
    let number = number.trim_start_matches("Sec.").trim_start_matches("section").trim();
    if let Some(text) = paper(number.split(' ').next()?, screen) {
        return Some(text);
    }
    // Stories cite several at once: `2.1, 2.5`.
    let told: Option<Vec<String>> = number
        .split(',')
        .map(|number| open_point(number.trim(), screen).or_else(|| section_text(number.trim(), screen)))
        .collect();
    told.map(|told| told.join("\n"))
}

fn paper(number: &str, screen: &Screen) -> Option<String> {
    if number.len() != 3 || !number.bytes().all(|digit| digit.is_ascii_digit()) {
        return None;
    }
    let mut text = hanging(&format!("Paper {number}: "), &reference(number)?, 2, screen.width);
    let cited = format!("{number} ");
    let citing = |body: &str| body.contains(&cited) || body.contains(&format!("({number})"));
    let sections = sections().filter(|section| citing(section.body));
    let sections: Vec<&str> =
        sections.map(|section| section.heading.split(' ').next().unwrap_or("")).collect();
    if !sections.is_empty() {
        let list = sections.iter().map(|number| number.trim_end_matches('.')).collect::<Vec<_>>().join(", ");
        text.push_str(&hanging("  Cited in sections ", &list, 4, screen.width));
    }
    Some(text)
}

/// The citation of this paper.
fn reference(number: &str) -> Option<String> {
    list_item(&format!("* {number}: ")).map(|item| item.replace('*', ""))
}

/// The item of a list that begins so, as one line without its beginning.
fn list_item(begin: &str) -> Option<String> {
    let mut lines = SPECIFICATION.lines().skip_while(|line| !line.starts_with(begin));
    let first = lines.next()?.strip_prefix(begin)?.to_string();
    Some(lines.take_while(|line| line.starts_with("  ")).fold(first, |text, line| text + " " + line.trim()))
}

/// A row of section 9: what the papers leave open, and the choice.
fn open_point(number: &str, screen: &Screen) -> Option<String> {
    if !number.starts_with("9.") {
        return None;
    }
    let row = SPECIFICATION.lines().find_map(|line| line.strip_prefix(&format!("| {number} | ")))?;
    let (point, choice) = row.trim_end_matches(" |").split_once(" | ")?;
    Some(
        hanging(&format!("Open point {number}: "), point, 2, screen.width)
            + &hanging("  Choice: ", choice, 4, screen.width)
            + &format!("  {PLACE}, section 9\n"),
    )
}

fn section_text(number: &str, screen: &Screen) -> Option<String> {
    let Section { heading, body } = section(number)?;
    let text = format!("{}\n{}", wrapped("", heading, screen.width), flowing(body, screen.width));
    Some(format!("{text}  {PLACE}, section {number}\n"))
}

fn scheme(name: &str, screen: &Screen) -> Option<String> {
    if let Some(stack) = StackProfile::named(name) {
        let mut text = hanging(&format!("Stack {name}: "), stack.source, 2, screen.width);
        for departure in stack.departures {
            text.push_str(&hanging("  ", departure, 4, screen.width));
        }
        return Some(text);
    }
    let entry = Scheme::entries().into_iter().find(|entry| entry.name == name)?;
    let mut text = hanging(&format!("Scheme {name}: "), entry.summary, 2, screen.width);
    let from = format!("stack {}; source: {}", entry.stack, entry.source);
    text.push_str(&hanging("  ", &from, 4, screen.width));
    text.push_str(&format!("  segue schemes {name} lists its settings\n"));
    text.push_str(&page_of_scheme(name).map(|page| format!("  {page} has its rules\n")).unwrap_or_default());
    text.push_str(&mobile::rules_of(name).unwrap_or_default());
    Some(text)
}

/// The page about a scheme that no paper defines: its own settings name it.
fn page_of_scheme(name: &str) -> Option<String> {
    let settings = Scheme::settings_of(name);
    // A kernel's page is about the enactment of any scheme.
    let page = settings
        .iter()
        .map(|setting| setting.section)
        .find(|page| page.ends_with(".md") && *page != "kernel.md");
    page.map(page_of)
}

/// A preset of links, as `segue links` has it.
fn link(name: &str, screen: &Screen) -> Option<String> {
    let old = || PRESETS.iter().find(|(preset, _)| *preset == name);
    let today = || variants().find(|(preset, _, _)| preset == name);
    let tail = match old() {
        Some((_, link)) => link.to_string(),
        None => today().map(|(_, link, preset)| format!("{}; {link}", preset.about))?,
    };
    let text = hanging(&format!("Link {name}: "), &tail, 2, screen.width);
    Some(text + "  segue links lists all; docs/reference/links.md has the sources\n")
}

/// Where a page of the documentation lies.
fn page_of(page: &str) -> String {
    let folder = if page == "kernel.md" { "docs/internals" } else { "docs/reference" };
    format!("{folder}/{page}")
}

fn setting(name: &str, screen: &Screen) -> Option<String> {
    let line = |meaning: &str, default: &str| {
        let tail = format!("{meaning} ({default})");
        hanging(&format!("Setting {name}: "), &tail, 2, screen.width)
    };
    if let Some(word) = BenchWord::named(name) {
        return Some(line(word.meaning, &word.values_and_usual()));
    }
    if let Some(setting) = STACK_SETTINGS.iter().find(|setting| setting.name == name) {
        return Some(line(setting.meaning, setting.values));
    }
    if let Some(setting) = ROUTER_SETTINGS.iter().find(|setting| setting.name == name) {
        return Some(line(setting.meaning, setting.values));
    }
    // Schemes of a family share their settings.
    let mut families: Vec<(String, String, Vec<&str>)> = Vec::new();
    for entry in Scheme::entries() {
        for setting in Scheme::settings_of(entry.name).into_iter().filter(|setting| setting.name == name) {
            let told = line(setting.meaning, &format!("{} unless set", setting.default));
            let place = match setting.section {
                page if page.ends_with(".md") => page_of(page),
                section => format!("segue explain {section}"),
            };
            match families.iter_mut().find(|family| (&family.0, &family.1) == (&told, &place)) {
                Some((_, _, names)) => names.push(entry.name),
                None => families.push((told, place, vec![entry.name])),
            }
        }
    }
    let tell = |(told, place, names): &(String, String, Vec<&str>)| {
        told.clone() + &hanging("  of ", &format!("{}; {place}", names.join(", ")), 4, screen.width)
    };
    (!families.is_empty()).then(|| families.iter().map(tell).collect())
}

/// A field, a column or a measure; by the last part of its name also those of several fields.
fn measure(name: &str, screen: &Screen) -> Vec<String> {
    if let Some(found) = measure_called(name, screen) {
        return vec![found];
    }
    let parts = MEASURES.iter().chain(OPTIONAL).filter(|measure| {
        measure
            .name
            .split_once('.')
            .is_some_and(|(_, part)| part == name || part.trim_end_matches("_s") == name)
    });
    parts.filter_map(|measure| measure_called(measure.name, screen)).collect()
}

/// A character of the bar in tables.
fn letter(name: &str, screen: &Screen) -> Option<String> {
    let meanings = meanings_of_letter(name).join("; or ");
    let head = format!("Letter {name} of the column {}: ", Column::NewLink.heading());
    (!meanings.is_empty()).then(|| hanging(&head, &meanings, 2, screen.width))
}

fn measure_called(name: &str, screen: &Screen) -> Option<String> {
    if let Some((_, meaning)) = FIELDS.iter().chain(OPTIONAL_FIELDS).find(|(field, _)| *field == name) {
        return Some(hanging(&format!("Field {name}: "), meaning.trim(), 2, screen.width));
    }
    // The bar is no number.
    if [Column::NewLink.heading(), Column::NewLink.word()].contains(&name) {
        let text =
            format!("{}; its letters stand below every table", Column::NewLink.meaning("the first scheme"));
        return Some(hanging(&format!("Column {name}: "), &text, 2, screen.width));
    }
    let found = MEASURES.iter().chain(OPTIONAL).find(|measure| {
        let shown = measure.shown;
        let names =
            [shown.map(|shown| shown.word), shown.map(|shown| shown.heading), shown.map(|shown| shown.title)];
        names.into_iter().flatten().chain([measure.name, measure.csv]).any(|known| known == name)
    })?;
    let head = format!("Measure {} ({}): ", found.name, found.unit.words());
    Some(hanging(&head, &found.about("the first scheme"), 2, screen.width))
}

/// Everything that has a name, for the hint of a message.
pub fn names() -> Vec<String> {
    let rules = FAMILIES.iter().flat_map(|(_, rules, _)| rules.iter().map(|rule| rule.name.to_string()));
    let schemes = Scheme::entries().into_iter().map(|entry| entry.name.to_string());
    let settings = STACK_SETTINGS.iter().map(|setting| setting.name.to_string());
    let settings = settings.chain(ROUTER_SETTINGS.iter().map(|setting| setting.name.to_string()));
    let settings = settings.chain(BENCH_WORDS.iter().map(|word| word.key.to_string()));
    let of_schemes = Scheme::entries().into_iter().flat_map(|entry| Scheme::settings_of(entry.name));
    let settings = settings.chain(of_schemes.map(|setting| setting.name.to_string()));
    let columns =
        Column::ALL.iter().flat_map(|column| [column.heading().to_string(), column.word().to_string()]);
    let measures = MEASURES.iter().chain(OPTIONAL).map(|measure| measure.name.to_string());
    rules
        .chain(schemes)
        .chain(stack_names().into_iter().map(str::to_string))
        .chain(settings)
        .chain(measures)
        .chain(columns)
        .chain(glossary::headings())
        .chain(glossary::words())
        .chain(link_words::words())
        .chain(options::names())
        .chain(PRESETS.iter().map(|(name, _)| name.to_string()))
        .chain(variants().map(|(name, _, _)| name))
        .collect()
}

/// The page of `segue explain` alone.
fn overview(screen: &Screen) -> String {
    let mut text = "segue explain NAME says what a name means. Names are:\n\n".to_string();
    for (family, rules, _) in FAMILIES {
        let mut names: Vec<&str> = Vec::new();
        for rule in rules {
            if !names.contains(&rule.name) {
                names.push(rule.name);
            }
        }
        text.push_str(&wrapped(&format!("  rules of {family}: "), &names.join("; "), screen.width));
    }
    text.push_str("  sections of the specification: 0 to 11.6, such as 2.2\n");
    text.push_str("  open points of the papers, and our choices: 9.1 to 9.39\n");
    text.push_str("  rules of the mobile alone: mobile 1.1 to mobile 2.8\n");
    text.push_str("  papers: 000 to 004\n");
    text.push_str("  marks of statements: [T] of a paper's text, [R] reconstructed, [C] our choice\n");
    text.push_str("  schemes, stacks and settings: segue schemes lists them\n");
    text.push_str("  measures and columns of tables, such as vs first: segue measures lists them\n");
    text.push_str("  options and their words, such as notice or in-band\n");
    text.push_str("  words of links, such as loss: segue links lists them\n");
    let words = glossary::words().collect::<Vec<_>>().join("; ");
    text.push_str(&wrapped("  words of the glossary: ", &words, screen.width));
    text
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::screen::Watched;

    const SCREEN: Screen = Screen { colour: false, width: 80, terminal: None, progress: Watched::Nothing };

    fn told(name: &str) -> String {
        answers(name, &SCREEN).join("\n")
    }

    #[test]
    fn a_rule_comes_with_its_section() {
        let a2 = told("a2");
        assert!(a2.contains("Rules of Enhanced TCP") && a2.contains("cwnd = ssthresh = BDP"), "{a2}");
        assert!(a2.contains("2.2 A2: avoid congestion loss"), "{a2}");
        assert!(a2.contains("    if flight > 2*bdp_new:"), "{a2}");
        assert_eq!(a2.matches("  Paper 001: L. Daniel, M. Kojo, Employing").count(), 1, "{a2}");
        assert!(a2.contains("min-window"), "{a2}");
        let a1 = told("A1");
        // One that names the section, one that names an open point which the section cites; none of A2's or the stack's.
        let settings =
            a1.split("  Settings: ").nth(1).and_then(|rest| rest.split("\n2.1 A1").next()).expect("a list");
        for (name, there) in
            [("rest-us", true), ("a1-in-bbm", true), ("min-window", false), ("packet-bytes", false)]
        {
            assert_eq!(settings.contains(name), there, "{name}: {settings}");
        }
        // Stories cite them so.
        for cited in [
            "1",
            "2.4",
            "2.1, 2.5",
            "9.19, 4.3",
            "mobile 1.2, 1.4",
            "guard",
            "trial",
            "doubt",
            "notice",
            "notice-error",
            "near",
            "mobile",
        ] {
            assert!(!told(cited).is_empty(), "{cited}");
        }
        assert!(told("2.1, 99").is_empty() && told("2.1,").is_empty());
        // A rule of several flows is of the other paper, and divides by their number.
        let several = told("Fig. 1");
        assert!(several.contains("  Paper 000: ") && several.contains("  Settings: use-n"), "{several}");
        assert!(told("re-probe").contains("  Source: S. Schuetz et al."));
        for case in ["A1, case 1", "A1, case 2", "A1, case 3"] {
            assert!(a1.contains(case), "{a1}");
        }
        assert!(!told("A").contains("A1, case"), "a letter is no name");
    }

    #[test]
    fn whatever_a_rule_a_setting_or_a_measure_is_called_is_explained() {
        for name in names() {
            assert!(!told(&name).is_empty(), "{name}");
        }
        for number in (0..=11).map(|number| number.to_string()) {
            let section = told(&number);
            assert!(section.starts_with(&format!("{number}. ")) && section.contains(PLACE), "{section}");
        }
        for number in 1..=39 {
            assert!(told(&format!("9.{number}")).contains("Choice: "), "9.{number}");
        }
        for number in 0..=4 {
            assert!(told(&format!("00{number}")).contains("Cited in sections"), "00{number}");
        }
        assert!(told("001 Sec. 5.5").starts_with("Paper 001: L. Daniel, M. Kojo, Employing"));
        for cited in ["algorithms.md 2.4", "algorithms.md, section 2.4", "section 2.4"] {
            assert_eq!(told(cited), told("2.4"), "{cited}");
        }
        let last = sections().last().map(|section| section.heading.split(' ').next().unwrap_or_default());
        assert!(last.is_some_and(|last| overview(&SCREEN).contains(&format!("0 to {last}, "))), "{last:?}");
    }

    #[test]
    fn words_of_tables_links_and_options_are_told() {
        for (name, parts) in [
            ("stalled", &["Column stalled of segue compare --traffic: seconds of waiting"][..]),
            ("late", &["Column late of segue compare --traffic: frames later than 100 ms"]),
            ("kept", &["Measure neighbours.kept (times that without the handoff): "]),
            ("useful", &["Measure new_link_s.useful (s): it carried bytes"]),
            ("stall", &["Measure download.stall_s", "Measure page.stall_s"]),
            ("loss", &["Word of links loss", "loses each packet"]),
            ("jitter", &["Word of links jitter"]),
            ("in-band", &["Word in-band of --notice:"]),
            ("kind", &["Option --kind:"]),
            ("median", &["Measure transfer_s.median", "Column median of segue compare --traffic"]),
        ] {
            let told = told(name).split_whitespace().collect::<Vec<_>>().join(" ");
            assert!(parts.iter().all(|part| told.contains(part)), "{name}: {told}");
        }
    }

    #[test]
    fn letters_of_the_bar_are_told() {
        for (letter, meaning) in [("w", "idle: a window is full"), ("#", "useful"), (".", "slow start")] {
            let told = told(letter);
            assert!(
                told.starts_with(&format!("Letter {letter} of the column new link: "))
                    && told.contains(meaning),
                "{told}"
            );
        }
        assert_eq!(told("n").matches("packets of").count(), 2, "{}", told("n"));
        assert!(told("W").is_empty() && told("ww").is_empty() && told("").is_empty());
    }

    #[test]
    fn marks_are_told() {
        for (mark, meaning) in
            [("[T]", "stated in the text"), ("[r]", "worked numbers"), ("[C]", "where the text is silent")]
        {
            let told = told(mark);
            assert!(told.contains(meaning) && told.lines().count() == 2 && !told.contains("**"), "{told}");
        }
        assert!(told("[X]").is_empty() && told("[]").is_empty() && told("[").is_empty());
    }

    /// Presets of links: each is told with what it stands for, and the hint of a slip knows it.
    #[test]
    fn presets_of_links_are_told() {
        let all = variants().map(|(name, link, _)| (name, link));
        for (name, link) in all.chain(PRESETS.iter().map(|(name, link)| (name.to_string(), *link))) {
            let (told, squeezed) =
                (answers(&name, &SCREEN).concat(), |text: &str| text.split_whitespace().collect::<String>());
            assert!(told.contains(&format!("Link {name}: ")), "{told}");
            assert!(squeezed(&told).contains(&squeezed(link)), "{told}");
            assert!(names().contains(&name), "{name}");
        }
    }

    /// Every scheme that has a setting is named, and the page is there.
    #[test]
    fn a_setting_names_all_its_schemes_and_its_page() {
        let enact = told("enact");
        let default = enact.split_once(" unless set").expect("a default").0;
        for stack in
            stack_names().into_iter().filter(|name| name.starts_with("linux-") && !name.contains('/'))
        {
            let is_kernel = StackProfile::named(stack).is_some_and(|stack| stack.kernel.is_some());
            assert_eq!(default.contains(stack), is_kernel, "{stack}: {enact}");
        }
        for entry in Scheme::entries() {
            let has = Scheme::settings_of(entry.name).iter().any(|setting| setting.name == "enact");
            let of = enact.split_once("\n  of ").expect("schemes").1.split_once(';').expect("an end").0;
            let named = of.split([',', '\n']).any(|word| word.trim() == entry.name);
            assert_eq!(named, has, "{}: {enact}", entry.name);
        }
        let root = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
        for entry in Scheme::entries() {
            for setting in Scheme::settings_of(entry.name) {
                let page = page_of(setting.section);
                assert!(!page.ends_with(".md") || root.join(&page).exists(), "{}: {page}", setting.name);
            }
        }
    }

    #[test]
    fn what_is_told_fits_the_screen() {
        // An address and an equation have no blanks to break at.
        for name in
            Scheme::entries().iter().map(|entry| entry.name).chain(stack_names()).chain(["enact", "BDP"])
        {
            let text = told(name);
            let longest = text.lines().map(|line| line.chars().count()).max();
            assert!(longest <= Some(SCREEN.width), "{name}: {text}");
        }
    }

    #[test]
    fn headings_of_tables_are_explained() {
        for column in Column::ALL {
            let heading = column.heading();
            let words: Vec<String> = told(heading).split_whitespace().map(String::from).collect();
            // A heading may be the name of a field as well, which has a definition of its own.
            let is_field = FIELDS.iter().any(|(field, _)| *field == heading);
            assert!(
                is_field || words.join(" ").contains(&column.meaning("the first scheme")),
                "{heading}: {words:?}"
            );
        }
        assert!(
            told("vs first").starts_with("Measure against_first.ratio_median (times the first scheme's): ")
        );
        assert!(told("new link").contains("how the new link spent that time"));
        for BenchWord { key, values, .. } in BENCH_WORDS {
            let words: Vec<String> = told(key).split_whitespace().map(String::from).collect();
            assert!(words.join(" ").contains(values), "{key}: {words:?}");
        }
    }

    #[test]
    fn lines_fit() {
        for Section { heading, body } in sections() {
            for line in flowing(body, 80).lines() {
                let fits = line.chars().count() <= 80 || !line.contains(' ');
                assert!(fits, "{heading}: {line}");
            }
        }
    }
}
