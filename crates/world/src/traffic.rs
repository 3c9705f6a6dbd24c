//! Traffic of the mobile's user during handoffs (docs/reference/traffic.md): long transfers either way, and
//! applications that put data into a connection of their own. [`source`] says when they do, [`watch`] what comes of it.

pub(crate) mod source;
pub(crate) mod watch;

use crate::delays::Delays;
use crate::drive::web::Surge;
use segue_netsim::{Nanos, SECOND};

pub use source::{FPS, PAUSES, SIZES, VIDEO_RATES};

/// After completion, what comes is measured for so long.
pub const COUNTED: Nanos = 10 * SECOND;
/// Waiting without progress for longer is a stall.
pub const STALL: Nanos = 200_000_000;
/// A frame that is later than this beyond its time is late.
pub const LATE: Nanos = 100_000_000;

/// Kinds of traffic that are measured apart.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Class {
    /// Long transfers to the mobile.
    Download,
    /// Long transfers from it.
    Upload,
    /// Responses, one after the other.
    Request,
    /// Frames at a constant rate.
    Video,
    /// Pages of the web.
    Page,
}

impl Class {
    /// Its name.
    pub fn word(self) -> &'static str {
        match self {
            Self::Download => "download",
            Self::Upload => "upload",
            Self::Request => "request",
            Self::Video => "video",
            Self::Page => "page",
        }
    }
}

/// An application whose data goes to the mobile.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Application {
    /// Responses of that size, each so long after the one before is acknowledged.
    Request {
        /// Bytes of a response.
        bytes: u64,
        /// From the last ACK of one to the first packet of the next.
        pause: Nanos,
    },
    /// Frames of equal size.
    Video {
        /// bit/s.
        rate: u64,
        /// Frames a second.
        fps: u32,
    },
    /// Pages as [`Surge`] draws them, each all at once, the next some time after it is acknowledged.
    Page,
}

impl Application {
    /// The class that it is measured in.
    pub fn class(self) -> Class {
        match self {
            Self::Request { .. } => Class::Request,
            Self::Video { .. } => Class::Video,
            Self::Page => Class::Page,
        }
    }
}

/// All that a user does.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Traffic {
    /// Long transfers to the mobile.
    pub download: bool,
    /// Long transfers from it.
    pub upload: bool,
    /// Applications, at most one of a class.
    pub applications: Vec<Application>,
}

impl Traffic {
    /// The measured classes, in order.
    pub fn classes(&self) -> Vec<Class> {
        let bulk = [(self.download, Class::Download), (self.upload, Class::Upload)];
        let mut classes: Vec<Class> =
            bulk.into_iter().filter(|(is, _)| *is).map(|(_, class)| class).collect();
        classes.extend(self.applications.iter().map(|application| application.class()));
        classes.sort_unstable();
        classes
    }

    /// Whether the flows of the bench go from the mobile.
    pub fn is_upward(&self) -> bool {
        self.upload && !self.download
    }

    /// Whether there are long transfers.
    pub fn has_bulk(&self) -> bool {
        self.upload || self.download
    }
}

/// A class of traffic in one handoff.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ClassRecord {
    /// Which one.
    pub class: Class,
    /// How long each thing took that was under way at T or asked for within the counted time; `None` = it never came.
    /// The slowest of the long transfers is one.
    pub times: Vec<Option<Nanos>>,
    /// Time in stalls from T on, mean of the flows.
    pub stalled: Nanos,
    /// Frames that came late or never.
    pub late: u32,
    /// From the sending of each data packet to its arrival.
    pub delays: Delays,
}

/// The pages of a user.
pub(crate) fn pages() -> Surge {
    Surge { users: 1, ..Surge::default() }
}
