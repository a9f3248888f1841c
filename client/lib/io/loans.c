/* SPDX-License-Identifier: BSD-2-Clause */
/* loans.c - borrowing objects when it pays, and again after a revocation. */
#include "client/lib/io/loans.h"

#include <errno.h>
#include <stdlib.h>
#include <sys/stat.h>

#include "client/lib/io/direct_int.h"
#include "client/lib/session/coroutine.h"

#define OLD_MAX 16u /* revoked descriptors kept until close */
#define SOON_MS 100u
#define LATER_MS 1000u
/* for an iod that lends for reading only (recent_changes.h) */
#define LONG_MS 15000u

struct loan_place {
	_Atomic(struct loan *) loan;
	atomic_uint calls;
	atomic_bool asking;
	_Atomic uint64_t again; /* do not ask before this clock_now() */
	/* only for the thread that asks */
	struct loan *old; /* revoked loans; other threads may still use them */
	unsigned int nold;
};

static struct loan_place *places_get(struct loans *loans,
				     const struct dist *dist)
{
	struct loan_place *p = atomic_load(&loans->place), *made;

	if (p)
		return p;
	made = calloc(dist->pcount, sizeof(*made));
	if (!made)
		return NULL;
	if (!atomic_compare_exchange_strong(&loans->place, &p, made)) {
		free(made);
		return p;
	}
	return made;
}

static bool loan_is_usable(const struct loan *loan, const struct session *s,
			   bool write)
{
	return loan && loan->session == s->id && (loan->write || !write) &&
	       loan->pages->link == atomic_load(&s->uri[loan->iod].lost) &&
	       !loan_over(loan);
}

static void loan_replace(struct loan_place *p, struct loan *loan)
{
	struct loan *before = atomic_exchange(&p->loan, loan);

	if (!before)
		return;
	before->next = p->old;
	p->old = before;
	p->nold++;
}

static unsigned int pause_of(int rc)
{
	switch (rc) {
	case 0:
	case -EBUSY:
		return 0;
	case -ENOENT:
		return SOON_MS;
	case -EROFS:
		return LONG_MS;
	case -EOPNOTSUPP:
	case -ESRCH:
		return UINT32_MAX;
	default:
		return LATER_MS;
	}
}

/*
 * Borrows the object, and replaces the loan of p. -EROFS: the iod lends for reading only; a valid
 * loan for reading then stays in use.
 */
static int place_borrow(struct loan_place *p, struct session *s, uint32_t iod,
			uint64_t handle, bool write)
{
	struct loan *loan;
	bool reads = loan_is_usable(atomic_load(&p->loan), s, false);
	int rc;

	if (p->nold == OLD_MAX)
		return -EOPNOTSUPP;
	rc = loan_borrow(s, iod, handle, write, &loan);
	if (rc)
		return rc;
	rc = write && !loan->write ? -EROFS : 0;
	if (rc && reads)
		loan_return(loan);
	else
		loan_replace(p, loan);
	return rc;
}

static bool is_time(struct loan_place *p)
{
	uint64_t again = atomic_load(&p->again);

	if (atomic_fetch_add_explicit(&p->calls, 1, memory_order_relaxed) + 1 <
	    LOANS_AFTER)
		return false;
	return !again || clock_now() >= again;
}

const struct loan *loans_get(struct loans *loans, struct session *s,
			     uint64_t handle, const struct dist *dist,
			     uint32_t k, bool write)
{
	struct loan_place *p = places_get(loans, dist);
	struct loan *loan;
	int rc;

	if (!p)
		return NULL;
	loan = atomic_load(&p[k].loan);
	if (loan_is_usable(loan, s, write))
		return loan;
	if (!is_time(&p[k]) || atomic_exchange(&p[k].asking, true))
		return NULL;
	rc = place_borrow(&p[k], s, session_iod(s, dist, k), handle, write);
	atomic_store(&p[k].again, clock_after_ms(pause_of(rc)));
	atomic_store(&p[k].asking, false);
	loan = atomic_load(&p[k].loan);
	return loan_is_usable(loan, s, write) ? loan : NULL;
}

static void close_place(struct loan_place *p, void (*end)(struct loan *loan))
{
	struct loan *loan;

	loan_replace(p, NULL);
	while ((loan = p->old)) {
		p->old = loan->next;
		end(loan);
	}
}

static void close_all(struct loans *loans, uint32_t n,
		      void (*end)(struct loan *loan))
{
	struct loan_place *p = atomic_exchange(&loans->place, NULL);
	uint32_t k;

	for (k = 0; p && k < n; k++)
		close_place(&p[k], end);
	free(p);
}

void loans_close(struct loans *loans, uint32_t n)
{
	close_all(loans, n, loan_return);
}

void loans_forked(struct loans *loans, uint32_t n)
{
	close_all(loans, n, loan_forked);
}

/* ---- the size of a file ---- */

/* A loan for writing creates a missing object.  (A small file has objects at few servers.) */
static const struct loan *loan_for_size(const struct loans_file *file,
					uint32_t k)
{
	const struct loan *loan = NULL;

	if (file->write)
		loan = loans_get(file->loans, file->s, file->handle, file->dist,
				 k, true);
	if (!loan)
		loan = loans_get(file->loans, file->s, file->handle, file->dist,
				 k, false);
	return loan;
}

static bool object_end(const struct loans_file *file, uint32_t k, uint64_t *end)
{
	const struct loan *loan = loan_for_size(file, k);
	struct stat st;

	if (!loan || !loan_valid(loan) || fstat(loan->fd, &st) ||
	    loan_over(loan))
		return false;
	*end = dist_file_size(file->dist, k, (uint64_t)st.st_size);
	return true;
}

bool loans_size(const struct loans_file *file, uint64_t *size)
{
	uint64_t end, max = 0;
	int saved = coroutine_errno();
	bool all = session_is_direct(file->s, file->dist);
	uint32_t k;

	for (k = 0; all && k < file->dist->pcount; k++) {
		all = object_end(file, k, &end);
		if (all && end > max)
			max = end;
	}
	coroutine_errno_set(saved);
	if (all)
		*size = max;
	return all;
}
