//! Flows before they begin.

use super::first_report::FirstReport;
use super::{ReceivingFlow, SendingFlow, alone};
use segue_handoff::{Announcer, Link, Listener, LoggedScheme, Scheme};
use segue_netsim::{Nanos, TimerId};
use segue_tcp::{AnyReceiver, AnySender, StackProfile};

/// The nonce of flow `flow`, as if exchanged in its handshake.
fn nonce(flow: usize) -> u16 {
    // Any number will do where nobody forges; the multiplier only makes them look unlike.
    (flow as u16).wrapping_mul(40_503).wrapping_add(1)
}

/// A sending flow that runs `scheme` on `profile`.
pub fn sending_flow(
    id: u16,
    profile: &StackProfile,
    phase: Nanos,
    opens: Nanos,
    timer: TimerId,
    scheme: Scheme,
) -> SendingFlow {
    let nonce = nonce(usize::from(id));
    let mut profile = *profile;
    if let Some(kernel) = &mut profile.kernel {
        kernel.seed = kernel.seed.wrapping_add(u64::from(id)); // each flow draws its own lots
    }
    let mut sender = AnySender::new(&profile, phase, LoggedScheme::new(scheme));
    sender.carry_on_syn(Announcer::capability(nonce));
    SendingFlow { id, sender, listener: Listener::new(nonce), timer, opens: Some(opens) }
}

/// A receiving flow whose first report names `link`.
pub fn receiving_flow(id: u16, profile: &StackProfile, timer: TimerId, link: Link) -> ReceivingFlow {
    let nonce = nonce(usize::from(id));
    let announcer = Announcer::new(nonce);
    let mut receiver = AnyReceiver::new(profile);
    receiver.carry(Announcer::capability(nonce));
    let first_report = Some(FirstReport::new(announcer.first_report(link)));
    ReceivingFlow {
        receiver,
        timer,
        announcer,
        first_report,
        pending: None,
        opening: None,
        phas: None,
        memory: alone::Memory::default(),
    }
}
