/* SPDX-License-Identifier: BSD-2-Clause */
/* test_mgr_ns.c - the rules of each operation on the name space. */
#include <errno.h>
#include <sys/prctl.h>

#include "tests/unit/mgr_fixture.h"

static struct fixture fx;

static void setup(void)
{
	fx_open(&fx);
}

static void teardown(void)
{
	fx_close(&fx);
}

static struct inode stat_ok(const char *path)
{
	struct inode ino = { 0 };

	ck_assert_int_eq(fx_lstat(&fx, path, &ino), 0);
	return ino;
}

START_TEST(test_mkdir_rmdir)
{
	uint64_t inodes = fx.ns.inodes;

	ck_assert_int_eq(fx_mkdir(&fx, "d/", 0755), 0);
	ck_assert_int_eq(fx_mkdir(&fx, "d", 0755), -EEXIST);
	ck_assert_int_eq(fx_mkdir(&fx, "d/.", 0755), -EEXIST);
	ck_assert_int_eq(fx_mkdir(&fx, "/", 0755), -EEXIST);
	ck_assert_int_eq(fx_mkdir(&fx, "x/y", 0755), -ENOENT);
	ck_assert_int_eq(fx_mkdir(&fx, "d/e", 0755), 0);
	ck_assert_uint_eq(stat_ok("d").nlink, 3);
	ck_assert_uint_eq(stat_ok("/").nlink, 3);
	ck_assert_int_eq(fx_creat(&fx, "f", 0644), 0);
	ck_assert_int_eq(fx_symlink(&fx, "d", "l"), 0);
	ck_assert_int_eq(fx_mkdir(&fx, "f/x", 0755), -ENOTDIR);
	ck_assert_int_eq(fx_rmdir(&fx, "d"), -ENOTEMPTY);
	ck_assert_int_eq(fx_rmdir(&fx, "d/e/."), -EINVAL);
	ck_assert_int_eq(fx_rmdir(&fx, "d/e/.."), -ENOTEMPTY);
	ck_assert_int_eq(fx_rmdir(&fx, "/"), -EBUSY);
	ck_assert_int_eq(fx_rmdir(&fx, "f"), -ENOTDIR);
	ck_assert_int_eq(fx_rmdir(&fx, "l"), -ENOTDIR);
	ck_assert_int_eq(fx_rmdir(&fx, "l/"), -ENOTDIR);
	ck_assert_int_eq(fx_rmdir(&fx, "x"), -ENOENT);
	ck_assert_int_eq(fx_rmdir(&fx, "d/e/"), 0);
	ck_assert_uint_eq(stat_ok("d").nlink, 2);
	ck_assert_int_eq(fx_rmdir(&fx, "d"), 0);
	ck_assert_uint_eq(stat_ok("/").nlink, 2);
	ck_assert_uint_eq(fx.ns.inodes, inodes + 2);
}
END_TEST

/* Without root, the manager's user can use what it has created. */
START_TEST(test_root_owner)
{
	uid_t uid = geteuid() ? geteuid() : 1001;
	gid_t gid = geteuid() ? getegid() : 1002;
	struct inode root;

	fx_close(&fx);
	ck_assert_int_eq(setegid(gid), 0);
	ck_assert_int_eq(seteuid(uid), 0);
	fx_open(&fx);
	root = stat_ok("/");
	ck_assert_uint_eq(root.uid, uid);
	ck_assert_uint_eq(root.gid, gid);
	ck_assert_uint_eq(root.mode, S_IFDIR | 0755);
	ck_assert_int_eq(seteuid(getuid()), 0);
	ck_assert_int_eq(setegid(getgid()), 0);
	/* otherwise no process, including LeakSanitizer, can inspect this one */
	ck_assert_int_eq(prctl(PR_SET_DUMPABLE, 1), 0);
}
END_TEST

START_TEST(test_open)
{
	struct inode ino, again;
	uint64_t open;

	ck_assert_int_eq(fx_mkdir(&fx, "d", 0755), 0);
	ck_assert_int_eq(fx_symlink(&fx, "d/new", "l"), 0);
	ck_assert_int_eq(fx_open_file(&fx, "x", WIRE_O_READ, 0, &ino, &open),
			 -ENOENT);
	ck_assert_int_eq(fx_open_file(&fx, "x/", WIRE_O_CREAT | WIRE_O_WRITE,
				      0644, &ino, &open),
			 -EISDIR);
	ck_assert_int_eq(fx_open_file(&fx, "l", WIRE_O_CREAT | WIRE_O_EXCL,
				      0644, &ino, &open),
			 -EEXIST);
	ck_assert_int_eq(fx_open_file(&fx, "l", WIRE_O_CREAT | WIRE_O_WRITE,
				      0640, &ino, &open),
			 0);
	ck_assert_uint_ne(open, 0);
	ck_assert_uint_eq(stat_ok("d/new").handle, ino.handle);
	ck_assert_uint_eq(stat_ok("d/new").mode, S_IFREG | 0640);
	ck_assert_int_eq(fx_open_file(&fx, "l", WIRE_O_NOFOLLOW | WIRE_O_READ,
				      0, &again, &open),
			 -ELOOP);
	ck_assert_int_eq(fx_open_file(&fx, "l", WIRE_O_READ, 0, &again, &open),
			 0);
	ck_assert_uint_eq(open, 0);
	ck_assert_uint_eq(again.handle, ino.handle);
	ck_assert_int_eq(fx_open_file(&fx, "d", WIRE_O_WRITE, 0, &ino, &open),
			 -EISDIR);
	ck_assert_int_eq(fx_open_file(&fx, "d", WIRE_O_READ, 0, &ino, &open),
			 0);
	ck_assert_int_eq(fx_open_file(&fx, "d/new",
				      WIRE_O_READ | WIRE_O_DIRECTORY, 0, &ino,
				      &open),
			 -ENOTDIR);
}
END_TEST

START_TEST(test_stripes)
{
	struct {
		struct dist dist;
		int rc;
	} t[] = {
		{ { 3, 4, 64 }, 0 },
		{ { 0, 1, 1 << 30 }, 0 },
		{ { UINT32_MAX, 2, 65536 }, 0 },
		{ { 4, 1, 65536 }, -EINVAL },
		{ { 0, 0, 65536 }, -EINVAL },
		{ { 0, 5, 65536 }, -EINVAL },
		{ { 0, 1, 0 }, -EINVAL },
	};
	uint32_t last = UINT32_MAX;

	for (size_t i = 0; i < sizeof(t) / sizeof(t[0]); i++) {
		struct ns_open_args a = { fx_path("f"), WIRE_O_CREAT, 0644,
					  t[i].dist };
		struct inode ino;
		uint64_t open;
		bool trunc;

		ck_assert_int_eq(FX_DO(&fx,
				       ns_open(&op, &a, &ino, &open, &trunc)),
				 t[i].rc);
		if (t[i].rc)
			continue;
		ck_assert_uint_eq(ino.dist.pcount, t[i].dist.pcount);
		ck_assert_uint_lt(ino.dist.base, 4);
		ck_assert_int_eq(fx_unlink(&fx, "f"), 0);
	}
	for (int i = 0; i < 4; i++) { /* the default spreads */
		char name[8];
		struct inode ino;

		snprintf(name, sizeof(name), "s%d", i);
		ck_assert_int_eq(fx_creat(&fx, name, 0644), 0);
		ino = stat_ok(name);
		ck_assert_uint_ne(ino.dist.base, last);
		ck_assert_uint_eq(ino.dist.pcount, 4);
		ck_assert_uint_eq(ino.dist.ssize, 65536);
		last = ino.dist.base;
	}
}
END_TEST

START_TEST(test_link_unlink)
{
	uint64_t h;

	ck_assert_int_eq(fx_mkdir(&fx, "d", 0755), 0);
	ck_assert_int_eq(fx_creat(&fx, "f", 0644), 0);
	ck_assert_int_eq(fx_symlink(&fx, "f", "l"), 0);
	h = stat_ok("f").handle;
	ck_assert_int_eq(fx_link(&fx, "f", "d/g"), 0);
	ck_assert_int_eq(fx_link(&fx, "f", "d/g"), -EEXIST);
	ck_assert_int_eq(fx_link(&fx, "f", "d"), -EEXIST);
	ck_assert_int_eq(fx_link(&fx, "f", "d/."), -EEXIST);
	ck_assert_int_eq(fx_link(&fx, "f", "n/"), -ENOENT);
	ck_assert_int_eq(fx_link(&fx, "d", "e"), -EPERM);
	ck_assert_int_eq(fx_link(&fx, "x", "e"), -ENOENT);
	ck_assert_int_eq(fx_link(&fx, "l", "l2"), 0);
	ck_assert(S_ISLNK(stat_ok("l2").mode));
	ck_assert_uint_eq(stat_ok("f").nlink, 2);
	ck_assert_int_eq(fx_unlink(&fx, "f"), 0);
	ck_assert_uint_eq(stat_ok("d/g").handle, h);
	ck_assert_uint_eq(stat_ok("d/g").nlink, 1);
	ck_assert_int_eq(fx_unlink(&fx, "f"), -ENOENT);
	ck_assert_int_eq(fx_unlink(&fx, "d"), -EISDIR);
	ck_assert_int_eq(fx_unlink(&fx, "d/."), -EISDIR);
	ck_assert_int_eq(fx_unlink(&fx, "d/g/"), -ENOTDIR);
	ck_assert_int_eq(fx_unlink(&fx, "d/g"), 0);
	ck_assert_int_eq(fx_unlink(&fx, "l"), 0);
	ck_assert_int_eq(fx_unlink(&fx, "l2"), 0);
	ck_assert_uint_eq(fx_count_intents(&fx, INTENT_REMOVE), 0);
}
END_TEST

START_TEST(test_link_max)
{
	struct inode ino;

	ck_assert_int_eq(fx_creat(&fx, "f", 0644), 0);
	ino = stat_ok("f");
	ino.nlink = NS_LINK_MAX;
	ck_assert_int_eq(FX_DO(&fx, inode_put(fx.db.st, &ino)), 0);
	ck_assert_int_eq(fx_link(&fx, "f", "g"), -EMLINK);
}
END_TEST

/* The link count of a directory counts its subdirectories. */
START_TEST(test_subdir_max)
{
	struct inode ino;

	ck_assert_int_eq(fx_mkdir(&fx, "d", 0755), 0);
	ck_assert_int_eq(fx_mkdir(&fx, "d/a", 0755), 0);
	ck_assert_int_eq(fx_mkdir(&fx, "e", 0755), 0);
	ck_assert_int_eq(fx_mkdir(&fx, "f", 0755), 0);
	ino = stat_ok("d");
	ino.nlink = UINT32_MAX;
	ck_assert_int_eq(FX_DO(&fx, inode_put(fx.db.st, &ino)), 0);
	ck_assert_int_eq(fx_mkdir(&fx, "d/b", 0755), -EMLINK);
	ck_assert_int_eq(fx_rename(&fx, "e", "d/e"), -EMLINK);
	ck_assert_int_eq(fx_rename(&fx, "d/a", "d/b"), 0);
	ck_assert_int_eq(fx_rename(&fx, "e", "d/b"), 0);
	ck_assert_uint_eq(stat_ok("d").nlink, UINT32_MAX);
	ck_assert_int_eq(fx_rename(&fx, "d/b", "e"), 0);
	ck_assert_int_eq(fx_rename(&fx, "f", "d/f"), 0);
}
END_TEST

START_TEST(test_rename)
{
	struct {
		const char *from, *to;
		int rc;
	} t[] = {
		{ "x", "y", -ENOENT },
		{ "a", "a", 0 },
		{ "a", "a/x", -EINVAL },
		{ "a", "a/b/x", -EINVAL },
		{ "a", "a/b", -EINVAL },
		{ "a/b", "a", -ENOTEMPTY },
		{ "a/.", "x", -EBUSY },
		{ "a", "/", -EBUSY },
		{ "/", "x", -EBUSY },
		{ "a/..", "x", -EBUSY },
		{ "f", "a", -EISDIR },
		{ "a", "f", -ENOTDIR },
		{ "f/", "x", -ENOTDIR },
		{ "f", "x/", -ENOTDIR },
		{ "f", "f2", 0 }, /* two names of one inode: both stay */
		{ "a/b", "full", -ENOTEMPTY },
		{ "a/b", "empty", 0 },
		{ "empty", "a/c/", 0 },
		{ "f", "a/c/g", 0 },
		{ "l", "a/c/g", 0 },
	};

	ck_assert_int_eq(fx_mkdir(&fx, "a", 0755), 0);
	ck_assert_int_eq(fx_mkdir(&fx, "a/b", 0755), 0);
	ck_assert_int_eq(fx_mkdir(&fx, "empty", 0755), 0);
	ck_assert_int_eq(fx_mkdir(&fx, "full", 0755), 0);
	ck_assert_int_eq(fx_creat(&fx, "full/x", 0644), 0);
	ck_assert_int_eq(fx_creat(&fx, "f", 0644), 0);
	ck_assert_int_eq(fx_link(&fx, "f", "f2"), 0);
	ck_assert_int_eq(fx_symlink(&fx, "q", "l"), 0);
	for (size_t i = 0; i < sizeof(t) / sizeof(t[0]); i++)
		ck_assert_msg(fx_rename(&fx, t[i].from, t[i].to) == t[i].rc,
			      "rename %s %s", t[i].from, t[i].to);
	ck_assert_uint_eq(stat_ok("a").nlink, 3);
	ck_assert_uint_eq(stat_ok("/").nlink, 4);
	ck_assert_uint_eq(stat_ok("f2").nlink, 1);
	ck_assert(S_ISLNK(stat_ok("a/c/g").mode));
	ck_assert_uint_eq(stat_ok("a/c/..").handle, stat_ok("a").handle);
}
END_TEST

static void write_file(const char *path, uint64_t end)
{
	struct inode ino;
	uint64_t open;

	ck_assert_int_eq(fx_open_file(&fx, path, WIRE_O_CREAT | WIRE_O_WRITE,
				      0644, &ino, &open),
			 0);
	ck_assert_int_eq(fx_release(&fx, ino.handle, open,
				    WIRE_R_WROTE | WIRE_R_MTIME, end, fx.now),
			 0);
}

START_TEST(test_data_goes)
{
	struct intent in;
	uint64_t h;

	write_file("a", 10);
	write_file("b", 10);
	h = stat_ok("b").handle;
	ck_assert_int_eq(fx_rename(&fx, "a", "b"), 0);
	ck_assert_uint_eq(fx_count_intents(&fx, INTENT_REMOVE), 1);
	ck_assert_int_eq(intent_next(fx.db.st, INTENT_REMOVE, 0, &in), 0);
	ck_assert_uint_eq(in.handle, h);
	ck_assert_uint_eq(in.dist.pcount, 4);
	ck_assert_int_eq(fx_link(&fx, "b", "c"), 0);
	ck_assert_int_eq(fx_unlink(&fx, "b"), 0);
	ck_assert_uint_eq(fx_count_intents(&fx, INTENT_REMOVE), 1);
	ck_assert_int_eq(fx_unlink(&fx, "c"), 0);
	ck_assert_uint_eq(fx_count_intents(&fx, INTENT_REMOVE), 2);
}
END_TEST

START_TEST(test_orphan)
{
	struct inode ino, orphan;
	uint64_t open, inodes = fx.ns.inodes;

	ck_assert_int_eq(fx_open_file(&fx, "f", WIRE_O_CREAT | WIRE_O_WRITE,
				      0644, &ino, &open),
			 0);
	ck_assert_int_eq(fx_unlink(&fx, "f"), 0);
	ck_assert_int_eq(fx_stat(&fx, "f", &orphan), -ENOENT);
	fx_reopen(&fx);
	ck_assert_int_eq(fx_stat_handle(&fx, ino.handle, &orphan), 0);
	ck_assert_uint_eq(orphan.nlink, 0);
	ck_assert_uint_eq(fx_count_intents(&fx, INTENT_REMOVE), 0);
	ck_assert_int_eq(fx_release(&fx, ino.handle, open, WIRE_R_WROTE, 1, 0),
			 0);
	ck_assert_int_eq(fx_stat_handle(&fx, ino.handle, &orphan), -ESTALE);
	ck_assert_uint_eq(fx_count_intents(&fx, INTENT_REMOVE), 1);
	ck_assert_uint_eq(fx.ns.inodes, inodes);
}
END_TEST

START_TEST(test_times)
{
	struct inode d, f;

	ck_assert_int_eq(fx_mkdir(&fx, "d", 0755), 0);
	d = stat_ok("d");
	ck_assert_int_eq(fx_creat(&fx, "d/f", 0644), 0);
	ck_assert_int_gt(stat_ok("d").mtime, d.mtime);
	d = stat_ok("d");
	f = stat_ok("d/f");
	ck_assert_int_eq(fx_chmod(&fx, "d/f", 0600), 0);
	ck_assert_int_gt(stat_ok("d/f").ctime, f.ctime);
	ck_assert_int_eq(stat_ok("d/f").mtime, f.mtime);
	ck_assert_int_eq(stat_ok("d").mtime, d.mtime);
	f = stat_ok("d/f");
	ck_assert_int_eq(fx_rename(&fx, "d/f", "g"), 0);
	ck_assert_int_gt(stat_ok("g").ctime, f.ctime);
	ck_assert_int_gt(stat_ok("d").mtime, d.mtime);
	ck_assert_int_eq(stat_ok("/").mtime, stat_ok("d").mtime);
	f = stat_ok("g");
	ck_assert_int_eq(fx_link(&fx, "g", "d/h"), 0);
	ck_assert_int_gt(stat_ok("g").ctime, f.ctime);
	f = stat_ok("g");
	ck_assert_int_eq(fx_unlink(&fx, "g"), 0);
	ck_assert_int_gt(stat_ok("d/h").ctime, f.ctime);
}
END_TEST

START_TEST(test_handles)
{
	struct ns_path p = { .path = "g", .len = 1 };
	struct inode ino;
	uint64_t d, old;

	ck_assert_int_eq(fx_mkdir(&fx, "d", 0755), 0);
	ck_assert_int_eq(fx_creat(&fx, "d/g", 0644), 0);
	d = p.dir = stat_ok("d").handle;
	ck_assert_int_eq(FX_DO(&fx, ns_getattr(&op, &p, true, &ino)), 0);
	ck_assert_int_eq(FX_DO(&fx, ns_unlink(&op, &p, &ino)), 0);
	ck_assert_int_eq(fx_rmdir(&fx, "d"), 0);
	ck_assert_int_eq(FX_DO(&fx, ns_getattr(&op, &p, true, &ino)), -ENOENT);
	ck_assert_int_eq(fx_stat_handle(&fx, d, &ino), -ESTALE);
	ck_assert_int_eq(fx_creat(&fx, "f", 0644), 0);
	p.dir = old = stat_ok("f").handle;
	ck_assert_int_eq(FX_DO(&fx, ns_getattr(&op, &p, true, &ino)), -ENOTDIR);
	ck_assert_int_eq(fx_unlink(&fx, "f"), 0);
	fx_reopen(&fx);
	ck_assert_int_eq(fx_creat(&fx, "f", 0644), 0);
	ck_assert_uint_gt(stat_ok("f").handle, old);
}
END_TEST

/* After a crash, inodes are counted in turns, while others are created and removed. */
START_TEST(test_count_in_turns)
{
	uint64_t inodes;
	char name[16];

	for (int i = 0; i < 1200; i++) {
		snprintf(name, sizeof(name), "f%d", i);
		ck_assert_int_eq(fx_creat(&fx, name, 0644), 0);
	}
	inodes = fx.ns.inodes;
	store_close(fx.db.st);
	fx.db.st = NULL;
	fx_reopen(&fx);
	ck_assert_uint_lt(fx.ns.inodes, inodes);
	ck_assert(ns_count_some(&fx.ns));
	ck_assert_int_eq(fx_unlink(&fx, "f0"), 0);
	ck_assert_int_eq(fx_unlink(&fx, "f1199"), 0);
	ck_assert_int_eq(fx_creat(&fx, "g", 0644), 0);
	ck_assert_int_eq(fx_creat(&fx, "h", 0644), 0);
	ck_assert_int_eq(fx_unlink(&fx, "h"), 0);
	while (ns_count_some(&fx.ns))
		;
	ck_assert_uint_eq(fx.ns.inodes, inodes - 1);
}
END_TEST

START_TEST(test_count_survives)
{
	ck_assert_int_eq(fx_mkdir(&fx, "d", 0755), 0);
	ck_assert_int_eq(fx_mkdir(&fx, "d", 0755), -EEXIST);
	ck_assert_uint_eq(fx.ns.inodes, 2);
	fx_reopen(&fx);
	ck_assert_uint_eq(fx.ns.inodes, 2);
	/* no count is stored: the manager counts again */
	store_close(fx.db.st);
	fx.db.st = NULL;
	fx_reopen(&fx);
	ck_assert_uint_eq(fx.ns.inodes, 2);
}
END_TEST

START_TEST(test_lost_root)
{
	struct ns_attr attr = { .st = fx.db.st, .niods = 4, .ssize = 65536 };
	struct ns_op op = fx_begin(&fx);
	struct ns other = { 0 };

	ck_assert_int_eq(fx_end(&fx, &op, inode_del(fx.db.st, fx.ns.root)), 0);
	ck_assert_int_eq(ns_open_space(&other, &attr), -EIO);
}
END_TEST

START_TEST(test_other_iods)
{
	struct ns ns;
	struct ns_attr attr = { fx.db.st, 5, 65536, 0 };

	ck_assert_int_eq(ns_open_space(&ns, &attr), -EINVAL);
}
END_TEST

static struct wire_attr attr_for(uint32_t features, const struct inode *ino)
{
	struct ns_op op = { .ns = &fx.ns, .features = features };
	struct wire_attr attr;

	ns_fill_attr(&op, ino, &attr);
	return attr;
}

/* A client of an earlier release must not look for data at iods that do not have it. */
START_TEST(test_other_ring)
{
	struct ns_grant of = { .session = fx.session };
	struct wire_attr attr;
	struct inode ino;
	uint64_t open;

	fx.ns.ring = (struct ring){ .id = 3, .first = 1024, .n = 12 };
	ck_assert_int_eq(fx_creat(&fx, "f", 0644), -EOPNOTSUPP);
	fx.features = WIRE_FT_COPIES;
	ck_assert_int_eq(fx_open_file(&fx, "f", WIRE_O_CREAT | WIRE_O_WRITE,
				      0644, &ino, &open),
			 0);
	of.handle = ino.handle;
	of.open = open;
	attr = attr_for(WIRE_FT_COPIES, &ino);
	ck_assert_uint_eq(le32toh(attr.dist.ring), 3);
	ck_assert_uint_eq(le32toh(attr.dist.base), ino.dist.base);
	ck_assert(!(le32toh(attr.flags) & WIRE_A_SIZE));
	ino.flags |= INODE_HOLES;
	attr = attr_for(0, &ino);
	ck_assert_uint_eq(attr.dist.ring, 0);
	ck_assert_uint_eq(attr.dist.base, 0);
	ck_assert_uint_eq(le32toh(attr.dist.pcount), 4);
	ck_assert_uint_eq(le32toh(attr.flags), WIRE_A_SIZE);
	fx.features = 0;
	ck_assert_int_eq(fx_open_file(&fx, "f", WIRE_O_READ, 0, &ino, &open),
			 -EOPNOTSUPP);
	ck_assert_int_eq(FX_DO(&fx,
			       ns_redeem(&op, &of, WIRE_O_READ, &ino, &open)),
			 -EOPNOTSUPP);
	fx.features = WIRE_FT_COPIES;
	ck_assert_int_eq(
		FX_DO(&fx, ns_redeem(&op, &of, WIRE_O_READ, &ino, &open)), 0);
	ck_assert_int_eq(fx_open_file(&fx, "f", WIRE_O_READ, 0, &ino, &open),
			 0);
}
END_TEST

int main(void)
{
	TCase *tc = tcase_create("ns");
	TCase *cases[] = { tc, NULL };

	tcase_add_checked_fixture(tc, setup, teardown);
	tcase_set_timeout(tc, 60);
	tcase_add_test(tc, test_mkdir_rmdir);
	tcase_add_test(tc, test_root_owner);
	tcase_add_test(tc, test_open);
	tcase_add_test(tc, test_stripes);
	tcase_add_test(tc, test_link_unlink);
	tcase_add_test(tc, test_link_max);
	tcase_add_test(tc, test_subdir_max);
	tcase_add_test(tc, test_rename);
	tcase_add_test(tc, test_data_goes);
	tcase_add_test(tc, test_orphan);
	tcase_add_test(tc, test_times);
	tcase_add_test(tc, test_handles);
	tcase_add_test(tc, test_count_survives);
	tcase_add_test(tc, test_count_in_turns);
	tcase_add_test(tc, test_lost_root);
	tcase_add_test(tc, test_other_iods);
	tcase_add_test(tc, test_other_ring);
	return fx_main("mgr_ns", cases);
}
