//! Leftovers of a sender in the kernel, and pins that go also when a test fails.

#![allow(dead_code, reason = "each test file uses its part")]

use libbpf_rs::query::{LinkInfoIter, LinkTypeInfo, MapInfoIter, ProgInfoIter, ProgInfoQueryOptions};
use libbpf_rs::{MapCore, MapFlags, MapHandle};
use segue_kernel::host;
use std::path::PathBuf;
use std::thread;
use std::time::{Duration, Instant};

/// An event that has not come by then never comes.
pub const LIMIT: Duration = Duration::from_secs(600);

/// Leftovers of the sender of this name on the machine: maps, programs, links, a congestion control. Other senders
/// come and go beside us, so its maps are found by their content, which names it, and the rest by these maps.
pub fn left_of(name: &str) -> Vec<String> {
    let names_it = |id| {
        let value = MapHandle::from_map_id(id).ok()?.lookup(&0u32.to_ne_bytes(), MapFlags::ANY).ok()??;
        value.windows(name.len()).any(|part| part == name.as_bytes()).then_some(())
    };
    let maps: Vec<_> = MapInfoIter::default()
        .filter(|map| map.key_size == 4 && names_it(map.id).is_some())
        .map(|map| (map.id, map.name.to_string_lossy().into_owned()))
        .collect();
    let ours = |id: &u32| maps.iter().any(|(map, _)| map == id);
    let programs = ProgInfoIter::with_query_opts(ProgInfoQueryOptions::default().include_map_ids(true));
    let programs: Vec<_> = programs.filter(|program| program.map_ids.iter().any(ours)).collect();
    let links = LinkInfoIter::default().filter(|link| match &link.info {
        LinkTypeInfo::StructOps(info) => ours(&info.map_id),
        _ => programs.iter().any(|program| program.id == link.prog_id),
    });
    let mut left: Vec<_> = links.map(|link| format!("link {}", link.id)).collect();
    left.extend(
        programs.iter().map(|program| format!("program {} {}", program.id, program.name.to_string_lossy())),
    );
    left.extend(maps.iter().map(|(id, name)| format!("map {id} {name}")));
    left.extend(registered().into_iter().filter(|other| other.starts_with(name)));
    left
}

/// Congestion controls that sockets may take.
pub fn registered() -> Vec<String> {
    let known = std::fs::read_to_string("/proc/sys/net/ipv4/tcp_available_congestion_control");
    known.expect("always").split_whitespace().map(str::to_owned).collect()
}

/// The kernel lets go of programs when every other program has paused once: a moment later, on a machine that is many
/// times overloaded minutes.
pub fn nothing_left_of(name: &str) {
    let until = Instant::now() + LIMIT;
    while !left_of(name).is_empty() {
        assert!(Instant::now() < until, "{name} has left {:?}", left_of(name));
        // More frequent looks at all programs of the machine would keep others from their pause.
        thread::sleep(Duration::from_millis(200));
    }
}

/// A folder of bpffs that goes also when a test fails.
pub struct Pin(pub PathBuf);

impl Pin {
    pub fn named(name: &str) -> Self {
        Self(host::bpffs().expect("a bpf file system is mounted").join(name))
    }
}

impl Drop for Pin {
    fn drop(&mut self) {
        if let Ok(all) = std::fs::read_dir(&self.0) {
            all.flatten().for_each(|entry| drop(std::fs::remove_file(entry.path())));
        }
        let _ = std::fs::remove_dir(&self.0);
    }
}
