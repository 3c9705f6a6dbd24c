//! `segue reproduce`.

use crate::args::key_value;
use crate::layout::wrapped;
use crate::screen::Screen;
use crate::{Failure, outputs, print, progress};
use clap::Args;
use segue_console::{WHOLE, lines, plain_table};
use segue_export::{OF_FOLDER, Origin, Output, folder_metadata, try_folder};
use segue_gallery::figures::figure;
use segue_gallery::page::{Exhibit, Making, gallery_pages};
use segue_gallery::{buffers_csv, claims_json, figure_csv};
use segue_handoff::Scheme;
use segue_reproduce::buffers::{self, SendersAndBuffers};
use segue_reproduce::cache::Cache;
use segue_reproduce::ledger::{Figure, Paper, Reading, TableWord};
use segue_reproduce::ns2::Ns2;
use segue_reproduce::papers::papers;
use segue_reproduce::run::{ALL_POINTS, Needs, Results, run as run_needs};
use segue_reproduce::settings::{BENCH, scheme_of};
use segue_reproduce::verdict::{Judged, Verdict, beside, verdict};
use segue_study::bench;
use segue_tcp::profile::{INET_RENO, STACK_SETTINGS, stacks};
use segue_words::{did_you_mean, forgiven};
use segue_world::fmip::{DOWNLOAD_SETTINGS, Download};
use std::path::Path;

/// `segue reproduce`.
#[derive(Debug, Args)]
pub struct ReproduceArgs {
    /// Only this paper: daniel-kojo-2009-multiflow (or 000), daniel-kojo-2008-crosslayer (001), espi-2010-fmipv6 (002),
    /// wu-2009-tcp-ho (003) or chou-shin-2004-lcfd (004); without it all five, which takes minutes
    pub paper: Option<String>,
    /// Only this figure of the paper (fig17, or 17), and the claims that it supports
    pub figure: Option<String>,
    /// Judge the claims and draw nothing
    #[arg(long)]
    pub check: bool,
    /// Write the verdicts as JSON (- for standard output)
    #[arg(long, value_name = "FILE")]
    pub json: Option<String>,
    /// Folder for figures, their numbers and the gallery; unless given reproduction, and in there PAPER or PAPER/FIGURE
    /// if only that is asked for
    #[arg(long, value_name = "DIR")]
    pub out: Option<String>,
    /// At most N handoff times per bar and N seeds of a drive, for a quick look; verdicts need 200
    #[arg(long, value_name = "N", default_value_t = ALL_POINTS, value_parser = clap::value_parser!(u8).range(1..=200), allow_negative_numbers = true)]
    pub points: u8,
    /// Try another reading of a paper: a setting of a scheme or stack; may be repeated
    #[arg(long, value_name = "KEY=VALUE", value_parser = key_value)]
    pub set: Vec<(String, String)>,
    /// With --check, judge the claims also on other benches that the paper may have used (papers/ lists them), as the
    /// gallery does
    #[arg(long)]
    pub sensitivity: bool,
    /// Run everything again, and keep nothing for the next time
    #[arg(long)]
    pub no_cache: bool,
    /// Worker threads; all cores unless given
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u16).range(1..=1024), allow_negative_numbers = true)]
    pub threads: Option<u16>,
}

/// Where the gallery goes. A paper that is asked for alone does not take the place of all.
fn folder(args: &ReproduceArgs, papers: &[Paper]) -> String {
    if let Some(out) = &args.out {
        return out.clone();
    }
    let paper = args.paper.as_deref().and_then(|name| papers.iter().find(|paper| is_named(paper, name)));
    let figure = paper.zip(args.figure.as_deref()).and_then(|(paper, name)| figure_named(paper, name));
    let words = paper.map(|paper| paper.id.clone()).into_iter().chain(figure.map(|figure| figure.id.clone()));
    words.fold("reproduction".to_string(), |folder, word| format!("{folder}/{word}"))
}

/// Whether a user means this paper: by its name, or by its number in `docs/reference/algorithms.md`.
fn is_named(paper: &Paper, word: &str) -> bool {
    [&paper.id, &paper.number].contains(&&forgiven(word))
}

/// The figure that a user means: by its name, or by its number alone.
fn figure_named<'a>(paper: &'a Paper, word: &str) -> Option<&'a Figure> {
    let word = forgiven(word);
    paper.figures.iter().find(|figure| [&word, &format!("fig{word}")].contains(&&figure.id))
}

/// The failure for a word that names no paper: all papers with their numbers, and the one that was probably meant.
fn unknown_paper(word: &str, papers: &[Paper]) -> Failure {
    let ids = || papers.iter().map(|paper| paper.id.as_str());
    let meant = forgiven(word);
    let by_number = papers.iter().find(|paper| paper.number.trim_start_matches('0') == meant);
    let by_part = || papers.iter().find(|paper| meant.len() > 3 && paper.id.contains(&meant));
    let hint = match by_number.or_else(by_part) {
        Some(paper) => format!("; did you mean `{}`?", paper.id),
        None => figure_of(word, papers).unwrap_or_else(|| did_you_mean(word, ids())),
    };
    let known: Vec<String> = papers.iter().map(|paper| format!("{} ({})", paper.id, paper.number)).collect();
    Failure::User(format!("unknown paper `{word}`; expected one of {}{hint}", known.join(", ")))
}

/// The hint for a word that names a figure, or a panel of one, where a paper was expected: every paper that has it.
fn figure_of(word: &str, papers: &[Paper]) -> Option<String> {
    let named = |word: &str| -> Vec<String> {
        let found = papers.iter().filter_map(|paper| Some((paper, figure_named(paper, word)?)));
        found.map(|(paper, figure)| format!("`{} {}`", paper.number, figure.id)).collect()
    };
    let meant = forgiven(word);
    let panels = |whole: Vec<String>| (whole, ", with all its panels");
    let (meant, panels) = match named(&meant) {
        figures if figures.is_empty() => panels(named(without_panel(&meant))),
        figures => (figures, ""),
    };
    let hint = || format!("; a figure stands behind its paper{panels}; did you mean {}?", meant.join(" or "));
    (!meant.is_empty()).then(hint)
}

/// The figure of a panel such as `17a`.
fn without_panel(word: &str) -> &str {
    word.trim_end_matches(|c: char| c.is_ascii_lowercase())
}

/// The failure for a word that names no figure of the paper. A panel, such as `17a`, is drawn with its figure.
fn unknown_figure(word: &str, paper: &Paper) -> Failure {
    let meant = forgiven(word);
    let whole = without_panel(&meant);
    match figure_named(paper, whole) {
        Some(figure) if whole != meant => Failure::User(format!(
            "unknown figure `{word}`; expected a whole figure, which has all its panels: `{}`",
            figure.id
        )),
        _ => unknown("figure", word, paper.figures.iter().map(|figure| figure.id.as_str())),
    }
}

/// Runs the command.
pub fn run(args: &ReproduceArgs, origin: &Origin, screen: &Screen) -> Result<(), Failure> {
    if args.check && args.out.is_some() {
        return Err(Failure::User("--out: --check draws nothing; expected one of the two".into()));
    }
    let papers = read_papers(args)?;
    let ([json], on_stdout) = outputs::open([("--json", &args.json)])?;
    let place = json.as_ref().and_then(Output::file).and_then(Path::parent);
    let out = folder(args, &papers);
    let inside = std::fs::canonicalize(&out).ok();
    if !args.check && place.is_some() && place == inside.as_deref() {
        return Err(Failure::User(format!(
            "--json names a file in --out {out}, among the gallery's own; expected another folder"
        )));
    }
    if !args.check && ["", "-"].contains(&out.as_str()) {
        return Err(Failure::User(format!(
            "--out `{out}`: it names no folder; expected one for the gallery"
        )));
    }
    let begin = |runs, of: &str| -> Done {
        let progress = progress::of(screen, runs, of);
        Box::new(move |done| progress.inc(done))
    };
    let judged = judge(&papers, args, origin, &begin)?;
    outputs::write(json, || claims_json(&judged, args.points.into(), origin))?;
    if !on_stdout {
        print(&summary(&judged, (!args.check).then_some(out.as_str()), args.points, screen.width))?;
    }
    Ok(())
}

/// The papers, with the readings that are tried.
///
/// Errors: a paper or a setting that is not known, in one line.
pub fn read_papers(args: &ReproduceArgs) -> Result<Vec<Paper>, Failure> {
    let mut papers = papers().map_err(Failure::ours)?;
    try_readings(&mut papers, args)?;
    choose(&papers, args)?;
    Ok(papers)
}

/// Hears of runs that are finished.
pub type Done = Box<dyn Fn(u64) + Sync>;

/// Runs what was chosen, writes its figures unless it is only to be checked, and judges its claims. `begin` is told
/// how many runs of what a paper needs, and gives what hears of those that are finished.
pub fn judge<'a>(
    papers: &'a [Paper],
    args: &ReproduceArgs,
    origin: &Origin,
    begin: &(dyn Fn(u64, &str) -> Done + Sync),
) -> Result<Vec<Judged<'a>>, Failure> {
    let chosen = choose(papers, args)?;
    let out = folder(args, papers);
    if args.sensitivity && chosen.iter().all(|choice| choice.paper.sensitivity.is_empty()) {
        let known = papers.iter().filter(|paper| !paper.sensitivity.is_empty());
        let known: Vec<&str> = known.map(|paper| paper.id.as_str()).collect();
        return Err(Failure::User(format!(
            "--sensitivity: the ledger lists no other bench for this paper; expected {}",
            known.join(" or ")
        )));
    }
    if !args.check {
        // Made only with what is in it, so that an interrupted command leaves none behind.
        try_folder(Path::new(&out)).map_err(|error| {
            Failure::User(format!("--out {out}: cannot be made: {error}; expected a writable folder"))
        })?;
    }
    let ns2 = Ns2::read().map_err(Failure::ours)?;
    let cache = if args.no_cache { None } else { Cache::of_user() };

    let needs: Vec<Needs> = chosen.iter().map(|choice| choice.needs(args.check)).collect();
    let work = || -> Result<Vec<Results>, Failure> {
        let each = chosen.iter().zip(&needs).enumerate().map(|(index, (choice, needs))| {
            // A bar per paper: a drive takes longer than a handoff.
            let of = match (needs.drives(), needs.downloads()) {
                (true, _) => "drives",
                (_, true) => "downloads",
                _ => "simulated handoffs",
            };
            let of = match chosen.len() {
                1 => of.to_string(),
                papers => format!("{of} of paper {} of {papers}", index + 1),
            };
            let done = begin(needs.runs(choice.paper, args.points.into()), &of);
            run_needs(choice.paper, needs, args.points.into(), cache.as_ref(), &done).map_err(Failure::ours)
        });
        each.collect()
    };
    let results = outputs::with_threads(args.threads, work)??;
    let of_gallery = |choice: &Choice| choice.has_table(TableWord::SendersAndBuffers);
    let buffers = match !args.check && chosen.iter().any(of_gallery) {
        true => Some(senders_and_buffers(args, begin)?),
        false => None,
    };

    let mut judged: Vec<Vec<Judged>> = chosen
        .iter()
        .zip(&results)
        .map(|(choice, results)| choice.judge(results, &ns2, args.points.into()))
        .collect();
    if args.sensitivity || !args.check {
        for (choice, judged) in chosen.iter().zip(&mut judged) {
            choice.judge_beside(judged, args, cache.as_ref(), begin)?;
        }
    }
    let all = judged.iter().flatten().cloned().collect();
    if !args.check {
        let exhibits: Vec<Exhibit> = chosen
            .iter()
            .zip(&results)
            .zip(judged)
            .map(|((choice, results), claims)| {
                let drawn = choice.figures.iter().map(|of| (*of, figure(choice.paper, of, results)));
                Exhibit { paper: choice.paper, figures: drawn.collect(), claims }
            })
            .collect();
        write_files(Path::new(&out), &exhibits, &results, buffers.as_ref(), args, origin)?;
    }
    Ok(all)
}

/// Adds readings from the command line after the ledger's, for the papers whose schemes or stacks have them: the
/// later one counts.
fn try_readings(papers: &mut [Paper], args: &ReproduceArgs) -> Result<(), Failure> {
    let asked = |paper: &Paper| args.paper.as_ref().is_none_or(|name| is_named(paper, name));
    crate::settings::only_once(&args.set)?;
    for (key, value) in &args.set {
        let setting = [(key.clone(), value.clone())];
        let of_stack = STACK_SETTINGS.iter().any(|known| known.name == key);
        if of_stack {
            let stack = stacks().find(|stack| stack.has(key));
            let tried = stack.map_or(Ok(()), |mut stack| stack.set(key, value));
            tried.map_err(|expected| {
                Failure::User(format!("--set {key}: bad value `{value}`; expected {expected}"))
            })?;
        }
        let of_bench = BENCH.contains(&key.as_str());
        bench::check(&setting).map_err(Failure::user)?;
        let of_download = DOWNLOAD_SETTINGS.iter().any(|known| known.name == key);
        if of_download {
            let tried = Download::new(INET_RENO).set(key, value).unwrap_or(Ok(()));
            tried.map_err(|expected| {
                Failure::User(format!("--set {key}: bad value `{value}`; expected {expected}"))
            })?;
        }
        let mut taken = false;
        for paper in papers.iter_mut().filter(|paper| asked(paper)) {
            let names = || paper.defaults.schemes.values().map(|name| scheme_of(name));
            let has = |scheme: &&str| Scheme::settings_of(scheme).iter().any(|known| known.name == key);
            if let Some(scheme) = names().find(has) {
                Scheme::build(scheme, &setting).map_err(Failure::user)?;
            } else if !(of_stack
                || of_bench
                || of_download && paper.claims.iter().any(|claim| claim.downloads.is_some()))
            {
                continue;
            }
            taken = true;
            paper.readings.push(Reading {
                set: format!("{key}={value}"),
                section: "-".into(),
                why: "Tried from the command line.".into(),
            });
        }
        if !taken {
            let of = args.paper.as_deref().unwrap_or("the papers");
            let schemes =
                papers.iter().filter(|paper| asked(paper)).flat_map(|p| p.defaults.schemes.values());
            let mut listed = schemes.into_iter().map(|name| scheme_of(name));
            let listed = listed.find(|scheme| !Scheme::settings_of(scheme).is_empty()).unwrap_or("rfc");
            return Err(Failure::User(format!(
                "--set {key}: no scheme of {of} has it; expected one that segue schemes {listed} lists"
            )));
        }
    }
    Ok(())
}

/// One paper, or a figure of it.
struct Choice<'a> {
    paper: &'a Paper,
    figures: Vec<&'a Figure>,
    /// Claims are those of the figures, not of the whole paper.
    only_figures: bool,
}

fn choose<'a>(papers: &'a [Paper], args: &ReproduceArgs) -> Result<Vec<Choice<'a>>, Failure> {
    let whole =
        |paper: &'a Paper| Choice { paper, figures: paper.figures.iter().collect(), only_figures: false };
    let Some(name) = &args.paper else { return Ok(papers.iter().map(whole).collect()) };
    let paper = papers.iter().find(|paper| is_named(paper, name));
    let paper = paper.ok_or_else(|| unknown_paper(name, papers))?;
    let Some(name) = &args.figure else { return Ok(vec![whole(paper)]) };
    let figure = figure_named(paper, name).ok_or_else(|| unknown_figure(name, paper))?;
    Ok(vec![Choice { paper, figures: vec![figure], only_figures: true }])
}

/// The failure for an unknown word: the words that could stand there, and the nearest of them.
pub fn unknown<'a>(what: &str, word: &str, known: impl Iterator<Item = &'a str> + Clone) -> Failure {
    let hint = did_you_mean(word, known.clone());
    let known: Vec<&str> = known.collect();
    Failure::User(format!("unknown {what} `{word}`; expected one of {}{hint}", known.join(", ")))
}

impl<'a> Choice<'a> {
    fn concerns(&self, claim: &str) -> bool {
        !self.only_figures || self.figures.iter().any(|figure| figure.supports.iter().any(|id| id == claim))
    }

    /// A table belongs to the whole paper, not to one of its figures.
    fn has_table(&self, table: TableWord) -> bool {
        !self.only_figures && self.paper.tables.contains(&table)
    }

    fn needs(&self, check: bool) -> Needs {
        let mut needs = Needs::default();
        let concerned = self.paper.claims.iter().filter(|claim| self.concerns(&claim.id));
        concerned.for_each(|claim| needs.add_claim(self.paper, claim));
        if !check {
            self.figures.iter().for_each(|figure| needs.add_figure(self.paper, figure));
        }
        needs
    }

    fn judge(&self, results: &Results, ns2: &Ns2, points: usize) -> Vec<Judged<'a>> {
        let concerned = self.paper.claims.iter().filter(|claim| self.concerns(&claim.id));
        let judge = |claim| {
            let mut needs = Needs::default();
            needs.add_claim(self.paper, claim);
            let few = needs.falls_short(self.paper, points);
            Judged { few, ..verdict(self.paper, claim, results, ns2) }
        };
        concerned.map(judge).collect()
    }
}

impl<'a> Choice<'a> {
    /// Judges claims on the other benches of the paper's list, too.
    fn judge_beside(
        &self,
        judged: &mut [Judged<'a>],
        args: &ReproduceArgs,
        cache: Option<&Cache>,
        begin: &(dyn Fn(u64, &str) -> Done + Sync),
    ) -> Result<(), Failure> {
        let benches = &self.paper.sensitivity;
        for (index, bench) in benches.iter().enumerate() {
            let paper = self.paper.on(bench);
            let mut needs = Needs::default();
            judged.iter().for_each(|judged| needs.add_claim(&paper, judged.claim));
            let of = format!("simulated handoffs on other bench {} of {}", index + 1, benches.len());
            let done = begin(needs.runs(&paper, args.points.into()), &of);
            let run = || run_needs(&paper, &needs, args.points.into(), cache, &done).map_err(Failure::ours);
            let results = outputs::with_threads(args.threads, run)??;
            for judged in &mut *judged {
                judged.beside.push(beside(self.paper, judged.claim, bench, &results));
            }
        }
        Ok(())
    }
}

/// Runs the table of senders and buffers.
fn senders_and_buffers(
    args: &ReproduceArgs,
    begin: &(dyn Fn(u64, &str) -> Done + Sync),
) -> Result<SendersAndBuffers, Failure> {
    let columns = buffers::columns(args.points.into()).map_err(Failure::ours)?;
    let done = begin(columns.iter().map(|column| column.plan.handoffs()).sum(), "simulated handoffs");
    outputs::with_threads(args.threads, || SendersAndBuffers::run(columns, &*done))
}

/// A picture per panel, a CSV per figure and table, and the gallery.
fn write_files(
    folder: &Path,
    exhibits: &[Exhibit],
    results: &[Results],
    buffers: Option<&SendersAndBuffers>,
    args: &ReproduceArgs,
    origin: &Origin,
) -> Result<(), Failure> {
    let write = |name: String, content: String| -> Result<(), Failure> {
        Output::open(&folder.join(name).to_string_lossy())?.finish(content).map_err(Failure::writing)
    };
    let mut tables = Vec::new();
    for (exhibit, results) in exhibits.iter().zip(results) {
        for (of, drawn) in &exhibit.figures {
            let name = format!("{}-{}", exhibit.paper.id, of.id);
            for (panel, letter) in drawn.panels.iter().zip('a'..) {
                let letter = if drawn.panels.len() == 1 { String::new() } else { format!("-{letter}") };
                write(format!("{name}{letter}.svg"), panel.standalone())?;
            }
            tables.push(format!("{name}.csv"));
            write(format!("{name}.csv"), figure_csv(exhibit.paper, of, results).map_err(Failure::ours)?)?;
        }
    }
    if let Some(table) = buffers {
        tables.push("senders-and-buffers.csv".into());
        write("senders-and-buffers.csv".into(), buffers_csv(table).map_err(Failure::ours)?)?;
    }
    if !tables.is_empty() {
        let tables = tables.iter().map(String::as_str);
        write(OF_FOLDER.into(), folder_metadata(tables, &origin.json()))?;
    }
    let points = Some(args.points).filter(|points| *points != ALL_POINTS);
    let points = points.map(|points| format!(" --points {points}"));
    let set = args.set.iter().map(|(key, value)| format!(" --set {key}={value}"));
    let options = points.into_iter().chain(set).collect();
    let making = Making { points: args.points.into(), options, origin };
    let mut pages = gallery_pages(exhibits, buffers, &making).into_iter();
    pages.try_for_each(|(name, page)| write(name, page))
}

/// For each other bench, how many claims hold there, and which hold that did not, or the other way round.
fn benches(judged: &[Judged]) -> String {
    let most = judged.iter().map(|judged| judged.beside.len()).max().unwrap_or(0);
    let mut text = String::new();
    for index in 0..most {
        let on = || judged.iter().filter_map(move |judged| Some((judged, judged.beside.get(index)?)));
        let Some((_, first)) = on().next() else { continue };
        let holds = |verdict: Verdict| verdict == Verdict::Holds;
        let count = on().filter(|(_, beside)| holds(beside.verdict)).count();
        let changed = |to: bool| {
            let changed =
                on().filter(|(judged, beside)| holds(beside.verdict) == to && holds(judged.verdict) != to);
            let names: Vec<&str> = changed.map(|(judged, _)| judged.claim.id.as_str()).collect();
            if names.is_empty() { "none".to_string() } else { names.join(", ") }
        };
        text.push_str(&format!(
            "{} ({}): {count} hold; gained {}; lost {}.\n",
            first.bench.name,
            first.bench.set.join(", "),
            changed(true),
            changed(false)
        ));
    }
    text
}

/// The claims that do not hold, counts of verdicts, and last whether they are verdicts at all.
fn summary(judged: &[Judged], out: Option<&str>, points: u8, width: usize) -> String {
    let mut text = String::new();
    let rows: Vec<[String; 4]> = judged
        .iter()
        .filter(|judged| judged.verdict != Verdict::Holds)
        .map(|judged| {
            let measured = if judged.measured.is_empty() { &judged.why } else { &judged.measured };
            [&judged.claim.id, &judged.words(), &judged.claim.stated, measured].map(String::clone)
        })
        .collect();
    if !rows.is_empty() {
        text.push_str(&format!("{}\n", table(&rows, width)));
        if rows.iter().any(|row| row[3].contains('[') || row[3].contains(" | ")) {
            let legend = "A claim may expect several things: | stands between their measurements, and [..] around one \
                          that is not as stated.";
            text.push_str(&wrapped("", legend, width));
        }
    }
    let held = judged.len() - rows.len();
    if held > 0 && !rows.is_empty() {
        let all = if out.is_some() { "the gallery lists all claims" } else { "--json - lists all claims" };
        let (hold, are) = if held == 1 { ("holds", "is") } else { ("hold", "are") };
        text.push_str(&wrapped(
            "",
            &format!("{} that {hold} {are} not listed here; {all}.", claims(held)),
            width,
        ));
    }
    let few = judged.iter().filter(|judged| judged.few).count();
    if few == 0 {
        text.push_str(&wrapped("", &format!("{}: {}.", claims(judged.len()), counts(judged, false)), width));
    } else {
        if few < judged.len() {
            let sure = format!("{} with a verdict: {}.", claims(judged.len() - few), counts(judged, false));
            text.push_str(&wrapped("", &sure, width));
        }
        let all = if few == judged.len() { String::new() } else { format!("{few} of ") };
        let have = if few == 1 { "has" } else { "have" };
        let so_far = counts(judged, true);
        let told =
            format!("{all}{} {have} too few handoffs for a verdict; so far {so_far}.", claims(judged.len()));
        text.push_str(&wrapped("", &told, width));
    }
    benches(judged).lines().for_each(|line| text.push_str(&wrapped("", line, width)));
    if let Some(out) = out {
        let told = format!("Figures, their numbers and the gallery index.html are in {out}.");
        text.push_str(&wrapped("", &told, width));
    }
    if few > 0 {
        let warning = format!(
            "A quick look: {} on {points} of {ALL_POINTS} handoff times, or on fewer seeds. These are no verdicts; \
             --points {ALL_POINTS} gives them.",
            if few == 1 { "this one rests".to_string() } else { format!("these {few} rest") }
        );
        text.push_str(&wrapped("", &warning, width));
    }
    text
}

/// How many claims have each verdict that occurs: of those that rest on few handoffs, or of the others.
fn counts(judged: &[Judged], few: bool) -> String {
    let count =
        |verdict| judged.iter().filter(|judged| judged.few == few && judged.verdict == verdict).count();
    let counted = |&verdict: &Verdict| Some(count(verdict)).filter(|&n| n > 0).map(|n| verdict.counted(n));
    Verdict::ALL.iter().filter_map(counted).collect::<Vec<_>>().join(", ")
}

fn claims(number: usize) -> String {
    format!("{number} claim{}", if number == 1 { "" } else { "s" })
}

/// A line per claim if all fit, else a paragraph per claim.
fn table(rows: &[[String; 4]], width: usize) -> String {
    let mut table = plain_table(&["CLAIM", "VERDICT", "STATED", "MEASURED"], WHOLE);
    rows.iter().for_each(|row| {
        table.add_row(row);
    });
    let whole = lines(&table);
    if whole.lines().all(|line| line.chars().count() <= width) {
        return whole;
    }
    let paragraph = |[claim, verdict, stated, measured]: &[String; 4]| {
        wrapped("", &format!("{claim}: {verdict}"), width)
            + &wrapped("  stated    ", stated, width)
            + &wrapped("  measured  ", measured, width)
    };
    rows.iter().map(paragraph).collect()
}
