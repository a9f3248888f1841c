/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * rail.h - memory that several devices can access.
 *
 * A process may reach its peers over several devices at once (local, several verbs devices, tcp).
 * Each is a rail and has an index. Memory has a different key on each rail, and is registered with
 * a rail when that rail first needs it.
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
	/* for each rail, the cache for memory with `keep`, or NULL */
	struct pins *pins[RAILS_MAX];
	unsigned int n;
};

struct rail_mem {
	void *addr;
	size_t len;
	unsigned int access; /* access rights, as for tp_mr_reg() */
	/* the caller may use the memory again: get it from the rail's pins, if any */
	bool keep;
	/* NULL if the memory is not registered with that rail */
	struct tp_mr *mr[RAILS_MAX];
	struct pin *pin[RAILS_MAX]; /* the pin to which mr belongs, or NULL */
	/* the rails with the pins; must outlive mem */
	const struct rails *rails;
};

/* A piece of such memory, for a gather list. */
struct rail_sge {
	void *addr;
	uint32_t len;
	struct rail_mem *mem; /* the memory that contains addr */
};

/* The caller owns the memory at addr and keeps it mapped until rail_mem_fini(). */
static inline void rail_mem_init(struct rail_mem *mem, void *addr, size_t len,
				 unsigned int access)
{
	*mem = (struct rail_mem){ .addr = addr, .len = len, .access = access };
}

/* Registers mem with one rail. Returns the results of tp_mr_reg(). Only for rail_mem_on(). */
int rail_mem_reg(struct rail_mem *mem, const struct rails *rails,
		 unsigned int rail);
/*
 * Returns true if mem is registered with the rail, or if a cached pin covers it, which mem then
 * uses as after rail_mem_reg(). (The paper's check_if_registered.)
 */
bool rail_mem_find(struct rail_mem *mem, const struct rails *rails,
		   unsigned int rail);
/* Returns whether mem stays registered with the rail after rail_mem_fini(). */
bool rail_mem_keeps(const struct rail_mem *mem, const struct rails *rails,
		    unsigned int rail);
/* Registers mem with all rails. After an error, mem is registered with none. */
int rail_mem_reg_all(struct rail_mem *mem, const struct rails *rails);
/* Deregisters mem from all rails, or returns its pins. mem may be used again. */
void rail_mem_fini(struct rail_mem *mem);
/*
 * Called instead of rail_mem_fini() if a peer may still access the memory: the registration is not
 * cached. If other rail_mem use the same pin, the registration ends with the last of them.
 * rails_settle() waits until all such registrations have ended. It returns 0, or -ETIMEDOUT if the
 * deadline has passed.
 */
void rail_mem_drop(struct rail_mem *mem);
int rails_settle(const struct rails *rails, uint64_t deadline);

/*
 * Opens pins for the rails that need them according to mode. If it returns -ENOMEM, no rail has
 * pins.
 */
int rails_pins_open(struct rails *rails, enum pins_mode mode,
		    const struct log *log);
/* Logs the statistics and closes the pins. No pin may be in use. */
void rails_pins_close(struct rails *rails, const struct log *log);
/* Call it in a child after fork(): see pins_abandon(). */
void rails_pins_abandon(struct rails *rails);

/* Registers mem with the rail, unless it is registered. Returns 0 or the error of tp_mr_reg(). */
static inline int rail_mem_on(struct rail_mem *mem, const struct rails *rails,
			      unsigned int rail)
{
	return mem->mr[rail] ? 0 : rail_mem_reg(mem, rails, rail);
}

#endif
