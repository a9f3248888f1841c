/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * repair.c - removes objects that belong to nobody.  Not those whose handles
 * the manager has not given out yet, as after its data base was restored from
 * an older copy: a new file may get the handle at any time.
 */
#include <errno.h>
#include <inttypes.h>
#include <string.h>

#include "mgr/fsck/fsck.h"

static int remove_object(struct fsck *f, const struct problem *p)
{
	struct wire_objects body = { .n = htole32(1) };
	struct piece b = { &body, sizeof(body) };
	uint64_t handle = htole64(p->handle);
	struct piece tail = { &handle, sizeof(handle) };

	return fsck_ask(f, f->iod[p->iod], WIRE_REMOVE, &b, &tail, NULL);
}

static int repair_one(struct fsck *f, struct problem *p)
{
	struct wire_attr attr;
	int rc = fsck_ever(f, p->handle, &attr);

	if (rc == -ENXIO) {
		log_warn(f->log,
			 "object %" PRIu64 " at iod %u stays: the manager has "
			 "not given out its handle yet; was its data base "
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

int fsck_repair(struct fsck *f, struct problems *all)
{
	int rc = 0;

	for (size_t i = 0; !rc && i < all->n; i++)
		if (all->p[i].kind == ORPHAN || all->p[i].kind == STRAY)
			rc = repair_one(f, &all->p[i]);
	if (rc)
		log_error(f->log, "removing objects: %s", strerror(-rc));
	return rc;
}
