/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * direct.c - reads and writes of borrowed objects by this process, with one system call
 * for each contiguous range in an object.  No other process wakes up.
 *
 * If a direct transfer does not succeed, the client sends the request to the iod by message, as if
 * nothing had been tried.  This includes the end of an object, unmapped memory and a full disk, so
 * these cases are implemented only once.
 */
#include <errno.h>
#include <pthread.h>
#include <string.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <unistd.h>

#include "client/lib/io/direct_int.h"
#include "client/lib/session/coroutine.h"

/*
 * Maximum bytes of a direct transfer.  For longer ones, messages are faster, because the iods copy
 * with several processors.  At 1 MiB, with one client and four iods, both are equally fast.
 */
#define DIRECT_MAX LOAN_PAGE_MOST
#define DIRECT_IOV 64u
/*
 * Maximum number of discontiguous pieces of a direct read.  For more, one request to the iod is
 * faster (docs/measured/local.md).
 */
#define DIRECT_READS 40u
#define DIRECT_WRITES 256u

/* A contiguous range of the object. */
struct direct_batch {
	struct iovec iov[DIRECT_IOV];
	unsigned int n;
	uint64_t off, len;
	bool begun; /* a batch was written, at least in part */
	/* our place in marks->inside; a writer's mark is there */
	unsigned int at;
};

/* ---- statistics for the iod ---- */

/* Distributes the threads over the places. */
static unsigned int first_place(void)
{
	return (unsigned int)((uintptr_t)pthread_self() >> 12) %
	       LOAN_PAGE_INSIDE;
}

/* 0: this transfer is not timed. */
static uint64_t timing_start(const struct loan *loan, unsigned int at,
			     bool write)
{
	const struct loan_page_count *c =
		&loan->pages->marks->inside[at].count[write];
	uint64_t n = atomic_load_explicit(&c->n, memory_order_relaxed);

	return n % LOAN_PAGE_TIMED ? 0 : clock_boot();
}

/* Readers may share a place and need atomic additions.  A writer has its place alone. */
static void counter_add(_Atomic uint64_t *n, uint64_t more, bool alone)
{
	if (alone)
		atomic_store_explicit(
			n, atomic_load_explicit(n, memory_order_relaxed) + more,
			memory_order_relaxed);
	else
		atomic_fetch_add_explicit(n, more, memory_order_relaxed);
}

static void stats_add_time(const struct loan *loan, unsigned int at, bool write,
			   uint64_t ns)
{
	struct loan_page_marks *marks = loan->pages->marks;
	struct loan_page_file *page = loan->pages->page;

	counter_add(&marks->inside[at].count[write].ns, ns, write);
	atomic_fetch_add_explicit(&marks->inside[at].timed[write], 1,
				  memory_order_relaxed);
	if (page)
		counter_add(&page->bucket[write][histogram_bucket(ns)], 1,
			    false);
}

static void stats_add_transfer(const struct loan *loan, unsigned int at,
			       bool write, uint64_t len, uint64_t began)
{
	struct loan_page_count *c =
		&loan->pages->marks->inside[at].count[write];

	counter_add(&c->n, 1, write);
	counter_add(&c->bytes, len, write);
	if (began)
		stats_add_time(loan, at, write, clock_boot() - began);
}

/* ---- one batch ---- */

/* With one piece, the kernel need not copy a list. */
static ssize_t transfer_one(bool write, const struct loan *loan,
			    const struct direct_batch *b)
{
	return syscall(write ? SYS_pwrite64 : SYS_pread64, loan->fd,
		       b->iov->iov_base, b->iov->iov_len,
		       (unsigned long)b->off);
}

/*
 * Uses system calls, because libc's functions are cancellation points: a cancelled thread
 * would leave its mark behind.
 */
static ssize_t batch_transfer(bool write, const struct loan *loan,
			      const struct direct_batch *b)
{
	bool wide = sizeof(long) == 8, waits = !write && loan->waits;

	if (wide && b->n == 1 && !waits)
		return transfer_one(write, loan, b);
	return syscall(write ? SYS_pwritev2 : SYS_preadv2, loan->fd, b->iov,
		       (unsigned long)b->n, (unsigned long)b->off,
		       wide ? 0ul : (unsigned long)(b->off >> 32),
		       waits ? RWF_NOWAIT : 0);
}

/* If the loan was revoked meanwhile, the data may belong to another file. */
static bool read_batch(const struct loan *loan, const struct direct_batch *b)
{
	bool ok = batch_transfer(false, loan, b) == (ssize_t)b->len;

	atomic_thread_fence(memory_order_acquire);
	return ok && !loan_over(loan);
}

/* The caller has set its mark. */
static bool write_batch(const struct loan *loan, struct direct_batch *b)
{
	if (b->off + b->len > loan->limit)
		return false;
	b->begun = true;
	return batch_transfer(true, loan, b) == (ssize_t)b->len;
}

/* ---- the mark of a writer ---- */

/*
 * The exchange is a full barrier.  Either this thread sees a revocation when it checks the loan
 * afterwards, or the iod sees the mark.  A signal handler that interrupts a write uses another
 * element of inside[].
 */
static bool writer_mark_set(const struct loan *loan, unsigned int *at)
{
	struct loan_page_marks *marks = loan->pages->marks;
	uint32_t none;

	for (unsigned int i = 0; i < LOAN_PAGE_INSIDE; i++) {
		none = 0;
		if (atomic_compare_exchange_strong(&marks->inside[*at].object,
						   &none, loan->index + 1))
			return true;
		*at = (*at + 1) % LOAN_PAGE_INSIDE;
	}
	return false;
}

/*
 * Clears the mark of a direct write.  Returns false if the object was set aside meanwhile
 * (loan_pages.h): then the data may be lost, and the write is repeated as a request.
 */
static bool writer_mark_clear(const struct loan *loan, unsigned int at)
{
	bool aside;

	atomic_thread_fence(memory_order_seq_cst);
	aside = loan_aside(loan);
	atomic_store_explicit(&loan->pages->marks->inside[at].object, 0,
			      memory_order_release);
	return !aside;
}

/* ---- the share of one server ---- */

static bool batch_run(const struct loan *loan, bool write,
		      struct direct_batch *b)
{
	uint64_t began = b->n ? timing_start(loan, b->at, write) : 0;
	bool ok = !b->n || (loan_valid(loan) && (write ? write_batch(loan, b)
						       : read_batch(loan, b)));

	if (ok && b->n)
		stats_add_transfer(loan, b->at, write, b->len, began);
	b->n = 0;
	b->len = 0;
	return ok;
}

static bool batch_fits(const struct direct_batch *b, uint64_t local)
{
	return !b->n || (b->n < DIRECT_IOV && b->off + b->len == local);
}

static void batch_add(struct direct_batch *b, uint64_t local, void *addr,
		      size_t len)
{
	struct iovec *last = &b->iov[b->n];

	if (!b->n)
		b->off = local;
	if (b->n && (char *)last[-1].iov_base + last[-1].iov_len == addr)
		last[-1].iov_len += len;
	else
		b->iov[b->n++] = (struct iovec){ addr, len };
	b->len += len;
}

/* cur is at the first piece. */
static bool share_run(const struct loan *loan, const struct io_plan *plan,
		      struct plan_cur *cur, bool write, struct direct_batch *b)
{
	unsigned int iov;
	size_t len;
	void *addr;

	do {
		if (!batch_fits(b, cur->piece.local) &&
		    !batch_run(loan, write, b))
			return false;
		addr = plan_memory(plan, cur, DIRECT_MAX, &len, &iov);
		batch_add(b, cur->piece.local, addr, len);
		plan_advance(cur, len);
	} while (plan_piece(plan, cur));
	return batch_run(loan, write, b);
}

/* cur is at the first piece; NULL: b is complete. */
static bool run_batches(const struct loan *loan, const struct io_plan *plan,
			struct plan_cur *cur, bool write,
			struct direct_batch *b)
{
	return cur ? share_run(loan, plan, cur, write, b)
		   : batch_run(loan, write, b);
}

/*
 * If a signal handler leaves the write by longjmp, or the thread is cancelled, the mark stays, and
 * this process cannot use that element of inside[] any more.  The iod treats it like the mark of a
 * stopped process.
 */
static bool write_inside(const struct loan *loan, const struct io_plan *plan,
			 struct plan_cur *cur, struct direct_batch *b)
{
	bool ok;

	if (!writer_mark_set(loan, &b->at))
		return false;
	ok = run_batches(loan, plan, cur, true, b);
	return writer_mark_clear(loan, b->at) && ok;
}

/* The work of server k is in b, or starts at cur. */
static bool run_at(struct session *s, uint64_t handle,
		   const struct io_plan *plan, uint32_t k, bool write,
		   struct plan_cur *cur, struct direct_batch *b)
{
	const struct loan *loan;
	bool ok;

	b->begun = false;
	loan = loans_get(plan->loans, s, handle, plan->dist, k, write);
	if (!loan)
		return false;
	b->at = first_place();
	ok = write ? write_inside(loan, plan, cur, b)
		   : run_batches(loan, plan, cur, false, b);
	if (ok)
		atomic_fetch_add_explicit(&s->count.borrowed, 1,
					  memory_order_relaxed);
	return ok;
}

/*
 * Reads or writes the share of the file's k-th server directly in its object.  Returns true if the
 * share is complete, or is empty.
 */
static bool run_share(struct session *s, uint64_t handle,
		      const struct io_plan *plan, uint32_t k, bool write,
		      bool *begun)
{
	struct plan_cur cur;
	struct direct_batch b;
	bool ok;

	plan_start(plan, &cur, k);
	if (!plan_piece(plan, &cur))
		return true;
	b.n = 0;
	b.len = 0;
	ok = run_at(s, handle, plan, k, write, &cur, &b);
	*begun |= b.begun;
	return ok;
}

/* The file side is one piece. */
static bool is_plain(const struct io_plan *plan)
{
	return plan->nspan == 1 && !plan->view->gsize;
}

/* Whether the transfer has so many pieces that a request is faster than direct accesses. */
static bool is_scattered(const struct io_plan *plan, bool write)
{
	unsigned int n = 0, most = write ? DIRECT_WRITES : DIRECT_READS;
	uint64_t end = UINT64_MAX;
	struct plan_cur cur;

	if (is_plain(plan))
		return false;
	plan_start(plan, &cur, 0);
	while (n <= most && plan_extent(plan, &cur)) {
		n += cur.ext_off != end;
		end = cur.ext_off + cur.ext_len;
	}
	return n > most;
}

/* The common case: everything lies in one stripe.  Fills *b completely. */
static bool is_small(const struct io_plan *plan, uint32_t *k,
		     struct direct_batch *b)
{
	const struct plan_span *span = plan->span;
	uint64_t first, local;

	if (!is_plain(plan) || plan->niov > DIRECT_IOV || !span->len ||
	    span->len > DIRECT_MAX ||
	    !view_map(plan->view, span->pos, &first) ||
	    !dist_stripe(plan->dist, first, span->len, k, &local))
		return false;
	b->n = 0;
	b->len = 0;
	for (unsigned int i = 0; i < plan->niov; i++)
		if (plan->iov[i].iov_len)
			batch_add(b, local, plan->iov[i].iov_base,
				  plan->iov[i].iov_len);
	return true;
}

static bool run_all(struct session *s, uint64_t handle,
		    const struct io_plan *plan, bool write, bool *done,
		    bool *begun)
{
	bool all = true;
	uint32_t k;

	for (k = 0; k < plan->dist->pcount; k++) {
		done[k] = run_share(s, handle, plan, k, write, begun);
		all &= done[k];
	}
	return all;
}

/* The other servers have nothing to do. */
static bool run_small(struct session *s, uint64_t handle,
		      const struct io_plan *plan, uint32_t k, bool write,
		      struct direct_batch *b, bool *done, bool *begun)
{
	if (run_at(s, handle, plan, k, write, NULL, b))
		return true;
	*begun = b->begun;
	memset(done, 1, plan->dist->pcount);
	done[k] = false;
	return false;
}

static bool run_any(struct session *s, uint64_t handle,
		    const struct io_plan *plan, bool write, bool *done,
		    bool *begun)
{
	memset(done, 0, plan->dist->pcount);
	return plan_total(plan) <= DIRECT_MAX && !is_scattered(plan, write) &&
	       run_all(s, handle, plan, write, done, begun);
}

bool direct_run(struct session *s, uint64_t handle, const struct io_plan *plan,
		bool write, bool *done, bool *begun)
{
	int saved = coroutine_errno();
	struct direct_batch b;
	uint32_t k;
	bool all;

	*begun = false;
	if (!plan->loans || !session_is_direct(s, plan->dist)) {
		memset(done, 0, plan->dist->pcount);
		return false;
	}
	all = is_small(plan, &k, &b)
		      ? run_small(s, handle, plan, k, write, &b, done, begun)
		      : run_any(s, handle, plan, write, done, begun);
	coroutine_errno_set(saved);
	return all;
}
