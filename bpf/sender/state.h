/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * state.h - the memory of the sender's programs: settings, connections, remote hosts,
 * counters.
 */
#ifndef SEGUE_SENDER_STATE_H
#define SEGUE_SENDER_STATE_H

#include "kernel.h"
#include "intf.h"
#include "notice.h"
#include "schemes.h"

/* Set before loading and constant from then on, so that the verifier drops the
 * branches of every other scheme. */
const volatile u32 scheme = SEGUE_SCHEME_etcp;
const volatile u32 want_icmp = 0;
const volatile u64 cgroup_id = 0;
const volatile u64 nonce_key[2] = {};
const volatile char cc_name[SEGUE_CC_NAME_LEN] = "segue";
/* as the scheme's header has them */
const volatile u32 settings[SEGUE_SETTINGS_WORDS] = {};

/* The constants above as plain memory; the compiler must not see that they are, or
 * it takes the zeros of this file for their values. */
#define SEGUE_LOADED(type, object)                                                                 \
	({                                                                                         \
		const volatile void *address = &(object);                                          \
		asm volatile("" : "+r"(address));                                                  \
		(const type *)address;                                                             \
	})

/* A host: its address, IPv4 as ::ffff:a.b.c.d. */
struct segue_host {
	u32 address[4];
	u64 netns; /* the same address elsewhere is another host */
};

/* The results of the handshake and of reports (negotiate.h, notice_rx.h). */
struct segue_negotiated {
	struct segue_link link; /* as last reported; rate 0: none */
	struct segue_replay_window replay;
};

/* A report that waits until its segment has been accepted (notice_rx.h). */
struct segue_pending {
	struct segue_report report; /* type 0: none */
	u32 stamp; /* of the segment that carries it */
};

#define SEGUE_ALLOWED_LIMIT 0xfffffu

/* The trial of a granted window (trial.h, policy/grant.h); state.trial_rounds: it lasts. */
struct segue_trial {
	u32 began_us; /* by the kernel's clock of this connection */
	u32 round_seq; /* the round ends here */
	u32 lost; /* tp->lost, tp->delivered as it began */
	u32 delivered;
	union { /* read by segue_allowed_losses and segue_refuted_ms */
		struct { /* as long as it lasts */
			u32 allowed : 20; /* losses that prove nothing */
			u32 before : 12; /* cwnd at the notice (SEGUE_BEFORE_LIMIT) */
		};
		u32 refuted_ms; /* afterwards: when it failed */
	} of;
};

/* The guard (enact.h, policy/grant.h); state.guard_rounds: it lasts. */
struct segue_guard {
	u32 packets; /* an undo restores no more */
	u32 round_seq; /* the round ends here */
};

/* The window after an outage, which an undo must not take back (enact.h). */
struct segue_resume {
	u32 packets;
	u32 stamp; /* of the segment at which it was granted; 0: by the agent */
};

/* The last reductions of the window (events.h). */
struct segue_reduction {
	u32 ssthresh_before; /* as the congestion control was asked for it */
	u32 ssthresh_saved; /* after that of the first expiry */
	u32 srtt_before_us; /* at the first expiry */
};

/* The bits of all rules: a byte for each would not fit into the slab. */
struct segue_state {
	u8 busy : 1; /* flows.h: counted in `hosts` */
	u8 local_pending : 1; /* local_handoff.h: a handoff of this host waits for init */
	u8 rto_bound_wanted : 1; /* rto_max.h: once it is safe */
	u8 claim : 1; /* claim.h: it lasts */
	u8 paces : 1; /* claim.h: TCP's own pacing is ours to end */
	u8 expired : 1; /* claim.h: the timer has, and no ACK has come since */
	u8 icmp_requested : 1; /* enact.h: RFC 6069, which makes the timer expire */
	u8 raise_on_trial : 1; /* trial.h: the trial is of a raise without an outage */
	u8 raise_refuted : 1; /* trial.h: the last trial was, and failed; no notice has been accepted since */
	u8 trial_rounds : 2; /* trial.h: round trips for which it still lasts */
	u8 guard_rounds : 2; /* enact.h: round trips for which it still holds */
	u8 loss_probe : 1; /* enact.h: its packets have just left */
	u8 loss_awaited : 1; /* enact.h: no reduction has come since */
	u8 in_group : 1; /* group.h: counted in `hosts`, too */
	u8 notified_lately : 1; /* notice_rx.h: the last notice followed another one (grant.h) */
	u8 overtaken : 1; /* notice_rx.h: the last report was a notice, and the first one has not come */
	u8 expects : 1; /* claim.h: no claim yet; a handoff is expected, and the pace alone is the policy's */
	u8 ack_half; /* ack_order.h */
};

struct segue_connection {
	struct segue_host host;
	struct segue_negotiated negotiated;
	struct segue_pending pending;
	struct segue_state state;
	struct segue_trial trial;
	struct segue_guard guard;
	struct segue_resume resume;
	struct segue_reduction reduction;
	u32 proven; /* packets: a notice raises the window no further; 0: none is known */
	u32 notified_kbps; /* this flow's share of the last notice's rate; 0: no rate check */
	u32 own_rto_max_ms; /* rto_max.h: to be given back; 0: not bounded */
	u32 accepted_ms; /* when the last notice was accepted, if one was */
	u32 quiet_us; /* since when an ACK is waited for, by the kernel's clock of this connection */
	u32 last_una;
	u16 accepted; /* up to 65535 */
	u16 refused;
	s16 behind; /* group.h: what the group has of this flow, packets */
	u16 weight;
	u32 local_round; /* local_handoff.h: of the last handoff; 0: none yet */
	struct segue_flow flow; /* the scheme's */
};

/* With the 72 octets that the kernel puts before it, a storage of kmalloc-256. */
_Static_assert(sizeof(struct segue_connection) == 184, "256 octets of slab");

struct {
	__uint(type, BPF_MAP_TYPE_SK_STORAGE);
	__uint(map_flags, BPF_F_NO_PREALLOC);
	__type(key, int);
	__type(value, struct segue_connection);
} connections SEC(".maps");

/* The changes to a listener, to be undone. */
struct segue_mark {
	u8 flags;
	u8 save_syn;
};

struct {
	__uint(type, BPF_MAP_TYPE_SK_STORAGE);
	__uint(map_flags, BPF_F_NO_PREALLOC);
	__type(key, int);
	__type(value, struct segue_mark);
} marks SEC(".maps");

/* The flows of one remote host. */
struct segue_host_flows {
	s32 busy; /* flows.h */
	s32 claims; /* group.h: flows in the group */
	s32 behind; /* packets by which they are behind, together */
	s32 weight; /* the sum of theirs */
	struct segue_link link; /* their new link */
};

/* Hosts with flows that have data queued or under way. If there are more, the map forgets
 * those that have been idle for longest: their flows then count as one. */
struct {
	__uint(type, BPF_MAP_TYPE_LRU_HASH);
	__uint(max_entries, 16384);
	__type(key, struct segue_host);
	__type(value, struct segue_host_flows);
} hosts SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_PERCPU_ARRAY);
	__uint(max_entries, SEGUE_COUNTERS);
	__type(key, u32);
	__type(value, u64);
} counters SEC(".maps");

/* The daemon's record of this attachment, for `status`; the programs do not read it. */
struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(max_entries, 1);
	__type(key, u32);
	__type(value, char[8192]);
} about SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(max_entries, 1);
	__type(key, u32);
	__type(value, struct segue_local_order);
} local_orders SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_RINGBUF);
	__uint(max_entries, 65536);
} icmp_requests SEC(".maps");

/* A stamp that differs for each segment that the connection accepts (tcp_mstamp_refresh); never
 * 0. Its low half is unique for some seconds, and none is kept for longer than its segment. */
static inline u32 segue_segment_stamp(const struct tcp_sock *tp)
{
	if (bpf_core_field_exists(tp->tcp_clock_cache))
		return (u32)tp->tcp_clock_cache | 1;
	return (u32)tp->tcp_mstamp | 1;
}

static inline struct segue_connection *segue_connection_of(struct sock *sk)
{
	return bpf_sk_storage_get(&connections, sk, 0, 0);
}

/* 1: a claim lasts, and is not only expected. */
static inline u32 segue_has_claim(const struct segue_connection *conn)
{
	return conn->state.claim && !conn->state.expects;
}

/* Losses that prove nothing, as long as a trial lasts. */
static inline u32 segue_allowed_losses(const struct segue_connection *conn)
{
	return conn->state.trial_rounds ? conn->trial.of.allowed : 0;
}

/* So many more prove nothing, if a trial lasts. */
static inline void segue_allow_losses(struct segue_connection *conn, u32 more)
{
	const u32 allowed = segue_min(conn->trial.of.allowed + more, SEGUE_ALLOWED_LIMIT);

	if (conn->state.trial_rounds)
		conn->trial.of.allowed = allowed & SEGUE_ALLOWED_LIMIT;
}

/* trial.h: the window before a raise without an outage that is on trial, packets; 0: there is none. */
static inline u32 segue_before_raise(const struct segue_connection *conn)
{
	if (!conn || !conn->state.trial_rounds || !conn->state.raise_on_trial)
		return 0;
	return segue_max(2, conn->trial.of.before);
}

/* When the last trial failed, if it was of a raise without an outage. */
static inline u32 segue_refuted_ms(const struct segue_connection *conn)
{
	return conn->state.raise_refuted ? conn->trial.of.refuted_ms : 0;
}

static inline u32 segue_now_ms(void)
{
	return (u32)(bpf_ktime_get_ns() / 1000000);
}

static inline void segue_count(u32 what)
{
	u64 *value = bpf_map_lookup_elem(&counters, &what);

	if (value)
		(*value)++;
}

static inline void segue_count_one(u16 *count)
{
	if (*count < 0xffff)
		(*count)++;
}

static inline void segue_refuse(struct segue_connection *conn, u32 why)
{
	segue_count_one(&conn->refused);
	segue_count(why);
}

/* The scheme's settings. */
static inline const void *segue_settings(void)
{
	return SEGUE_LOADED(void, settings);
}

#endif
