/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * repair.c - removes objects that belong to nobody.  Not those whose handles
 * the manager has not given out yet, as after its data base was restored from
 * an older copy: a new file may get the handle at any time.
 */
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "clock.h"
#include "fsck.h"

static int unlink_mark(struct fsck *f, const struct piece *name)
{
	struct wire_path body = { .path_len = htole32((uint32_t)name->len) };
	struct piece b = { &body, sizeof(body) };

	return fsck_ask(f, f->mgr, WIRE_UNLINK, &b, name, NULL);
}

/* *mark: the handle of a file made just now. */
static int read_mark(struct fsck *f, uint64_t *mark)
{
	struct wire_open body = {
		.flags = htole32(WIRE_O_READ | WIRE_O_CREAT | WIRE_O_EXCL),
		.mode = htole32(0600),
		.dist = { UINT32_MAX, UINT32_MAX, UINT32_MAX, 0 }
	};
	struct piece b = { &body, sizeof(body) };
	struct wire_open_rep rep;
	struct answer answer;
	struct piece name;
	char text[64];
	int rc;

	snprintf(text, sizeof(text), ".pvfs-fsck-%d-%" PRIx64, (int)getpid(),
		 (uint64_t)clock_wall());
	name = (struct piece){ text, strlen(text) };
	body.path_len = htole32((uint32_t)name.len);
	rc = fsck_ask(f, f->mgr, WIRE_OPEN, &b, &name, &answer);
	if (rc)
		return rc;
	memcpy(&rep, answer.body, sizeof(rep));
	*mark = le64toh(rep.attr.handle);
	return unlink_mark(f, &name);
}

static int remove_object(struct fsck *f, const struct problem *p)
{
	struct wire_objects body = { .n = htole32(1) };
	struct piece b = { &body, sizeof(body) };
	uint64_t handle = htole64(p->handle);
	struct piece tail = { &handle, sizeof(handle) };

	return fsck_ask(f, f->iod[p->iod], WIRE_REMOVE, &b, &tail, NULL);
}

static int repair_one(struct fsck *f, struct problem *p, uint64_t mark)
{
	int rc;

	if (p->handle >= mark) {
		log_warn(f->log,
			 "object %" PRIu64 " at iod %u stays: the manager has "
			 "not given out its handle yet; was its data base "
			 "restored from an older copy?",
			 p->handle, p->iod);
		return 0;
	}
	rc = remove_object(f, p);
	p->repaired = !rc;
	return rc;
}

int fsck_repair(struct fsck *f, struct problems *all)
{
	uint64_t mark;
	int rc = 0;

	if (all->n)
		rc = read_mark(f, &mark);
	for (size_t i = 0; !rc && i < all->n; i++)
		if (all->p[i].kind == ORPHAN || all->p[i].kind == STRAY)
			rc = repair_one(f, &all->p[i], mark);
	if (rc)
		log_error(f->log, "removing objects: %s", strerror(-rc));
	return rc;
}
