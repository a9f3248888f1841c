/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * orphan_removal.c - removes objects that belong to no file.
 *
 * Objects whose handles the manager has not given out yet stay, because a new file can get such
 * a handle at any time.  They exist after the database was restored from an older copy.
 */
#include <errno.h>
#include <inttypes.h>
#include <string.h>

#include "mgr/fsck/fsck.h"

static int remove_object(struct fsck *f, const struct problem *p)
{
	const struct wire_remove body = {
		.n = htole32(1), .copysets = htole32(p->copyset ? 1 : 0)
	};
	struct fsck_bytes b = { &body, sizeof(body) };
	/* the copyset is in the first half of its word, and the rest is padding */
	const le64 object[2] = { htole64(p->handle), htole64(p->copyset) };
	struct fsck_bytes tail = { object, p->copyset ? sizeof(object)
						      : sizeof(object[0]) };

	return fsck_call(f, f->iod[p->iod], WIRE_REMOVE, &b, &tail, NULL);
}

static int remove_orphan(struct fsck *f, struct problem *p)
{
	struct wire_attr attr;
	int rc = fsck_get_attr_or_unissued(f, p->handle, &attr);

	if (rc == -ENXIO) {
		log_warn(f->log,
			 "object %" PRIu64 " at iod %u stays: the manager has "
			 "not given out its handle yet; was its database "
			 "restored from an older copy? then a new file would "
			 "have its data: stop the servers, and below objects "
			 "in the iod's storage remove the file %016" PRIx64,
			 p->handle, p->iod, p->handle);
		return 0;
	}
	if (rc && rc != -ESTALE)
		return rc;
	rc = remove_object(f, p);
	p->repaired = !rc;
	return rc;
}

int fsck_remove_orphans(struct fsck *f, struct problem_list *all)
{
	int rc = 0;

	for (size_t i = 0; !rc && i < all->n; i++)
		if (all->p[i].kind == ORPHAN || all->p[i].kind == STRAY)
			rc = remove_orphan(f, &all->p[i]);
	if (rc)
		log_error(f->log, "cannot remove objects: %s", strerror(-rc));
	return rc;
}
