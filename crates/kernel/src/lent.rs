//! The kernel's own congestion controls that ours stand around: whether it lends their functions to eBPF. One that is a
//! module (Debian's bbr) comes when it is asked for.

use crate::running::{in_btf, parse_version, release};
use crate::sender::Around;
use nix::sys::socket::{AddressFamily, SockFlag, SockType, setsockopt, socket, sockopt::TcpCongestion};
use std::ffi::OsString;
use std::fs;
use std::path::Path;

/// Whether the kernel lends a congestion control.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Lent {
    /// Its functions.
    Now,
    /// A module that is not loaded.
    OnceLoaded,
    /// Nothing, or nothing that eBPF may call.
    Never,
}

/// The traces of one.
#[derive(Clone, Copy, Debug)]
struct Traces {
    /// Its function is among the types of the kernel itself.
    built_in: bool,
    /// Its module has types: it is loaded.
    loaded: bool,
    /// There is a file of its module.
    on_disk: bool,
    /// The kernel is new enough to lend it.
    new_enough: bool,
}

impl Around {
    /// The function that tells whether it is lent.
    const fn function(self) -> &'static str {
        match self {
            Self::Cubic => "cubictcp_cong_avoid",
            Self::Bbr => "bbr_main",
        }
    }

    /// Its module.
    pub(crate) const fn module(self) -> &'static str {
        match self {
            Self::Cubic => "tcp_cubic",
            Self::Bbr => "tcp_bbr",
        }
    }

    /// The first Linux whose functions of it take what ours give them.
    pub(crate) const fn since(self) -> (u32, u32) {
        match self {
            Self::Cubic => (5, 13),
            Self::Bbr => (6, 10),
        }
    }

    /// Whether the kernel lends it.
    pub(crate) fn lent(self) -> Lent {
        let release = release();
        let files = fs::read_to_string(Path::new("/lib/modules").join(&release).join("modules.dep"));
        lent(Traces {
            built_in: in_btf(self.function()),
            loaded: self.is_loaded(),
            on_disk: files.is_ok_and(|files| lists(&files, self.module())),
            new_enough: parse_version(&release) >= self.since(),
        })
    }

    /// Whether its module is there, and known to eBPF.
    pub(crate) fn is_loaded(self) -> bool {
        Path::new("/sys/kernel/btf").join(self.module()).exists()
    }

    /// The same once its module has been loaded, as far as the caller may and the kernel can.
    pub(crate) fn lend(self) -> Lent {
        if self.lent() == Lent::OnceLoaded {
            // The kernel loads it for a socket of root's that asks for it (tcp_ca_find_autoload).
            // Whether it came is seen by what it lends.
            let _ = socket(AddressFamily::Inet, SockType::Stream, SockFlag::SOCK_CLOEXEC, None)
                .and_then(|socket| setsockopt(&socket, TcpCongestion, &OsString::from(self.name())));
        }
        self.lent()
    }
}

fn lent(traces: Traces) -> Lent {
    match traces {
        Traces { new_enough: false, .. } => Lent::Never,
        Traces { built_in, loaded, .. } if built_in || loaded => Lent::Now,
        Traces { on_disk: true, .. } => Lent::OnceLoaded,
        _ => Lent::Never,
    }
}

/// Whether `modules.dep` (depmod(8)) lists this module, compressed or not.
fn lists(modules: &str, module: &str) -> bool {
    let files = modules.lines().filter_map(|line| Path::new(line.split_once(':')?.0).file_name()?.to_str());
    files.into_iter().any(|file| file.strip_prefix(module).is_some_and(|rest| rest.starts_with(".ko")))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_module_that_is_not_loaded_is_not_a_kernel_without() {
        let none = Traces { built_in: false, loaded: false, on_disk: false, new_enough: true };
        assert_eq!(lent(none), Lent::Never);
        // Debian: CONFIG_TCP_CONG_BBR=m
        let module = Traces { on_disk: true, ..none };
        assert_eq!(lent(module), Lent::OnceLoaded);
        assert_eq!(lent(Traces { loaded: true, ..module }), Lent::Now);
        assert_eq!(lent(Traces { built_in: true, ..none }), Lent::Now);
        // Linux 6.1: its bbr takes other arguments.
        assert_eq!(lent(Traces { built_in: true, new_enough: false, ..module }), Lent::Never);
    }

    #[test]
    fn modules_are_found_by_their_files() {
        let modules = "kernel/net/ipv4/tcp_bbr.ko.xz: kernel/lib/x.ko\nkernel/net/ipv4/tcp_bbr2.ko:\n\
                       kernel/net/ipv4/tcp_vegas.ko: kernel/net/ipv4/tcp_cubic.ko\n";
        assert!(lists(modules, "tcp_bbr") && lists(modules, "tcp_vegas"));
        assert!(!lists(modules, "tcp_cubic"), "what a module needs is no line of its own");
        assert!(!lists("kernel/net/ipv4/tcp_bbr2.ko:\n", "tcp_bbr") && !lists("", "tcp_bbr"));
    }

    #[test]
    fn what_is_lent_stays_lent() {
        for around in [Around::Cubic, Around::Bbr] {
            if around.lent() == Lent::Now {
                assert_eq!(around.lend(), Lent::Now);
            }
        }
    }
}
