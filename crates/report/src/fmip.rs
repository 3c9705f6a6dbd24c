//! The signalling of a fast handover and the sender's state (docs/papers/espi-2010-fmipv6.md, A download by FMIPv6),
//! as a ladder.

use segue_draw::{About, Ladder, LadderMessage, LadderSpan};
use segue_world::fmip::{DownloadRecord, Host, SenderState};
use segue_world::{Nanos, SECOND};

/// The ladder of one download, ms after its hint; empty if it had none.
pub fn signalling(record: &DownloadRecord, about: About) -> Ladder {
    let mut ladder = Ladder {
        about,
        parties: Host::ALL.map(|host| host.name().to_string()).to_vec(),
        unit: "ms after the L2 hint".into(),
        ..Ladder::default()
    };
    let Some(hint) = record.hint else { return ladder };
    // Multiples of a tenth of a millisecond, the least that is told apart.
    let ms = |at: Nanos| ((at.saturating_sub(hint)) as f64 / (SECOND / 10_000) as f64).round() / 10.0;
    ladder.messages.extend(record.signals.iter().map(|signal| LadderMessage {
        label: signal.message.into(),
        from: place(signal.from),
        to: place(signal.to),
        sent: ms(signal.sent),
        arrived: signal.arrived.map(ms),
    }));
    let entered = |state: SenderState, since: Nanos| {
        record.states.iter().find(|(at, now)| *now == state && *at >= since).map(|(at, _)| *at)
    };
    let way = record.mobile;
    let told =
        [("HO Start", way.started, SenderState::Handoff), ("HO Finish", way.finished, SenderState::Normal)];
    ladder.messages.extend(told.into_iter().filter_map(|(label, sent, state)| {
        Some(LadderMessage {
            label: label.into(),
            from: place(Host::Mobile),
            to: place(Host::Correspondent),
            sent: ms(sent?),
            arrived: entered(state, sent?).map(ms),
        })
    }));
    ladder.spans.extend(record.states.windows(2).filter(|pair| pair[0].1 != SenderState::Normal).map(
        |pair| LadderSpan {
            label: pair[0].1.name().into(),
            party: place(Host::Correspondent),
            from: ms(pair[0].0),
            to: ms(pair[1].0),
        },
    ));
    ladder.spans.extend(way.left.zip(way.attached).map(|(left, attached)| LadderSpan {
        label: "no link".into(),
        party: place(Host::Mobile),
        from: ms(left),
        to: ms(attached),
    }));
    ladder
}

fn place(host: Host) -> usize {
    Host::ALL.iter().position(|known| *known == host).unwrap_or_default()
}
