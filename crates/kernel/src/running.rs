//! The running kernel: its version, and the functions in its type information.

use libbpf_rs::btf::{Btf, types};

/// Its release, as `uname -r` has it.
pub(crate) fn release() -> String {
    rustix::system::uname().release().to_string_lossy().into_owned()
}

/// Major and minor number of a release.
pub(crate) fn parse_version(release: &str) -> (u32, u32) {
    let mut numbers = release.split(|c: char| !c.is_ascii_digit()).map(|word| word.parse().unwrap_or(0));
    (numbers.next().unwrap_or(0), numbers.next().unwrap_or(0))
}

/// Whether this type information has that function.
pub(crate) fn btf_has(btf: &Btf<'_>, function: &str) -> bool {
    btf.type_by_name::<types::Func<'_>>(function).is_some()
}

/// Whether this function is among the types of the kernel itself, without its modules.
pub(crate) fn in_btf(function: &str) -> bool {
    Btf::from_vmlinux().is_ok_and(|btf| btf_has(&btf, function))
}
