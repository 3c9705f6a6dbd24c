/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * freeze.h - Freeze-TCP (Goff and others 2000; algorithms.md, 4.5) towards peers that run nothing
 * of ours: before a break that is foreseen each segment to them tells a window of zero. The
 * agent says until when; at the latest then the socket's own window is told again.
 *
 * A connection whose last segment told zero is remembered. Its peer must be told of the open window
 * (resume.h lists it), whether anything comes on it or not.
 */
#ifndef SEGUE_MOBILE_FREEZE_H
#define SEGUE_MOBILE_FREEZE_H

#include "segment.h"
#include "state.h"
#include "stamps.h"
#include "window_field.h"

/* Whether a segment tells zero that leaves by this device now. */
static __always_inline u32 is_frozen(const struct segue_others *treated, u32 device)
{
	return device == treated->closes && bpf_ktime_get_ns() < treated->closed_until;
}

static __always_inline void close_window(struct __sk_buff *skb, const struct segment *segment)
{
	if (segment->window && tell_window(skb, segment, 0))
		count(SEGUE_MOBILE_COUNT_CLOSED);
}

#endif
