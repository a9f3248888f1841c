/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * local_reach.c - direct access: copying from and to the peer's memory with our own CPU, and
 * letting the peer access our memory while the connection lives.
 *
 * To find out whether this works, we read the connection's nonce at the address that the peer
 * reports. This also shows that the process id still belongs to the peer. We access only peers of
 * our own user, even as root, which could access any process: a client may execute a set-uid
 * program and keep its process id, and its connection in a child. It could then make us write into
 * that program.
 */
#include <errno.h>
#include <string.h>
#include <sys/uio.h>
#include <unistd.h>

#include "common/transport/local/local.h"

void local_reach_admit_peer(struct local_ep *ep)
{
	struct local_dev *dev = local_dev(ep->ep.dev);

	if (local_guest_allowed(dev, &ep->id))
		ep->guest = local_guest_new(dev, ep->in.peer, ep->fd,
					    ep->id.uid, ep->peer);
	if (!ep->guest)
		return;
	ep->same_user = ep->id.uid == geteuid();
	atomic_store(&ep->out.me->probe, (uintptr_t)ep->nonce);
}

/*
 * Ends the peer's access to our memory. A peer that checks `ended` after we set it does not access
 * our memory; a peer that checked it before is seen as busy. Then only our side of the socket
 * is shut down: the peer sees the end, and the socket still shows when its process ends.
 */
bool local_reach_dismiss_peer(struct local_ep *ep)
{
	struct local_guest *g = ep->guest;

	if (!g)
		return false;
	ep->guest = NULL;
	atomic_store(&ep->out.me->ended, 1);
	return local_guest_end(local_dev(ep->ep.dev), g, &ep->shm);
}

/* bytes of one copy; a deregistration may wait for it */
#define CHUNK (512u << 10)
#define RUN_MAX 16u /* maximum number of requests that one copy executes */

static bool probe_peer(struct local_ep *ep)
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
		ep->reach = probe_peer(ep) ? LOCAL_REACH_VM : LOCAL_REACH_RING;
		log_debug(ep->ep.dev->log, "%s: bulk data %s", ep->peer,
			  ep->reach == LOCAL_REACH_VM
				  ? "by cross-memory attach"
				  : "through the ring: cross-memory attach is "
				    "not permitted");
	}
	return ep->reach;
}

/* Consecutive requests of one direction, which one system call executes. */
struct copy_run {
	struct iovec here[LOCAL_IOV], there[RUN_MAX];
	unsigned int nhere, nthere;
	/* pieces of held memory that each READ writes to */
	unsigned int held[RUN_MAX];
	uint64_t left; /* bytes that can still be added */
};

static struct local_swr *swr_at(const struct local_ep *ep, unsigned int i)
{
	return &ep->sq.wr[(ep->sq.next + i) & ep->sq.q.mask];
}

static bool is_allowed(const struct local_ep *ep, const struct local_swr *wr)
{
	return local_table_covers(ep->table, wr->rkey, wr->remote, wr->r.len,
				  wr->r.opcode == TP_READ ? TP_REMOTE_READ
							  : TP_REMOTE_WRITE) &&
	       !local_table_lent(ep->table, wr->rkey);
}

static bool request_follows(const struct local_ep *ep, unsigned int i)
{
	bool read = swr_at(ep, 0)->r.opcode == TP_READ;
	uint8_t opcode = swr_at(ep, i)->r.opcode;

	return ep->sq.next + i != ep->sq.q.tail &&
	       (read ? opcode == TP_READ
		     : opcode == TP_WRITE || opcode == TP_WRITE_IMM);
}

/* Adds as much of the next request as the run has room for. False: nothing. */
static bool run_add(struct copy_run *run, struct local_mrs *mrs,
		    struct local_swr *wr)
{
	uint64_t bytes = run->left;
	unsigned int n = tp_cursor_iov(&wr->data, run->here + run->nhere,
				       LOCAL_IOV - run->nhere, &bytes);

	if (!bytes)
		return false;
	if (wr->r.opcode == TP_READ && !local_mr_hold(mrs, wr->data.sge, n))
		return false;
	run->there[run->nthere].iov_base =
		(void *)(uintptr_t)(wr->remote + wr->r.len - wr->data.left);
	run->there[run->nthere].iov_len = bytes;
	run->held[run->nthere++] = n;
	run->nhere += n;
	run->left -= bytes;
	return true;
}

static void run_unhold(const struct copy_run *run, struct local_ep *ep)
{
	unsigned int i;

	for (i = 0; i < run->nthere; i++)
		local_mr_unhold(&local_dev(ep->ep.dev)->mrs,
				swr_at(ep, i)->data.sge, run->held[i]);
}

static ssize_t run_copy(const struct copy_run *run, struct local_ep *ep)
{
	ssize_t got;

	if (swr_at(ep, 0)->r.opcode != TP_READ) {
		got = process_vm_writev(ep->id.pid, run->here, run->nhere,
					run->there, run->nthere, 0);
		return got < 0 ? -errno : got;
	}
	got = process_vm_readv(ep->id.pid, run->here, run->nhere, run->there,
			       run->nthere, 0);
	if (got < 0)
		got = -errno;
	run_unhold(run, ep);
	return got;
}

/*
 * Publishes the keys of the memory to access, before they are checked: when the owner deregisters a
 * key, it waits for peers that publish it. Returns the number of requests that the keys cover.
 */
static unsigned int begin_access(struct local_ep *ep)
{
	struct local_side *me = ep->out.me;
	uint32_t n = 0, key, last = 0;
	unsigned int i;

	for (i = 0; i < RUN_MAX && (i == 0 || request_follows(ep, i)); i++) {
		key = swr_at(ep, i)->rkey;
		if (n && key == last)
			continue;
		if (n == LOCAL_KEYS)
			break;
		atomic_store_explicit(&me->key[n++], key, memory_order_relaxed);
		last = key;
	}
	atomic_store_explicit(&me->nkeys, n, memory_order_relaxed);
	atomic_store(&me->busy,
		     atomic_load_explicit(&me->busy, memory_order_relaxed) | 1);
	return i;
}

static void end_access(struct local_ep *ep)
{
	_Atomic uint32_t *busy = &ep->out.me->busy;

	atomic_store(busy,
		     atomic_load_explicit(busy, memory_order_relaxed) + 1);
}

static ssize_t copy_requests(struct local_ep *ep, unsigned int n, uint64_t max)
{
	struct local_mrs *mrs = &local_dev(ep->ep.dev)->mrs;
	struct copy_run run;
	unsigned int i;

	run.nhere = run.nthere = 0;
	run.left = max < CHUNK ? max : CHUNK;
	if (atomic_load(&ep->out.peer->ended))
		return -ECANCELED;
	if (!is_allowed(ep, swr_at(ep, 0)))
		return -EACCES;
	if (!run_add(&run, mrs, swr_at(ep, 0)))
		return -EFAULT;
	for (i = 1; i < n && run.left; i++)
		if (!is_allowed(ep, swr_at(ep, i)) ||
		    !run_add(&run, mrs, swr_at(ep, i)))
			break;
	return run_copy(&run, ep);
}

static void advance_requests(struct local_ep *ep, uint64_t bytes)
{
	unsigned int i;

	for (i = 0; bytes; i++) {
		struct tp_cursor *c = &swr_at(ep, i)->data;
		uint64_t n = c->left < bytes ? c->left : bytes;

		tp_cursor_move(c, n);
		bytes -= n;
	}
}

int64_t local_reach_copy(struct local_ep *ep, uint64_t max)
{
	unsigned int n = begin_access(ep);
	ssize_t got = copy_requests(ep, n, max);

	end_access(ep);
	if (got == 0)
		return -EFAULT;
	if (got > 0)
		advance_requests(ep, (uint64_t)got);
	return got;
}
