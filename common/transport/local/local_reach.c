/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * local_reach.c - copying from and to the peer's memory ourselves.
 *
 * Whether we can is found out by reading the connection's nonce where the
 * peer says it keeps it: that also shows that the process id is still that of
 * the peer.  Only a peer of our own user is reached.  As root we could reach
 * any, but the id names whatever the process becomes: a client that runs a
 * set-uid program keeps its connection (in a child) and its id, and would
 * have us write into that program.
 */
#include <errno.h>
#include <string.h>
#include <sys/uio.h>
#include <unistd.h>

#include "local.h"

#define CHUNK (512u << 10) /* bytes of one copy, which a dereg may wait for */

static bool probe(struct local_ep *ep)
{
	uint64_t at = atomic_load(&ep->out.peer->probe);
	uint8_t seen[LOCAL_NONCE];
	struct iovec here = { seen, sizeof(seen) };
	struct iovec there = { (void *)(uintptr_t)at, sizeof(seen) };

	if (at == 0 || !ep->table || ep->id.pid <= 0 ||
	    ep->id.uid != geteuid() || local_dev(ep->ep.dev)->no_reach)
		return false;
	return process_vm_readv(ep->id.pid, &here, 1, &there, 1, 0) ==
		       (ssize_t)sizeof(seen) &&
	       !memcmp(seen, ep->nonce, sizeof(seen));
}

enum local_reach local_reach(struct local_ep *ep)
{
	if (ep->reach == LOCAL_REACH_UNKNOWN) {
		ep->reach = probe(ep) ? LOCAL_REACH_VM : LOCAL_REACH_RING;
		log_debug(ep->ep.dev->log, "%s: bulk data %s", ep->peer,
			  ep->reach == LOCAL_REACH_VM
				  ? "by cross-memory attach"
				  : "through the ring: cross-memory attach is "
				    "not permitted");
	}
	return ep->reach;
}

static ssize_t copy(struct local_ep *ep, struct local_swr *wr, uint64_t max)
{
	struct local_mrs *mrs = &local_dev(ep->ep.dev)->mrs;
	uint64_t bytes = max < CHUNK ? max : CHUNK;
	struct iovec iov[LOCAL_IOV], there;
	unsigned int n = tp_cursor_iov(&wr->data, iov, LOCAL_IOV, &bytes);
	ssize_t got;

	there.iov_base = (void *)(uintptr_t)(wr->remote + wr->len -
					     wr->data.left);
	there.iov_len = bytes;
	if (wr->opcode != TP_READ)
		got = process_vm_writev(ep->id.pid, iov, n, &there, 1, 0);
	else if (local_mr_hold(mrs, wr->data.sge, n)) {
		got = process_vm_readv(ep->id.pid, iov, n, &there, 1, 0);
		local_mr_unhold(mrs, wr->data.sge, n);
	} else {
		errno = EFAULT;
		got = -1;
	}
	return got < 0 ? -errno : got;
}

int local_reach_copy(struct local_ep *ep, struct local_swr *wr, uint64_t max)
{
	_Atomic uint32_t *busy = &ep->out.me->busy;
	uint32_t was = atomic_load_explicit(busy, memory_order_relaxed);
	ssize_t got = -EACCES;

	atomic_store(busy, was | 1);
	if (local_table_covers(ep->table, wr->rkey, wr->remote, wr->len,
			       wr->opcode == TP_READ ? TP_REMOTE_READ
						     : TP_REMOTE_WRITE))
		got = copy(ep, wr, max);
	atomic_store(busy, (was | 1) + 1);
	if (got < 0)
		return (int)got;
	if (got == 0)
		return -EFAULT;
	tp_cursor_move(&wr->data, (uint64_t)got);
	return 0;
}
