/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * units.h - a window in the unit of policy/ (1/256 packet) and in Linux's (packets).
 */
#ifndef SEGUE_UNITS_H
#define SEGUE_UNITS_H

#include "policy.h"

#define SEGUE_INFINITE_SSTHRESH 0x7fffffffu /* TCP_INFINITE_SSTHRESH */
#define SEGUE_INFINITE_WINDOW 0xffffffffu /* where segue_saturate() ends */

static inline u32 segue_windows(u32 packets)
{
	return segue_saturate((u64)packets * SEGUE_PACKET);
}

/* Rounded. A window beyond 32 bits stands for the initial ssthresh of Linux. */
static inline u32 segue_whole_packets(u32 window)
{
	if (window == SEGUE_INFINITE_WINDOW)
		return SEGUE_INFINITE_SSTHRESH;
	return window / SEGUE_PACKET + (window % SEGUE_PACKET >= SEGUE_PACKET / 2);
}

#endif
