//! Files that are served, and whether what came of them is right, octet by octet.

use super::Error;
use std::fs::File;
use std::io::{Read, Write};
use std::path::Path;

/// Writes `octets` octets that repeat nowhere near, so that a lost or doubled stretch is seen.
///
/// # Errors
/// The file cannot be written.
pub fn write_bulk(path: &Path, octets: u64) -> Result<(), Error> {
    use rand_core::{RngCore, SeedableRng};
    let mut random = rand_pcg::Pcg64Mcg::seed_from_u64(1);
    let mut block = vec![0; 1 << 16];
    let mut left = octets;
    let mut write = || -> std::io::Result<()> {
        let mut file = File::create(path)?;
        while left > 0 {
            random.fill_bytes(&mut block);
            let length = block.len().min(usize::try_from(left).unwrap_or(usize::MAX));
            file.write_all(&block[..length])?;
            left -= length as u64;
        }
        Ok(())
    };
    write().map_err(Error::system(path.display().to_string()))
}

/// Octets in `got`, and whether they are the beginning of `expected`.
pub(super) fn compare(got: &Path, expected: &Path) -> Result<(u64, bool), Error> {
    let open = |path: &Path| File::open(path).map_err(Error::system(path.display().to_string()));
    let (mut got, mut expected) = (open(got)?, open(expected)?);
    let (mut octets, mut right) = (0, true);
    let mut buffer = [0; 32 * 1024];
    let mut reference = [0; 32 * 1024];
    loop {
        let length = got.read(&mut buffer).map_err(Error::system("what curl received"))?;
        if length == 0 {
            return Ok((octets, right));
        }
        octets += length as u64;
        right &=
            expected.read_exact(&mut reference[..length]).is_ok() && buffer[..length] == reference[..length];
    }
}
