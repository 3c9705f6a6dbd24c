//! Loading, attaching, pinning, detaching.

use super::icmp::{Icmp, Request};
use super::lock::Lock;
use super::namespace::Namespace;
use super::pins;
use super::status::{self, About, Status};
use super::{Around, Error, Options};
use crate::host;
use crate::lent::Lent;
use crate::skeleton::sender::{OpenSenderSkel, SenderSkelBuilder};
use libbpf_rs::query::{LinkInfoIter, LinkTypeInfo, ProgInfoIter};
use libbpf_rs::skel::{OpenSkel, SkelBuilder};
use libbpf_rs::{ErrorKind, Link, MapHandle, ProgramAttachType, RingBufferBuilder};
use std::cell::RefCell;
use std::fs::{self, File};
use std::hash::{BuildHasher, Hasher, RandomState};
use std::io::Read;
use std::mem::MaybeUninit;
use std::os::fd::AsRawFd;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

/// An attached sender.
#[derive(Debug)]
pub struct Sender {
    /// Emptied before the rest when it is all undone.
    hear: Option<Link>,
    congestion_control: Option<Link>,
    flows: Link,
    let_go: Link,
    about: MapHandle,
    counters: MapHandle,
    icmp: Option<(Icmp, MapHandle)>,
    /// In which the sockets are.
    namespace: Namespace,
    pinned: bool,
}

/// Registers the congestion control and attaches the programs, in the caller's network namespace.
pub fn attach(options: &Options) -> Result<Sender, Error> {
    check_name(&options.name)?;
    host::require()?;
    let cgroup = Cgroup::open(&options.cgroup)?;
    // Until everything is pinned, or nothing of it is left.
    let _lock = options.pin.as_deref().map(Lock::take).transpose()?;
    check_free(&options.name)?;
    check_around(options.around)?;
    let folder = options.pin.as_deref().map(PinFolder::create).transpose()?;
    let sender = load(options, &cgroup)?;
    if let Some(folder) = folder {
        return sender.pin(folder);
    }
    Ok(sender)
}

fn load(options: &Options, cgroup: &Cgroup) -> Result<Sender, Error> {
    let quiet = host::quiet_libbpf();
    let namespace = Namespace::current()?;
    let refused = |what: &'static str| {
        let quiet = &quiet;
        move |error: libbpf_rs::Error| Error::kernel(what, quiet.explain(&error))
    };
    let mut storage = MaybeUninit::uninit();
    let mut open =
        SenderSkelBuilder::default().open(&mut storage).map_err(refused("reading the kernel programs"))?;
    configure(&mut open, options, cgroup)?;
    // They are for a host that has handoffs itself (`super::local_handoff`).
    open.progs.local_handoff.set_autoload(false);
    open.progs.local_let_go.set_autoload(false);
    open.maps.scope.set_autocreate(false).map_err(refused("leaving uploads out"))?;
    let mut skel = open.load().map_err(refused("loading the kernel programs"))?;

    let congestion_control = match options.around {
        Around::Cubic => skel.maps.around_cubic.attach_struct_ops(),
        Around::Bbr => skel.maps.around_bbr.attach_struct_ops(),
    }
    .map_err(|error| match error.kind() {
        ErrorKind::AlreadyExists => name_taken(&options.name),
        _ => refused("registering the congestion control")(error),
    })?;
    let hear = skel
        .progs
        .sender_sockops
        .attach_cgroup(cgroup.file.as_raw_fd())
        .map_err(refused("attaching to the cgroup"))?;
    let program = refused("attaching a program over the sockets");
    let flows = skel.progs.list_flows.attach().map_err(&program)?;
    let let_go = skel.progs.let_go.attach().map_err(&program)?;
    let handle = |map: &libbpf_rs::MapMut<'_>| MapHandle::try_from(map).map_err(refused("keeping a map"));
    let about = handle(&skel.maps.about)?;
    About {
        name: options.name.clone(),
        scheme: options.policy.name(),
        around: options.around.name().to_owned(),
        cgroup: options.cgroup.display().to_string(),
        icmp: options.icmp,
    }
    .write(&about)?;
    let icmp = if options.icmp { Some((Icmp::open()?, handle(&skel.maps.icmp_requests)?)) } else { None };
    let counters = handle(&skel.maps.counters)?;
    let sender = Sender {
        hear: Some(hear),
        congestion_control: Some(congestion_control),
        flows,
        let_go,
        about,
        counters,
        icmp,
        namespace,
        pinned: false,
    };
    if options.listeners {
        let mark = skel.progs.mark_listeners.attach().map_err(&program)?;
        status::run(&mark)?;
    }
    Ok(sender)
}

/// Sets the values that are constant once the programs are loaded.
pub(super) fn configure(
    open: &mut OpenSenderSkel<'_>,
    options: &Options,
    cgroup: &Cgroup,
) -> Result<(), Error> {
    let name = kernel_name(&options.name);
    let (used, unused) = match options.around {
        Around::Cubic => (&mut open.struct_ops.around_cubic_mut().name, &mut open.maps.around_bbr),
        Around::Bbr => (&mut open.struct_ops.around_bbr_mut().name, &mut open.maps.around_cubic),
    };
    *used = name;
    if !options.policy.claims() {
        // The kernel need not ask before it sends.
        open.struct_ops.around_cubic_mut().min_tso_segs = std::ptr::null_mut();
    }
    unused.set_autocreate(false).map_err(|error| Error::kernel("choosing the congestion control", error))?;
    let constants =
        open.maps.rodata_data.as_mut().ok_or_else(|| {
            Error::Machine("the kernel programs have no constants: a wrong build".to_owned())
        })?;
    constants.cc_name = name;
    constants.cgroup_id = cgroup.id;
    constants.nonce_key = random_key()?;
    constants.want_icmp = u32::from(options.icmp);
    let (scheme, settings) = options.policy.in_kernel();
    constants.scheme = scheme.0;
    for (to, word) in constants.settings.iter_mut().zip(settings) {
        *to = word;
    }
    Ok(())
}

fn random_key() -> Result<[u64; 2], Error> {
    const PATH: &str = "/dev/urandom";
    let mut octets = [0; 16];
    File::open(PATH)
        .and_then(|mut file| file.read_exact(&mut octets))
        .map_err(|problem| Error::io(PATH, problem))?;
    let both = u128::from_ne_bytes(octets);
    Ok([both as u64, (both >> 64) as u64])
}

/// The functions that the kernel must lend; a module is loaded.
pub(super) fn check_around(around: Around) -> Result<(), Error> {
    refusal(around, around.lend()).map_or(Ok(()), |problem| Err(Error::Machine(problem)))
}

/// Why it cannot be built upon.
fn refusal(around: Around, lent: Lent) -> Option<String> {
    let (name, module, (major, minor)) = (around.name(), around.module(), around.since());
    let other = match around {
        Around::Cubic => Around::Bbr,
        Around::Bbr => Around::Cubic,
    };
    let without = format!("--around {} does without", other.name());
    match lent {
        Lent::Now => None,
        Lent::OnceLoaded => {
            Some(format!("this kernel's {name} is a module that is not loaded: modprobe {module}; {without}"))
        }
        Lent::Never => Some(format!(
            "this kernel's {name} cannot be built upon, its functions are not open to eBPF: that needs \
             CONFIG_TCP_CONG_{}, and Linux {major}.{minor}; {without}",
            name.to_uppercase()
        )),
    }
}

/// Whether the kernel accepts the name (bpf_obj_name_cpy); a folder of pins may have it, too.
pub fn check_name(name: &str) -> Result<(), Error> {
    let good = |c: char| c.is_ascii_alphanumeric() || c == '_' || c == '.';
    if (1..=15).contains(&name.len()) && name.chars().all(good) && !name.starts_with('.') {
        return Ok(());
    }
    Err(Error::User(format!(
        "'{name}' is no name of a congestion control; expected 1 to 15 letters, digits, '_' and '.', the last not first"
    )))
}

/// The kernel takes its time to unregister one whose pin has just gone (bpf_link_put).
const UNREGISTERING: Duration = Duration::from_secs(1);

fn check_free(name: &str) -> Result<(), Error> {
    const PATH: &str = "/proc/sys/net/ipv4/tcp_available_congestion_control";
    let until = Instant::now() + UNREGISTERING;
    while fs::read_to_string(PATH).unwrap_or_default().split_whitespace().any(|other| other == name) {
        if Instant::now() >= until {
            return Err(name_taken(name));
        }
        std::thread::sleep(Duration::from_millis(5));
    }
    Ok(())
}

/// Names of congestion controls are the whole machine's: one that nobody else has, of 14 letters.
pub(crate) fn free_name(start: &str) -> String {
    format!("{start}{:09x}", RandomState::new().build_hasher().finish() >> 28)
}

/// As the kernel keeps it.
pub(crate) fn kernel_name(name: &str) -> [i8; 16] {
    let mut octets = [0; 16];
    for (to, from) in octets.iter_mut().zip(name.bytes()) {
        *to = from as i8;
    }
    octets
}

fn name_taken(name: &str) -> Error {
    Error::User(format!(
        "a congestion control '{name}' is registered already; detach it, or choose another --name"
    ))
}

/// A folder of cgroup2.
pub(super) struct Cgroup {
    file: File,
    id: u64,
}

impl Cgroup {
    pub(super) fn open(path: &Path) -> Result<Self, Error> {
        let user = |what: String| Error::User(format!("cgroup {}: {what}", path.display()));
        let file = File::open(path).map_err(|problem| user(problem.to_string()))?;
        let kind = rustix::fs::fstatfs(&file).map_err(|problem| user(problem.to_string()))?;
        if kind.f_type as u64 != host::CGROUP2_MAGIC {
            return Err(user(match host::cgroup2() {
                Some(root) => format!("not in cgroup2, which is mounted at {}", root.display()),
                None => format!("not in cgroup2, which is not mounted: {}", host::MOUNT_CGROUP2),
            }));
        }
        let id = file.metadata().map_err(|problem| user(problem.to_string()))?.ino();
        Ok(Self { file, id })
    }
}

/// Whether a sender, of this program or another version, is attached to this very cgroup. It hears all connections of the
/// cgroups below, too.
///
/// # Errors
/// It is no cgroup2.
pub fn is_attached(cgroup: &Path) -> Result<bool, Error> {
    let id = Cgroup::open(cgroup)?.id;
    let _quiet = host::quiet_libbpf();
    let here = LinkInfoIter::default().filter_map(|link| match link.info {
        LinkTypeInfo::Cgroup(at) => {
            let hears = matches!(at.attach_type, ProgramAttachType::CgroupSockOps);
            (at.cgroup_id == id && hears).then_some(link.prog_id)
        }
        _ => None,
    });
    let here: Vec<u32> = here.collect();
    Ok(ProgInfoIter::default().any(|program| here.contains(&program.id) && program.name == *"sender_sockops"))
}

/// A folder in bpffs, removed again unless everything is in it.
struct PinFolder {
    path: PathBuf,
    keep: bool,
}

impl PinFolder {
    fn create(path: &Path) -> Result<Self, Error> {
        let parents = path.parent().unwrap_or(Path::new("/"));
        let user = |what: String| Error::User(format!("{}: {what}", path.display()));
        // An empty one is left where an attach was killed before it pinned: it is this one's now.
        if path.exists() && !pins::is_empty(path) {
            return Err(user(
                "a sender is attached here already; `segue kernel detach` detaches it".to_owned(),
            ));
        }
        let existing = parents.ancestors().find(|folder| folder.exists()).unwrap_or(Path::new("/"));
        let kind = rustix::fs::statfs(existing).map_err(|problem| user(problem.to_string()))?;
        if kind.f_type as u64 != host::BPFFS_MAGIC {
            return Err(user(
                "not in a bpf file system, which pins need: mount -t bpf bpf /sys/fs/bpf".to_owned(),
            ));
        }
        fs::create_dir_all(path).map_err(|problem| user(problem.to_string()))?;
        Ok(Self { path: path.to_owned(), keep: false })
    }
}

impl Drop for PinFolder {
    fn drop(&mut self) {
        if !self.keep {
            remove(&self.path);
        }
    }
}

/// Removes the pins and their folder, if they exist.
fn remove(folder: &Path) {
    for name in pins::ALL {
        let _ = fs::remove_file(folder.join(name));
    }
    let _ = fs::remove_dir(folder);
    // The folder of all senders, if this was the last.
    if let Some(parent) = folder.parent()
        && parent.file_name().is_some_and(|name| name == "segue")
    {
        let _ = fs::remove_dir(parent);
    }
}

impl Sender {
    fn pin(mut self, mut folder: PinFolder) -> Result<Self, Error> {
        use pins::*;
        let path = folder.path.clone();
        let refused = |error| Error::kernel(format!("pinning in {}", path.display()), error);
        self.let_go.pin(path.join(LET_GO)).map_err(refused)?;
        self.counters.pin(path.join(COUNTERS)).map_err(refused)?;
        self.about.pin(path.join(ABOUT)).map_err(refused)?;
        self.flows.pin(path.join(FLOWS)).map_err(refused)?;
        for (link, name) in
            [(self.congestion_control.as_mut(), CONGESTION_CONTROL), (self.hear.as_mut(), HEAR)]
        {
            if let Some(link) = link {
                link.pin(path.join(name)).map_err(refused)?;
            }
        }
        folder.keep = true;
        self.pinned = true;
        Ok(self)
    }

    /// Its connections and counters now.
    pub fn status(&self) -> Result<Status, Error> {
        let (about, counters, flows) = (&self.about, &self.counters, &self.flows);
        self.namespace.run(|| status::read(about, counters, flows))
    }

    /// Sends the ICMPs that the programs ask for, for as long as this; without [`Options::icmp`] it sleeps.
    pub fn serve(&mut self, timeout: Duration) -> Result<(), Error> {
        let Some((icmp, requests)) = &self.icmp else {
            std::thread::sleep(timeout);
            return Ok(());
        };
        let refused = |error| Error::kernel("reading the ring of ICMP requests", error);
        let until = Instant::now() + timeout;
        let asked = RefCell::new(Vec::new());
        let mut ring = RingBufferBuilder::new();
        ring.add(requests, |octets| {
            asked.borrow_mut().extend(Request::parse(octets));
            0
        })
        .map_err(refused)?;
        let ring = ring.build().map_err(refused)?;
        loop {
            match ring.poll(until.saturating_duration_since(Instant::now())) {
                // A signal: whoever serves decides what it means.
                Err(error) if error.kind() == ErrorKind::Interrupted => return Ok(()),
                answer => answer.map_err(refused)?,
            }
            asked.borrow_mut().drain(..).for_each(|request| icmp.send(&request));
            if Instant::now() >= until {
                return Ok(());
            }
        }
    }
}

/// Without pins everything goes: first nobody joins any more, then who is there goes over to cubic.
impl Drop for Sender {
    fn drop(&mut self) {
        if self.pinned {
            return;
        }
        drop(self.hear.take());
        let let_go = &self.let_go;
        // A namespace that cannot be entered any more has no sockets left.
        let _ = self.namespace.run(|| status::run(let_go));
        drop(self.congestion_control.take());
    }
}

/// Removes all that [`attach`] has pinned in this folder; its connections in the caller's network namespace go
/// over to cubic. Those of other namespaces keep the congestion control, deaf, until they end. It also removes what an
/// attach or a detach that was killed has left.
pub fn detach(pin: &Path) -> Result<(), Error> {
    let _lock = Lock::take(pin)?;
    if pins::is_empty(pin) {
        // An attach was killed before it pinned.
        remove(pin);
        return Ok(());
    }
    pins::check_some(pin)?;
    let _ = fs::remove_file(pin.join(pins::HEAR));
    let path = pin.join(pins::LET_GO);
    // Pinned first and removed last: where it is not, no connection has joined or all have left.
    let ran = if path.exists() {
        Link::open(&path)
            .map_err(|error| Error::kernel(format!("opening {}", path.display()), error))
            .and_then(|let_go| status::run(&let_go).map(|_| ()))
    } else {
        Ok(())
    };
    remove(pin);
    ran
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_module_that_is_not_loaded_is_told_with_the_command_that_loads_it() {
        assert_eq!(refusal(Around::Bbr, Lent::Now), None);
        assert_eq!(
            refusal(Around::Bbr, Lent::OnceLoaded).as_deref(),
            Some(
                "this kernel's bbr is a module that is not loaded: modprobe tcp_bbr; --around cubic does without"
            )
        );
        let never = refusal(Around::Bbr, Lent::Never).expect("a refusal");
        assert!(never.contains("CONFIG_TCP_CONG_BBR, and Linux 6.10; --around cubic"), "{never}");
    }
}
