/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * local_mr.h - registered memory: a table in shared memory. Its owner writes it; peers may read it
 * (a sealed memfd that they can map read-only).
 *
 * key = generation << 16 | index. The oldest free slot is reused first, with a new generation.
 *
 * Deregistration and concurrent accesses. A thread of the owner increments the use count of the
 * entry, then checks the key. A peer publishes the key, makes its busy word odd, then checks the
 * key. local_mr_dereg() clears the key. Then it waits until the use count is 0. For each peer that
 * published the key, it waits until the busy word changes or the process ends. All of this is
 * sequentially consistent: either the access sees that the key is gone, or the deregistration sees
 * the access. Each access is one copy of bounded length. But the wait for a process that is stopped
 * during a copy has no bound: its later writes would hit the caller's memory.
 */
#ifndef LOCAL_MR_H
#define LOCAL_MR_H

#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <sys/uio.h>

#include "common/transport/provider.h"

#define LOCAL_MR_MAX 65536u

struct local_entry {
	_Atomic uint32_t key; /* 0: not registered */
	_Atomic uint32_t access;
	_Atomic uint64_t addr, len;
	_Atomic uint32_t uses; /* accesses in progress by the owner's threads */
	uint32_t next; /* index of the next free entry */
};
_Static_assert(sizeof(struct local_entry) == 32, "layout of the table");

#define LOCAL_TABLE_LEN (LOCAL_MR_MAX * sizeof(struct local_entry))

struct local_mrs {
	pthread_mutex_t lock; /* protects next_free, last_free, made and gen */
	/* a queue of free entries; LOCAL_MR_MAX: empty */
	uint32_t next_free, last_free;
	uint32_t made; /* entries used so far */
	_Atomic uint32_t open; /* registrations that peers may access directly */
	uint16_t gen; /* generation of the next new entry */
	int fd; /* descriptor for peers; -1: not passed to any */
	/* LOCAL_MR_MAX entries; pages are used on demand */
	struct local_entry *table;
	/* private data at the same index */
	struct local_own {
		struct tp_mr mr;
		_Atomic uint64_t
			only; /* serial of the only ep that may access it; 0: all */
	} * own;
};

/* -errno. */
int local_mrs_init(struct local_mrs *mrs);
void local_mrs_destroy(struct local_mrs *mrs);

int local_mr_reg(struct tp_dev *dev, void *addr, size_t len,
		 unsigned int access, struct tp_mr **mr);
void local_mr_dereg(struct tp_mr *mr);
/* Ends direct access by peers; then only ep's peer may access the memory, through the ring. */
int local_mr_only(struct tp_mr *mr, struct tp_ep *ep);

/* Whether all of [addr, addr + len) is registered under key with these rights now. */
bool local_mr_covers(struct local_mrs *mrs, uint32_t key, uint64_t addr,
		     uint64_t len, unsigned int access);
/* local_mr_covers() for the memory and the lkey of sge. */
bool local_dev_covers(struct tp_dev *dev, const struct tp_sge *sge,
		      unsigned int access);
/* local_mr_covers() for an access by the peer of ep; false if another ep has it reserved. */
bool local_mr_serves(const struct tp_ep *ep, uint32_t key, uint64_t addr,
		     uint64_t len, unsigned int access);
/* Keeps the registration from ending. False: it has ended. */
bool local_mr_use(struct local_mrs *mrs, uint32_t key);
void local_mr_unuse(struct local_mrs *mrs, uint32_t key);
/*
 * Keeps the registrations of n pieces from ending; consecutive pieces with the same key count as
 * one use. Returns false if one has ended: then none is held.
 */
bool local_mr_hold(struct local_mrs *mrs, const struct tp_sge *sge,
		   unsigned int n);
void local_mr_unhold(struct local_mrs *mrs, const struct tp_sge *sge,
		     unsigned int n);

/* ---- copies ---- */

/*
 * Copies len bytes from or to memory registered under key (TP_LKEY_NONE: not registered). The
 * caller keeps the registration from ending. -EFAULT: pages are missing.
 */
int local_copy(struct local_mrs *mrs, uint32_t key, void *to, const void *from,
	       size_t len);
/*
 * local_gather() copies len bytes from the n pieces sge, which iov describes, to to;
 * local_scatter() copies from one place to pieces. They need at most one system call. The pieces of
 * local_gather() need not be registered or mapped. Return 0 or -EFAULT: pages are missing.
 */
int local_gather(struct local_mrs *mrs, void *to, const struct tp_sge *sge,
		 const struct iovec *iov, unsigned int n, size_t len);
int local_scatter(struct local_mrs *mrs, const struct tp_sge *sge,
		  const struct iovec *iov, unsigned int n, const void *from,
		  size_t len);
/* ---- a peer's table ---- */

/* -EPROTO: fd is not a table. */
int local_table_map(int fd, const struct local_entry **table);
void local_table_unmap(const struct local_entry *table);
/* Returns whether the memory has TP_LENT: then it may be accessed only through the ring. */
bool local_table_lent(const struct local_entry *table, uint32_t key);
/* As local_mr_covers(). The peer may change the table at any time. */
bool local_table_covers(const struct local_entry *table, uint32_t key,
			uint64_t addr, uint64_t len, unsigned int access);

#endif
