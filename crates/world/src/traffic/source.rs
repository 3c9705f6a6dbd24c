//! When an application puts data into its connection, and how much.

use super::Application;
use crate::drive::web::User;
use segue_netsim::{Nanos, SECOND};
use std::ops::RangeInclusive;

/// Bytes of a response.
pub const SIZES: RangeInclusive<u64> = 1..=1_000_000_000;
/// Between two responses.
pub const PAUSES: RangeInclusive<Nanos> = 0..=60 * SECOND;
/// Rates of a video, bit/s.
pub const VIDEO_RATES: RangeInclusive<u64> = 1_000..=1_000_000_000;
/// Frames a second.
pub const FPS: RangeInclusive<u32> = 1..=240;

/// Something that the user waits for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Item {
    /// When it was asked for, or made.
    pub asked: Nanos,
    /// One beyond its last packet.
    pub end: u32,
}

/// The next item, or the reason for none.
#[derive(Clone, Debug)]
enum Next {
    /// So many bytes, then.
    At(Nanos, u64),
    /// Nothing until all is acknowledged.
    Waits,
}

/// An application at its server.
#[derive(Clone, Debug)]
pub(crate) struct Source {
    application: Application,
    /// Bytes of a packet.
    mss: u64,
    /// Draws pages.
    user: Option<User>,
    next: Next,
    /// When the first frame was made, and frames since.
    frames: (Nanos, u64),
    /// Packets so far.
    given: u32,
}

impl Source {
    /// One that begins at `at`; a page comes some time after it. `user` draws pages.
    pub fn new(application: Application, mss: u16, at: Nanos, mut user: Option<User>) -> Self {
        let next = match (application, &mut user) {
            (Application::Request { bytes, .. }, _) => Next::At(at, bytes),
            (Application::Video { .. }, _) => Next::At(at, frame_bytes(application)),
            (Application::Page, Some(user)) => {
                let page = user.next_page();
                Next::At(at.saturating_add(page.wait), page.bytes)
            }
            (Application::Page, None) => Next::Waits,
        };
        Self { application, mss: u64::from(mss), user, next, frames: (at, 0), given: 0 }
    }

    /// Packets so far.
    pub fn given(&self) -> u32 {
        self.given
    }

    /// When it gives something, unless it waits.
    pub fn due(&self) -> Option<Nanos> {
        match self.next {
            Next::At(at, _) => Some(at),
            Next::Waits => None,
        }
    }

    /// The item that is due now, if any.
    pub fn give(&mut self, now: Nanos) -> Option<Item> {
        let Next::At(at, bytes) = self.next else { return None };
        if at > now {
            return None;
        }
        // The last packet is charged in full.
        let packets = bytes.div_ceil(self.mss).clamp(1, 1 << 30) as u32;
        self.given = self.given.saturating_add(packets).min(u32::MAX - 2);
        self.next = match self.application {
            Application::Video { fps, .. } => {
                let (first, frames) = (self.frames.0, self.frames.1 + 1);
                self.frames.1 = frames;
                // Counted from the first frame, so that no rounding adds up.
                Next::At(first + frames * SECOND / u64::from(fps), bytes)
            }
            _ => Next::Waits,
        };
        // The SYN is packet 0.
        Some(Item { asked: at, end: self.given + 1 })
    }

    /// All that it has given is acknowledged.
    pub fn acknowledged(&mut self, now: Nanos) {
        if !matches!(self.next, Next::Waits) {
            return;
        }
        match (self.application, &mut self.user) {
            (Application::Request { bytes, pause }, _) => {
                self.next = Next::At(now.saturating_add(pause), bytes)
            }
            (Application::Page, Some(user)) => {
                let page = user.next_page();
                self.next = Next::At(now.saturating_add(page.wait), page.bytes);
            }
            _ => {}
        }
    }
}

/// Bytes of a frame, or of what an application gives at once; 0 if that is drawn.
pub(crate) fn frame_bytes(application: Application) -> u64 {
    match application {
        Application::Request { bytes, .. } => bytes,
        Application::Video { rate, fps } => rate.div_ceil(8 * u64::from(fps)),
        Application::Page => 0,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::traffic::pages;

    const MS: Nanos = 1_000_000;

    /// 4 Mbit/s at 30 frames a second are 16,667 bytes a frame: twelve packets of 1460 bytes.
    #[test]
    fn frames_are_made_on_time() {
        let video = Application::Video { rate: 4_000_000, fps: 30 };
        let mut source = Source::new(video, 1460, 5 * MS, None);
        assert_eq!(source.give(4 * MS), None);
        assert_eq!(source.give(5 * MS), Some(Item { asked: 5 * MS, end: 13 }));
        assert_eq!((source.give(5 * MS), source.due()), (None, Some(5 * MS + 33_333_333)));
        source.acknowledged(20 * MS);
        for frame in 1..30 {
            let due = 5 * MS + frame * SECOND / 30;
            // A clock that comes late makes no frame later.
            assert_eq!(source.give(due + 1), Some(Item { asked: due, end: 1 + 12 * (frame as u32 + 1) }));
        }
        assert_eq!(source.due(), Some(SECOND + 5 * MS));
    }

    /// 14,000 bytes are ten packets of 1448 bytes; 200 ms after the last is acknowledged come ten more.
    #[test]
    fn a_response_waits_for_the_one_before() {
        let request = Application::Request { bytes: 14_000, pause: 200 * MS };
        let mut source = Source::new(request, 1448, 0, None);
        assert_eq!(source.give(0), Some(Item { asked: 0, end: 11 }));
        assert_eq!((source.give(SECOND), source.due()), (None, None));
        source.acknowledged(40 * MS);
        assert_eq!(source.due(), Some(240 * MS));
        source.acknowledged(41 * MS);
        assert_eq!(source.give(240 * MS), Some(Item { asked: 240 * MS, end: 21 }));
    }

    #[test]
    fn a_page_is_several_files_after_a_pause() {
        let mut draws = pages().users(7).unwrap().remove(0);
        let first = draws.next_page();
        assert!(first.wait >= SECOND && first.bytes > 0);
        let mut source = Source::new(Application::Page, 1460, 0, pages().users(7).unwrap().pop());
        let end = first.bytes.div_ceil(1460) as u32 + 1;
        assert_eq!(source.give(first.wait), Some(Item { asked: first.wait, end }));
        let second = draws.next_page();
        source.acknowledged(9 * SECOND);
        assert_eq!(source.due(), Some(9 * SECOND + second.wait));
    }
}
