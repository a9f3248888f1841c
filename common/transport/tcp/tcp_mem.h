/* SPDX-License-Identifier: BSD-2-Clause */
/* tcp_mem.h - the device and its registered memory. */
#ifndef TCP_MEM_H
#define TCP_MEM_H

#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>

#include "common/transport/cursor.h"
#include "common/transport/provider.h"
#include "common/transport/tp_seal.h"

struct tcp_mr {
	struct tp_mr mr;
	_Atomic uint32_t key; /* 0: not registered */
	_Atomic uint32_t uses; /* accesses in progress */
	uint32_t access;
	uint32_t next; /* index of the next free slot */
	/* serial of the only ep that may access it; 0: all */
	_Atomic uint64_t only;
} __attribute__((aligned(64)));

#define TCP_MR_CHUNK 256u
#define TCP_MR_MAX 65536u

struct tcp_mrs {
	pthread_mutex_t lock; /* protects the three fields below */
	/* a queue of free slots; TCP_MR_MAX: empty */
	uint32_t next_free, last_free;
	uint32_t made;
	_Atomic(struct tcp_mr *) chunk[TCP_MR_MAX / TCP_MR_CHUNK];
};

struct tcp_dev {
	struct tp_dev dev;
	unsigned int dead_peer_ms;
	unsigned int handshake_ms;
	int zero_fd; /* usermem_open() */
	char paced[16]; /* the system's congestion control, if it paces */
	atomic_bool pace_failed; /* changing it failed; logged once */
	struct tcp_mrs mrs;
	atomic_uint_least64_t flaws[TP_FLAWS];
	/* protects flaw_at: time of the last logged flaw */
	pthread_mutex_t flaw_lock;
	uint64_t flaw_at;
};

int tcp_mrs_init(struct tcp_mrs *mrs);
void tcp_mrs_destroy(struct tcp_mrs *mrs);
int tcp_mr_reg(struct tp_dev *dev, void *addr, size_t len, unsigned int access,
	       struct tp_mr **mr);
void tcp_mr_dereg(struct tp_mr *mr);
int tcp_mr_only(struct tp_mr *mr, struct tp_ep *ep);
/*
 * Returns true if all of [addr, addr + len) is registered under key with these rights, or if len is
 * 0.
 */
bool tcp_mr_covers(struct tcp_dev *dev, uint32_t key, uint64_t addr,
		   uint64_t len, unsigned int access);
/* tcp_mr_covers() for an access by the peer of ep; false if another ep has the memory reserved. */
bool tcp_mr_serves(const struct tp_ep *ep, uint32_t key, uint64_t addr,
		   uint64_t len, unsigned int access);
/*
 * Keeps the registrations of n pieces from ending until tcp_mr_release(). The caller has checked
 * the pieces with tcp_mr_covers(). Fills held, which has room for n, and returns the number of
 * registrations; -EACCES: one has ended meanwhile, and none is held.
 */
int tcp_mr_hold(struct tcp_dev *dev, const struct tp_sge *sge, unsigned int n,
		struct tcp_mr **held);
void tcp_mr_release(struct tcp_mr **held, int n);
/* Returns whether pages of any of this memory may disappear (TP_VOLATILE). */
bool tcp_mr_any_volatile(struct tcp_mr *const *held, int nheld);
/* Copies len bytes of src to the n pieces of dst, in held memory. -EFAULT: pages are missing. */
int tcp_mr_copy_in(struct tcp_mr *const *held, int nheld,
		   const struct iovec *dst, unsigned int n, const void *src,
		   size_t len);
/* Copies len bytes from n pieces, whose pages may be missing, to dst. -EFAULT. */
int tcp_mr_copy_out(void *dst, const struct iovec *src, unsigned int n,
		    size_t len);

#endif
