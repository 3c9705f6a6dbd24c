//! Which senders of a plan this kernel has. The others are left out before anything starts. A plan that is compared on
//! several kernels must not end with the first that one of them lacks.

use crate::Failure;
use segue_kernel::host;
use segue_study::LabPlan;
use segue_study::lab_plan::{Around, LabSenderKind};
use std::fs;
use std::path::Path;

/// Abilities of a kernel that senders need.
#[derive(Clone, Debug)]
pub struct Kernel {
    /// Its built-in congestion controls that can be used.
    congestion_controls: Vec<String>,
    /// Congestion controls that our programs can be built around.
    around: Vec<Around>,
    /// `net.ipv4.tcp_rto_max_ms`
    rto_max: bool,
}

impl Kernel {
    /// That of this machine.
    pub fn here() -> Self {
        const IPV4: &str = "/proc/sys/net/ipv4";
        let known = fs::read_to_string(format!("{IPV4}/tcp_available_congestion_control"));
        let features = host::probe();
        let has = |name: &str| features.iter().any(|feature| feature.name == name && feature.present);
        let around = [(Around::Cubic, "cubic"), (Around::Bbr, "bbr")].into_iter();
        Self {
            congestion_controls: known.unwrap_or_default().split_whitespace().map(str::to_owned).collect(),
            around: around.filter(|(_, name)| has(name)).map(|(around, _)| around).collect(),
            rto_max: Path::new(IPV4).join("tcp_rto_max_ms").exists(),
        }
    }

    /// The feature that a sender needs and this kernel lacks.
    fn lacks(&self, kind: &LabSenderKind) -> Option<String> {
        match kind {
            LabSenderKind::BuiltIn { congestion_control: name, rto_max_ms, .. } => {
                if !self.congestion_controls.contains(name) {
                    Some(format!(
                        "the kernel has no congestion control `{name}` (a module: modprobe tcp_{name})"
                    ))
                } else if rto_max_ms.is_some() && !self.rto_max {
                    Some("net.ipv4.tcp_rto_max_ms needs Linux 6.15".to_owned())
                } else {
                    None
                }
            }
            LabSenderKind::Scheme { around, .. } | LabSenderKind::Unaware { around } => {
                let (name, since) = match around {
                    Around::Cubic => ("cubic", "5.13"),
                    Around::Bbr => ("bbr", "6.10"),
                };
                (!self.around.contains(around)).then(|| {
                    format!(
                        "the kernel's {name} cannot be built upon: that needs Linux {since} and tcp_{name}"
                    )
                })
            }
        }
    }

    /// Takes out of the plan what this kernel lacks: a line for each.
    ///
    /// # Errors
    /// None is left.
    pub fn leave_out(&self, plan: &mut LabPlan) -> Result<Vec<String>, Failure> {
        let mut said = Vec::new();
        plan.senders.retain(|sender| {
            let why = self.lacks(&sender.kind);
            said.extend(why.iter().map(|why| format!("{} is left out: {why}", sender.name)));
            why.is_none()
        });
        match said.first() {
            Some(first) if plan.senders.is_empty() => {
                Err(Failure::ours(format!("no sender of the plan can run here; {first}")))
            }
            _ => Ok(said),
        }
    }
}

/// Tells on standard error what is left out of a plan on this machine.
///
/// # Errors
/// Nothing is left of it.
pub fn leave_out(plan: &mut LabPlan) -> Result<(), Failure> {
    Kernel::here().leave_out(plan)?.iter().for_each(|line| eprintln!("{line}"));
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use segue_files::LabFile;
    use segue_world::access::LinkNames;

    /// Linux 6.12 as Debian has it: bbr is a module, and is not loaded.
    fn older() -> Kernel {
        Kernel {
            congestion_controls: ["reno", "cubic"].map(str::to_owned).into(),
            around: vec![Around::Cubic],
            rto_max: false,
        }
    }

    fn names(plan: &LabPlan) -> Vec<&str> {
        plan.senders.iter().map(|sender| sender.name.as_str()).collect()
    }

    fn plan(senders: &str) -> LabPlan {
        let text = format!("old = \"6400kbit/9ms\"\nnew = \"6400kbit/9ms\"\nsenders = {senders}\n");
        LabFile::parse(&text, "plan.toml").and_then(|file| file.plan(None)).expect("a plan")
    }

    #[test]
    fn what_an_older_kernel_lacks_is_left_out_with_a_line_each() {
        let mut plan =
            plan("[\"cubic-rto1s\", \"cubic\", \"bbr\", \"etcp-v1/bbr\", \"etcp-v1\", \"unaware\"]");
        let said = older().leave_out(&mut plan).expect("some are left");
        assert_eq!(names(&plan), ["cubic", "etcp-v1", "unaware"]);
        assert_eq!(
            said,
            [
                "cubic-rto1s is left out: net.ipv4.tcp_rto_max_ms needs Linux 6.15",
                "bbr is left out: the kernel has no congestion control `bbr` (a module: modprobe tcp_bbr)",
                "etcp-v1/bbr is left out: the kernel's bbr cannot be built upon: that needs Linux 6.10 and tcp_bbr",
            ]
        );
        assert_eq!(older().leave_out(&mut plan).expect("all are left"), Vec::<String>::new());
    }

    #[test]
    fn a_plan_of_which_nothing_is_left_is_refused() {
        let mut plan = plan("[\"cubic-rto1s\"]");
        let failure = older().leave_out(&mut plan).expect_err("nothing is left");
        let text = failure.to_string();
        assert!(text.contains("no sender of the plan") && text.contains("6.15"), "{text}");
        assert_eq!(text.lines().count(), 1, "{text}");
    }

    /// `make lab` and all that the documentation runs.
    #[test]
    fn every_example_runs_on_an_older_kernel() {
        let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/../../examples");
        let mut seen = 0;
        for entry in fs::read_dir(folder).expect("examples") {
            let path = entry.expect("an entry").path();
            if !path.file_name().is_some_and(|name| name.to_string_lossy().starts_with("lab-")) {
                continue;
            }
            let file =
                LabFile::read(&path.to_string_lossy(), &LinkNames::default()).expect("a laboratory's file");
            let plan = file.plan(None).or_else(|_| file.drive(None).map(|drive| drive.plan));
            // Traces may not be here.
            let Ok(mut plan) = plan else { continue };
            older().leave_out(&mut plan).expect("some are left");
            assert!(plan.senders.len() >= 2, "{}: {:?}", path.display(), names(&plan));
            seen += 1;
        }
        assert!(seen >= 5, "only {seen} examples were read");
    }
}
