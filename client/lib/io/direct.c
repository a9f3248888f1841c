/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * direct.c - reads and writes of borrowed objects, by this process: one system call for
 * what lies in one piece there.  Nobody wakes up.
 *
 * It succeeds, or the request goes by message as if nothing had been tried: also
 * where the object ends, where memory is missing, and where the disk is full, so
 * that all these have one meaning.
 */
#include <errno.h>
#include <signal.h>
#include <string.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <time.h>
#include <unistd.h>

#include "direct_int.h"
#include "strand.h"

/* Of one call: more is faster by the iods, who copy with several processors.  Measured:
 * one client of four iods is as fast either way at 1 MiB, four are not. */
#define DIRECT_MAX LENT_MOST
#define DIRECT_IOV 64u
/* Pieces of one call, apart in the file: of more a request for all of them takes less time
 * (docs/measured.md). */
#define DIRECT_READS 40u
#define DIRECT_WRITES 256u

/* Neighbours in the object. */
struct batch {
	struct iovec iov[DIRECT_IOV];
	unsigned int n;
	uint64_t off, len;
	bool begun; /* one was written, or a part of it */
};

/* ---- what the iod is told ---- */

/* Threads begin at different places. */
static unsigned int first_place(void)
{
	static _Thread_local char here;

	return (unsigned int)((uintptr_t)&here >> 12) % LENT_INSIDE;
}

/* 0: this one is not timed. */
static uint64_t begins(const struct loan *loan, bool write)
{
	const struct lent_count *c =
		&loan->lender->marks->inside[first_place()].count[write];
	uint64_t n = atomic_load_explicit(&c->n, memory_order_relaxed);

	return n % LENT_TIMED ? 0 : clock_boot();
}

/* Threads that share a place do not lose each other's. */
static void ended(const struct loan *loan, bool write, uint64_t len,
		  uint64_t began)
{
	unsigned int at = first_place();
	struct lent_marks *marks = loan->lender->marks;
	struct lent_count *c = &marks->inside[at].count[write];

	atomic_fetch_add_explicit(&c->n, 1, memory_order_relaxed);
	atomic_fetch_add_explicit(&c->bytes, len, memory_order_relaxed);
	if (!began)
		return;
	atomic_fetch_add_explicit(&c->ns, clock_boot() - began,
				  memory_order_relaxed);
	atomic_fetch_add_explicit(&marks->inside[at].timed[write], 1,
				  memory_order_relaxed);
}

/* ---- one batch ---- */

/* One piece: the kernel need not fetch a list. */
static ssize_t transfer_one(bool write, const struct loan *loan,
			    const struct batch *b)
{
	return syscall(write ? SYS_pwrite64 : SYS_pread64, loan->fd,
		       b->iov->iov_base, b->iov->iov_len,
		       (unsigned long)b->off);
}

/*
 * Not by libc's functions: a thread that is cancelled would end in them, and leave
 * what it holds.
 */
static ssize_t transfer(bool write, const struct loan *loan,
			const struct batch *b)
{
	bool wide = sizeof(long) == 8, waits = !write && loan->waits;

	if (wide && b->n == 1 && !waits)
		return transfer_one(write, loan, b);
	return syscall(write ? SYS_pwritev2 : SYS_preadv2, loan->fd, b->iov,
		       (unsigned long)b->n, (unsigned long)b->off,
		       wide ? 0ul : (unsigned long)(b->off >> 32),
		       waits ? RWF_NOWAIT : 0);
}

static bool read_batch(const struct loan *loan, const struct batch *b)
{
	return transfer(false, loan, b) == (ssize_t)b->len;
}

/* ulimit -f is about files, not about objects: its signal, which waits, goes. */
static void forget_limit(void)
{
	static const uint64_t xfsz = UINT64_C(1) << (SIGXFSZ - 1);
	static const struct timespec now;

	syscall(SYS_rt_sigtimedwait, &xfsz, NULL, &now, sizeof(xfsz));
}

/* Inside. */
static bool write_batch(const struct loan *loan, struct batch *b)
{
	ssize_t n = transfer(true, loan, b);

	b->begun = true;
	if (n < 0 && errno == EFBIG)
		forget_limit();
	return n == (ssize_t)b->len;
}

/* ---- the mark of a writer ---- */

/* With the kernel's own sets: also what libc keeps for itself, as cancellation. */
static void signals_off(uint64_t *before)
{
	static const uint64_t all = ~UINT64_C(0);

	syscall(SYS_rt_sigprocmask, SIG_SETMASK, &all, before, sizeof(all));
}

static void signals_back(const uint64_t *before)
{
	syscall(SYS_rt_sigprocmask, SIG_SETMASK, before, NULL, sizeof(*before));
}

static _Atomic uint32_t *mark(const struct loan *loan)
{
	unsigned int i, at = first_place();
	_Atomic uint32_t *m;
	uint32_t none;

	for (i = 0; i < LENT_INSIDE; i++) {
		m = &loan->lender->marks->inside[(at + i) % LENT_INSIDE].object;
		none = 0;
		if (atomic_compare_exchange_strong(m, &none, loan->index + 1))
			return m;
	}
	return NULL;
}

/* ---- a server's share ---- */

static bool batch_run(const struct loan *loan, bool write, struct batch *b)
{
	uint64_t began = b->n ? begins(loan, write) : 0;
	bool ok = !b->n || (loan_valid(loan) && (write ? write_batch(loan, b)
						       : read_batch(loan, b)));

	if (ok && b->n)
		ended(loan, write, b->len, began);
	b->n = 0;
	b->len = 0;
	return ok;
}

static bool fits(const struct batch *b, uint64_t local)
{
	return !b->n || (b->n < DIRECT_IOV && b->off + b->len == local);
}

static void add(struct batch *b, uint64_t local, void *addr, size_t len)
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
static bool share_run(const struct loan *loan, const struct plan *plan,
		      struct plan_cur *cur, bool write, struct batch *b)
{
	unsigned int iov;
	size_t len;
	void *addr;

	do {
		if (!fits(b, cur->piece.local) && !batch_run(loan, write, b))
			return false;
		addr = plan_memory(plan, cur, DIRECT_MAX, &len, &iov);
		add(b, cur->piece.local, addr, len);
		plan_advance(cur, len);
	} while (plan_piece(plan, cur));
	return batch_run(loan, write, b);
}

/*
 * No handler runs inside, which could leave it by a jump, and no cancellation; so
 * the mark goes when this thread does, or with the process.
 */
static bool write_inside(const struct loan *loan, const struct plan *plan,
			 struct plan_cur *cur, struct batch *b)
{
	_Atomic uint32_t *m;
	uint64_t before;
	bool ok = false;

	signals_off(&before);
	m = mark(loan);
	if (m) {
		atomic_thread_fence(memory_order_seq_cst);
		ok = share_run(loan, plan, cur, true, b);
		atomic_store(m, 0);
	}
	signals_back(&before);
	return ok;
}

/* It has nothing to do there, or did it. */
static bool run_at(struct session *s, uint64_t handle, const struct plan *plan,
		   uint32_t k, bool write, bool *begun)
{
	const struct loan *loan;
	struct plan_cur cur;
	struct batch b;
	bool ok;

	plan_start(plan, &cur, k);
	if (!plan_piece(plan, &cur))
		return true;
	loan = loans_get(plan->loans, s, handle, plan->dist, k, write);
	if (!loan)
		return false;
	b.n = 0;
	b.len = 0;
	b.begun = false;
	ok = write ? write_inside(loan, plan, &cur, &b)
		   : share_run(loan, plan, &cur, false, &b);
	*begun |= b.begun;
	if (!ok)
		return false;
	atomic_fetch_add_explicit(&s->count.borrowed, 1, memory_order_relaxed);
	return true;
}

/* One piece of the file. */
static bool is_plain(const struct plan *plan)
{
	return plan->nspan == 1 && !plan->view->gsize;
}

/* Of so many pieces that a request is better. */
static bool is_scattered(const struct plan *plan, bool write)
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

/* The one server that has anything to do, if that is seen at once. */
static bool one_server(const struct plan *plan, uint32_t *k)
{
	const struct plan_span *span = plan->span;
	uint64_t first, last;

	if (!is_plain(plan) || !span->len ||
	    !view_map(plan->view, span->pos, &first) ||
	    !view_map(plan->view, span->pos + span->len - 1, &last) ||
	    first / plan->dist->ssize != last / plan->dist->ssize)
		return false;
	*k = dist_server(plan->dist, first);
	return true;
}

static bool run_all(struct session *s, uint64_t handle, const struct plan *plan,
		    bool write, bool *done, bool *begun)
{
	bool all = true;
	uint32_t k;

	for (k = 0; k < plan->dist->pcount; k++) {
		done[k] = run_at(s, handle, plan, k, write, begun);
		all &= done[k];
	}
	return all;
}

/* The others have nothing to do. */
static bool run_one(struct session *s, uint64_t handle, const struct plan *plan,
		    uint32_t k, bool write, bool *done, bool *begun)
{
	if (run_at(s, handle, plan, k, write, begun))
		return true;
	memset(done, 1, plan->dist->pcount);
	done[k] = false;
	return false;
}

bool direct_run(struct session *s, uint64_t handle, const struct plan *plan,
		bool write, bool *done, bool *begun)
{
	int saved = strand_errno();
	uint32_t k;
	bool all;

	*begun = false;
	memset(done, 0, plan->dist->pcount);
	if (!plan->loans || !s->direct || plan_total(plan) > DIRECT_MAX ||
	    is_scattered(plan, write))
		return false;
	all = one_server(plan, &k)
		      ? run_one(s, handle, plan, k, write, done, begun)
		      : run_all(s, handle, plan, write, done, begun);
	strand_errno_set(saved);
	return all;
}
