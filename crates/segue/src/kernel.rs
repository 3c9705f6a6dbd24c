//! `segue kernel`: the sender of this machine's own kernel, attached, seen, detached.

use crate::args::key_value;
use crate::{Failure, outputs, print};
use clap::{Args, Subcommand, ValueEnum};
use segue_console::{WHOLE, lines, plain_table};
use segue_export::Origin;
use segue_handoff::Scheme;
use segue_kernel::host;
use segue_kernel::sender::{self, Around, Options, Policy, Status};
use signal_hook::consts::{SIGINT, SIGTERM};
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

/// `segue kernel`.
#[derive(Debug, Args)]
#[command(arg_required_else_help = false)]
pub struct KernelArgs {
    /// The subcommand.
    #[command(subcommand)]
    pub command: KernelCommand,
}

/// Commands for a sender.
#[derive(Debug, Subcommand)]
pub enum KernelCommand {
    /// Attach a sender and leave it there; no process stays
    Attach(AttachArgs),
    /// Detach a sender; its connections continue with cubic
    Detach(NameArgs),
    /// Show the notices that a sender has received, and its connections
    Status(StatusArgs),
    /// Attach a sender, serve it until SIGINT or SIGTERM, and detach it
    Run(AttachArgs),
}

/// Which sender.
#[derive(Debug, Args)]
pub struct NameArgs {
    /// Name of the congestion control
    #[arg(long, value_name = "NAME", default_value = "segue")]
    pub name: String,
}

/// The sender to attach.
#[derive(Debug, Args)]
pub struct AttachArgs {
    /// Scheme that answers notices: etcp-v1, tcp-ho and their variants, near, or unaware
    #[arg(long, value_name = "NAME", default_value = "etcp-v1")]
    pub scheme: String,
    /// Congestion control to build on
    #[arg(long, value_enum, default_value = "cubic")]
    pub around: AroundWord,
    /// Only the processes of this cgroup2 folder; all unless given
    #[arg(long, value_name = "PATH")]
    pub cgroup: Option<PathBuf>,
    /// Which sender.
    #[command(flatten)]
    pub name: NameArgs,
    /// A setting of the scheme (see `segue schemes NAME`); may be repeated
    #[arg(long, value_name = "KEY=VALUE", value_parser = key_value)]
    pub set: Vec<(String, String)>,
    /// Resend the first segment with ICMP packets from this host to itself (RFC 6069); with `run` only
    #[arg(long)]
    pub icmp: bool,
}

/// `segue kernel status`.
#[derive(Debug, Args)]
pub struct StatusArgs {
    /// Which sender.
    #[command(flatten)]
    pub name: NameArgs,
    /// Write the status as JSON (- for standard output)
    #[arg(long, value_name = "FILE")]
    pub json: Option<String>,
}

/// Congestion controls that can be built upon.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum AroundWord {
    /// RFC 9438
    Cubic,
    /// Version 1
    Bbr,
}

fn failure(error: sender::Error) -> Failure {
    if error.is_user() { Failure::user(error) } else { Failure::ours(error) }
}

/// Runs the command.
pub fn run(command: &KernelCommand, origin: &Origin) -> Result<(), Failure> {
    match command {
        KernelCommand::Attach(args) => attach(args),
        KernelCommand::Detach(args) => {
            sender::detach(&pin(&args.name)?).map_err(failure)?;
            print(&format!("{}: detached; its connections are on cubic\n", args.name))
        }
        KernelCommand::Status(args) => status(args, origin),
        KernelCommand::Run(args) => serve(args),
    }
}

/// Where a sender of this name is pinned.
fn pin(name: &str) -> Result<PathBuf, Failure> {
    // Before it becomes part of a path.
    sender::check_name(name).map_err(failure)?;
    let Some(root) = host::bpffs() else {
        // A user without the right to load programs needs no mount first.
        host::require().map_err(failure)?;
        return Err(Failure::ours(
            "no bpf file system is mounted, in which senders are pinned: mount -t bpf bpf /sys/fs/bpf",
        ));
    };
    Ok(root.join("segue").join(name))
}

fn options(args: &AttachArgs) -> Result<Options, Failure> {
    crate::settings::only_once(&args.set)?;
    let policy = Policy::named(&args.scheme, &args.set)
        .map_err(|error| Failure::User(format!("{error}{}", of_another_kind(&args.scheme))))?;
    let cgroup = match &args.cgroup {
        Some(path) => path.clone(),
        None => host::cgroup2().ok_or_else(|| Failure::ours(host::NO_CGROUP2))?,
    };
    Ok(Options {
        cgroup,
        name: args.name.name.clone(),
        around: match args.around {
            AroundWord::Cubic => Around::Cubic,
            AroundWord::Bbr => Around::Bbr,
        },
        policy,
        icmp: args.icmp,
        listeners: true,
        pin: None,
    })
}

/// More about a word that is a congestion control or a scheme of the simulator, where one of the kernel is expected.
fn of_another_kind(word: &str) -> String {
    if AroundWord::from_str(word, true).is_ok() {
        return format!("; `{word}` is a congestion control: --around {word}");
    }
    match Scheme::build(word, &[]) {
        _ if Policy::named(word, &[]).is_ok() => String::new(),
        Ok(scheme) if scheme.is_regular() => {
            format!("; `{word}` is TCP without a scheme, which the kernel has without a program")
        }
        Ok(_) => format!("; `{word}` is a scheme of the simulator alone"),
        Err(_) => String::new(),
    }
}

fn attach(args: &AttachArgs) -> Result<(), Failure> {
    if args.icmp {
        return Err(Failure::user("--icmp needs a process that stays; `segue kernel run` does"));
    }
    // The user's words before the machine's lacks.
    let options = options(args)?;
    let pin = pin(&args.name.name)?;
    let options = Options { pin: Some(pin.clone()), ..options };
    let warning = of_another(&options);
    sender::attach(&options).map_err(failure)?;
    crate::warn(warning);
    print(&format!("{}, pinned in {}\n", attached(&options), pin.display()))
}

fn attached(options: &Options) -> String {
    let Options { name, policy, around, cgroup, .. } = options;
    format!("{name}: {} around {}, attached to {}", policy.name(), around.name(), cgroup.display())
}

/// Each sender of a cgroup gives the connections that begin its own congestion control. The warning is for one that has
/// been attached: a refusal says enough.
fn of_another(options: &Options) -> Option<String> {
    let cgroup = &options.cgroup;
    sender::is_attached(cgroup).unwrap_or(false).then(|| {
        format!(
            "a sender is attached to {} already: new connections follow the one that is attached last",
            cgroup.display()
        )
    })
}

fn serve(args: &AttachArgs) -> Result<(), Failure> {
    let over = Arc::new(AtomicBool::new(false));
    for signal in [SIGINT, SIGTERM] {
        signal_hook::flag::register(signal, over.clone()).map_err(Failure::ours)?;
    }
    let options = options(args)?;
    let warning = of_another(&options);
    let mut sender = sender::attach(&options).map_err(failure)?;
    crate::warn(warning);
    print(&format!("{}, until SIGINT or SIGTERM\n", attached(&options)))?;
    while !over.load(Ordering::Relaxed) {
        sender.serve(Duration::from_millis(200)).map_err(failure)?;
    }
    Ok(())
}

fn status(args: &StatusArgs, origin: &Origin) -> Result<(), Failure> {
    let ([json], on_stdout) = outputs::open([("--json", &args.json)])?;
    let status = sender::status(&pin(&args.name.name)?).map_err(failure)?;
    outputs::write(json, || {
        let mut document = serde_json::to_value(&status).map_err(Failure::ours)?;
        document["origin"] = origin.json();
        Ok::<_, Failure>(document.to_string() + "\n")
    })?;
    if on_stdout { Ok(()) } else { print(&text(&status)) }
}

fn text(status: &Status) -> String {
    let Status { name, scheme, around, cgroup, .. } = status;
    let mut text = format!("{name}: {scheme} around {around}, attached to {cgroup}\n\n");
    let mut counters = plain_table(&["SINCE ATTACH", ""], WHOLE);
    for counter in &status.counters {
        counters.add_row([counter.name.to_owned(), counter.count.to_string()]);
    }
    text.push_str(&lines(&counters));
    if status.flows.is_empty() {
        return text;
    }
    let mut flows =
        plain_table(&["REMOTE", "LOCAL", "", "N", "LINK", "ACCEPTED", "REFUSED", "CWND", "SSTHRESH"], WHOLE);
    for flow in &status.flows {
        let link = flow.link.map_or("-".to_owned(), |link| {
            format!("{}kbit/{}ms", link.rate_kbps, f64::from(link.delay_us) / 1000.0)
        });
        // No cut yet: the kernel's infinity says nothing.
        let ssthresh = if flow.ssthresh < 1 << 30 { flow.ssthresh.to_string() } else { "-".to_owned() };
        flows.add_row([
            flow.remote.to_string(),
            flow.local.to_string(),
            if flow.negotiated { "negotiated" } else { "unnegotiated" }.to_owned(),
            if flow.negotiated { flow.flows.to_string() } else { "-".to_owned() },
            link,
            flow.accepted.to_string(),
            flow.refused.to_string(),
            flow.cwnd.to_string(),
            ssthresh,
        ]);
    }
    text.push_str(&format!("\n{}", lines(&flows)));
    text
}
