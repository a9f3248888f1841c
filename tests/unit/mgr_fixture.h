/* SPDX-License-Identifier: BSD-2-Clause */
/* mgr_fixture.h - a name space in a directory of its own, for tests. */
#ifndef MGR_FIXTURE_H
#define MGR_FIXTURE_H

#include <string.h>

#include "mgr/ns/ns.h"
#include "mgr/db/sessions.h"
#include "tests/unit/store_fixture.h"

struct fixture {
	struct store_fixture db;
	struct ns ns;
	struct ns_cred cred;
	uint32_t groups[8];
	uint64_t session;
	bool declares;
	uint32_t features; /* of the client */
	struct ring ring; /* of new files; n 0: ring 0 */
	int64_t now;
	uint64_t wait; /* of the last operation */
};

static inline void fx_open_space(struct fixture *fx)
{
	struct ns_attr ns = { .niods = 4, .ssize = 65536, .pcount = 0 };

	ns.st = fx->db.st;
	ck_assert_int_eq(ns_open_space(&fx->ns, &ns), 0);
	if (fx->ring.n)
		fx->ns.ring = fx->ring;
}

static inline void fx_reopen(struct fixture *fx)
{
	if (fx->db.st) {
		ns_close_space(&fx->ns, true);
		store_close(fx->db.st);
	}
	store_fx_open(&fx->db);
	fx_open_space(fx);
}

static inline void fx_open(struct fixture *fx)
{
	memset(fx, 0, sizeof(*fx));
	store_fx_setup(&fx->db);
	fx->cred.groups = fx->groups;
	fx->session = 77;
	fx->now = 1000;
	fx_open_space(fx);
}

static inline void fx_close(struct fixture *fx)
{
	store_fx_teardown(&fx->db);
}

static inline struct ns_op fx_begin(struct fixture *fx)
{
	ck_assert_int_eq(ns_begin(&fx->ns), 0);
	return (struct ns_op){ .ns = &fx->ns,
			       .cred = &fx->cred,
			       .session = fx->session,
			       .declares = fx->declares,
			       .features = fx->features,
			       .now = ++fx->now };
}

static inline int fx_end(struct fixture *fx, struct ns_op *op, int rc)
{
	fx->wait = op->wait;
	if (rc && rc != NS_PART)
		ns_abort(&fx->ns);
	else
		ck_assert_int_eq(ns_commit(&fx->ns), 0);
	return rc;
}

static inline struct ns_path fx_path(const char *path)
{
	return (struct ns_path){ .path = path, .len = strlen(path) };
}

static inline struct ns_xattr fx_xattr(const char *path, const char *name)
{
	return (struct ns_xattr){ .path = fx_path(path),
				  .name = name,
				  .nlen = strlen(name) };
}

static inline void fx_become(struct fixture *fx, uint32_t uid, uint32_t gid)
{
	fx->cred.uid = uid;
	fx->cred.gid = gid;
	fx->cred.ngroups = 0;
}

/* Each macro runs one operation in a transaction of its own, with a path from the root. */
#define FX_DO(fx, call)                                                        \
	({                                                                     \
		struct ns_op op = fx_begin(fx);                                \
		fx_end(fx, &op, (call));                                       \
	})

static inline int fx_stat(struct fixture *fx, const char *path,
			  struct inode *ino)
{
	struct ns_path p = fx_path(path);

	return FX_DO(fx, ns_getattr(&op, &p, true, ino));
}

static inline int fx_lstat(struct fixture *fx, const char *path,
			   struct inode *ino)
{
	struct ns_path p = fx_path(path);

	return FX_DO(fx, ns_getattr(&op, &p, false, ino));
}

static inline int fx_stat_handle(struct fixture *fx, uint64_t handle,
				 struct inode *ino)
{
	struct ns_path p = { .dir = handle, .path = "" };

	return FX_DO(fx, ns_getattr(&op, &p, false, ino));
}

static inline int fx_mkdir(struct fixture *fx, const char *path, uint32_t mode)
{
	struct ns_path p = fx_path(path);
	struct inode ino;

	return FX_DO(fx, ns_mkdir(&op, &p, mode, &ino));
}

static inline int fx_rmdir(struct fixture *fx, const char *path)
{
	struct ns_path p = fx_path(path);

	return FX_DO(fx, ns_rmdir(&op, &p));
}

static inline int fx_unlink(struct fixture *fx, const char *path)
{
	struct ns_path p = fx_path(path);
	struct inode dir;

	return FX_DO(fx, ns_unlink(&op, &p, &dir));
}

static inline int fx_rename2(struct fixture *fx, const char *a, const char *b,
			     uint32_t flags)
{
	struct ns_path pa = fx_path(a), pb = fx_path(b);

	return FX_DO(fx, ns_rename(&op, &pa, &pb, flags));
}

static inline int fx_rename(struct fixture *fx, const char *a, const char *b)
{
	return fx_rename2(fx, a, b, 0);
}

static inline int fx_mknod(struct fixture *fx, const char *path, uint32_t mode,
			   struct inode *ino)
{
	struct ns_mknod_args args = {
		.path = fx_path(path), .mode = mode, .major = 4, .minor = 77
	};

	return FX_DO(fx, ns_mknod(&op, &args, ino));
}

static inline int fx_link(struct fixture *fx, const char *a, const char *b)
{
	struct ns_path pa = fx_path(a), pb = fx_path(b);
	struct inode ino;

	return FX_DO(fx, ns_link(&op, &pa, &pb, &ino));
}

static inline int fx_symlink(struct fixture *fx, const char *target,
			     const char *path)
{
	struct ns_path p = fx_path(path);
	struct inode ino;

	return FX_DO(fx, ns_symlink(&op, target, strlen(target), &p, &ino));
}

static inline int fx_open_file(struct fixture *fx, const char *path,
			       uint32_t flags, uint32_t mode, struct inode *ino,
			       uint64_t *open)
{
	struct ns_open_args args = { .path = fx_path(path),
				     .flags = flags,
				     .mode = mode,
				     .dist = { UINT32_MAX, UINT32_MAX,
					       UINT32_MAX } };
	bool truncate;
	int rc;

	rc = FX_DO(fx, ns_open(&op, &args, ino, open, &truncate));
	return rc ? rc : truncate ? NS_BUSY : 0;
}

static inline int fx_release(struct fixture *fx, uint64_t handle, uint64_t open,
			     uint32_t flags, uint64_t end, int64_t mtime)
{
	struct ns_release_args args = { handle, open, end, mtime, flags };

	return FX_DO(fx, ns_release(&op, &args));
}

/* Creates an empty file and closes it. */
static inline int fx_creat(struct fixture *fx, const char *path, uint32_t mode)
{
	struct inode ino;
	uint64_t open;
	int rc;

	rc = fx_open_file(fx, path, WIRE_O_CREAT | WIRE_O_WRITE | WIRE_O_EXCL,
			  mode, &ino, &open);
	return rc ? rc : fx_release(fx, ino.handle, open, 0, 0, 0);
}

static inline int fx_chmod(struct fixture *fx, const char *path, uint32_t mode)
{
	struct ns_setattr_args a = { .valid = WIRE_S_MODE, .mode = mode };
	struct ns_path p = fx_path(path);
	struct inode ino;

	return FX_DO(fx, ns_setattr(&op, &p, true, &a, &ino));
}

static inline int fx_chown(struct fixture *fx, const char *path, uint32_t uid,
			   uint32_t gid)
{
	struct ns_setattr_args a = { .valid = WIRE_S_UID | WIRE_S_GID,
				     .uid = uid,
				     .gid = gid };
	struct ns_path p = fx_path(path);
	struct inode ino;

	return FX_DO(fx, ns_setattr(&op, &p, false, &a, &ino));
}

static inline int fx_truncate(struct fixture *fx, const char *path,
			      uint64_t size, struct intent *in)
{
	struct ns_path p = fx_path(path);

	return FX_DO(fx, ns_truncate(&op, &p, size, 0, in));
}

static inline unsigned int fx_count_intents(struct fixture *fx,
					    enum intent_kind kind)
{
	struct intent in;
	uint64_t after = 0;
	unsigned int n = 0;

	while (!intent_next(fx->db.st, kind, after, &in)) {
		after = in.id;
		n++;
	}
	return n;
}

static inline int fx_main(const char *name, TCase *const cases[])
{
	Suite *s = suite_create(name);

	for (int i = 0; cases[i]; i++)
		suite_add_tcase(s, cases[i]);
	return run_suite(s);
}

#endif
