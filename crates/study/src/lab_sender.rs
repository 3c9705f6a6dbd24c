//! The meaning of a sender's name in a laboratory's plan (docs/guide/lab.md).

use segue_handoff::Scheme;
use segue_words::{did_you_mean, quantity};

/// The congestion control that the kernel's own code runs in.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Around {
    /// CUBIC.
    #[default]
    Cubic,
    /// BBR.
    Bbr,
}

/// The part of the mobile that tells of handoffs.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum NoticeBy {
    /// The agent, which finds out by itself.
    #[default]
    Agent,
    /// A test sender within the laboratory, at link-up.
    Laboratory,
}

/// Kinds of senders.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum LabSenderKind {
    /// The kernel as it is.
    BuiltIn {
        /// `cubic`, `bbr` or `reno`.
        congestion_control: String,
        /// `TCP_RTO_MAX_MS`, if it is set.
        rto_max_ms: Option<u32>,
        /// Whether the mobile closes its window before each handoff (Freeze-TCP).
        freeze: bool,
        /// Whether the mobile's agent helps it: the agent alone, for the server runs nothing of ours. It then is the
        /// agent that freezes.
        agent: bool,
    },
    /// The kernel with a scheme of `policy/`.
    Scheme {
        /// Its name.
        name: String,
        /// The congestion control that it wraps.
        around: Around,
        /// Whether the head is resent by RFC 6069, with a local ICMP.
        icmp: bool,
    },
    /// The same wrapper without any reaction.
    Unaware {
        /// The congestion control that it wraps.
        around: Around,
    },
}

const BUILT_IN: [&str; 3] = ["cubic", "bbr", "reno"];
const UNAWARE: &str = "unaware";
/// Suffix of a built-in congestion control's name, before the time.
const RTO_MAX: &str = "-rto";
/// At the end of a built-in one's word: the mobile freezes it before handoffs.
const FREEZE: &str = "+freeze";
/// At the end of a built-in one's word: the agent helps it.
const AGENT: &str = "+agent";
/// At the end of a scheme's word: the head is resent by RFC 6069.
const ICMP: &str = "+icmp";
/// At the end of the word of one that hears: it is told by the laboratory itself.
const LABORATORY: &str = "laboratory";

/// `cubic`, `reno-rto1s`, `cubic+freeze`, `bbr+agent`, `bbr+agent+freeze`, `etcp-v1`, `etcp-v1+icmp`, `tcp-ho/bbr`,
/// `unaware`, each that hears also as `etcp-v1@laboratory`: what sends, and who tells it.
pub(crate) fn read(word: &str) -> Result<(LabSenderKind, NoticeBy), String> {
    let (sender, notice_by) = match word.split_once('@') {
        None => (word, NoticeBy::Agent),
        Some((sender, LABORATORY)) => (sender, NoticeBy::Laboratory),
        Some((_, other)) => {
            return Err(format!(
                "`{word}`: nobody called `{other}` tells of handoffs; expected {LABORATORY}"
            ));
        }
    };
    let kind = kind(sender)?;
    if notice_by == NoticeBy::Laboratory && matches!(kind, LabSenderKind::BuiltIn { .. }) {
        return Err(format!("`{word}`: the kernel's own hears of no handoff; expected `{sender}`"));
    }
    Ok((kind, notice_by))
}

fn kind(word: &str) -> Result<LabSenderKind, String> {
    let (name, around) = match word.split_once('/') {
        None => (word, Around::Cubic),
        Some((name, "cubic")) => (name, Around::Cubic),
        Some((name, "bbr")) => (name, Around::Bbr),
        Some((_, other)) => {
            return Err(format!("`{word}`: no sender runs around `{other}`; expected cubic or bbr"));
        }
    };
    let wrapped = word.contains('/');
    let (name, freeze) = name.strip_suffix(FREEZE).map_or((name, false), |name| (name, true));
    let (name, agent) = name.strip_suffix(AGENT).map_or((name, false), |name| (name, true));
    if agent && name.ends_with(FREEZE) {
        return Err(format!("`{word}`: expected {AGENT} before {FREEZE}"));
    }
    let (plain, rto_max) = match name.split_once(RTO_MAX) {
        Some((plain, time)) if BUILT_IN.contains(&plain) => (plain, Some(time)),
        _ => (name, None),
    };
    if BUILT_IN.contains(&plain) && !wrapped {
        let rto_max_ms = match rto_max {
            None => None,
            Some(time) => {
                let ms = quantity::time(time)
                    .map(|time| time / 1_000_000)
                    .filter(|ms| (1000..=120_000).contains(ms));
                let ms = ms.ok_or_else(|| {
                    format!("`{word}`: expected a longest RTO of 1s to 120s, as in cubic-rto1s")
                })?;
                Some(ms as u32)
            }
        };
        return Ok(LabSenderKind::BuiltIn {
            congestion_control: plain.to_string(),
            rto_max_ms,
            freeze,
            agent,
        });
    }
    if freeze {
        return Err(format!(
            "`{word}`: only a sender that runs nothing of ours is frozen; expected one as cubic{FREEZE}"
        ));
    }
    if agent {
        return Err(format!("`{word}`: senders of ours hear the agent as they are; expected `{name}`"));
    }
    if name == UNAWARE {
        return Ok(LabSenderKind::Unaware { around });
    }
    let (name, icmp) = name.strip_suffix(ICMP).map_or((name, false), |name| (name, true));
    match Scheme::build(name, &[]) {
        Ok(Scheme::Etcp(_) | Scheme::TcpHo(_) | Scheme::Near(_)) => {
            Ok(LabSenderKind::Scheme { name: name.to_string(), around, icmp })
        }
        _ => Err(unknown(word)),
    }
}

fn unknown(word: &str) -> String {
    let schemes = Scheme::entries().into_iter().map(|entry| entry.name);
    let schemes = schemes.filter(|name| {
        matches!(Scheme::build(name, &[]), Ok(Scheme::Etcp(_) | Scheme::TcpHo(_) | Scheme::Near(_)))
    });
    let names: Vec<&str> = BUILT_IN.into_iter().chain([UNAWARE]).chain(schemes).collect();
    format!(
        "unknown sender `{word}`; expected one of {}; built-in ones also as cubic-rto1s, cubic+freeze, cubic+agent and cubic+agent+freeze, others also as NAME/bbr and NAME@laboratory, schemes as NAME+icmp{}",
        names.join(", "),
        did_you_mean(word, names.iter().copied())
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    fn built_in(congestion_control: &str, rto_max_ms: Option<u32>, freeze: bool) -> LabSenderKind {
        LabSenderKind::BuiltIn {
            congestion_control: congestion_control.into(),
            rto_max_ms,
            freeze,
            agent: false,
        }
    }

    fn helped(congestion_control: &str, freeze: bool) -> LabSenderKind {
        let congestion_control = congestion_control.into();
        LabSenderKind::BuiltIn { congestion_control, rto_max_ms: None, freeze, agent: true }
    }

    #[test]
    fn words_say_who_sends_and_who_tells() {
        let scheme = |name: &str, around, icmp| LabSenderKind::Scheme { name: name.into(), around, icmp };
        for (word, kind, notice_by) in [
            ("bbr", built_in("bbr", None, false), NoticeBy::Agent),
            ("cubic-rto2s+freeze", built_in("cubic", Some(2000), true), NoticeBy::Agent),
            ("bbr+agent", helped("bbr", false), NoticeBy::Agent),
            ("bbr+agent+freeze", helped("bbr", true), NoticeBy::Agent),
            ("etcp-v1", scheme("etcp-v1", Around::Cubic, false), NoticeBy::Agent),
            ("tcp-ho/bbr@laboratory", scheme("tcp-ho", Around::Bbr, false), NoticeBy::Laboratory),
            ("etcp:a1+a3+icmp", scheme("etcp:a1+a3", Around::Cubic, true), NoticeBy::Agent),
            ("unaware@laboratory", LabSenderKind::Unaware { around: Around::Cubic }, NoticeBy::Laboratory),
        ] {
            assert_eq!(read(word), Ok((kind, notice_by)), "{word}");
        }
    }

    #[test]
    fn what_cannot_be_is_told() {
        for (word, part) in [
            ("etcp-v1@agent", "nobody called `agent` tells of handoffs; expected laboratory"),
            ("cubic@laboratory", "the kernel's own hears of no handoff; expected `cubic`"),
            (
                "etcp-v1+freeze",
                "only a sender that runs nothing of ours is frozen; expected one as cubic+freeze",
            ),
            ("cubic+freeze+agent", "expected +agent before +freeze"),
            ("etcp-v1+agent", "senders of ours hear the agent as they are; expected `etcp-v1`"),
            ("unaware+freeze", "only a sender that runs nothing of ours is frozen"),
            ("cubic+icmp", "unknown sender `cubic+icmp`; expected one of cubic, bbr"),
        ] {
            let message = read(word).unwrap_err();
            assert!(message.contains(part) && message.lines().count() == 1, "{word}: {message}");
        }
    }
}
