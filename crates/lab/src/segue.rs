//! Our own sender and mobile, at the two ends of a laboratory.

use super::ends::{Aware, MobileEnd, Notice, ServerEnd};
use super::sender_kind::Segue;
use segue_kernel::mobile::{self, Mobile, Way};
use segue_kernel::sender::{self, Sender};
use segue_policy::Link;
use segue_policy::wire::ReportType;
use std::collections::BTreeMap;
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::Duration;

/// Copies of each notice (docs/reference/wire.md).
const COPIES: u8 = 2;

/// The code that attaches a sender, whatever its name.
pub fn aware(_name: &str, segue: &Segue) -> Arc<dyn Aware> {
    Arc::new(segue.clone())
}

impl Aware for Segue {
    fn server(&self, cgroup: &Path) -> Result<Box<dyn ServerEnd>, String> {
        static SERIAL: AtomicU32 = AtomicU32::new(0);
        // Many laboratories run at once, and names of congestion controls belong to the whole machine.
        let serial = SERIAL.fetch_add(1, Ordering::Relaxed) % 100_000;
        let options = sender::Options {
            cgroup: cgroup.into(),
            name: format!("sg{}_{serial}", std::process::id()),
            around: self.around,
            policy: self.policy,
            icmp: self.icmp,
            listeners: false,
            pin: None,
        };
        let attached = sender::attach(&options).map_err(|error| error.to_string())?;
        Ok(Box::new(attached))
    }

    fn mobile(&self, cgroup: &Path, first: Link) -> Result<Box<dyn MobileEnd>, String> {
        let options = mobile::Options { cgroup: cgroup.into(), link: first };
        Ok(Box::new(mobile::attach(&options).map_err(|error| error.to_string())?))
    }
}

impl ServerEnd for Sender {
    fn serve(&mut self, limit: Duration) -> Result<(), String> {
        Self::serve(self, limit).map_err(|error| error.to_string())
    }

    fn counters(&self) -> Result<BTreeMap<String, u64>, String> {
        let status = self.status().map_err(|error| error.to_string())?;
        Ok(status.counters.into_iter().map(|counter| (counter.name.to_owned(), counter.count)).collect())
    }
}

impl MobileEnd for Mobile {
    fn notify(&mut self, notice: &Notice) -> Result<BTreeMap<String, u64>, String> {
        let Notice { link, kind, also } = *notice;
        let (copies, way, since) = (COPIES, Way::Auto, Duration::ZERO);
        let notice = mobile::Notice { link, kind, copies, way, also, before: None, since };
        let told = self.notify_all(&notice).map_err(|error| error.to_string())?;
        let counted = |(name, count): (&str, u32)| (name.to_owned(), u64::from(count));
        if kind == ReportType::Expected {
            // One that is lost is no fault.
            return Ok([("announced", told.triggered + told.crafted)].map(counted).into());
        }
        let counts = [
            ("connections", told.connections),
            ("triggered", told.triggered),
            ("crafted", told.crafted),
            ("unnegotiated", told.skipped.unnegotiated),
            ("closing", told.skipped.closing),
            ("unwritten", told.skipped.unwritten),
            ("unsent", told.skipped.unsent),
        ];
        let doubled = also.map(|_| ("doubled", told.doubled));
        Ok(counts.into_iter().chain(doubled).map(counted).collect())
    }
}
