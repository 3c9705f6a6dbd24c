/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * schemes.h - the schemes that a sender on Linux can run. A new one is its header in policy/,
 * included here, and one line in the list.
 *
 * A program cannot call through a table of functions, and need not. The tables are constants,
 * so that the compiler makes direct calls. The scheme is constant once a program is loaded,
 * so that the verifier drops all others.
 *
 * Source: policy/table.h.
 */
#ifndef SEGUE_SCHEMES_H
#define SEGUE_SCHEMES_H

#include "etcp.h"
#include "near_flow.h"
#include "tcp_ho.h"

/* X(number, name of the policy, ...) */
#define SEGUE_SCHEMES(X, ...)                                                                      \
	X(1, etcp, __VA_ARGS__)                                                                    \
	X(2, tcp_ho, __VA_ARGS__)                                                                  \
	X(3, near, __VA_ARGS__)

#define SEGUE_SCHEME(number, name, ...) SEGUE_SCHEME_##name = number,

/* The policy that decides. */
enum segue_scheme {
	SEGUE_SCHEME_unaware = 0, /* none: the congestion control alone */
	SEGUE_SCHEMES(SEGUE_SCHEME)
};

/* Whether the chosen scheme answers this event at all. */
#define SEGUE_IF_ANSWERS(number, name, chosen, event)                                              \
	|| ((chosen) == (number) && segue_table_##name.event)
#define SEGUE_ANSWERS(chosen, event) (0 SEGUE_SCHEMES(SEGUE_IF_ANSWERS, chosen, event))

/* The event, to the chosen scheme; `act` asks for nothing if it does not answer. */
#define SEGUE_IF_CHOSEN(number, name, chosen, event, ...)                                          \
	if ((chosen) == (number) && segue_table_##name.event)                                      \
		segue_table_##name.event(__VA_ARGS__);
#define SEGUE_ASK(chosen, event, act, ...)                                                         \
	do {                                                                                       \
		segue_do_nothing(act);                                                             \
		SEGUE_SCHEMES(SEGUE_IF_CHOSEN, chosen, event, __VA_ARGS__, act)                    \
	} while (0)

/* Whether the chosen scheme may answer ACKs and cuts of the window now. */
#define SEGUE_IF_LISTENS(number, name, chosen, flow, noticed)                                      \
	if ((chosen) == (number))                                                                  \
		return segue_table_##name.listens ? segue_table_##name.listens(flow) : (noticed);
static inline u32 segue_listens(u32 chosen, const struct segue_flow *flow, u32 noticed)
{
	SEGUE_SCHEMES(SEGUE_IF_LISTENS, chosen, flow, noticed)
	return 0;
}

/* The window that the access link alone holds; 0: the chosen scheme does not compute one. */
#define SEGUE_IF_LINK_WINDOW(number, name, chosen, set, notice)                                    \
	if ((chosen) == (number) && segue_table_##name.link_window)                                \
		return segue_table_##name.link_window(set, notice);
static inline u32 segue_link_window(u32 chosen, const void *set, const struct segue_notice *notice)
{
	SEGUE_SCHEMES(SEGUE_IF_LINK_WINDOW, chosen, set, notice)
	return 0;
}

/* 1: the claim of the chosen scheme lasts. */
#define SEGUE_IF_CLAIMS(number, name, chosen, flow, out, answer)                                   \
	if ((chosen) == (number) && segue_table_##name.claim)                                      \
		return segue_table_##name.claim(flow, out, answer);
static inline u32 segue_claim_lasts(u32 chosen, struct segue_flow *flow,
				    const struct segue_out *out, struct segue_claim *answer)
{
	SEGUE_SCHEMES(SEGUE_IF_CLAIMS, chosen, flow, out, answer)
	return 0;
}

#endif
