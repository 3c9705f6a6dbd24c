//! `segue lab cost`: what senders cost where there is no handoff.

use crate::screen::Screen;
use crate::{Failure, lab_machine, outputs, print, progress};
use clap::Args;
use comfy_table::CellAlignment;
use segue_console::{WHOLE, plain_table};
use segue_export::Origin;
use segue_lab::cost::{Arm, Cost, CostPlan, CostRecord, MemoryRecord, cost};
use segue_lab::{Segue, SenderKind};
use segue_study::drive::Mean;
use segue_study::lab_plan::LabSender;
use serde_json::{Value, json};
use std::time::Duration;

/// `segue lab cost`.
#[derive(Debug, Args)]
pub struct LabCostArgs {
    /// Senders to compare with the kernel's cubic
    #[arg(long, value_name = "NAME,...", value_delimiter = ',', default_value = "etcp-v1")]
    pub senders: Vec<String>,
    /// Number of rounds; each runs every sender once, and cubic
    #[arg(long, value_name = "N", default_value_t = 20, value_parser = clap::value_parser!(u32).range(2..=1000))]
    pub runs: u32,
    /// Seconds for which connections are counted; a flow lasts as long, in whole seconds
    #[arg(long, value_name = "S", default_value = "2", value_parser = seconds, allow_hyphen_values = true)]
    pub seconds: Duration,
    /// Idle connections whose memory is measured
    #[arg(long, value_name = "N", default_value_t = 5000, value_parser = clap::value_parser!(u32).range(1..=100_000))]
    pub connections: u32,
    /// Rounds of the memory measurement, at most
    #[arg(long, value_name = "N", default_value_t = 5, value_parser = clap::value_parser!(u32).range(2..=1000))]
    pub memory_runs: u32,
    /// Write the measurements as JSON (- for standard output)
    #[arg(long, value_name = "FILE")]
    pub json: Option<String>,
}

fn seconds(word: &str) -> Result<Duration, String> {
    let seconds = word.parse().ok().filter(|seconds| (0.1..=600.0).contains(seconds));
    seconds.map(Duration::from_secs_f64).ok_or_else(|| "expected seconds, 0.1 to 600".into())
}

/// Runs the command.
pub fn run(args: &LabCostArgs, origin: &Origin, screen: &Screen) -> Result<(), Failure> {
    let senders = args.senders.iter().map(|word| sender(word)).collect::<Result<Vec<_>, _>>()?;
    if let Some(index) =
        (1..senders.len()).find(|&index| args.senders[..index].contains(&args.senders[index]))
    {
        let twice = &args.senders[index];
        return Err(Failure::User(format!("--senders: `{twice}` is given twice; expected each once")));
    }
    let ([json], on_stdout) = outputs::open([("--json", &args.json)])?;
    let plan = CostPlan {
        senders,
        runs: args.runs,
        time: args.seconds,
        connections: args.connections,
        memory_runs: args.memory_runs.min(args.runs),
        end: lab_machine::this_program(&["lab-end"]),
    };
    let arms = plan.senders.len() as u64 + 2;
    let progress = progress::of(screen, arms * u64::from(plan.runs + plan.memory_runs), "runs");
    let measured = cost(&plan, &mut |told| progress.set(told.done as u64)).map_err(|error| match error {
        segue_lab::Error::Plan(_) => Failure::user(error),
        _ => Failure::ours(error),
    })?;
    drop(progress);
    let rows: Vec<Row> = arms_of(&plan).into_iter().map(|arm| Row::of(arm, &measured)).collect();
    outputs::write(json, || Ok::<_, Failure>(document(&plan, &rows, origin).to_string() + "\n"))?;
    if on_stdout { Ok(()) } else { print(&text(&plan, &rows)) }
}

fn sender(word: &str) -> Result<(String, Segue), Failure> {
    let named = LabSender::named(word).map_err(|problem| Failure::User(format!("--senders: {problem}")))?;
    match lab_machine::sender(&named)? {
        SenderKind::Aware { name, segue, .. } => Ok((name, segue)),
        SenderKind::Builtin { .. } => Err(Failure::User(format!(
            "--senders: `{word}` is the kernel's own; expected one of ours, such as etcp-v1 or unaware"
        ))),
    }
}

fn arms_of(plan: &CostPlan) -> Vec<Arm> {
    let senders = plan.senders.iter().map(|(name, _)| Arm::Sender(name.clone()));
    [Arm::Cubic, Arm::CubicToMobile].into_iter().chain(senders).collect()
}

/// One measure of one arm.
struct Measure {
    /// By round.
    values: Vec<f64>,
    /// Against the arms of cubic in the same rounds: nothing attached, the mobile's programs attached.
    against: [Mean; 2],
}

impl Measure {
    fn of<R>(records: &[R], arm: &Arm, of: impl Fn(&R) -> (&Arm, f64), held: fn(f64, f64) -> f64) -> Self {
        let values = |arm: &Arm| -> Vec<f64> {
            records.iter().map(&of).filter(|(other, _)| *other == arm).map(|(_, value)| value).collect()
        };
        let own = values(arm);
        let against = [Arm::Cubic, Arm::CubicToMobile].map(|first| {
            let pairs = own.iter().zip(values(&first)).map(|(&own, first)| held(own, first));
            Mean::of(&pairs.collect::<Vec<_>>())
        });
        Self { values: own, against }
    }

    fn json(&self, value: &str, against: &str) -> Value {
        let [cubic, mobile] = self.against.each_ref().map(interval);
        json!({
            value: Mean::of(&self.values).mean,
            format!("{against}_cubic"): cubic,
            format!("{against}_cubic_mobile_attached"): mobile,
            "runs": self.values,
        })
    }
}

fn interval(mean: &Mean) -> Value {
    let half = mean.ci95.unwrap_or(f64::NAN);
    json!({ "mean": mean.mean, "low": mean.mean - half, "high": mean.mean + half })
}

struct Row {
    arm: Arm,
    throughput: Measure,
    connections: Measure,
    /// The same by processor time.
    per_processor: [Measure; 2],
    slab: Measure,
    /// The server's and the mobile's.
    charged: Option<[f64; 2]>,
    negotiated: u64,
}

impl Row {
    fn of(arm: Arm, cost: &Cost) -> Self {
        let ratio = |own: f64, first: f64| own / first;
        let rate = |of: fn(&CostRecord) -> f64| {
            Measure::of(&cost.runs, &arm, move |record: &CostRecord| (&record.arm, of(record)), ratio)
        };
        let (throughput, connections) =
            (rate(|record| record.bits_per_second), rate(|record| record.connections_per_second));
        let per_processor = [
            rate(|record| record.bits_per_processor_second),
            rate(|record| record.connections_per_processor_second),
        ];
        let slab = Measure::of(&cost.memory, &arm, of_slab, |own, first| own - first);
        let own = || cost.memory.iter().filter(|record| record.arm == arm);
        let charged = own().map(|record| record.charged).collect::<Option<Vec<_>>>();
        let charged = charged
            .filter(|all| !all.is_empty())
            .map(|all| [0, 1].map(|end| all.iter().map(|both| both[end]).sum::<f64>() / all.len() as f64));
        let negotiated =
            cost.runs.iter().filter(|record| record.arm == arm).map(|record| record.negotiated).sum();
        Self { throughput, connections, per_processor, slab, charged, negotiated, arm }
    }
}

fn of_slab(record: &MemoryRecord) -> (&Arm, f64) {
    (&record.arm, record.slab)
}

fn document(plan: &CostPlan, rows: &[Row], origin: &Origin) -> Value {
    let rows = rows.iter().map(|row| {
        json!({
            "scheme": match &row.arm {
                Arm::Cubic | Arm::CubicToMobile => "cubic",
                Arm::Sender(name) => name,
            },
            "mobile_attached": row.arm != Arm::Cubic,
            "stack": lab_machine::kernel(),
            "runs": row.throughput.values.len(),
            "negotiated": row.negotiated,
            "throughput": row.throughput.json("bits_per_second", "ratio_to"),
            "connections": row.connections.json("per_second", "ratio_to"),
            "throughput_by_processor": row.per_processor[0].json("bits_per_processor_second", "ratio_to"),
            "connections_by_processor": row.per_processor[1].json("per_processor_second", "ratio_to"),
            "memory": {
                "connections": plan.connections,
                "slab_octets": row.slab.json("per_connection", "more_than"),
                "charged_octets": row.charged.map(|[server, mobile]| json!({ "server": server, "mobile": mobile })),
            },
        })
    });
    let rows: Vec<Value> = rows.collect();
    json!({ "version": 1, "seconds": plan.time.as_secs_f64(), "rows": rows, "origin": origin.json() })
}

const RATES: [&str; 7] = ["sender", "Gbit/s", "of cubic", "of c+m", "conn/s", "of cubic", "of c+m"];
const PER_PROCESSOR: [&str; 7] =
    ["sender", "Gbit/CPU-s", "of cubic", "of c+m", "conn/CPU-s", "of cubic", "of c+m"];
const MEMORY: [&str; 5] = ["sender", "B/conn", "over c+m", "server B", "mobile B"];

fn text(plan: &CostPlan, rows: &[Row]) -> String {
    let by_time = rows.iter().map(|row| rates(row, &row.throughput, &row.connections));
    let per_processor = rows.iter().map(|row| rates(row, &row.per_processor[0], &row.per_processor[1]));
    let charged = |row: &Row, end: usize| row.charged.map_or("-".into(), |both| format!("{:.0}", both[end]));
    let memory = rows.iter().map(|row| {
        let [over_cubic, over_mobile] = against(row, &row.slab, 0);
        [row.arm.to_string(), over_cubic, over_mobile, charged(row, 0), charged(row, 1)]
    });
    format!(
        "No handoff: a veth pair, {}; {} rounds, interleaved, {} s a measure\n{}\n\n{}\n\n{}\n\n\
         of cubic, of c+m: mean of the ratios to plain cubic, and to cubic towards a mobile with its programs attached, in\n\
         the same rounds; +- half the 95 % confidence interval. c+m leaves the server's end; both ends share this machine.\n\
         CPU-s: a second of processor time of the programs, both ends; it suffers less from others on this machine.\n\
         B/conn: by how much more than with plain cubic the kernel's slab grew a connection, both ends, over {} idle ones.\n\
         server B, mobile B: octets charged to a socket of the server and of the mobile beside its buffers.\n",
        lab_machine::kernel(),
        plan.runs,
        plan.time.as_secs_f64(),
        table(&RATES, by_time),
        table(&PER_PROCESSOR, per_processor),
        table(&MEMORY, memory),
        plan.connections,
    )
}

fn rates(row: &Row, throughput: &Measure, connections: &Measure) -> [String; 7] {
    let mean = |measure: &Measure| Mean::of(&measure.values).mean;
    let [a, b] = against(row, throughput, 3);
    let [c, d] = against(row, connections, 3);
    let (gigabits, connections) = (mean(throughput) / 1e9, mean(connections));
    [row.arm.to_string(), format!("{gigabits:.2}"), a, b, format!("{connections:.0}"), c, d]
}

/// Against both arms of cubic, a dash for what is held against itself or its better.
fn against(row: &Row, measure: &Measure, digits: usize) -> [String; 2] {
    [0, 1].map(|first| match (&row.arm, first) {
        (Arm::Cubic, _) | (Arm::CubicToMobile, 1) => "-".to_string(),
        _ => cell(&measure.against[first], digits),
    })
}

fn table<const N: usize>(head: &[&str; N], rows: impl Iterator<Item = [String; N]>) -> String {
    let mut table = plain_table(head, WHOLE);
    rows.for_each(|row| {
        table.add_row(row);
    });
    for column in 1..N {
        if let Some(column) = table.column_mut(column) {
            column.set_cell_alignment(CellAlignment::Right);
        }
    }
    let lines: Vec<_> = table.to_string().lines().map(|line| line.trim_end().to_string()).collect();
    lines.join("\n")
}

fn cell(mean: &Mean, digits: usize) -> String {
    let half = mean.ci95.unwrap_or(f64::NAN);
    format!("{:.digits$} +- {half:.digits$}", mean.mean)
}
