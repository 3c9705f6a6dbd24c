/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * flows.h - N: the flows of one remote host with data under way or queued
 * (algorithms.md 3; N of Figs. 1 to 3).
 *
 * A flow counts from the first segment it sends until everything written has been
 * acknowledged. So connections kept alive for later do not shrink the window of the one
 * that downloads. Only flows that have negotiated count; a host that offers the
 * capability offers it on all.
 */
#ifndef SEGUE_FLOWS_H
#define SEGUE_FLOWS_H

#include "state.h"

static inline void segue_flow_busy(struct segue_connection *conn)
{
	const struct segue_host_flows one = { .busy = 1 };
	struct segue_host_flows *flows;

	if (conn->state.busy)
		return;
	conn->state.busy = 1;
	flows = bpf_map_lookup_elem(&hosts, &conn->host);
	if (!flows) {
		if (!bpf_map_update_elem(&hosts, &conn->host, &one, BPF_NOEXIST))
			return;
		/* another processor has been first */
		flows = bpf_map_lookup_elem(&hosts, &conn->host);
	}
	if (flows)
		__sync_fetch_and_add(&flows->busy, 1);
}

static inline void segue_flow_idle(struct segue_connection *conn)
{
	struct segue_host_flows *flows;

	if (!conn->state.busy)
		return;
	conn->state.busy = 0;
	flows = bpf_map_lookup_elem(&hosts, &conn->host);
	if (flows)
		__sync_fetch_and_add(&flows->busy, -1);
}

/* At least the flow that asks. */
static inline u32 segue_flows_of(const struct segue_host *host)
{
	const struct segue_host_flows *flows = bpf_map_lookup_elem(&hosts, host);

	return flows && flows->busy > 1 ? (u32)flows->busy : 1;
}

#endif
