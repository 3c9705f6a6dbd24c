//! Notices: their content, and the two ends of in-band delivery (docs/reference/wire.md).
//!
//! On the wire a notice is one TCP option that names the new link; the sender remembers the link
//! that was reported before. The codec is `policy/notice.h`.

use crate::hn_option::{Announced, Announcement, Encoding};
use segue_policy::Link;
use segue_policy::wire::{Acceptance, Capability, ReplayWindow, Report, ReportType};
use segue_tcp::segment::CarriedOption;

pub use segue_policy::Notice;

/// The mobile's end: makes the options of one connection.
#[derive(Clone, Debug)]
pub struct Announcer {
    nonce: u16,
    seq: u8,
}

impl Announcer {
    /// `nonce` as exchanged when the connection was opened.
    pub fn new(nonce: u16) -> Self {
        Self { nonce, seq: 0 }
    }

    /// The capability, for the SYN and its answer.
    pub fn capability(nonce: u16) -> CarriedOption {
        CarriedOption::new(&Capability { flags: 0, nonce }.encode()).unwrap_or_default()
    }

    /// The link at the start of the connection; its number is 0, whenever it leaves.
    pub fn first_report(&self, link: Link) -> CarriedOption {
        Self { seq: 0, ..*self }.report(ReportType::First, link)
    }

    /// A completed handoff to `link`. Both copies of a notice are the same option.
    pub fn completed(&mut self, link: Link) -> CarriedOption {
        self.seq = self.seq.wrapping_add(1);
        self.report(ReportType::Completed, link)
    }

    /// A handoff to `link` is expected.
    pub fn expected(&mut self, link: Link) -> CarriedOption {
        self.seq = self.seq.wrapping_add(1);
        self.report(ReportType::Expected, link)
    }

    /// A handoff that is about to begin, or is over; empty if its buffer is too small to be told.
    pub fn announce(&mut self, what: Announcement, encoding: Encoding) -> CarriedOption {
        self.seq = self.seq.wrapping_add(1);
        let announced = Announced { what, seq: self.seq, nonce: self.nonce };
        let encoded = announced.encode(encoding);
        encoded.and_then(|(octets, length)| CarriedOption::new(&octets[..length])).unwrap_or_default()
    }

    fn report(&self, kind: ReportType, link: Link) -> CarriedOption {
        let link = Link { rate_kbps: link.rate_kbps.max(1), ..link };
        let report = Report { kind, seq: self.seq, nonce: self.nonce, link };
        // A link with a rate always encodes.
        report.encode().ok().and_then(|bytes| CarriedOption::new(&bytes)).unwrap_or_default()
    }
}

/// Counts of the options that a sender has heard.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Heard {
    /// Notices of a completed handoff, and announcements, that were new.
    pub accepted: u32,
    /// Reports heard before.
    pub repeated: u32,
    /// Malformed, or of another connection.
    pub refused: u32,
}

/// News that a sender has heard.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum News {
    /// A handoff has completed.
    Notice(Notice),
    /// A handoff is expected, without an outage.
    Expected(Notice),
    /// A handoff is about to begin, or the one announced is over.
    Announcement(Announcement),
}

/// The sender's end: remembers the reported link and recognises notices.
#[derive(Clone, Debug)]
pub struct Listener {
    replay: ReplayWindow,
    link: Option<Link>,
    /// The last report was a notice, and the first one has not come.
    overtaken: bool,
    heard: Heard,
}

impl Listener {
    /// `nonce` as exchanged when the connection was opened.
    pub fn new(nonce: u16) -> Self {
        Self { replay: ReplayWindow::new(nonce), link: None, overtaken: false, heard: Heard::default() }
    }

    /// Counts of the options so far.
    pub fn heard(&self) -> Heard {
        self.heard
    }

    /// An option of any kind has arrived: [`hear`](Self::hear), or an announcement that is valid and new.
    pub fn listen(&mut self, option: &[u8], flows: u32, disconnected: bool) -> Option<News> {
        let Ok(announced) = Announced::decode(option) else {
            return self.hear(option, flows, disconnected);
        };
        // Announcements and reports are numbered in a row, so one window judges both.
        let numbered = Report {
            kind: ReportType::Expected,
            seq: announced.seq,
            nonce: announced.nonce,
            link: Link::default(),
        };
        self.is_news(&numbered, true).then_some(News::Announcement(announced.what))
    }

    /// Whether a report is of this connection and new; `counts`: it tells of a handoff.
    fn is_news(&mut self, report: &Report, counts: bool) -> bool {
        match self.replay.accept(report) {
            Acceptance::Accepted => self.heard.accepted += u32::from(counts),
            Acceptance::Repeated => {
                self.heard.repeated += 1;
                return false;
            }
            Acceptance::WrongNonce => {
                self.heard.refused += 1;
                return false;
            }
        }
        true
    }

    /// A report has arrived. News comes out if it is valid, new, and the link before is known. Over a slower old link the
    /// first report may come later than the notice. `flows` and `disconnected` are what the option does not say.
    pub fn hear(&mut self, option: &[u8], flows: u32, disconnected: bool) -> Option<News> {
        if Capability::decode(option).is_ok() {
            return None; // on the answer to the SYN
        }
        let Ok(report) = Report::decode(option) else {
            self.heard.refused += 1;
            return None;
        };
        let notice =
            |old_link, new_link| Notice { old_link, new_link, flows, disconnected: u32::from(disconnected) };
        if report.kind == ReportType::First && self.overtaken && self.replay.is_of(&report) {
            // Its number is no more news.
            self.overtaken = false;
            return Some(News::Notice(notice(report.link, self.link?)));
        }
        if report.kind == ReportType::Expected && self.link.is_none() {
            // Or the first report, which may come yet, would be no more news.
            return None;
        }
        if !self.is_news(&report, report.kind == ReportType::Completed) {
            return None;
        }
        if report.kind == ReportType::Expected {
            return Some(News::Expected(Notice { disconnected: 0, ..notice(self.link?, report.link) }));
        }
        let old_link = self.link.replace(report.link);
        self.overtaken = old_link.is_none() && report.kind == ReportType::Completed;
        match report.kind {
            ReportType::Completed => Some(News::Notice(notice(old_link?, report.link))),
            ReportType::First | ReportType::Expected => None,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const OLD: Link = Link { rate_kbps: 6400, delay_us: 9_000 };
    const NEW: Link = Link { rate_kbps: 200, delay_us: 300_000 };

    fn told(sender: &mut Listener, option: CarriedOption) -> Notice {
        match sender.hear(option.as_slice(), 2, false) {
            Some(News::Notice(notice)) => notice,
            other => panic!("no notice, but {other:?}"),
        }
    }

    #[test]
    fn a_notice_needs_the_link_before_and_counts_once() {
        let mut mobile = Announcer::new(7);
        let mut sender = Listener::new(7);
        let first = mobile.first_report(OLD);
        let notice = mobile.completed(NEW);
        assert_eq!(sender.hear(first.as_slice(), 2, false), None);
        let heard = told(&mut sender, notice);
        assert_eq!((heard.old_link, heard.new_link, heard.flows), (OLD, NEW, 2));
        assert_eq!(sender.hear(notice.as_slice(), 2, false), None, "the second copy");
    }

    /// A handoff 400 ms after the SYN: the first report takes the old link, and comes last.
    #[test]
    fn a_notice_may_overtake_the_first_report() {
        let mut mobile = Announcer::new(7);
        let mut sender = Listener::new(7);
        let first = mobile.first_report(OLD);
        let notice = mobile.completed(NEW);
        assert_eq!(sender.hear(notice.as_slice(), 2, false), None, "nothing to compare the new link with");
        assert_eq!(
            sender.hear(Announcer::new(8).first_report(OLD).as_slice(), 2, false),
            None,
            "a stranger's"
        );
        let heard = told(&mut sender, first);
        assert_eq!((heard.old_link, heard.new_link), (OLD, NEW));
        for copy in [&first, &notice] {
            assert_eq!(sender.hear(copy.as_slice(), 2, false), None);
        }
        let back = told(&mut sender, mobile.completed(OLD));
        assert_eq!((back.old_link, back.new_link), (NEW, OLD));
    }

    /// The link in use is still the old one; both copies of the announcement count once, and so do those of the notice.
    #[test]
    fn an_expected_handoff_changes_no_link() {
        let mut mobile = Announcer::new(7);
        let mut sender = Listener::new(7);
        let early = mobile.expected(NEW);
        assert_eq!(sender.hear(early.as_slice(), 2, false), None, "the first report has not come");
        sender.hear(mobile.first_report(OLD).as_slice(), 2, false);
        let expected = mobile.expected(NEW);
        let notice = Notice { old_link: OLD, new_link: NEW, flows: 2, disconnected: 0 };
        assert_eq!(sender.hear(expected.as_slice(), 2, true), Some(News::Expected(notice)));
        assert_eq!(sender.hear(expected.as_slice(), 2, true), None);
        let completed = mobile.completed(NEW);
        assert_eq!(told(&mut sender, completed), notice);
        assert_eq!(sender.hear(completed.as_slice(), 2, false), None);
    }

    #[test]
    fn a_stranger_is_not_heard() {
        let mut sender = Listener::new(7);
        let mut stranger = Announcer::new(8);
        sender.hear(stranger.first_report(OLD).as_slice(), 1, false);
        assert_eq!(sender.hear(stranger.completed(NEW).as_slice(), 1, false), None);
        assert_eq!(sender.hear(&[253, 12, 0, 0], 1, false), None);
    }
}
