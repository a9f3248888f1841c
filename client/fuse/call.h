/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * call.h - one request of the kernel: who asks, for what, and the answer.
 */
#ifndef CALL_H
#define CALL_H

#include "client/fuse/kept/cuts.h"
#include "client/fuse/fsd.h"

/* Who asks: the process whose system call it is. */
struct call {
	struct fsd *d;
	fuse_req_t req;
	struct cred as; /* as far as a target needed it */
	uint64_t begun; /* clock_now() */
	uint64_t changes; /* told_changes() */
	uint64_t name; /* named_of() of the last call_entry(); 0: none */
	uint64_t dir; /* its directory's handle */
	const char *text; /* as long as the request */
	uint64_t again; /* what the kernel would ask once more; 0: nothing */
	bool told; /* st, by the request before, and a moment ago */
	struct stat st;
	struct cut_due due; /* likewise */
};

/* A request begins, and with it its deadline. */
void call_begin(struct call *c, fuse_req_t req);
/* True: the kernel asks again what it was told ETIMEDOUT for, and has been told so:
 * all is done (again.h). */
bool call_again(struct call *c, uint64_t what);
/* Object n of the kernel's; or, below that directory, name. */
struct target call_target(struct call *c, fuse_ino_t n);
struct target call_entry(struct call *c, fuse_ino_t dir, const char *name);
/* WIRE_MODE() of what who asks makes. */
uint32_t call_mode(const struct call *c, mode_t mode);
/* The kernel leaves taking set-id bits and capabilities away to us, and who asks is
 * one whose changes do that. */
bool call_kills(const struct call *c);
/* fs_run(), for who asks. */
int call_run(const struct call *c, const struct target *t, target_op op,
	     void *arg);

/* ---- answers: each is the last thing that is done with the request ---- */

/*
 * An object that the kernel has, and the mgr does not know any more (ESTALE).  True: it was
 * removed, by whatever host, and *st is how it is since.
 */
bool call_is_gone(const struct call *c, uint64_t handle, struct stat *st);
/*
 * After ESTALE from a request for the open directory f, which also says that f's session was
 * evicted.  True: the manager has no such directory any more.
 */
bool call_is_removed(const struct call *c, struct file *f);
/*
 * Of a change or a look-up of t in a directory: one that is not there any more (ESTALE) has no
 * names.  The kernel is told ESTALE first, and if it came there by a name that it keeps it
 * looks that up anew; the same thread's next is told ENOENT.
 */
int call_in_gone(const struct call *c, const struct target *t, int rc);

/* rc: 0 or -errno. */
void call_end(const struct call *c, int rc);
void call_end_attr(const struct call *c, const struct stat *st);
void call_end_entry(const struct call *c, const struct attr *attr,
		    const struct stat *st);
/* What the kernel gets to know of an object: st, and what the mgr said of it. */
void call_fill_entry(const struct call *c, const struct attr *attr,
		     const struct stat *st, struct fuse_entry_param *e);
/* For how long it may keep that the name in dir stands for st (NULL: nothing), s. */
double call_keep(const struct call *c, uint64_t dir, const char *name,
		 const struct stat *st);
/* Before it gets to know st alone. */
void call_note(const struct call *c, const struct attr *attr);

#endif
