/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * local_mr.h - registered memory: a table in shared memory that its owner
 * writes and peers may read (a sealed memfd that they can map read-only).
 *
 * key = generation << 16 | index; the slots are reused oldest first and get a
 * new generation each time.
 *
 * Deregistration against accesses under way.  A thread of the owner takes a
 * use of the entry, then looks at the key; a peer names the key, makes its busy
 * word odd, then looks at the key.  local_mr_dereg() clears the key, then waits
 * for the uses to go and for each peer that names it until its busy word is
 * another or its process has ended.  All of it is sequentially consistent:
 * either the access sees the key gone, or the deregistration sees the access.
 * Each lasts one copy of bounded length; but a process that is stopped inside
 * is waited for as long as it is: what it writes then is the caller's memory.
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
	_Atomic uint32_t uses; /* by the owner's threads */
	uint32_t next; /* index of the next free one */
};
_Static_assert(sizeof(struct local_entry) == 32, "layout of the table");

#define LOCAL_TABLE_LEN (LOCAL_MR_MAX * sizeof(struct local_entry))

struct local_mrs {
	pthread_mutex_t lock; /* next_free, last_free, made, and gen */
	uint32_t next_free, last_free; /* a queue; LOCAL_MR_MAX: empty */
	uint32_t made; /* entries used so far */
	_Atomic uint32_t open; /* registrations that peers may go into */
	uint16_t gen; /* the first of a new entry */
	int fd; /* to be passed to peers; -1: not */
	struct local_entry *table; /* LOCAL_MR_MAX, touched as used */
	/* of the same index; private */
	struct local_own {
		struct tp_mr mr;
		_Atomic uint64_t
			only; /* serial of the ep that it is for; 0: all */
	} * own;
};

/* -errno. */
int local_mrs_init(struct local_mrs *mrs);
void local_mrs_destroy(struct local_mrs *mrs);

int local_mr_reg(struct tp_dev *dev, void *addr, size_t len,
		 unsigned int access, struct tp_mr **mr);
void local_mr_dereg(struct tp_mr *mr);
/* Peers do not go into it with their own processor any more. */
int local_mr_only(struct tp_mr *mr, struct tp_ep *ep);

/* All of [addr, addr + len) is registered under key with these rights now. */
bool local_mr_covers(struct local_mrs *mrs, uint32_t key, uint64_t addr,
		     uint64_t len, unsigned int access);
/* The same for the peer of ep, whose memory alone it may be. */
bool local_mr_serves(const struct tp_ep *ep, uint32_t key, uint64_t addr,
		     uint64_t len, unsigned int access);
/* Pages of it may go: see local_copy(). */
bool local_mr_volatile(const struct local_mrs *mrs, uint32_t key);
/* Keeps the registration from ending; false: it has. */
bool local_mr_use(struct local_mrs *mrs, uint32_t key);
void local_mr_unuse(struct local_mrs *mrs, uint32_t key);
/*
 * The keys of n pieces; a run of the same key is one use.  False: one of them
 * ended, and none is taken.
 */
bool local_mr_hold(struct local_mrs *mrs, const struct tp_sge *sge,
		   unsigned int n);
void local_mr_unhold(struct local_mrs *mrs, const struct tp_sge *sge,
		     unsigned int n);

/* ---- copies (local_copy.c) ---- */

/*
 * len bytes from or to memory registered under key (TP_LKEY_NONE: not
 * registered), which the caller keeps from ending.  -EFAULT: pages of it are
 * gone.
 */
int local_copy(struct local_mrs *mrs, uint32_t key, void *to, const void *from,
	       size_t len);
/*
 * The same between len bytes in one place and n pieces of registered memory,
 * with one system call for all if one is due.  What is gathered may not be
 * registered, nor there.
 */
int local_gather(struct local_mrs *mrs, void *to, const struct tp_sge *sge,
		 const struct iovec *iov, unsigned int n, size_t len);
int local_scatter(struct local_mrs *mrs, const struct tp_sge *sge,
		  const struct iovec *iov, unsigned int n, const void *from,
		  size_t len);
/* A sandbox may refuse it. */
bool local_copy_by_kernel_works(void);

/* ---- a peer's table ---- */

/* -EPROTO: fd is not one. */
int local_table_map(int fd, const struct local_entry **table);
void local_table_unmap(const struct local_entry *table);
/* TP_LENT: to be reached through the ring. */
bool local_table_lent(const struct local_entry *table, uint32_t key);
/* As local_mr_covers().  The peer may change the table at any time. */
bool local_table_covers(const struct local_entry *table, uint32_t key,
			uint64_t addr, uint64_t len, unsigned int access);

#endif
