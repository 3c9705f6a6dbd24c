/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/*
 * intf.h - what the kernel programs and the daemon tell each other. Layouts are
 * repeated in crates/live, whose tests hold them against these.
 */
#ifndef SEGUE_INTF_H
#define SEGUE_INTF_H

#define SEGUE_CC_NAME_LEN 16 /* TCP_CA_NAME_MAX */

#endif
