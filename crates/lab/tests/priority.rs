//! Nothing is set up or taken down by a real-time thread: with PREEMPT_RT it starves what it waits for.

mod laboratory;

use laboratory::{in_laboratory, link};
use segue_kernel::sender::{Around, Policy};
use segue_lab::ends::{Aware, MobileEnd, Notice, ServerEnd};
use segue_lab::punctual::is_ordinary;
use segue_lab::run_with;
use segue_lab::{NoticeBy, Plan, Segue, SenderKind};
use segue_policy::Link;
use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;
use std::sync::{Arc, Mutex};
use std::time::Duration;

/// Acts of each kind of thread: (what, whether it was an ordinary one).
type Log = Arc<Mutex<BTreeSet<(&'static str, bool)>>>;

/// Ends that write down who calls them.
#[derive(Debug, Default)]
struct Logging(Log);

struct End(Log);

fn log(log: &Log, what: &'static str) {
    log.lock().expect("nobody panicked").insert((what, is_ordinary()));
}

impl Aware for Logging {
    fn server(&self, _cgroup: &Path) -> Result<Box<dyn ServerEnd>, String> {
        log(&self.0, "attach");
        Ok(Box::new(End(Arc::clone(&self.0))))
    }

    fn mobile(&self, _cgroup: &Path, _first: Link) -> Result<Box<dyn MobileEnd>, String> {
        log(&self.0, "attach");
        Ok(Box::new(End(Arc::clone(&self.0))))
    }
}

impl ServerEnd for End {
    fn serve(&mut self, limit: Duration) -> Result<(), String> {
        log(&self.0, "serve");
        std::thread::sleep(limit);
        Ok(())
    }

    fn counters(&self) -> Result<BTreeMap<String, u64>, String> {
        Ok(BTreeMap::new())
    }
}

impl MobileEnd for End {
    fn notify(&mut self, _notice: &Notice) -> Result<BTreeMap<String, u64>, String> {
        log(&self.0, "notify");
        Ok(BTreeMap::new())
    }
}

impl Drop for End {
    fn drop(&mut self) {
        log(&self.0, "detach");
    }
}

#[test]
#[ignore = "needs lab"]
fn only_what_is_urgent_is_done_by_real_time_threads() {
    in_laboratory(|| {
        let seen = Log::default();
        let sender = SenderKind::Aware {
            name: "logging".into(),
            segue: Segue {
                policy: Policy::named("etcp-v1", &[]).expect("a scheme"),
                around: Around::Cubic,
                icmp: false,
            },
            notice_by: NoticeBy::Laboratory,
        };
        let mut plan = Plan::new(link(6400, 9, None), link(6400, 9, None), vec![sender]);
        plan.warm_up = Some(Duration::from_millis(200));
        plan.observe = Duration::from_millis(500);
        let ends = |_: &str, _: &Segue| Arc::new(Logging(Arc::clone(&seen))) as Arc<dyn Aware>;
        run_with(&plan, &ends, &mut |_| {}).expect("it runs");
        let seen = seen.lock().expect("nobody panicked").clone();
        let expected = [("attach", true), ("detach", true), ("notify", false), ("serve", false)];
        assert_eq!(seen, BTreeSet::from(expected));
    });
}
