/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * tcp_mr.c - registered memory. The table's memory is freed only with the device, so a key can be
 * looked up without a lock.
 *
 * key = generation << 16 | index. The oldest free slot is reused first, with a new generation: a
 * stale key stays invalid for a long time.
 *
 * Deregistration and concurrent accesses. An access increments the use count, then checks the key.
 * tcp_mr_dereg() clears the key, then waits until the use count is 0. Both sides are sequentially
 * consistent. So either the access sees that the key is gone, or the deregistration sees the use. A
 * use lasts for one non-blocking system call that copies, so the wait is short and bounded. A long
 * transfer checks the key again for each of its chunks.
 *
 * Pages of TP_VOLATILE memory may be missing: a copy by the kernel then fails, while memcpy() would
 * kill the process.
 */
#include <errno.h>
#include <sched.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <unistd.h>

#include "common/transport/tcp/tcp.h"

#define INDEX(key) ((key) & (TCP_MR_MAX - 1))

static int kernel_copy(const struct iovec *dst, unsigned int n, const void *src,
		       size_t len)
{
	struct iovec from = { (void *)(uintptr_t)src, len };
	ssize_t done = process_vm_writev(getpid(), &from, 1, dst, n, 0);

	return done == (ssize_t)len ? 0 : -EFAULT;
}

bool tcp_mr_any_volatile(struct tcp_mr *const *held, int nheld)
{
	while (nheld > 0)
		if (held[--nheld]->access & TP_VOLATILE)
			return true;
	return false;
}

int tcp_mr_copy_in(struct tcp_mr *const *held, int nheld,
		   const struct iovec *dst, unsigned int n, const void *src,
		   size_t len)
{
	const char *from = src;
	unsigned int i;

	if (tcp_mr_any_volatile(held, nheld))
		return kernel_copy(dst, n, src, len);
	for (i = 0; i < n; from += dst[i++].iov_len)
		memcpy(dst[i].iov_base, from, dst[i].iov_len);
	return 0;
}

int tcp_mr_copy_out(void *dst, const struct iovec *src, unsigned int n,
		    size_t len)
{
	struct iovec to = { dst, len };
	ssize_t done = process_vm_readv(getpid(), &to, 1, src, n, 0);

	return done == (ssize_t)len ? 0 : -EFAULT;
}

/* A sandbox may forbid process_vm_writev(). */
static bool kernel_copy_works(void)
{
	char from = 1, to = 0;
	struct iovec dst = { &to, 1 };

	return !kernel_copy(&dst, 1, &from, 1);
}

int tcp_mrs_init(struct tcp_mrs *mrs)
{
	mrs->next_free = TCP_MR_MAX;
	mrs->last_free = TCP_MR_MAX;
	return -pthread_mutex_init(&mrs->lock, NULL);
}

void tcp_mrs_destroy(struct tcp_mrs *mrs)
{
	size_t i;

	for (i = 0; i < TCP_MR_MAX / TCP_MR_CHUNK; i++)
		free(atomic_load(&mrs->chunk[i]));
	pthread_mutex_destroy(&mrs->lock);
}

static struct tcp_mr *mr_at(struct tcp_mrs *mrs, uint32_t index)
{
	struct tcp_mr *chunk = atomic_load_explicit(
		&mrs->chunk[index / TCP_MR_CHUNK], memory_order_acquire);

	return chunk ? &chunk[index % TCP_MR_CHUNK] : NULL;
}

static void free_push(struct tcp_mrs *mrs, uint32_t index)
{
	mr_at(mrs, index)->next = TCP_MR_MAX;
	if (mrs->next_free == TCP_MR_MAX)
		mrs->next_free = index;
	else
		mr_at(mrs, mrs->last_free)->next = index;
	mrs->last_free = index;
}

/* Random generations: keys of one run must not be valid in the next. */
static int add_chunk(struct tcp_mrs *mrs)
{
	uint16_t gen[TCP_MR_CHUNK] = { 0 };
	struct tcp_mr *chunk;
	uint32_t i;

	if (mrs->made == TCP_MR_MAX)
		return -ENOMEM;
	chunk = aligned_alloc(_Alignof(struct tcp_mr),
			      TCP_MR_CHUNK * sizeof(*chunk));
	if (!chunk)
		return -ENOMEM;
	if (getrandom(gen, sizeof(gen), GRND_NONBLOCK) < 0)
		gen[0] = 0;
	for (i = 0; i < TCP_MR_CHUNK; i++) {
		chunk[i] = (struct tcp_mr){
			.mr.rkey = sock_key_next((uint32_t)gen[i] << 16 |
						 (mrs->made + i)),
		};
	}
	atomic_store_explicit(&mrs->chunk[mrs->made / TCP_MR_CHUNK], chunk,
			      memory_order_release);
	for (i = 0; i < TCP_MR_CHUNK; i++)
		free_push(mrs, mrs->made + i);
	mrs->made += TCP_MR_CHUNK;
	return 0;
}

static struct tcp_mr *free_pop(struct tcp_mrs *mrs)
{
	struct tcp_mr *mr = NULL;

	pthread_mutex_lock(&mrs->lock);
	if (mrs->next_free != TCP_MR_MAX || add_chunk(mrs) == 0) {
		mr = mr_at(mrs, mrs->next_free);
		mrs->next_free = mr->next;
	}
	pthread_mutex_unlock(&mrs->lock);
	return mr;
}

int tcp_mr_reg(struct tp_dev *base, void *addr, size_t len, unsigned int access,
	       struct tp_mr **out)
{
	struct tcp_dev *dev = container_of(base, struct tcp_dev, dev);
	struct tcp_mr *mr;
	uint32_t key;
	int rc = sock_mr_check(base, addr, len, &access, kernel_copy_works);

	if (rc)
		return rc;
	mr = free_pop(&dev->mrs);
	if (!mr) {
		log_error(base->log,
			  "tcp: no memory, or %u registrations in use: release "
			  "some first",
			  TCP_MR_MAX);
		return -ENOMEM;
	}
	key = mr->mr.rkey;
	mr->mr = (struct tp_mr){ base, addr, len, key, key };
	mr->access = access;
	atomic_store_explicit(&mr->only, 0, memory_order_relaxed);
	atomic_store_explicit(&mr->key, key, memory_order_release);
	*out = &mr->mr;
	return 0;
}

int tcp_mr_only(struct tp_mr *base, struct tp_ep *ep)
{
	struct tcp_mr *mr = container_of(base, struct tcp_mr, mr);

	atomic_store(&mr->only, ep->serial);
	return 0;
}

static void wait_unused(struct tcp_mr *mr)
{
	while (atomic_load(&mr->uses))
		sched_yield();
}

void tcp_mr_dereg(struct tp_mr *base)
{
	struct tcp_mr *mr = container_of(base, struct tcp_mr, mr);
	struct tcp_dev *dev = container_of(base->dev, struct tcp_dev, dev);
	uint32_t index = INDEX(base->rkey);

	atomic_store(&mr->key, 0);
	wait_unused(mr);
	base->rkey = sock_key_next(base->rkey);
	pthread_mutex_lock(&dev->mrs.lock);
	free_push(&dev->mrs, index);
	pthread_mutex_unlock(&dev->mrs.lock);
}

static struct tcp_mr *mr_use(struct tcp_dev *dev, uint32_t key)
{
	struct tcp_mr *mr = mr_at(&dev->mrs, INDEX(key));

	if (!mr || key == 0)
		return NULL;
	atomic_fetch_add(&mr->uses, 1);
	if (atomic_load(&mr->key) == key)
		return mr;
	atomic_fetch_sub(&mr->uses, 1);
	return NULL;
}

static void mr_unuse(struct tcp_mr *mr)
{
	atomic_fetch_sub_explicit(&mr->uses, 1, memory_order_release);
}

static bool is_for(struct tcp_mr *mr, const struct tp_ep *ep)
{
	uint64_t only = atomic_load(&mr->only);

	return !only || only == ep->serial;
}

static bool mr_covers(const struct tcp_mr *mr, uint64_t addr, uint64_t len,
		      unsigned int access)
{
	uint64_t start = (uintptr_t)mr->mr.addr;

	return len == 0 || (addr >= start && len <= mr->mr.len &&
			    addr - start <= mr->mr.len - len &&
			    (mr->access & access) == access);
}

/* ep: the access is by its peer; NULL: by this side. */
static bool is_allowed(struct tcp_dev *dev, const struct tp_ep *ep,
		       uint32_t key, uint64_t addr, uint64_t len,
		       unsigned int access)
{
	struct tcp_mr *mr = mr_use(dev, key);
	bool ok;

	if (!mr)
		return len == 0;
	ok = (!ep || is_for(mr, ep)) && mr_covers(mr, addr, len, access);
	mr_unuse(mr);
	return ok;
}

bool tcp_mr_covers(struct tcp_dev *dev, uint32_t key, uint64_t addr,
		   uint64_t len, unsigned int access)
{
	return is_allowed(dev, NULL, key, addr, len, access);
}

bool tcp_mr_serves(const struct tp_ep *ep, uint32_t key, uint64_t addr,
		   uint64_t len, unsigned int access)
{
	return is_allowed(container_of(ep->dev, struct tcp_dev, dev), ep, key,
			  addr, len, access);
}

int tcp_mr_hold(struct tcp_dev *dev, const struct tp_sge *sge, unsigned int n,
		struct tcp_mr **held)
{
	unsigned int i;
	int count = 0;

	for (i = 0; i < n; i++) {
		struct tcp_mr *mr;

		if (i && sge[i].lkey == sge[i - 1].lkey)
			continue;
		mr = mr_use(dev, sge[i].lkey);
		if (!mr) {
			tcp_mr_release(held, count);
			return -EACCES;
		}
		held[count++] = mr;
	}
	return count;
}

void tcp_mr_release(struct tcp_mr **held, int n)
{
	while (n > 0)
		mr_unuse(held[--n]);
}
