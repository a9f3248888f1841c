/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * mgr_requests.h - the operations of the manager as functions.  Each function sends one request
 * and returns 0, -errno, or WIRE_REDIRECT: the path leads out of the file system, to the path
 * in target->redirect.  A change may return -ECONNABORTED: unknown whether it was made, see
 * server_call_run().
 */
#ifndef MGR_REQUESTS_H
#define MGR_REQUESTS_H

#include <sys/types.h>

#include "client/lib/session/server_call.h"
#include "common/dist/dist.h"
#include "client/lib/session/client_session.h"

/* The object of an operation: a path below the root, or a handle. */
struct target {
	uint64_t handle; /* 0: the root */
	const char *path; /* "": the object of the handle itself */
	uint32_t flags; /* WIRE_P_* */
	uint64_t open; /* id of the open file, or 0 */
	char *redirect; /* PATH_MAX bytes, or NULL */
	const struct cred *as; /* requesting user; NULL: that of the session */
};

struct attr {
	uint64_t handle;
	uint64_t size; /* valid with WIRE_A_SIZE */
	int64_t atime, mtime, ctime; /* ns */
	uint32_t mode, nlink, uid, gid;
	uint32_t flags; /* WIRE_A_* */
	uint32_t major, minor; /* of devices */
	struct dist dist; /* of regular files: copyset_check_layout() */
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
	struct dist dist; /* fields of UINT32_MAX: the default */
};
/* *open: the id for mgr_release(), or 0: none needed. */
int mgr_open(struct session *s, const struct target *t,
	     const struct mgr_open *how, struct attr *attr, uint64_t *open);

/* See struct wire_lock. */
struct mgr_lock {
	uint64_t owner;
	uint64_t start, end;
	uint32_t type, flags; /* WIRE_L_* */
	uint64_t session; /* session that was used, set for the caller */
};
/*
 * Returns start, limited so that the range of the lock is not empty: a range ends at INT64_MAX at
 * most.
 */
static inline uint64_t mgr_lock_start(uint64_t start)
{
	return start < INT64_MAX ? start : INT64_MAX - 1;
}

/*
 * Sets, releases or (WIRE_L_TEST) tests a lock.  -EAGAIN: another lock conflicts.  WIRE_L_TEST
 * sets *lock to the conflicting lock.
 */
int mgr_lock(struct session *s, const struct target *t, struct mgr_lock *lock);
/* LOCK_ANY; n is at most WIRE_LOCK_ANY_MAX. */
struct mgr_lock_any {
	const struct mgr_wanted {
		uint64_t handle;
		struct mgr_lock lock;
	} * wanted;
	uint32_t n, wait_ms;
	/* called as soon as a mgr_unlock() can cancel the request; if it returns false, the
	 * request is not sent and fails with -EINTR */
	bool (*begins)(void *arg);
	void *arg;
	uint32_t which; /* index of the lock that was taken */
};
int mgr_lock_any(struct session *s, struct mgr_lock_any *any);
/* Releases a lock, or cancels a wait for it, without waiting for the answer. */
void mgr_unlock(struct session *s, uint64_t handle,
		const struct mgr_lock *lock);

/* Gets a token for t, which is open as t->open; flags: WIRE_O_READ, WIRE_O_WRITE. */
int mgr_grant(struct session *s, const struct target *t, uint32_t flags,
	      uint8_t token[WIRE_TOKEN_LEN]);
/* As mgr_open(), for the object of the token; flags: also WIRE_O_APPEND. */
int mgr_redeem(struct session *s, const uint8_t token[WIRE_TOKEN_LEN],
	       uint32_t flags, struct attr *attr, uint64_t *open);

/* A file of an earlier session that this session adopts; see struct wire_adopt. */
struct mgr_adopt {
	uint64_t session, handle, open, owner;
	bool process;
};
/* *done: WIRE_AD_*. */
int mgr_adopt(struct session *s, const struct mgr_adopt *what, uint32_t *done);
/*
 * Ends the session `before`, whose files this session has adopted.  Returns 0 when no server
 * can execute a request of that session any more.
 */
int mgr_adopted(struct session *s, uint64_t before);

struct mgr_release {
	uint64_t handle, open;
	uint64_t end; /* offset after the highest byte written */
	int64_t mtime; /* time of the last write, ns */
	uint32_t flags; /* WIRE_R_* */
	bool late; /* see server_call.h */
};
/* Sends the request without waiting for the answer. */
void mgr_release(struct session *s, const struct mgr_release *rel);
/*
 * Reserves len bytes at the end of the file, and sets *off to the offset of the first.  With a
 * len of 0, reserves nothing, but tells the manager that this client also writes at other
 * offsets.
 */
int mgr_append(struct session *s, const struct target *t, uint64_t len,
	       uint64_t *off);

/* attr gets the attributes of the new object, or is NULL. */
int mgr_mkdir(struct session *s, const struct target *t, uint32_t mode,
	      struct attr *attr);
int mgr_rmdir(struct session *s, const struct target *t);
int mgr_unlink(struct session *s, const struct target *t);
/*
 * mgr_unlink() that also sets *dir to the attributes of the directory after the removal.
 * dir->handle is 0 if the manager is of an earlier release, which does not return them.
 */
int mgr_unlink_attr(struct session *s, const struct target *t,
		    struct attr *dir);
struct mgr_mknod {
	uint32_t mode; /* WIRE_MODE() with the type */
	uint32_t major, minor; /* of devices */
};
int mgr_mknod(struct session *s, const struct target *t,
	      const struct mgr_mknod *what, struct attr *attr);
/* On WIRE_REDIRECT, *which says which path (0, 1) leaves the file system. */
int mgr_rename(struct session *s, const struct target *from,
	       const struct target *to, unsigned int *which);
/* flags: WIRE_RN_*. -ENOSYS: a manager of an earlier release. */
int mgr_rename2(struct session *s, const struct target *from,
		const struct target *to, uint32_t flags, unsigned int *which);
int mgr_link(struct session *s, const struct target *from,
	     const struct target *to, unsigned int *which);
int mgr_symlink(struct session *s, const char *text, const struct target *t);
/* mgr_link() and mgr_symlink(); *attr gets the attributes of the object that has the new name. */
int mgr_link_attr(struct session *s, const struct target *from,
		  const struct target *to, unsigned int *which,
		  struct attr *attr);
int mgr_symlink_attr(struct session *s, const char *text,
		     const struct target *t, struct attr *attr);
/* Copies at most len bytes, without a NUL; *n: the number of bytes. */
int mgr_readlink(struct session *s, const struct target *t, char *buf,
		 size_t len, size_t *n);

struct mgr_listing {
	uint32_t bytes, count; /* struct wire_dirent records in buf */
	bool eof;
};
int mgr_readdir(struct session *s, uint64_t dir, uint64_t cookie, void *buf,
		uint32_t len, struct mgr_listing *listing);
/*
 * mgr_readdir() with the attributes of the entries.  The caller reads the records in buf, which
 * is aligned to 8 bytes, with mgr_next_entry().  -ENOSYS: the manager is of an earlier release.
 */
int mgr_readdirplus(struct session *s, uint64_t dir, uint64_t cookie, void *buf,
		    uint32_t len, struct mgr_listing *listing);

struct mgr_entry {
	const char *name; /* points into buf */
	uint64_t handle, cookie;
	uint32_t mode; /* only the type bits */
	bool known; /* attr is valid, including the size */
	struct attr attr;
};
/*
 * Sets *e to the entry at byte *at of buf, and advances *at, which the caller sets to 0 first.
 * Returns 1; 0: no more entries; -EPROTO: the record is invalid.
 */
int mgr_next_entry(struct session *s, const struct mgr_listing *l,
		   const void *buf, uint32_t *at, struct mgr_entry *e);

/* ---- extended attributes ---- */

/*
 * A result.  The caller sets buf and its size cap.  The request sets n to the size of the value
 * in bytes.  If n is above cap, the content of buf is undefined.
 */
struct xattr_buf {
	void *buf;
	size_t cap, n;
};

/* flags: XATTR_CREATE, XATTR_REPLACE.  -ENOSPC: value too long, or too many attributes. */
int mgr_setxattr(struct session *s, const struct target *t, const char *name,
		 const void *value, size_t len, int flags);
/* -ENODATA: there is no such attribute. */
int mgr_getxattr(struct session *s, const struct target *t, const char *name,
		 struct xattr_buf *out);
int mgr_removexattr(struct session *s, const struct target *t,
		    const char *name);
/* Gets the names, each followed by a NUL. */
int mgr_listxattr(struct session *s, const struct target *t,
		  struct xattr_buf *out);

#endif
