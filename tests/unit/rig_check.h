/* SPDX-License-Identifier: BSD-2-Clause */
/* rig_check.h - the rig of local_rig.h in tests with Check. */
#ifndef RIG_CHECK_H
#define RIG_CHECK_H

#include <check.h>

#include "common/util/clock.h"
#include "tests/unit/local_rig.h"

/*
 * Polls until cond, with recvs receives of len bytes at mr for each connecting peer.  The time
 * limit is only against a hang.
 */
#define rig_until(rig, mr, len, recvs, patience_ms, cond)                      \
	do {                                                                   \
		uint64_t stop_ = clock_after_ms(patience_ms);                  \
		while (!(cond)) {                                              \
			local_rig_turn(rig, mr, len, recvs);                   \
			ck_assert_msg(clock_now() < stop_, "never: " #cond);   \
		}                                                              \
	} while (0)

/* Opens the rig, and registers len bytes at mem for receives and with `access`. */
static inline void rig_start(struct local_rig *rig, void *mem, size_t len,
			     unsigned int access, struct tp_mr **mr)
{
	ck_assert_int_eq(local_rig_open(rig), 0);
	ck_assert_int_eq(
		tp_mr_reg(rig->dev, mem, len, TP_LOCAL_WRITE | access, mr), 0);
}

static inline void rig_end(struct local_rig *rig, struct tp_mr *mr)
{
	tp_mr_dereg(mr);
	local_rig_close(rig);
}

static inline void rig_forget_ep(struct local_rig *rig)
{
	tp_ep_close(rig->ep);
	rig->ep = NULL;
}

/* Checks that a correct peer is served. */
static inline void rig_works(struct local_rig *rig, const struct tp_mr *mr,
			     uint32_t len, unsigned int recvs)
{
	struct local_head head = { .size = 8, .op = LOCAL_OP_SEND, .total = 8 };
	unsigned int before;
	struct raw raw;

	ck_assert_int_eq(raw_open(rig, &raw, mr, len, recvs), 0);
	before = rig->nwc;
	raw_put(&raw, &head, "12345678");
	rig_until(rig, mr, len, recvs, RAW_PATIENCE_MS, rig->nwc > before);
	ck_assert_int_eq(rig->wc.status, 0);
	ck_assert_mem_eq(mr->addr, "12345678", 8);
	raw_close(&raw);
	rig_until(rig, mr, len, recvs, RAW_PATIENCE_MS, rig->gone);
	ck_assert_int_eq(rig->last.status, 0);
	rig_forget_ep(rig);
}

#endif
