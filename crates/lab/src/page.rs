//! A web page: many short flows. nginx serves its objects. curl fetches six at a time, as browsers do of one host, each
//! over a connection of its own. Every octet is compared.

use super::Error;
use super::bulk::{compare, write_bulk};
use std::fs::{self, File};
use std::io::{BufWriter, Write};
use std::path::{Path, PathBuf};

/// Objects of a page: about as many requests as the median page makes.
const OBJECTS: usize = 70;
/// Sizes of ten objects among each other: many are small, a few large.
const SIZES: [u64; 10] = [1, 1, 1, 2, 2, 3, 4, 6, 10, 30];
/// Connections at a time.
pub(super) const AT_A_TIME: usize = 6;

/// The objects, as files of one folder.
#[derive(Clone, Debug)]
pub struct Page {
    folder: PathBuf,
}

/// Octets of each object of a page of so many.
fn sizes(octets: u64) -> impl Iterator<Item = u64> {
    let all = (OBJECTS / SIZES.len()) as u64 * SIZES.iter().sum::<u64>();
    SIZES.into_iter().cycle().take(OBJECTS).map(move |size| (octets * size / all).max(1))
}

impl Page {
    /// Writes a page of so many octets into this folder.
    ///
    /// # Errors
    /// A file cannot be written.
    pub fn write(folder: &Path, octets: u64) -> Result<Self, Error> {
        let page = Self { folder: folder.join("page") };
        fs::create_dir_all(&page.folder).map_err(Error::system(page.folder.display().to_string()))?;
        sizes(octets)
            .enumerate()
            .try_for_each(|(number, octets)| write_bulk(&page.object(number), octets))
            .map(|()| page)
    }

    /// The folder that the server shows.
    pub(super) fn folder(&self) -> &Path {
        &self.folder
    }

    fn object(&self, number: usize) -> PathBuf {
        self.folder.join(number.to_string())
    }

    /// Writes curl's orders into `into`: which objects of `server` go into which files there. Their place.
    pub(super) fn orders(&self, into: &Path, server: &str) -> Result<PathBuf, Error> {
        let place = into.join("orders");
        let write = || -> std::io::Result<()> {
            fs::create_dir_all(into)?;
            let mut orders = BufWriter::new(File::create(&place)?);
            for number in 0..OBJECTS {
                let file = into.join(number.to_string());
                writeln!(orders, "url = \"http://{server}/{number}\"\noutput = \"{}\"", file.display())?;
            }
            orders.flush()
        };
        write().map_err(Error::system(place.display().to_string()))?;
        Ok(place)
    }

    /// Octets that came into this folder, and whether all are there and right.
    pub(super) fn compared(&self, into: &Path) -> Result<(u64, bool), Error> {
        let (mut octets, mut right) = (0, true);
        for number in 0..OBJECTS {
            let (object, file) = (self.object(number), into.join(number.to_string()));
            if !file.exists() {
                right = false;
                continue;
            }
            let (came, same) = compare(&file, &object)?;
            let whole = fs::metadata(&object).map_err(Error::system(object.display().to_string()))?.len();
            octets += came;
            right &= same && came == whole;
        }
        Ok((octets, right))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_page_has_the_octets_that_are_asked_for() {
        // Seven times ten objects of 60 parts.
        let all: Vec<u64> = sizes(4_200_000).collect();
        assert_eq!((all.len(), all.iter().sum::<u64>()), (OBJECTS, 4_200_000));
        assert_eq!((all[0], all[9], all[10]), (10_000, 300_000, 10_000));
        assert!(sizes(10).all(|octets| octets == 1), "no object is empty");
    }

    #[test]
    fn an_object_that_lacks_or_differs_is_found() {
        let folder = tempfile::tempdir().expect("a folder");
        let page = Page::write(folder.path(), 420_000).expect("files");
        let into = folder.path().join("came");
        let orders = page.orders(&into, "h:1").expect("a file");
        let text = fs::read_to_string(orders).expect("text");
        assert_eq!(text.lines().count(), 2 * OBJECTS);
        assert!(text.starts_with("url = \"http://h:1/0\"\noutput = \""), "{text}");
        for number in 0..OBJECTS {
            fs::copy(page.object(number), into.join(number.to_string())).expect("a copy");
        }
        assert_eq!(page.compared(&into).expect("files"), (420_000, true));
        let third = into.join("3");
        let mut octets = fs::read(&third).expect("a file");
        octets.truncate(10);
        fs::write(&third, &octets).expect("a file");
        assert!(!page.compared(&into).expect("files").1, "a part of it");
        octets = fs::read(page.object(3)).expect("a file");
        octets[7] ^= 1;
        fs::write(&third, &octets).expect("a file");
        assert!(!page.compared(&into).expect("files").1, "another octet");
        fs::remove_file(&third).expect("a file");
        assert!(!page.compared(&into).expect("files").1, "none");
    }
}
