//! The vectors of algorithms.md, section 7: what a sender is, what it hears, what it must answer. The same list is
//! played in user space (`crates/policy/tests/vectors.rs`) and inside a loaded kernel program
//! (`crates/live/tests/vectors.rs`).

use super::{
    PRINTED, bbm, close, in_fast_recovery, in_packets, in_rto, mbb, min_rto_ms, packets, reduced_to,
};
use super::{scheme, sender, with_flows};
use segue_policy::{Action, Notice, Sender, Settings, What};

/// One notice, and what is expected of the answer.
pub struct Vector {
    pub name: &'static str,
    pub settings: Settings,
    pub tcp: Sender,
    pub notice: Notice,
    pub check: fn(&Action),
}

fn reduces_to(act: &Action, window: f64) {
    close(reduced_to(act).expect("a window"), window, PRINTED);
}

/// Nothing but A1's RTO, which these vectors do not ask for.
fn keeps_the_window(act: &Action) {
    assert_eq!(reduced_to(act), None);
}

pub fn vectors() -> Vec<Vector> {
    let vector = |name, scheme_name, tcp, notice, check| Vector {
        name,
        settings: scheme(scheme_name),
        tcp,
        notice,
        check,
    };
    let rto = |flight, ms: u32| Sender { rto_us: ms * 1000, ..sender(flight) };
    let timed_out = Sender { ssthresh: packets(2), ssthresh_saved: packets(10), ..in_rto(sender(20)) };
    vec![
        vector("A1, case 1", "etcp:a1", rto(21, 200), mbb("6400/9", "200/300"), |act| {
            close(min_rto_ms(act).expect("a minrto"), 551.85, 0.1);
        }),
        vector("A1, case 2", "etcp:a1", in_fast_recovery(rto(24, 440)), mbb("800/75", "200/300"), |act| {
            close(min_rto_ms(act).expect("a minrto"), 1221.6, 0.1);
        }),
        vector("A1, case 3", "etcp:a1", rto(21, 850), mbb("400/150", "200/300"), |act| {
            close(min_rto_ms(act).expect("a minrto"), 2121.6, 0.1);
        }),
        vector("A2 fires", "etcp:a2", sender(39), mbb("1600/75", "400/150"), |act| reduces_to(act, 11.03)),
        vector("A2 does not", "etcp:a2", sender(22), mbb("1600/75", "400/150"), keeps_the_window),
        vector("A5 fires", "etcp:a5", sender(17), mbb("1600/37", "200/300"), |act| reduces_to(act, 11.03)),
        vector("A5 does not", "etcp:a5", sender(16), mbb("1600/37", "200/300"), keeps_the_window),
        vector("A2 where A5 fires", "etcp:a2", sender(22), mbb("1600/37", "200/300"), keeps_the_window),
        vector("A3", "etcp:a3", timed_out, bbm("6400/9", "200/300"), |act| {
            assert!(act.has(What::RETRANSMIT_HEAD | What::SET_SSTHRESH));
            close(in_packets(act.ssthresh), 10.0, 0.0);
        }),
        vector("Fig. 1", "etcp-v1", sender(5), with_flows(mbb("6400/9", "200/300"), 4), |act| {
            reduces_to(act, 2.76);
        }),
        vector(
            "Fig. 1, below",
            "etcp-v1",
            sender(4),
            with_flows(mbb("6400/9", "200/300"), 4),
            keeps_the_window,
        ),
        vector("Fig. 1, one flow", "etcp-v1", sender(5), mbb("6400/9", "200/300"), keeps_the_window),
    ]
}
