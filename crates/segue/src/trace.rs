//! `segue trace`.

use crate::args::{BenchArgs, NO_PAGES, OUTPUT, choice, word};
use crate::outputs::Folder;
use crate::screen::Screen;
use crate::{Failure, events, outputs, print, progress};
use clap::Args;
#[cfg(feature = "report")]
use segue_capture::{SNAPLEN, capture};
use segue_export::{Origin, Provenance, file_name, flent, qlog, trace_lines, xplot};
#[cfg(feature = "report")]
use segue_report::handoff_page;
use segue_study::bench_words::TRAFFIC;
use segue_study::explain::{Moment, explain_at_most, several_stacks};
use segue_study::times::time;
use segue_study::{Plan, Request};
use segue_world::{Nanos, SimulatedKind};
use std::path::Path;

/// `segue trace`.
#[derive(Debug, Args)]
pub struct TraceArgs {
    /// Links and schemes.
    #[command(flatten)]
    pub bench: BenchArgs,
    /// Time at which the handoff begins
    #[arg(long, value_name = "TIME", value_parser = time, allow_hyphen_values = true)]
    pub at: Nanos,
    /// Kind of handoff
    #[arg(long, value_parser = choice::<SimulatedKind>(), default_value = "mbb")]
    pub kind: SimulatedKind,
    /// Number of flows
    #[arg(long, value_name = "N", value_parser = one_flow_count, default_value = "1", allow_negative_numbers = true)]
    pub flows: usize,
    /// Traffic beside the downloads whose packets are shown; a list as for `segue compare`, with download in it
    #[arg(long, value_name = "WORD,...", value_parser = word, allow_hyphen_values = true)]
    pub traffic: Option<String>,
    /// Print all events since the flows began, not only those since the handoff; also if files are written
    #[arg(long, help_heading = OUTPUT, conflicts_with = "story")]
    pub all: bool,
    /// Tell the handoff in words instead of events; also if files are written
    #[arg(long, help_heading = OUTPUT)]
    pub story: bool,
    /// Write every event as JSON lines (- for standard output)
    #[arg(long, help_heading = OUTPUT, value_name = "FILE")]
    pub json: Option<String>,
    /// Write a capture per scheme into a folder (pcapng)
    #[arg(long, help_heading = OUTPUT, value_name = "DIR", hide = NO_PAGES)]
    pub pcap: Option<String>,
    /// Bytes of each packet that captures keep, such as 128; all unless given
    #[arg(long, help_heading = OUTPUT, value_name = "BYTES", requires = "pcap", value_parser = clap::value_parser!(u32).range(96..=65535), hide = NO_PAGES)]
    pub snap: Option<u32>,
    /// Write a qlog file per scheme into a folder, for qvis
    #[arg(long, help_heading = OUTPUT, value_name = "DIR")]
    pub qlog: Option<String>,
    /// Write a time-sequence graph per scheme and flow into a folder, for xplot
    #[arg(long, help_heading = OUTPUT, value_name = "DIR")]
    pub xplot: Option<String>,
    /// Write a data file per scheme into a folder, for Flent
    #[arg(long, help_heading = OUTPUT, value_name = "DIR")]
    pub flent: Option<String>,
    /// Write one page that explains the handoff (HTML; - for standard output)
    #[arg(long, help_heading = OUTPUT, value_name = "FILE", hide = NO_PAGES)]
    pub report: Option<String>,
}

fn one_flow_count(word: &str) -> Result<usize, String> {
    word.parse().map_err(|_| "expected one whole number".to_string())
}

/// Runs the command.
pub fn run(args: &TraceArgs, origin: &Origin, screen: &Screen) -> Result<(), Failure> {
    let plan = plan(args)?;
    let schemes = || args.bench.schemes.iter();
    let named = |ending: &str| schemes().map(|scheme| file_name(scheme, ending)).collect();
    let graphs = match args.flows {
        1 => named("xpl"),
        flows => schemes()
            .flat_map(|scheme| (0..flows).map(move |flow| file_name(&format!("{scheme}-{flow}"), "xpl")))
            .collect(),
    };
    let folders = [
        Folder { option: "--pcap", path: &args.pcap, names: named("pcapng") },
        Folder { option: "--qlog", path: &args.qlog, names: named("qlog") },
        Folder { option: "--xplot", path: &args.xplot, names: graphs },
        Folder { option: "--flent", path: &args.flent, names: named("flent") },
    ];
    let asked = [("--json", &args.json), ("--report", &args.report)];
    let ([json, report], [captures, qlogs, graphs, flents], on_stdout) =
        outputs::open_with_folders(asked, folders)?;
    let counts = [&captures, &qlogs, &graphs, &flents].map(Vec::len);

    if on_stdout && (args.story || args.all) {
        let option = if args.story { "--story" } else { "--all" };
        return Err(Failure::User(format!(
            "{option} prints to standard output, which has another result; expected a file for that, or no {option}"
        )));
    }

    let links = plan.request.pairs.iter().flat_map(|(old, new)| [old, new]);
    outputs::spare_links(links, [&json, &report])?;

    // Only what tells every event needs what was long before: a fast link has millions.
    let whole = args.all
        || [&args.json, &args.pcap, &args.qlog, &args.xplot, &args.flent].iter().any(|to| to.is_some());
    let moment = moment(args);
    // Its last part is the writing of files.
    let runs = plan.schemes.len() as u64;
    let progress = progress::of(screen, runs + 1, "parts of the trace");
    let since = if whole { 0 } else { moment.told_since() };
    let traces = explain_at_most(&plan, moment, since, usize::MAX, &|more| progress.inc(more));

    #[cfg(feature = "report")]
    {
        for (output, told) in captures.into_iter().zip(&traces) {
            outputs::write(Some(output), || {
                capture(&told.scheme, &told.trace, args.snap.unwrap_or(SNAPLEN))
            })?;
        }
        outputs::write(report, || Ok::<_, Failure>(handoff_page(&plan, &traces, origin)))?;
    }
    // Files of links are read for it.
    let provenance = match json.is_some() || !qlogs.is_empty() || !flents.is_empty() {
        true => Provenance::of_trace(origin.version, &plan, moment, Path::new("")).map(Some),
        false => Ok(None),
    };
    let provenance = provenance.map_err(Failure::ours)?;
    for (output, told) in qlogs.into_iter().zip(&traces) {
        outputs::write(Some(output), || qlog(told, provenance.as_ref()))?;
    }
    for (output, told) in flents.into_iter().zip(&traces) {
        outputs::write(Some(output), || flent(told, provenance.as_ref()))?;
    }
    let flows = || 0..u16::try_from(args.flows).unwrap_or(u16::MAX);
    let of_graphs = traces.iter().flat_map(|told| flows().map(move |flow| (told, flow)));
    for (output, (told, flow)) in graphs.into_iter().zip(of_graphs) {
        outputs::write(Some(output), || Ok::<_, Failure>(xplot(told, flow)))?;
    }
    outputs::write(json, || {
        traces.iter().map(|told| trace_lines(told, provenance.as_ref())).collect::<Result<String, _>>()
    })?;
    progress.inc(1);
    drop(progress);
    let folders = [&args.pcap, &args.qlog, &args.xplot, &args.flent].into_iter().zip(counts);
    outputs::tell_written(screen, [&args.json, &args.report], folders);
    // A user who asks for files reads them; the log comes where it is asked for, or nothing else is.
    let files = [&args.json, &args.report, &args.pcap, &args.qlog, &args.xplot, &args.flent];
    let into_files = files.iter().any(|to| to.is_some());
    if args.story || args.all || !into_files {
        let several = several_stacks(&traces);
        for told in &traces {
            let text = if args.story {
                events::story(told, several, screen.width)
            } else {
                events::render(told, args.all, several, screen.terminal)
            };
            print(&text)?;
        }
    }
    Ok(())
}

/// The traces that the options ask for, checked.
pub fn plan(args: &TraceArgs) -> Result<Plan, Failure> {
    if args.bench.disconnect.len() > 1 {
        return Err(Failure::User("--disconnect: a trace is of one handoff; expected one time".into()));
    }
    let mut request = Request {
        kinds: args.bench.kinds(&[args.kind])?,
        flows: vec![args.flows],
        at: vec![args.at],
        ..args.bench.request()?
    };
    request.settings.extend(args.traffic.iter().map(|words| (TRAFFIC.to_string(), words.clone())));
    crate::settings::only_once(&request.settings)?;
    let plan = request.plan().map_err(Failure::user)?;
    if plan.series.handoffs > 1 {
        return Err(Failure::User(
            "--set handoffs: a trace is of one handoff; expected none beside it".into(),
        ));
    }
    if plan.traffic.as_ref().is_some_and(|traffic| !traffic.download) {
        return Err(Failure::User(
            "--traffic: a trace is of long downloads; expected download among it (segue compare)".into(),
        ));
    }
    Ok(plan)
}

/// The handoff of that plan.
pub fn moment(args: &TraceArgs) -> Moment {
    Moment { group: 0, seed: args.bench.seed, at: args.at }
}
