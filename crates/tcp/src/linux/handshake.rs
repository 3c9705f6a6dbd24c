//! The handshake of a connection that this host opens.
//!
//! Source: net/ipv4/tcp_output.c (`tcp_connect`), tcp_input.c (`tcp_rcv_synsent_state_process`, `tcp_finish_connect`,
//! `tcp_init_transfer`, `tcp_try_undo_spurious_syn`), tcp_metrics.c (`tcp_init_metrics`).

use super::cc::{CongestionOps, INFINITE_SSTHRESH};
use super::{LinuxSender, Pending};
use crate::Nanos;
use crate::advice::Advisor;
use crate::segment::Segment;

impl<A: Advisor> LinuxSender<A> {
    /// The application has called: the SYN, or more data after idle time.
    #[cold]
    pub(super) fn start(&mut self, now: Nanos) {
        self.refresh(now);
        if self.established {
            self.slow_start_after_idle_check();
            // `tcp_push`: a write ends with PSH. Only what is in the buffer may leave in bursts.
            self.fill_buffer();
            self.push_pending();
        } else if self.sk.snd_nxt == 0 {
            // `tcp_connect`: the SYN counts as outstanding before it is sent.
            self.undo.retrans_stamp = self.time_stamp();
            self.sk.packets_out = 1;
            let syn = self.queue.push();
            self.transmit(syn, false);
            self.sk.snd_nxt = 1;
            self.set_timer(Pending::Retrans, self.rtt.rto);
        }
        self.leave_host();
    }

    /// `tcp_rcv_synsent_state_process`, `tcp_finish_connect`, `tcp_init_transfer`.
    pub(super) fn on_syn_ack(&mut self, segment: &Segment) {
        if !segment.syn || segment.ack != 1 || self.sk.snd_nxt == 0 {
            return;
        }
        // `tcp_try_undo_spurious_syn`: the first SYN is answered, so it was late.
        if self.stamps.saw && self.undo.retrans_stamp != 0 && self.stamps.echo == self.undo.retrans_stamp {
            self.undo.marker = None;
        }
        self.ack(segment);
        self.snd_wnd = segment.window;
        self.max_window = segment.window;
        if self.stamps.saw {
            self.stamps.recent = self.stamps.value;
        }
        self.ecn.on_syn_ack(segment.ecn);
        self.established = true;
        // `tcp_init_metrics`: a timeout of the SYN may have reduced it needlessly.
        self.sk.snd_ssthresh = INFINITE_SSTHRESH;
        if self.sk.srtt_us == 0 {
            self.rtt.fall_back(&self.clock);
        }
        let syns_were_lost = self.total_retrans > 1 && self.undo.marker.is_some();
        self.sk.set_cwnd(if syns_were_lost { 1 } else { self.profile.initial_window });
        self.usage.stamp = self.sk.jiffies;
        self.control.init(&mut self.sk);
        self.send_ack();
        self.advised.quiet_since = self.now;
        // `tcp_sendmsg`: the application was idle until now.
        self.sk.rate_check_app_limited();
        if self.bursts {
            // The first write leaves before others come. Where it is the only one, it ends with PSH.
            if self.written.is_one_write() {
                self.fill_buffer();
            }
            self.push_pending();
            self.leave_host();
        }
        self.fill_buffer();
        self.push_pending();
    }
}
