/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/*
 * tcp_ho_settings.h - which variant of TCP-HO runs, and every choice that the paper
 * leaves open.
 *
 * Source: algorithms.md sections 4.3 to 4.5 and 9. The defaults are the recommended
 * choices; each knob is the other reading.
 *
 * crates/policy reads the table below when it is built: it is the one place
 * where a knob is written down.
 */
#ifndef SEGUE_TCP_HO_SETTINGS_H
#define SEGUE_TCP_HO_SETTINGS_H

#include "policy.h"

/* Bits of segue_tcp_ho_settings.variant (4.5); none: TCP-HO itself. */
enum {
	SEGUE_HO_IMMEDIATE = 1u << 0, /* sends at once, ssthresh stays */
	SEGUE_HO_AGGRESSIVE = 1u << 1, /* cwnd = ssthresh at once */
};

/* clang-format off */
/* X(name, kind, default, section, meaning)
 * kinds: flag 0/1; count; bytes; packets in 1/256 */
#define SEGUE_TCP_HO_KNOBS(X) \
	X(guard, flag, 1, "4.3, 9.19", "a notice counts only after a timeout since which snd_una has not advanced") \
	X(burst_after, count, 3, "4.5, 9.21", "expiries since snd_una advanced that are an outage: only then does the guard let the aggressive variant set cwnd, and is the trial's bound forgotten") \
	X(trial, flag, 1, "4.3, 9.19", "after a report that congestion has refuted, later ones raise ssthresh no further than the window that was found") \
	X(samples, count, 4, "4.3", "RTT samples of the new path that end HO_ADJUST") \
	X(mean, flag, 0, "4.3, 9.20", "the samples' average is their arithmetic mean; off smooths with 1/8 as SRTT does") \
	X(min_window, packets, 512, "4.3", "floor of the thresholds that are set to bandwidth times RTT") \
	X(packet_bytes, bytes, 1500, "4.4", "a data packet, headers included, in which the product is counted")
/* clang-format on */

struct segue_tcp_ho_settings {
	u32 variant;
#define SEGUE_FIELD(name, kind, value, section, meaning) u32 name;
	SEGUE_TCP_HO_KNOBS(SEGUE_FIELD)
#undef SEGUE_FIELD
};

#ifndef SEGUE_DEFAULT
#define SEGUE_DEFAULT(name, kind, value, section, meaning) .name = (value),
#endif
/* The recommended choices; `bits` says which variant. */
#define SEGUE_TCP_HO_SETTINGS(bits) { .variant = (bits), SEGUE_TCP_HO_KNOBS(SEGUE_DEFAULT) }

#endif
