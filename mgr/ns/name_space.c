/* SPDX-License-Identifier: BSD-2-Clause */
/* name_space.c - the name space as a whole: its root, its number of inodes, transactions. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "common/util/clock.h"
#include "mgr/ns/holds.h"
#include "common/util/random_id.h"

#define COUNT_ROWS                                                             \
	500u /* rows that a turn counts, in less than a millisecond */

/* The name space is fresh until ns_set_bound(). */
static int put_identity(struct ns *ns)
{
	uint64_t id;
	int rc = random_id(&id);

	if (!rc)
		rc = meta_put_u64(ns->st, "identity", id);
	return rc ? rc : meta_put_u64(ns->st, "fresh", 1);
}

/* The root belongs to the user of the manager, so that a cluster without root is usable. */
static int make_root(struct ns *ns)
{
	int64_t now = clock_wall();
	struct inode root = { .mode = S_IFDIR | 0755,
			      .uid = geteuid(),
			      .gid = getegid(),
			      .nlink = 2,
			      .atime = now,
			      .mtime = now,
			      .ctime = now };
	int rc;

	root.handle = root.parent = store_new_id(ns->st);
	rc = inode_put(ns->st, &root);
	if (!rc)
		rc = put_identity(ns);
	if (!rc)
		rc = meta_put_u64(ns->st, "niods", ns->niods);
	return rc ? rc : meta_put_u64(ns->st, "root", root.handle);
}

static int find_root(struct ns *ns)
{
	int rc;

	rc = meta_get_u64(ns->st, "root", &ns->root);
	if (rc != -ENOENT)
		return rc;
	rc = ns_begin(ns);
	if (rc)
		return rc;
	rc = make_root(ns);
	if (rc) {
		ns_abort(ns);
		return rc;
	}
	rc = ns_commit(ns);
	return rc ? rc : meta_get_u64(ns->st, "root", &ns->root);
}

/* Berkeley DB takes a page of zeros for an empty table. */
static int check_root(struct ns *ns)
{
	struct inode root;
	int rc = inode_get(ns->st, ns->root, &root);

	if (rc)
		log_error(store_log(ns->st),
			  "the database has no root directory: its table "
			  "inodes is damaged; restore the folder from a "
			  "backup");
	return rc == -ENOENT ? -EIO : rc;
}

static int check_niods(struct ns *ns)
{
	uint64_t niods;
	int rc;

	rc = meta_get_u64(ns->st, "niods", &niods);
	if (rc || niods == ns->niods)
		return rc;
	log_error(store_log(ns->st),
		  "the file system was made with %llu iods, the configuration "
		  "lists %u; list the same ones in the same order",
		  (unsigned long long)niods, ns->niods);
	return -EINVAL;
}

static int forget_count(struct ns *ns)
{
	int rc = ns_begin(ns);

	if (rc)
		return rc;
	rc = meta_del(ns->st, "inodes");
	if (!rc)
		return ns_commit(ns);
	ns_abort(ns);
	return rc;
}

/* Handles rise, so inodes above the last one are new. */
static int begin_count(struct ns *ns)
{
	int rc = inode_last(ns->st, &ns->count.last);

	ns->inodes = 0;
	ns->count.next = rc ? 0 : 1;
	if (!rc)
		ns_count_some(ns);
	return rc;
}

bool ns_count_some(struct ns *ns)
{
	if (!ns->count.next)
		return false;
	return !inode_count(ns->st, ns->count.last, COUNT_ROWS, &ns->count.next,
			    &ns->inodes) &&
	       ns->count.next;
}

bool ns_is_counted(const struct ns *ns, uint64_t handle)
{
	return !ns->count.next || handle < ns->count.next ||
	       handle > ns->count.last;
}

/* The number is only valid from a clean stop to the next start. */
static int find_count(struct ns *ns)
{
	int rc;

	ns->count.next = 0;
	rc = meta_get_u64(ns->st, "inodes", &ns->inodes);
	if (rc == -ENOENT)
		return begin_count(ns);
	return rc ? rc : forget_count(ns);
}

int ns_exists(struct store *st, bool *exists)
{
	uint64_t root;
	int rc = meta_get_u64(st, "root", &root);

	*exists = !rc;
	return rc == -ENOENT ? 0 : rc;
}

int ns_identity(struct ns *ns, uint64_t fsid, uint64_t *id, bool *fresh)
{
	uint64_t is;
	int rc = meta_get_u64(ns->st, "identity", id);

	*fresh = false;
	/* a name space from before there were identities */
	if (rc == -ENOENT) {
		*id = fsid;
		return 0;
	}
	if (!rc)
		rc = meta_get_u64(ns->st, "fresh", &is);
	*fresh = !rc;
	return rc == -ENOENT ? 0 : rc;
}

int ns_set_bound(struct ns *ns)
{
	return meta_del(ns->st, "fresh");
}

int ns_open_space(struct ns *ns, const struct ns_attr *attr)
{
	int rc;

	ns->st = attr->st;
	ns->niods = attr->niods;
	ns->ssize = attr->ssize;
	ns->pcount = attr->pcount;
	ns->ring = ring_of_iods(attr->niods);
	ns->delta = 0;
	ns->holds = (struct holds){ .later = true };
	ns->next_base = (uint32_t)clock_wall();
	rc = find_root(ns);
	if (!rc)
		rc = check_root(ns);
	if (!rc)
		rc = check_niods(ns);
	return rc ? rc : find_count(ns);
}

void ns_close_space(struct ns *ns, bool record)
{
	holds_close(ns);
	if (!record || ns->count.next || store_failed(ns->st) || ns_begin(ns))
		return;
	if (meta_put_u64(ns->st, "inodes", ns->inodes))
		ns_abort(ns);
	else if (!ns_commit(ns))
		store_flush(ns->st);
}

uint64_t ns_work(const struct ns *ns)
{
	return store_rows_accessed(ns->st) + ns->steps;
}

void ns_pause_end(struct ns *ns, struct ns_pause *pause)
{
	lock_queue_leave(ns, pause);
	holds_stop_leaving(ns, pause);
	for (size_t i = 0; i < sizeof(pause->walk) / sizeof(pause->walk[0]);
	     i++)
		free(pause->walk[i]);
	*pause = (struct ns_pause){ 0 };
}

int ns_begin(struct ns *ns)
{
	ns->delta = 0;
	ns->removed = 0;
	return store_begin(ns->st);
}

int ns_commit(struct ns *ns)
{
	int rc = store_commit(ns->st);

	holds_end_transaction(ns, !rc);
	if (!rc)
		ns->inodes += (uint64_t)ns->delta;
	return rc;
}

void ns_abort(struct ns *ns)
{
	store_abort(ns->st);
	holds_end_transaction(ns, false);
}
