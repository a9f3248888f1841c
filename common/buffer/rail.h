/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * rail.h - memory that several devices know.
 *
 * A process may reach its peers over several devices at once (local, verbs, more of
 * verbs, tcp); each is a rail, named by its index.  Memory has another key on each;
 * it is registered with a rail when that rail first needs it.
 *
 * A struct rail_mem belongs to one thread at a time.
 */
#ifndef RAIL_H
#define RAIL_H

#include "common/buffer/pin.h"
#include "common/transport/transport.h"

#define RAILS_MAX 7u

struct rails {
	struct tp_dev *dev[RAILS_MAX];
	struct pins *pins[RAILS_MAX]; /* for kept memory, or NULL */
	unsigned int n;
};

struct rail_mem {
	void *addr;
	size_t len;
	unsigned int access; /* as of tp_mr_reg() */
	bool keep; /* it may come again: by the rail's pins, if it has some */
	struct tp_mr *mr[RAILS_MAX]; /* NULL: not registered there */
	struct pin *pin[RAILS_MAX]; /* whose mr it is, or NULL */
	const struct rails *rails; /* of the pins; outlive mem */
};

/* A piece of such memory, for a gather list. */
struct rail_sge {
	void *addr;
	uint32_t len;
	struct rail_mem *mem; /* addr lies in it */
};

/* addr stays the caller's, mapped until rail_mem_fini(). */
static inline void rail_mem_init(struct rail_mem *mem, void *addr, size_t len,
				 unsigned int access)
{
	*mem = (struct rail_mem){ .addr = addr, .len = len, .access = access };
}

/* Registers it with one rail, as tp_mr_reg(); for rail_mem_on(). */
int rail_mem_reg(struct rail_mem *mem, const struct rails *rails,
		 unsigned int rail);
/*
 * check_if_registered: whether it is there already, or kept memory can be had
 * without registering; then it is as after rail_mem_reg().
 */
bool rail_mem_find(struct rail_mem *mem, const struct rails *rails,
		   unsigned int rail);
/* Whether it would stay registered with the rail when it is not used any more. */
bool rail_mem_keeps(const struct rail_mem *mem, const struct rails *rails,
		    unsigned int rail);
/* With all rails; on an error with none. */
int rail_mem_reg_all(struct rail_mem *mem, const struct rails *rails);
/* Deregisters it everywhere, or leaves it to the pins; it may be used again. */
void rail_mem_fini(struct rail_mem *mem);
/*
 * The same when a peer may still use the memory: it is not kept.  If others use
 * the same registration it goes with the last of them; rails_settle() waits
 * for that.  0, or -ETIMEDOUT.
 */
void rail_mem_drop(struct rail_mem *mem);
int rails_settle(const struct rails *rails, uint64_t deadline);

/* Makes pins for the rails where mode wants them.  -ENOMEM: for none. */
int rails_pins_open(struct rails *rails, enum pins_mode mode,
		    const struct log *log);
/* Says to the log what they were good for.  Nothing is kept by them now. */
void rails_pins_close(struct rails *rails, const struct log *log);
/* In a child after fork(): see pins_abandon(). */
void rails_pins_abandon(struct rails *rails);

/* Sees to it that mem->mr[rail] is there.  0, or as tp_mr_reg(). */
static inline int rail_mem_on(struct rail_mem *mem, const struct rails *rails,
			      unsigned int rail)
{
	return mem->mr[rail] ? 0 : rail_mem_reg(mem, rails, rail);
}

#endif
