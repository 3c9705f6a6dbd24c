//! Files that are served, and whether what came of them is right, octet by octet.

use super::{Error, interrupt};
use nix::sys::statvfs::statvfs;
use std::fs::File;
use std::io::{Read, Write};
use std::path::Path;

/// Writes `octets` octets that repeat nowhere near, so that a lost or doubled stretch is seen.
///
/// # Errors
/// The file cannot be written, or a signal came.
pub fn write_bulk(path: &Path, octets: u64) -> Result<(), Error> {
    use rand_core::{RngCore, SeedableRng};
    let mut random = rand_pcg::Pcg64Mcg::seed_from_u64(1);
    let mut block = vec![0; 1 << 16];
    let mut left = octets;
    let failed = || Error::system(path.display().to_string());
    let mut file = File::create(path).map_err(failed())?;
    while left > 0 {
        interrupt::check()?;
        random.fill_bytes(&mut block);
        let length = block.len().min(usize::try_from(left).unwrap_or(usize::MAX));
        file.write_all(&block[..length]).map_err(failed())?;
        left -= length as u64;
    }
    Ok(())
}

/// Refuses a run whose files the disk of `folder` has no room for.
///
/// # Errors
/// So much is not free, or nobody knows.
pub(super) fn room_for(folder: &Path, octets: u64) -> Result<(), Error> {
    let system = statvfs(folder).map_err(Error::system(folder.display().to_string()))?;
    let free = system.blocks_available().saturating_mul(system.fragment_size());
    if octets <= free {
        return Ok(());
    }
    let in_gb = |octets: u64| octets as f64 / 1e9;
    Err(Error::Plan(format!(
        "files of up to {:.1} GB, for which {} has no room ({:.1} GB are free); expected smaller ones, or TMPDIR at \
         a larger disk",
        in_gb(octets),
        folder.parent().unwrap_or(folder).display(),
        in_gb(free)
    )))
}

/// Octets in `got`, and whether they are the beginning of `expected`.
pub(super) fn compare(got: &Path, expected: &Path) -> Result<(u64, bool), Error> {
    let open = |path: &Path| File::open(path).map_err(Error::system(path.display().to_string()));
    let (mut got, mut expected) = (open(got)?, open(expected)?);
    let (mut octets, mut right) = (0, true);
    let mut buffer = [0; 32 * 1024];
    let mut reference = [0; 32 * 1024];
    loop {
        interrupt::check()?;
        let length = got.read(&mut buffer).map_err(Error::system("what curl received"))?;
        if length == 0 {
            return Ok((octets, right));
        }
        octets += length as u64;
        right &=
            expected.read_exact(&mut reference[..length]).is_ok() && buffer[..length] == reference[..length];
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn files_need_room() {
        let folder = tempfile::tempdir().expect("a folder");
        room_for(folder.path(), 0).expect("nothing fits anywhere");
        let said = room_for(folder.path(), u64::MAX).expect_err("no disk is so large").to_string();
        assert!(said.contains("files of up to 18446744073.7 GB"), "{said}");
    }
}
