/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/*
 * policy.h - what every sender policy shares: the handoff notice, what the host
 * tells about its TCP sender, and what the policy asks it to do.
 *
 * Source: docs/reference/algorithms.md section 0; docs/reference/wire.md.
 *
 * The headers of this directory are freestanding C11: integers only, no libc, no
 * loop without a bound, no clock, no packet, no socket. The same text is compiled into
 * the eBPF programs of bpf/ and, through crates/policy, into the simulator. So what was
 * simulated is what the kernel runs.
 *
 * Units: windows in 1/256 packet; rates in kbit/s (1000 bit); times in us, in ns where
 * a quotient must not be rounded early. Sequence numbers are in the host's own unit
 * (packets or bytes), compared with serial arithmetic; flight is in packets.
 */
#ifndef SEGUE_POLICY_H
#define SEGUE_POLICY_H

/* The kernel's names, and its definitions: beside vmlinux.h these lines repeat
 * what is there, which C11 (6.7p3) allows. */
typedef unsigned char u8;
typedef unsigned short u16;
typedef unsigned int u32;
typedef unsigned long long u64;
typedef signed char s8;
typedef short s16;
typedef int s32;
typedef long long s64;

#define SEGUE_PACKET 256u /* one packet, in the unit of windows */
#define SEGUE_DUPTHRESH 3u /* RFC 5681 */

/* ------------------------------------------------------------ what is heard */

/* One access link, as the notice tells it. */
struct segue_link {
	u32 rate_kbps;
	u32 delay_us; /* one way, propagation only */
};

/* A handoff has completed (algorithms.md 0, "Notification content"). */
struct segue_notice {
	struct segue_link old_link;
	struct segue_link new_link;
	u32 flows; /* N: flows that share the access link; 0 counts as 1 */
	u32 disconnected; /* 1: break-before-make */
};

/* A sender at the event. The host fills it anew for each call. */
struct segue_sender {
	u32 snd_una; /* first unacknowledged; at an ACK: after its advance */
	u32 snd_max; /* highest ever sent, plus one */
	u32 flight; /* packets sent and not cumulatively acknowledged */
	u32 cwnd;
	u32 ssthresh;
	u32 rto_us; /* without back-off */
	u32 ssthresh_saved; /* after the cut of the head's first expiry; 0: none */
	u32 srtt_before_us; /* SRTT at the first expiry since snd_una advanced; 0: none */
	u32 timeouts_since_ack; /* expiries since snd_una advanced */
	u8 in_fast_recovery;
	u8 in_rto_recovery;
	u8 notified_lately; /* at a notice without an outage: another one came shortly before (grant.h) */
	u8 pad;
};

/* ------------------------------------------------------------ what is asked */

/*
 * Flags of segue_action.what. The order of the bits is no order of acts. A host ends
 * the back-off first, while SRTT can tell what the RTO was without it. Then it forgets
 * SRTT, sets the floor, and the windows. Then it sends, and starts the timer at last.
 */
enum {
	/* forget srtt and rttvar; the RTO keeps its value (9.5) */
	SEGUE_REINIT_RTT = 1u << 0,
	/* min_rto_us is the new floor of the RTO; 0: the stack's own again */
	SEGUE_SET_MIN_RTO = 1u << 1,
	SEGUE_SET_CWND = 1u << 2,
	SEGUE_SET_SSTHRESH = 1u << 3,
	SEGUE_SET_DUPTHRESH = 1u << 4,
	/* the RTO is its base value again; the head counts as expired once */
	SEGUE_CLEAR_BACKOFF = 1u << 5,
	/* rto = max(rto, floor); a running timer expires at now + rto */
	SEGUE_REARM_TIMER = 1u << 6,
	/* rto = max(rto, floor); a running timer expires at its last start + rto,
	 * never in the past (knob a1_from_last_start, 9.37) */
	SEGUE_EXTEND_TIMER = 1u << 7,
	SEGUE_RETRANSMIT_HEAD = 1u << 8,
	/* answers to a fast retransmit: cut neither cwnd nor ssthresh; or cut
	 * ssthresh alone */
	SEGUE_KEEP_WINDOW = 1u << 9,
	SEGUE_KEEP_CWND = 1u << 10,
	/* answer to a timeout: cwnd falls to one as ever, ssthresh stays */
	SEGUE_KEEP_SSTHRESH = 1u << 11,
	/* fast recovery resends no SACK hole; said at every event until ... */
	SEGUE_HOLD_HOLES = 1u << 12,
	/* ... this: SACK recovery as usual from here on */
	SEGUE_RESUME_RECOVERY = 1u << 13,
	/* one new segment whatever cwnd says (the receiver's window binds) */
	SEGUE_SEND_NEW = 1u << 14,
	/* this RTT sample is not to be used */
	SEGUE_IGNORE_SAMPLE = 1u << 15,
	/* a paced bandwidth claim: until its end the policy decides, before packets leave, how
	 * many may be in flight and how fast they leave (table.h). cwnd is for the new link alone */
	SEGUE_CLAIM = 1u << 16,
};

struct segue_action {
	u32 what; /* 0: carry on as if no policy were there */
	u32 cwnd;
	u32 ssthresh;
	u32 min_rto_us;
	u32 dupthresh; /* packets */
	u32 rules; /* which rules are behind it, in the policy's own bits; only to be told */
};

#define SEGUE_SACKS 4u

/* A SACK block. */
struct segue_sack {
	u32 start;
	u32 end; /* one beyond it */
};

/* A sender that is about to send, while a claim lasts. */
struct segue_out {
	u32 snd_una;
	u32 unit; /* of sequence numbers, in a packet */
	u32 marked; /* packets SACKed or lost */
	u32 lost; /* packets marked lost, until they are acknowledged or SACKed */
	u32 snd_max; /* highest ever sent, plus one */
	u32 others; /* the group's other flows (near.md 8.9); 0: the flow is in none */
	s32 others_behind; /* the sum of their segue_claim.behind */
	u32 others_weight; /* the same of segue_claim.weight */
	u32 granted; /* packets: the window that the host adds extra ones to */
	/* the blocks of the last ACK that had some, in order; those that are empty tell nothing */
	struct segue_sack sacks[SEGUE_SACKS];
	u32 elapsed_ms; /* since the notice */
	u32 rtt_us; /* of the last packet to arrive that was sent since then; 0: none has */
	u32 sent_us; /* when that packet left, by the clock of now_us */
	u32 now_us;
	u32 sent; /* packets so far, each as often as it was sent */
};

/* A claim's answer. */
struct segue_claim {
	u32 extra_packets; /* that may be in flight in addition to the granted window */
	u32 withheld_packets; /* that may not: other flows' (near.md 8.9), or not proven (8.11) */
	u32 kbps; /* pace, with headers */
	s32 behind; /* packets that this flow has to catch up with the others of its group */
	u32 weight; /* of the flow among them */
	u32 competing_traffic; /* at the end: 1 if there is some; half of cwnd is the flow's share */
};

static inline void segue_do_nothing(struct segue_action *act)
{
	act->what = 0;
	act->cwnd = 0;
	act->ssthresh = 0;
	act->min_rto_us = 0;
	act->dupthresh = 0;
	act->rules = 0;
}

static inline void segue_set_cwnd(struct segue_action *act, u32 cwnd)
{
	act->what |= SEGUE_SET_CWND;
	act->cwnd = cwnd;
}

static inline void segue_set_ssthresh(struct segue_action *act, u32 ssthresh)
{
	act->what |= SEGUE_SET_SSTHRESH;
	act->ssthresh = ssthresh;
}

static inline void segue_set_min_rto(struct segue_action *act, u32 min_rto_us)
{
	act->what |= SEGUE_SET_MIN_RTO;
	act->min_rto_us = min_rto_us;
}

static inline void segue_set_dupthresh(struct segue_action *act, u32 dupthresh)
{
	act->what |= SEGUE_SET_DUPTHRESH;
	act->dupthresh = dupthresh;
}

/* --------------------------------------------------------------- arithmetic */

/* Serial arithmetic (RFC 1982): a lies before b on the circle of 2^32. */
static inline u32 segue_seq_before(u32 a, u32 b)
{
	return (s32)(a - b) < 0;
}

static inline u32 segue_min(u32 a, u32 b)
{
	return a < b ? a : b;
}

static inline u32 segue_max(u32 a, u32 b)
{
	return a > b ? a : b;
}

static inline u32 segue_saturate(u64 value)
{
	return value > 0xffffffffu ? 0xffffffffu : (u32)value;
}

#endif
