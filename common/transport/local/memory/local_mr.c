/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * local_mr.c - our registered memory, and copies between the ring and that memory.  Pages of
 * TP_VOLATILE memory may be missing, and unregistered memory may not be mapped: a copy by the
 * kernel then fails, while memcpy() would kill the process.
 */
#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/random.h>
#include <sys/uio.h>
#include <unistd.h>

#include "common/transport/local/memory/local_dev.h"
#include "common/transport/local/memory/local_mr.h"
#include "common/util/usermem.h"

#define INDEX(key) ((key) & (LOCAL_MR_MAX - 1))
#define OWN_LEN (LOCAL_MR_MAX * sizeof(struct local_own))

/* Whether pages of the memory may disappear. */
static bool mr_is_volatile(const struct local_mrs *mrs, uint32_t key)
{
	struct local_entry *e = &mrs->table[INDEX(key)];

	return key != TP_LKEY_NONE &&
	       atomic_load_explicit(&e->access, memory_order_relaxed) &
		       TP_VOLATILE;
}

static int kernel_copy(void *to, const void *from, size_t len)
{
	struct iovec dst = { to, len };
	struct iovec src = { (void *)(uintptr_t)from, len };

	return process_vm_readv(getpid(), &dst, 1, &src, 1, 0) == (ssize_t)len
		       ? 0
		       : -EFAULT;
}

int local_copy(struct local_mrs *mrs, uint32_t key, void *to, const void *from,
	       size_t len)
{
	if (mr_is_volatile(mrs, key))
		return kernel_copy(to, from, len);
	memcpy(to, from, len);
	return 0;
}

static bool any_volatile(const struct local_mrs *mrs, const struct tp_sge *sge,
			 unsigned int n)
{
	unsigned int i;

	for (i = 0; i < n; i++)
		if ((!i || sge[i].lkey != sge[i - 1].lkey) &&
		    mr_is_volatile(mrs, sge[i].lkey))
			return true;
	return false;
}

static bool any_unregistered(const struct tp_sge *sge, unsigned int n)
{
	unsigned int i;

	for (i = 0; i < n; i++)
		if (sge[i].lkey == TP_LKEY_NONE)
			return true;
	return false;
}

int local_gather(struct local_mrs *mrs, void *to, const struct tp_sge *sge,
		 const struct iovec *iov, unsigned int n, size_t len)
{
	struct iovec dst = { to, len };
	char *at = to;
	unsigned int i;

	if (any_unregistered(sge, n))
		return usermem_gather(to, iov, n);
	if (any_volatile(mrs, sge, n))
		return process_vm_writev(getpid(), iov, n, &dst, 1, 0) ==
				       (ssize_t)len
			       ? 0
			       : -EFAULT;
	for (i = 0; i < n; at += iov[i].iov_len, i++)
		memcpy(at, iov[i].iov_base, iov[i].iov_len);
	return 0;
}

int local_scatter(struct local_mrs *mrs, const struct tp_sge *sge,
		  const struct iovec *iov, unsigned int n, const void *from,
		  size_t len)
{
	struct iovec src = { (void *)(uintptr_t)from, len };
	const char *at = from;
	unsigned int i;

	if (any_volatile(mrs, sge, n))
		return process_vm_readv(getpid(), iov, n, &src, 1, 0) ==
				       (ssize_t)len
			       ? 0
			       : -EFAULT;
	for (i = 0; i < n; at += iov[i].iov_len, i++)
		memcpy(iov[i].iov_base, at, iov[i].iov_len);
	return 0;
}

/* A sandbox may forbid process_vm_readv(). */
static bool copy_by_kernel_works(void)
{
	char from = 1, to = 0;

	return !kernel_copy(&to, &from, 1);
}

static void *map_shared(int flags, size_t len, int fd)
{
	void *p = mmap(NULL, len, PROT_READ | PROT_WRITE, flags, fd, 0);

	return p == MAP_FAILED ? NULL : p;
}

/*
 * Our mapping stays writable; a peer cannot map the table writable. Linux before 5.1 has no such
 * seal, so no peer gets the table.
 */
static void seal_table(struct local_mrs *mrs)
{
	if (fcntl(mrs->fd, F_ADD_SEALS, F_SEAL_FUTURE_WRITE | F_SEAL_SEAL) == 0)
		return;
	close(mrs->fd);
	mrs->fd = -1;
}

int local_mrs_init(struct local_mrs *mrs)
{
	int rc;

	mrs->next_free = LOCAL_MR_MAX;
	mrs->last_free = LOCAL_MR_MAX;
	mrs->made = 0;
	atomic_init(&mrs->open, 0);
	if (getrandom(&mrs->gen, sizeof(mrs->gen), GRND_NONBLOCK) < 0)
		mrs->gen = 1;
	rc = mrs->fd = local_memfd("pvfs-local-mr", LOCAL_TABLE_LEN, 0);
	if (rc < 0)
		return rc;
	mrs->table = map_shared(MAP_SHARED, LOCAL_TABLE_LEN, mrs->fd);
	mrs->own = map_shared(MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE,
			      OWN_LEN, -1);
	if (mrs->table && mrs->own) {
		seal_table(mrs);
		return -pthread_mutex_init(&mrs->lock, NULL);
	}
	if (mrs->table)
		munmap(mrs->table, LOCAL_TABLE_LEN);
	if (mrs->own)
		munmap(mrs->own, OWN_LEN);
	close(mrs->fd);
	return -ENOMEM;
}

void local_mrs_destroy(struct local_mrs *mrs)
{
	munmap(mrs->table, LOCAL_TABLE_LEN);
	munmap(mrs->own, OWN_LEN);
	if (mrs->fd >= 0)
		close(mrs->fd);
	pthread_mutex_destroy(&mrs->lock);
}

static void free_push(struct local_mrs *mrs, uint32_t index)
{
	mrs->table[index].next = LOCAL_MR_MAX;
	if (mrs->next_free == LOCAL_MR_MAX)
		mrs->next_free = index;
	else
		mrs->table[mrs->last_free].next = index;
	mrs->last_free = index;
}

/*
 * Chooses the index that has been free for longest. Some indices are always free, so a stale key
 * stays invalid for long. Random generations: keys of one run must not be valid in the next.
 */
static uint32_t index_pop(struct local_mrs *mrs, uint32_t *key)
{
	uint32_t index;

	if (mrs->made < LOCAL_MR_MAX &&
	    (mrs->next_free == LOCAL_MR_MAX || mrs->made < 64)) {
		index = mrs->made++;
		mrs->gen = (uint16_t)(mrs->gen * 31421u + 6927u);
		*key = sock_key_next((uint32_t)mrs->gen << 16 | index);
		return index;
	}
	index = mrs->next_free;
	if (index == LOCAL_MR_MAX)
		return index;
	mrs->next_free = mrs->table[index].next;
	*key = mrs->own[index].mr.rkey;
	return index;
}

static void publish_entry(struct local_entry *e, const struct tp_mr *mr,
			  unsigned int access)
{
	atomic_store_explicit(&e->addr, (uintptr_t)mr->addr,
			      memory_order_relaxed);
	atomic_store_explicit(&e->len, mr->len, memory_order_relaxed);
	atomic_store_explicit(&e->access, access, memory_order_relaxed);
	atomic_store_explicit(&e->key, mr->rkey, memory_order_release);
}

/* Whether peers access the memory with their own CPU. */
static bool is_open(unsigned int access)
{
	return (access & SOCK_REMOTE_ACCESS) && !(access & TP_LENT);
}

int local_mr_reg(struct tp_dev *base, void *addr, size_t len,
		 unsigned int access, struct tp_mr **out)
{
	struct local_mrs *mrs = &local_dev(base)->mrs;
	uint32_t index, key = 0;
	int rc = sock_mr_check(base, addr, len, &access, copy_by_kernel_works);

	if (rc)
		return rc;
	pthread_mutex_lock(&mrs->lock);
	index = index_pop(mrs, &key);
	pthread_mutex_unlock(&mrs->lock);
	if (index == LOCAL_MR_MAX) {
		log_error(base->log,
			  "local: %u registrations in use: release some first",
			  LOCAL_MR_MAX);
		return -ENOMEM;
	}
	if (is_open(access))
		atomic_fetch_add(&mrs->open, 1);
	atomic_store_explicit(&mrs->own[index].only, 0, memory_order_relaxed);
	mrs->own[index].mr = (struct tp_mr){ base, addr, len, key, key };
	publish_entry(&mrs->table[index], &mrs->own[index].mr, access);
	*out = &mrs->own[index].mr;
	return 0;
}

/* TP_LENT stops direct access, so each access passes local_mr_serves(). */
int local_mr_only(struct tp_mr *mr, struct tp_ep *ep)
{
	struct local_mrs *mrs = &local_dev(mr->dev)->mrs;
	struct local_entry *e = &mrs->table[INDEX(mr->rkey)];

	atomic_store(&mrs->own[INDEX(mr->rkey)].only, ep->serial);
	if (is_open(atomic_fetch_or(&e->access, TP_LENT)))
		atomic_fetch_sub(&mrs->open, 1);
	return 0;
}

void local_mr_dereg(struct tp_mr *mr)
{
	struct local_dev *dev = local_dev(mr->dev);
	struct local_mrs *mrs = &dev->mrs;
	uint32_t index = INDEX(mr->rkey);
	struct local_entry *e = &mrs->table[index];

	atomic_store(&e->key, 0);
	while (atomic_load(&e->uses))
		sched_yield();
	if (is_open(atomic_load(&e->access))) {
		local_guests_wait(dev, mr->rkey);
		atomic_fetch_sub(&mrs->open, 1);
	}
	mr->rkey = sock_key_next(mr->rkey);
	pthread_mutex_lock(&mrs->lock);
	free_push(mrs, index);
	pthread_mutex_unlock(&mrs->lock);
}

bool local_mr_use(struct local_mrs *mrs, uint32_t key)
{
	struct local_entry *e = &mrs->table[INDEX(key)];

	if (key == 0)
		return false;
	atomic_fetch_add(&e->uses, 1);
	if (atomic_load(&e->key) == key)
		return true;
	atomic_fetch_sub(&e->uses, 1);
	return false;
}

void local_mr_unuse(struct local_mrs *mrs, uint32_t key)
{
	atomic_fetch_sub_explicit(&mrs->table[INDEX(key)].uses, 1,
				  memory_order_release);
}

bool local_mr_serves(const struct tp_ep *ep, uint32_t key, uint64_t addr,
		     uint64_t len, unsigned int access)
{
	struct local_mrs *mrs = &local_dev(ep->dev)->mrs;
	uint64_t only = atomic_load(&mrs->own[INDEX(key)].only);

	return (!only || only == ep->serial) &&
	       local_mr_covers(mrs, key, addr, len, access);
}

bool local_table_lent(const struct local_entry *table, uint32_t key)
{
	const struct local_entry *e = &table[INDEX(key)];

	return atomic_load(&e->access) & TP_LENT;
}

bool local_mr_covers(struct local_mrs *mrs, uint32_t key, uint64_t addr,
		     uint64_t len, unsigned int access)
{
	bool ok;

	if (len == 0)
		return true;
	if (!local_mr_use(mrs, key))
		return false;
	ok = local_table_covers(mrs->table, key, addr, len, access);
	local_mr_unuse(mrs, key);
	return ok;
}

bool local_dev_covers(struct tp_dev *dev, const struct tp_sge *sge,
		      unsigned int access)
{
	return local_mr_covers(&local_dev(dev)->mrs, sge->lkey,
			       (uintptr_t)sge->addr, sge->len, access);
}

bool local_mr_hold(struct local_mrs *mrs, const struct tp_sge *sge,
		   unsigned int n)
{
	unsigned int i;

	for (i = 0; i < n; i++) {
		if (i && sge[i].lkey == sge[i - 1].lkey)
			continue;
		if (!local_mr_use(mrs, sge[i].lkey)) {
			local_mr_unhold(mrs, sge, i);
			return false;
		}
	}
	return true;
}

void local_mr_unhold(struct local_mrs *mrs, const struct tp_sge *sge,
		     unsigned int n)
{
	unsigned int i;

	for (i = 0; i < n; i++)
		if (!i || sge[i].lkey != sge[i - 1].lkey)
			local_mr_unuse(mrs, sge[i].lkey);
}

int local_table_map(int fd, const struct local_entry **table)
{
	void *p;
	int rc = local_memfd_check(fd, LOCAL_TABLE_LEN);

	if (rc)
		return rc;
	p = mmap(NULL, LOCAL_TABLE_LEN, PROT_READ, MAP_SHARED, fd, 0);
	if (p == MAP_FAILED)
		return -errno;
	*table = p;
	return 0;
}

void local_table_unmap(const struct local_entry *table)
{
	munmap((void *)(uintptr_t)table, LOCAL_TABLE_LEN);
}

bool local_table_covers(const struct local_entry *table, uint32_t key,
			uint64_t addr, uint64_t len, unsigned int access)
{
	struct local_entry *e =
		(struct local_entry *)(uintptr_t)&table[INDEX(key)];
	uint64_t start, all;

	if (key == 0 || atomic_load(&e->key) != key)
		return false;
	start = atomic_load_explicit(&e->addr, memory_order_relaxed);
	all = atomic_load_explicit(&e->len, memory_order_relaxed);
	return addr >= start && len <= all && addr - start <= all - len &&
	       (atomic_load_explicit(&e->access, memory_order_relaxed) &
		access) == access;
}
