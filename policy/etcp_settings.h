/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/*
 * etcp_settings.h - which algorithms of Enhanced TCP run, and every choice that
 * the papers leave open.
 *
 * Source: algorithms.md sections 2, 3 and 9. Marks there: [T] stated in the text,
 * [R] reconstructed from worked numbers, [C] chosen where the text is silent. The
 * defaults are the recommended choices; each knob is the other reading.
 *
 * crates/policy reads the table below when it is built: it is the one place
 * where a knob is written down.
 */
#ifndef SEGUE_ETCP_SETTINGS_H
#define SEGUE_ETCP_SETTINGS_H

#include "policy.h"

/* Bits of segue_etcp_settings.algorithms. */
enum {
	SEGUE_A1 = 1u << 0, /* 2.1 avoid a spurious RTO */
	SEGUE_A2 = 1u << 1, /* 2.2 avoid congestion loss */
	SEGUE_A3 = 1u << 2, /* 2.4 unused connection time and ssthresh */
	SEGUE_A4 = 1u << 3, /* 2.5 fast RTO convergence */
	SEGUE_A5 = 1u << 4, /* 2.3 A2 with the factor of large bandwidth falls */
	SEGUE_FIG1 = 1u << 5, /* 3.1 loss reduction for N flows */
	SEGUE_FIG2 = 1u << 6, /* 3.2 unused connection time for N flows */
	SEGUE_FIG3 = 1u << 7, /* 3.3 reordering */
	SEGUE_CONVERGENCE = 1u << 8, /* 3.5 RTO convergence */
};

/* The published combinations (algorithms.md 2.5 end, 3, 3.4). */
#define SEGUE_ETCP (SEGUE_A1 | SEGUE_A2 | SEGUE_A3 | SEGUE_A4)
#define SEGUE_ETCP_A5 (SEGUE_A1 | SEGUE_A5 | SEGUE_A3 | SEGUE_A4)
#define SEGUE_ETCP_V (SEGUE_A1 | SEGUE_FIG1 | SEGUE_FIG2 | SEGUE_FIG3 | SEGUE_CONVERGENCE)

/* clang-format off */
/* X(name, kind, default, section, meaning)
 * kinds: flag 0/1; us; bytes; ratio in 1/256; packets in 1/256 */
#define SEGUE_ETCP_KNOBS(X) \
	X(use_n, flag, 1, "3, 9.9", "Figs. 1-3 divide the BDP by the number of flows; off is etcp-v0") \
	X(rest_us, us, 200000, "0, 2.1", "REST: what A1 adds for the path beyond the access link") \
	X(min_rto_us, us, 200000, "1, 3.5", "the default minrto that the clause on the new RTT compares with") \
	X(packet_bytes, bytes, 1500, "0", "P: a data packet, headers included") \
	X(ack_bytes, bytes, 40, "0, 9.3", "A: a pure ACK; only 40 gives 552 ms") \
	X(flight_plus_one, flag, 0, "9.38", "FlightSize counts one packet more than snd_max - snd_una") \
	X(whole_packets, flag, 0, "9.7", "BDPs are rounded to whole packets") \
	X(min_window, packets, 512, "2.2, 9.7", "floor of the windows that are set to a BDP") \
	X(significant_ratio, ratio, 512, "2.0, 9.6", "a change of delay is significant from this ratio on") \
	X(significant_by_delay, flag, 1, "9.6", "the ratio of the one-way delays counts beside that of the RTTs") \
	X(a1_on_serialisation, flag, 1, "2.0, 9.36", "A1 also where only the serialisation grows") \
	X(a1_in_bbm, flag, 1, "9.37", "A1 also after a disconnection") \
	X(a1_from_last_start, flag, 0, "9.4, 9.37", "A1's new deadline counts from the timer's last start, not from now") \
	X(a1_case1_new_rtt, flag, 0, "2.1", "A1 case 1 with new_rtt, as the prose has it; gives 901 ms, not 552") \
	X(reinit_rto_us, us, 0, "2.1, 2.5, 9.5", "least RTO from the re-initialisation to its first sample; 0 keeps the RTO, RFC 2988 would have 3 s") \
	X(reinit_rto_on_fall, flag, 0, "2.5, 9.5", "that floor also where the delay does not grow; paper 001 speaks of the RTT variables alone") \
	X(ignore_old_samples, flag, 1, "2.5", "RTT samples of segments sent before the handoff are not used while a new start is awaited") \
	X(a2_in_bbm, flag, 1, "9.35", "A2, A5 and the cuts of Figs. 1 and 3 also after a disconnection") \
	X(a2_in_recovery, flag, 1, "2.3", "A2, A5 and the cut of Fig. 1 also during fast recovery, which goes on") \
	X(recovery_keeps_ssthresh, flag, 1, "2.3", "a fast retransmit after the reduction leaves ssthresh alone, not only cwnd") \
	X(halve_on_rto, flag, 0, "2.3, 9.8", "a timeout after the reduction halves ssthresh; off keeps it") \
	X(a3_cwnd, packets, 256, "2.4, 3.2", "cwnd after the immediate resend of A3 and Fig. 2; 0 leaves it") \
	X(resume_at_window, flag, 0, "2.4, 3.2", "after an outage cwnd is W = max(2, BDP/N) at once, not a3_cwnd") \
	X(a3_clear_backoff, flag, 1, "2.4, 3.2", "A3 and Fig. 2 return to the RTO without back-off") \
	X(a4_needs_minrto, flag, 0, "3.5, 9.6", "A4 only where the new RTT exceeds minrto") \
	X(convergence_needs_minrto, flag, 1, "3.5, 9.6", "RTO convergence of 3.5 only where the new RTT exceeds minrto, as printed there") \
	X(fig23_needs_minrto, flag, 0, "3.2, 3.3, 9.6", "the same clause for the significant change of delay in Figs. 2 and 3") \
	X(fig2_restore_saved, flag, 0, "3.2, 9.9", "Fig. 2 restores the saved ssthresh as A3 does") \
	X(fig1_on_increase, flag, 0, "3.4", "Fig. 1 also where the bandwidth grows, beside Fig. 3") \
	X(fig3_on_decrease, flag, 0, "3.4", "Fig. 3 also where the bandwidth does not grow, beside Fig. 1") \
	X(fig3_in_bbm, flag, 1, "3.3", "Fig. 3 expects reordering also after a disconnection, as printed") \
	X(fig3_bar_needs_cut, flag, 0, "3.3", "cwnd_reduction bars the expectation of reordering only where (a) has cut the window; paper 000 names the bandwidths alone") \
	X(fig3_one_variable, flag, 0, "3.3", "cwnd_reduction and cwnd_reduced are one: Fig. 1's factor, and Fig. 3's cut exempts fast recovery too") \
	X(fig3_first_dupthresh, flag, 0, "3.3, 9.12", "the larger dupthresh already holds for the first fast retransmit") \
	X(fig3_restart_dupacks, flag, 1, "3.3, 9.12", "the count of duplicate ACKs restarts at each advance of snd_una") \
	X(fig3_undo_to_share, flag, 0, "8", "the undo sets cwnd and ssthresh both to BDP/N, as the prose of paper 000 has it")
/* clang-format on */

struct segue_etcp_settings {
	u32 algorithms;
#define SEGUE_FIELD(name, kind, value, section, meaning) u32 name;
	SEGUE_ETCP_KNOBS(SEGUE_FIELD)
#undef SEGUE_FIELD
};

#ifndef SEGUE_DEFAULT
#define SEGUE_DEFAULT(name, kind, value, section, meaning) .name = (value),
#endif
/* The recommended choices; `mask` says which algorithms. */
#define SEGUE_ETCP_SETTINGS(mask) { .algorithms = (mask), SEGUE_ETCP_KNOBS(SEGUE_DEFAULT) }

#endif
