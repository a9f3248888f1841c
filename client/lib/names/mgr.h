/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * mgr.h - the mgr's operations as functions.  Each is one request; all
 * answer 0, -errno, or WIRE_REDIRECT when the path leaves the file system
 * and target->redirect says where to.  Changes also answer -ECONNABORTED:
 * made or not, see ask_run().
 */
#ifndef MGR_H
#define MGR_H

#include <sys/types.h>

#include "client/lib/session/ask.h"
#include "common/dist/dist.h"
#include "client/lib/session/session.h"

/* What an operation is about: a path below the root, or a handle. */
struct target {
	uint64_t handle; /* 0: the root */
	const char *path; /* "": the handle itself */
	uint32_t flags; /* WIRE_P_* */
	uint64_t open; /* id of the open file, or 0 */
	char *redirect; /* PATH_MAX bytes, or NULL */
	const struct cred *as; /* who asks; NULL: as the session */
};

struct attr {
	uint64_t handle;
	uint64_t size; /* see WIRE_A_SIZE */
	int64_t atime, mtime, ctime; /* ns */
	uint32_t mode, nlink, uid, gid;
	uint32_t flags; /* WIRE_A_* */
	uint32_t major, minor; /* devices */
	struct dist dist; /* regular files; checked */
};

int mgr_getattr(struct session *s, const struct target *t, struct attr *attr);

struct setattr {
	uint32_t valid; /* WIRE_S_* */
	uint32_t mode, uid, gid;
	int64_t atime, mtime; /* ns */
};
int mgr_setattr(struct session *s, const struct target *t,
		const struct setattr *set, struct attr *attr);
int mgr_access(struct session *s, const struct target *t, uint32_t mask);
int mgr_truncate(struct session *s, const struct target *t, uint64_t size);

struct mgr_open {
	uint32_t flags; /* WIRE_O_* */
	uint32_t mode; /* WIRE_MODE() */
	struct dist dist; /* fields UINT32_MAX: default */
};
/* *open: the id for mgr_release(), 0: none needed. */
int mgr_open(struct session *s, const struct target *t,
	     const struct mgr_open *how, struct attr *attr, uint64_t *open);

/* See struct wire_lock. */
struct mgr_lock {
	uint64_t owner;
	uint64_t start, end;
	uint32_t type, flags; /* WIRE_L_* */
	uint64_t session; /* for the caller */
};
/* Bytes end below INT64_MAX: whoever locks the byte there has the last one. */
static inline uint64_t mgr_lock_start(uint64_t start)
{
	return start < INT64_MAX ? start : INT64_MAX - 1;
}

/* -EAGAIN: something is in the way.  WIRE_L_TEST: what, in *lock. */
int mgr_lock(struct session *s, const struct target *t, struct mgr_lock *lock);
/* LOCK_ANY, n at most WIRE_LOCK_ANY_MAX. */
struct mgr_lock_any {
	const struct mgr_wanted {
		uint64_t handle;
		struct mgr_lock lock;
	} * wanted;
	uint32_t n, wait_ms;
	bool (*begins)(void *arg); /* a mgr_unlock() from now on finds it there;
				    * false: -EINTR at once */
	void *arg;
	uint32_t which; /* was taken */
};
int mgr_lock_any(struct session *s, struct mgr_lock_any *any);
/* Not waited for. */
void mgr_unlock(struct session *s, uint64_t handle,
		const struct mgr_lock *lock);

/* A token for t, which is open there as t->open; flags: WIRE_O_READ, WIRE_O_WRITE. */
int mgr_grant(struct session *s, const struct target *t, uint32_t flags,
	      uint8_t token[WIRE_TOKEN_LEN]);
/* As mgr_open(), of what the token is for; flags: and WIRE_O_APPEND. */
int mgr_redeem(struct session *s, const uint8_t token[WIRE_TOKEN_LEN],
	       uint32_t flags, struct attr *attr, uint64_t *open);

/* What the session had of a file that is to be ours; see struct wire_adopt. */
struct mgr_adopt {
	uint64_t session, handle, open, owner;
	bool process;
};
/* *done: WIRE_AD_*. */
int mgr_adopt(struct session *s, const struct mgr_adopt *what, uint32_t *done);
/* It ends; returns when nothing of it can come any more. */
int mgr_adopted(struct session *s, uint64_t before);

struct mgr_release {
	uint64_t handle, open;
	uint64_t end; /* behind the highest byte written */
	int64_t mtime; /* of the last write, ns */
	uint32_t flags; /* WIRE_R_* */
	bool late; /* see ask.h */
};
/* Does not wait for the answer. */
void mgr_release(struct session *s, const struct mgr_release *rel);
/* *off: the first of len bytes reserved at the end of the file.  len 0: none, but the
 * file will be written elsewhere, too, from now on. */
int mgr_append(struct session *s, const struct target *t, uint64_t len,
	       uint64_t *off);

/* attr of what was made, or NULL. */
int mgr_mkdir(struct session *s, const struct target *t, uint32_t mode,
	      struct attr *attr);
int mgr_rmdir(struct session *s, const struct target *t);
int mgr_unlink(struct session *s, const struct target *t);
/* The same; *dir: the directory, with handle 0 if a mgr of an earlier version does not
 * say. */
int mgr_unlink_attr(struct session *s, const struct target *t,
		    struct attr *dir);
struct mgr_mknod {
	uint32_t mode; /* WIRE_MODE(), with type */
	uint32_t major, minor; /* devices */
};
int mgr_mknod(struct session *s, const struct target *t,
	      const struct mgr_mknod *what, struct attr *attr);
/* On WIRE_REDIRECT *which says which path (0, 1) leaves. */
int mgr_rename(struct session *s, const struct target *from,
	       const struct target *to, unsigned int *which);
/* flags: WIRE_RN_*; a mgr of an earlier version knows none: -ENOSYS. */
int mgr_rename2(struct session *s, const struct target *from,
		const struct target *to, uint32_t flags, unsigned int *which);
int mgr_link(struct session *s, const struct target *from,
	     const struct target *to, unsigned int *which);
int mgr_symlink(struct session *s, const char *text, const struct target *t);
/* The same, and what the name stands for then. */
int mgr_link_attr(struct session *s, const struct target *from,
		  const struct target *to, unsigned int *which,
		  struct attr *attr);
int mgr_symlink_attr(struct session *s, const char *text,
		     const struct target *t, struct attr *attr);
/* Copies at most len bytes, no NUL; *n: how many. */
int mgr_readlink(struct session *s, const struct target *t, char *buf,
		 size_t len, size_t *n);

struct mgr_listing {
	uint32_t bytes, count; /* struct wire_dirent records in buf */
	bool eof;
};
int mgr_readdir(struct session *s, uint64_t dir, uint64_t cookie, void *buf,
		uint32_t len, struct mgr_listing *listing);
/* The same with attributes, in records for mgr_next_entry(); buf is aligned to 8.
 * -ENOSYS: a mgr of an earlier version. */
int mgr_readdirplus(struct session *s, uint64_t dir, uint64_t cookie, void *buf,
		    uint32_t len, struct mgr_listing *listing);

struct mgr_entry {
	const char *name; /* in buf */
	uint64_t handle, cookie;
	uint32_t mode; /* type bits */
	bool known; /* attr is there, with the size */
	struct attr attr;
};
/* The one at *at, 0 at first, which is moved on: 1; 0: there are no more; -EPROTO. */
int mgr_next_entry(struct session *s, const struct mgr_listing *l,
		   const void *buf, uint32_t *at, struct mgr_entry *e);

#endif
