/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/*
 * shim.c - addresses for the inline functions of policy/ that no policy's table has: what
 * all policies share.
 */
#include <stddef.h>

#include "base_rtt.h"
#include "belief.h"
#include "etcp.h"
#include "grant.h"
#include "near_flow.h"
#include "notice.h"
#include "rlci.h"
#include "tcp_ho.h"

#define SETTINGS const struct segue_etcp_settings *set

u32 segue_shim_window_before(const struct segue_sender *tcp)
{
	return segue_window_before(tcp);
}

u32 segue_shim_believe(const struct segue_sender *tcp, u32 disconnected, u32 proven,
		       struct segue_action *act)
{
	return segue_believe(tcp, disconnected, proven, act);
}

u32 segue_shim_was_silent(u32 silence_us, u32 srtt_us, const struct segue_link *new_link)
{
	return segue_was_silent(silence_us, srtt_us, new_link);
}

u32 segue_shim_rto_bound_ms(const struct segue_link *link)
{
	return segue_rto_bound_ms(link);
}

u32 segue_shim_loss_probe_window(u32 window, u32 in_flight)
{
	return segue_loss_probe_window(window, in_flight);
}

u32 segue_shim_window_after_loss_probe(u32 window, u32 guard)
{
	return segue_window_after_loss_probe(window, guard);
}

u32 segue_shim_burst_window(u32 window, u32 most_room)
{
	return segue_burst_window(window, most_room);
}

u32 segue_shim_trial_allows(u32 packets_out)
{
	return segue_trial_allows(packets_out);
}

u32 segue_shim_trial_fails(u32 lost, u32 arrived, u32 allowed)
{
	return segue_trial_fails(lost, arrived, allowed);
}

u32 segue_shim_delivered_window(u32 arrived, u32 srtt_us, u32 took_us)
{
	return segue_delivered_window(arrived, srtt_us, took_us);
}

u32 segue_shim_refuted_window(u32 delivered, u32 before)
{
	return segue_refuted_window(delivered, before);
}

u32 segue_shim_proven_twice(u32 proven)
{
	return segue_proven_twice(proven);
}

u32 segue_shim_claim_window(u32 guard)
{
	return segue_claim_window(guard);
}

u32 segue_shim_window_after_claim(u32 cwnd, u32 guard, u32 competing, u32 more)
{
	return segue_window_after_claim(cwnd, guard, competing, more);
}

u64 segue_shim_payload_rate(u32 kbps, u32 mss)
{
	return segue_payload_rate(kbps, mss);
}

u32 segue_shim_notified_lately(u32 disconnected, u32 notified, u32 since_ms)
{
	return segue_notified_lately(disconnected, notified, since_ms);
}

u32 segue_shim_rejects_notice(u32 disconnected, u32 refuted, u32 since_ms)
{
	return segue_rejects_notice(disconnected, refuted, since_ms);
}

u32 segue_shim_rate_check_fails(u32 delivered, u32 mss, u32 interval_us, u32 kbps)
{
	return segue_rate_check_fails(delivered, mss, interval_us, kbps);
}

u32 segue_shim_kept_window(u32 before, u32 cut, u32 prior_cwnd, u32 on_trial)
{
	return segue_kept_window(before, cut, prior_cwnd, on_trial);
}

u32 segue_shim_timeout_proves_nothing(u32 arrived, u32 claim)
{
	return segue_timeout_proves_nothing(arrived, claim);
}

u32 segue_shim_hides_slow_start(u32 guard_rounds, u32 recovers)
{
	return segue_hides_slow_start(guard_rounds, recovers);
}

u32 segue_shim_undone_window(u32 window, u32 guard, u32 cwnd)
{
	return segue_undone_window(window, guard, cwnd);
}

u32 segue_shim_delay_beyond_us(u32 min_rtt_us, u32 srtt_us, const struct segue_link *old_link)
{
	return segue_delay_beyond_us(min_rtt_us, srtt_us, old_link);
}

void segue_shim_add_delay_beyond(struct segue_notice *notice, u32 beyond_us)
{
	segue_add_delay_beyond(notice, beyond_us);
}

void segue_shim_fit_into_queue(u32 link_window, const struct segue_sender *view,
			       struct segue_action *act)
{
	segue_fit_into_queue(link_window, view, act);
}

u32 segue_shim_link_window(SETTINGS, const struct segue_notice *notice)
{
	return segue_etcp_link_window(set, notice);
}

/* Section 0, for reports and tests. */

void segue_shim_path(SETTINGS, const struct segue_notice *notice, struct segue_path *path)
{
	segue_path_of(path, notice, set->packet_bytes, set->ack_bytes, set->whole_packets);
}

u64 segue_shim_old_new_rtt_ns(const struct segue_path *path)
{
	return segue_old_new_rtt_ns(path);
}

u64 segue_shim_new_rtt_ns(const struct segue_path *path)
{
	return segue_new_rtt_ns(path);
}

u64 segue_shim_old_rtt_ns(const struct segue_path *path)
{
	return segue_old_rtt_ns(path);
}

u64 segue_shim_bdp_unit(const struct segue_path *path)
{
	return segue_bdp_unit(path);
}

u64 segue_shim_bdp_new(const struct segue_path *path)
{
	return segue_bdp(path, path->new_link);
}

u64 segue_shim_bdp_old(const struct segue_path *path)
{
	return segue_bdp(path, path->old_link);
}

u32 segue_shim_bdp_quoted_new(const struct segue_path *path)
{
	return segue_bdp_quoted(path, path->new_link);
}

u32 segue_shim_window(SETTINGS, const struct segue_path *path, u32 flows)
{
	return segue_window(set, path, flows);
}

u32 segue_shim_factor(const struct segue_path *path)
{
	return segue_factor(path);
}

u32 segue_shim_flight_exceeds(const struct segue_path *path, u32 flight, u32 factor, u32 flows)
{
	return segue_flight_exceeds(path, flight, factor, flows);
}

u32 segue_shim_delay_changed(SETTINGS, const struct segue_path *path, u32 needs_minrto)
{
	return segue_delay_changed(set, path, needs_minrto);
}

/* notice.h */

u32 segue_shim_encode_report(const struct segue_report *report, u8 *to)
{
	return segue_encode_report(report, to);
}

u32 segue_shim_decode_report(const u8 *from, u32 size, struct segue_report *report)
{
	return segue_decode_report(from, size, report);
}

void segue_shim_encode_capability(const struct segue_capability *capability, u8 *to)
{
	segue_encode_capability(capability, to);
}

u32 segue_shim_decode_capability(const u8 *from, u32 size, struct segue_capability *capability)
{
	return segue_decode_capability(from, size, capability);
}

u32 segue_shim_accept_report(struct segue_replay_window *window, const struct segue_report *report)
{
	return segue_accept_report(window, report);
}

u32 segue_shim_encode_rate(u32 rate_kbps)
{
	return segue_encode_rate(rate_kbps);
}

u32 segue_shim_decode_rate(u32 code)
{
	return segue_decode_rate(code);
}

/* near.h, which is no table: its host keeps the list of packets. */

void segue_shim_near_of(struct segue_near *near, const struct segue_notice *notice, u64 min_rtt_ns,
			u32 packet_bytes, u32 ack_bytes, u32 own)
{
	segue_near_of(near, notice, min_rtt_ns, packet_bytes, ack_bytes, own);
}

u64 segue_shim_near_completion(const struct segue_near *near, u64 now)
{
	return segue_near_completion(near, now);
}

u32 segue_shim_near_on_old_link(const struct segue_near *near, u64 completion, u64 sent)
{
	return segue_near_on_old_link(near, completion, sent);
}

u32 segue_shim_near_overflows(const struct segue_near *near, u64 free_at, u64 sent)
{
	return segue_near_overflows(near, free_at, sent);
}

u64 segue_shim_near_flight_limit(u64 window, u32 own)
{
	return segue_near_flight_limit(window, own);
}

u64 segue_shim_near_old_arrival(const struct segue_near *near, u64 sent, u64 before)
{
	return segue_near_old_arrival(near, sent, before);
}

u32 segue_shim_near_too_late(const struct segue_near *near, u64 begins, u32 packets, u64 arrival)
{
	return segue_near_too_late(near, begins, packets, arrival);
}

u32 segue_shim_near_horizon(const struct segue_near *near, u32 old_flight)
{
	return segue_near_horizon(near, old_flight);
}

u64 segue_shim_near_loss_deadline(const struct segue_near *near, u64 arrival)
{
	return segue_near_loss_deadline(near, arrival);
}

u64 segue_shim_near_join_delay_ns(const struct segue_notice *notice, u32 ack_bytes, u32 own)
{
	return segue_near_join_delay_ns(notice, ack_bytes, own);
}

u32 segue_shim_near_acks_original(const struct segue_near *near, u64 elapsed_ns)
{
	return segue_near_acks_original(near, elapsed_ns);
}

u64 segue_shim_near_after_loss(u64 window, u32 own)
{
	return segue_near_after_loss(window, own);
}

u64 segue_shim_near_after_acks(u64 window, u32 acked, u32 own)
{
	return segue_near_after_acks(window, acked, own);
}

u32 segue_shim_near_competing_traffic(const struct segue_near *near, u64 least_rtt_ns)
{
	return segue_near_competing_traffic(near, least_rtt_ns);
}

void segue_shim_near_set_rtt(struct segue_near *near, u64 rtt_ns)
{
	segue_near_set_rtt(near, rtt_ns);
}

u32 segue_shim_near_queued(const struct segue_near *near, u64 rtt_ns)
{
	return segue_near_queued(near, rtt_ns);
}

void segue_shim_near_apply_steps(struct segue_near *near, const struct segue_near *told, u32 steps)
{
	segue_near_apply_steps(near, told, steps);
}

u32 segue_shim_near_steps_after_queue(u32 steps)
{
	return segue_near_steps_after_queue(steps);
}

u32 segue_shim_near_queue_of_others(const struct segue_near *near, u64 rtt_ns, u32 in_flight)
{
	return segue_near_queue_of_others(near, rtt_ns, in_flight);
}

u64 segue_shim_near_drain_limit(const struct segue_near *near, u64 window, u32 own)
{
	return segue_near_drain_limit(near, window, own);
}

u64 segue_shim_near_shared_slot_ns(const struct segue_near *near)
{
	return segue_near_shared_slot_ns(near);
}

u32 segue_shim_near_too_early(const struct segue_near *near, u64 sent, u64 arrival)
{
	return segue_near_too_early(near, sent, arrival);
}

u32 segue_shim_near_probe_passes(const struct segue_near *near, u32 packets, u64 apart_ns,
			     u64 first_rtt_ns, u64 rtt_ns)
{
	return segue_near_probe_passes(near, packets, apart_ns, first_rtt_ns, rtt_ns);
}

u32 segue_shim_near_steps_after_probe(u32 steps)
{
	return segue_near_steps_after_probe(steps);
}

u32 segue_shim_near_share(const struct segue_near *near, u32 own)
{
	return segue_near_share(near, own);
}

u64 segue_shim_near_rto_ns(const struct segue_near *near, u32 backoff)
{
	return segue_near_rto_ns(near, backoff);
}

/* Layouts and defaults, which a test compares with Rust's. */

void segue_shim_default_settings(u32 algorithms, struct segue_etcp_settings *set)
{
	const struct segue_etcp_settings settings = SEGUE_ETCP_SETTINGS(algorithms);

	*set = settings;
}

void segue_shim_default_ho_settings(u32 variant, struct segue_tcp_ho_settings *set)
{
	const struct segue_tcp_ho_settings settings = SEGUE_TCP_HO_SETTINGS(variant);

	*set = settings;
}

#define AT(type, field) (u32)offsetof(struct type, field)
#define SIZE(type) (u32)sizeof(struct type)
#define KNOB(name, kind, value, section, meaning) AT(segue_etcp_settings, name),
#define HO_KNOB(name, kind, value, section, meaning) AT(segue_tcp_ho_settings, name),

static const u32 layout[] = {
	SIZE(segue_link), AT(segue_link, rate_kbps), AT(segue_link, delay_us),
	SIZE(segue_notice), AT(segue_notice, old_link), AT(segue_notice, new_link),
	AT(segue_notice, flows), AT(segue_notice, disconnected),
	SIZE(segue_sender), AT(segue_sender, snd_una), AT(segue_sender, snd_max),
	AT(segue_sender, flight), AT(segue_sender, cwnd), AT(segue_sender, ssthresh),
	AT(segue_sender, rto_us), AT(segue_sender, ssthresh_saved),
	AT(segue_sender, srtt_before_us), AT(segue_sender, timeouts_since_ack),
	AT(segue_sender, in_fast_recovery), AT(segue_sender, in_rto_recovery),
	AT(segue_sender, notified_lately),
	SIZE(segue_action), AT(segue_action, what), AT(segue_action, cwnd),
	AT(segue_action, ssthresh), AT(segue_action, min_rto_us), AT(segue_action, dupthresh),
	AT(segue_action, rules),
	SIZE(segue_etcp),
	SIZE(segue_path), AT(segue_path, old_link), AT(segue_path, new_link),
	AT(segue_path, packet_bytes), AT(segue_path, ack_bytes), AT(segue_path, whole_packets),
	SIZE(segue_near), AT(segue_near, delay_beyond_ns), AT(segue_near, old_slot_ns), AT(segue_near, slot_ns),
	AT(segue_near, ack_owd_ns), AT(segue_near, data_owd_ns), AT(segue_near, old_data_owd_ns),
	AT(segue_near, rtt_ns), AT(segue_near, window),
	SIZE(segue_report), AT(segue_report, link), AT(segue_report, nonce),
	AT(segue_report, seq), AT(segue_report, type),
	SIZE(segue_capability), AT(segue_capability, nonce), AT(segue_capability, flags),
	SIZE(segue_replay_window), AT(segue_replay_window, nonce), AT(segue_replay_window, last_seq), AT(segue_replay_window, heard),
	SIZE(segue_etcp_settings), AT(segue_etcp_settings, algorithms),
	SEGUE_ETCP_KNOBS(KNOB)
	SEGUE_RULE_A1_CASE1, SEGUE_RULE_A1_CASE2, SEGUE_RULE_A1_CASE3, SEGUE_RULE_A1_DRAINED,
	SEGUE_RULE_FIRST_SAMPLE, SEGUE_RULE_OLD_SAMPLE, SEGUE_RULE_A2, SEGUE_RULE_A5,
	SEGUE_RULE_NO_SECOND_CUT, SEGUE_RULE_RTO_KEEPS_SSTHRESH, SEGUE_RULE_A3, SEGUE_RULE_A4,
	SEGUE_RULE_FIG1, SEGUE_RULE_FIG2, SEGUE_RULE_FIG3_WINDOW, SEGUE_RULE_FIG3_EXPECTS,
	SEGUE_RULE_FIG3_HOLDS, SEGUE_RULE_FIG3_SENDS_NEW, SEGUE_RULE_FIG3_RETURNS,
	SEGUE_RULE_FIG3_UNDOES, SEGUE_RULE_FIG3_DRAINED, SEGUE_RULE_CONVERGENCE,
	SIZE(segue_tcp_ho), SIZE(segue_flow),
	SIZE(segue_tcp_ho_settings), AT(segue_tcp_ho_settings, variant),
	SEGUE_TCP_HO_KNOBS(HO_KNOB)
	SEGUE_RULE_HO_RESUMES, SEGUE_RULE_HO_SSTHRESH, SEGUE_RULE_HO_WINDOW, SEGUE_RULE_HO_GUARD,
	SEGUE_RULE_HO_REPEATED, SEGUE_RULE_HO_SAMPLE, SEGUE_RULE_HO_CONVERGED,
	SEGUE_RULE_HO_CONGESTED, SEGUE_RULE_HO_NO_BURST, SEGUE_RULE_HO_REFUTED, SEGUE_RULE_HO_BOUNDED,
	SEGUE_RULE_RLCI_ANEW, SEGUE_RULE_RLCI_RESUMES, SEGUE_RULE_RLCI_OLD_ACK,
	SEGUE_RULE_RLCI_OLD_SAMPLE, SEGUE_RULE_RLCI_SAMPLE, SEGUE_RULE_NEAR_CLAIMS,
	SEGUE_RULE_NEAR_OLD_LOSS, SEGUE_RULE_NEAR_EXPECTS,
	SIZE(segue_out), AT(segue_out, snd_una), AT(segue_out, unit), AT(segue_out, marked),
	AT(segue_out, lost), AT(segue_out, snd_max), AT(segue_out, others), AT(segue_out, others_behind),
	AT(segue_out, others_weight),
	AT(segue_out, granted),
	AT(segue_out, sacks), AT(segue_out, elapsed_ms), AT(segue_out, rtt_us),
	AT(segue_out, sent_us), AT(segue_out, now_us), AT(segue_out, sent),
	SIZE(segue_claim), AT(segue_claim, extra_packets), AT(segue_claim, withheld_packets),
	AT(segue_claim, kbps), AT(segue_claim, behind), AT(segue_claim, weight),
	AT(segue_claim, competing_traffic),
	SEGUE_REINIT_RTT, SEGUE_SET_MIN_RTO, SEGUE_SET_CWND, SEGUE_SET_SSTHRESH,
	SEGUE_SET_DUPTHRESH, SEGUE_CLEAR_BACKOFF, SEGUE_REARM_TIMER, SEGUE_EXTEND_TIMER,
	SEGUE_RETRANSMIT_HEAD, SEGUE_KEEP_WINDOW, SEGUE_KEEP_CWND, SEGUE_KEEP_SSTHRESH,
	SEGUE_HOLD_HOLES, SEGUE_RESUME_RECOVERY, SEGUE_SEND_NEW, SEGUE_IGNORE_SAMPLE, SEGUE_CLAIM,
	SEGUE_TRIAL_ROUNDS, SEGUE_GUARD_ROUNDS, SEGUE_RATE_CHECK_MS, SEGUE_NOTICES_APART_MS,
	SEGUE_NEAR_PROBE_PACKETS, SEGUE_NEAR_FLOWS_LIMIT, SEGUE_PACKET,
};

u32 segue_shim_layout(u32 index)
{
	return index < sizeof(layout) / sizeof(layout[0]) ? layout[index] : 0xffffffffu;
}
