//! The control socket's place, and who may ask there.

use super::Error;
use nix::unistd::{Gid, Group as Entry, Uid, User, getgrouplist};
use std::ffi::CString;
use std::path::Path;

/// Unless the configuration says another.
pub const PLACE: &str = "/run/segue/agent.sock";
/// Octets of a socket's path.
const SUN_PATH: usize = 108;

/// A group of this host's users.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Group(Gid);

impl Group {
    /// By its number.
    pub fn numbered(number: u32) -> Self {
        Self(Gid::from_raw(number))
    }

    /// By its name.
    ///
    /// # Errors
    /// There is no such group.
    pub fn named(name: &str) -> Result<Self, Error> {
        let found = Entry::from_name(name).ok().flatten();
        found.map(|entry| Self(entry.gid)).ok_or_else(|| Error::Group(name.to_owned()))
    }

    /// Its number.
    pub(super) fn id(self) -> Gid {
        self.0
    }

    /// Whether a user is in it, whose primary group is `primary`.
    pub(super) fn has(self, user: Uid, primary: Gid) -> bool {
        if primary == self.0 {
            return true;
        }
        // The credentials name the primary group only.
        let name = User::from_uid(user).ok().flatten().and_then(|user| CString::new(user.name).ok());
        name.and_then(|name| getgrouplist(&name, primary).ok()).is_some_and(|groups| groups.contains(&self.0))
    }
}

/// Whether a socket can have this path: `sun_path` of unix(7), and its last octet is zero.
///
/// # Errors
/// It is too long.
pub fn check_place(path: &Path) -> Result<(), String> {
    let octets = path.as_os_str().len();
    if octets < SUN_PATH {
        return Ok(());
    }
    Err(format!("a path of {octets} octets; expected at most {}", SUN_PATH - 1))
}
