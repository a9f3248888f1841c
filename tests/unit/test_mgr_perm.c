/* SPDX-License-Identifier: BSD-2-Clause */
/* test_mgr_perm.c - who may do what, for all modes and kinds of users. */
#include <errno.h>

#include "tests/unit/mgr_fixture.h"

#define OWNER 100u
#define GROUP 200u

static struct fixture fx;

/* uid, gid, and one supplementary group; which bits of a mode apply. */
static const struct person {
	const char *name;
	uint32_t uid, gid, extra;
	int shift;
} people[] = {
	{ "root", 0, 0, 0, -1 },
	{ "owner", OWNER, 1, 0, 6 },
	{ "owner in group", OWNER, GROUP, 0, 6 },
	{ "group", 101, GROUP, 0, 3 },
	{ "supplementary", 102, 1, GROUP, 3 },
	{ "other", 103, 1, 2, 0 },
};
#define NPEOPLE (sizeof(people) / sizeof(people[0]))

static void setup(void)
{
	fx_open(&fx);
}

static void teardown(void)
{
	fx_close(&fx);
}

static void become(const struct person *p)
{
	fx_become(&fx, p->uid, p->gid);
	fx.groups[0] = p->extra;
	fx.cred.ngroups = p->extra ? 1 : 0;
}

static void root(void)
{
	fx_become(&fx, 0, 0);
}

/* The model, written from the definition and not like ns_may(). */
static bool has(const struct person *p, uint32_t mode, bool dir, uint32_t mask)
{
	if (p->shift < 0)
		return !(mask & X_OK) || dir || (mode & 0111) != 0;
	return ((mode >> p->shift) & mask) == mask;
}

static void set(const char *path, uint32_t mode)
{
	root();
	ck_assert_int_eq(fx_chown(&fx, path, OWNER, GROUP), 0);
	ck_assert_int_eq(fx_chmod(&fx, path, mode), 0);
}

static int try_open(const char *path, uint32_t flags)
{
	struct inode ino;
	uint64_t open;
	int rc;

	rc = fx_open_file(&fx, path, flags, 0644, &ino, &open);
	if (!rc && open)
		fx_release(&fx, ino.handle, open, 0, 0, 0);
	return rc;
}

START_TEST(test_file)
{
	const struct person *p = &people[_i];
	struct ns_path path = fx_path("f");

	root();
	ck_assert_int_eq(fx_creat(&fx, "f", 0600), 0);
	for (uint32_t mode = 0; mode <= 0777; mode++) {
		set("f", mode);
		become(p);
		for (uint32_t mask = 0; mask < 8; mask++)
			ck_assert_msg(FX_DO(&fx, ns_access(&op, &path, mask)) ==
					      (has(p, mode, false, mask)
						       ? 0
						       : -EACCES),
				      "%s %o access %o", p->name, mode, mask);
		ck_assert_int_eq(try_open("f", WIRE_O_READ),
				 has(p, mode, false, R_OK) ? 0 : -EACCES);
		ck_assert_int_eq(try_open("f", WIRE_O_WRITE),
				 has(p, mode, false, W_OK) ? 0 : -EACCES);
		ck_assert_int_eq(try_open("f", WIRE_O_READ | WIRE_O_TRUNC),
				 has(p, mode, false, R_OK | W_OK) ? 0
								  : -EACCES);
	}
}
END_TEST

/* Checks that all entries except . and .. have attributes, or none has. */
static bool all_told(const uint8_t *buf, uint32_t bytes)
{
	unsigned int names = 0, told = 0;

	for (uint32_t at = 0; at < bytes;) {
		const struct wire_direntplus *d = (const void *)(buf + at);

		at += le16toh(d->ent.reclen);
		names += *(const char *)(d + 1) != '.';
		told += d->attr.handle != 0;
	}
	ck_assert(names && (told == names || !told));
	return told;
}

START_TEST(test_directory)
{
	const struct person *p = &people[_i];

	root();
	ck_assert_int_eq(fx_mkdir(&fx, "d", 0777), 0);
	for (uint32_t mode = 0; mode <= 0777; mode++) {
		bool x, wx;
		_Alignas(8) uint8_t buf[4096];
		struct ns_readdir_args args = { .plus = true,
						.buf = buf,
						.cap = sizeof(buf) };
		struct ns_listing l;
		struct inode ino;
		uint64_t d;

		set("d", 0777);
		ck_assert_int_eq(fx_creat(&fx, "d/old", 0666), 0);
		set("d", mode);
		ck_assert_int_eq(fx_stat(&fx, "d", &ino), 0);
		d = ino.handle;
		become(p);
		x = has(p, mode, true, X_OK);
		wx = has(p, mode, true, W_OK | X_OK);
		ck_assert_int_eq(fx_stat(&fx, "d/old", &ino), x ? 0 : -EACCES);
		ck_assert_int_eq(fx_stat(&fx, "d/..", &ino), x ? 0 : -EACCES);
		ck_assert_int_eq(fx_stat(&fx, "d/none", &ino),
				 x ? -ENOENT : -EACCES);
		args.dir = d;
		ck_assert_int_eq(FX_DO(&fx, ns_readdir(&op, &args, &l)),
				 has(p, mode, true, R_OK) ? 0 : -EACCES);
		if (has(p, mode, true, R_OK))
			ck_assert_int_eq(all_told(buf, l.bytes), x);
		ck_assert_int_eq(fx_mkdir(&fx, "d/n", 0755), wx ? 0 : -EACCES);
		ck_assert_int_eq(fx_symlink(&fx, "x", "d/l"), wx ? 0 : -EACCES);
		ck_assert_int_eq(fx_link(&fx, "d/old", "d/h"),
				 wx ? 0 : -EACCES);
		ck_assert_int_eq(fx_rename(&fx, "d/old", "d/new"),
				 wx ? 0 : -EACCES);
		ck_assert_int_eq(fx_unlink(&fx, wx ? "d/new" : "d/old"),
				 wx ? 0 : -EACCES);
		root();
		fx_unlink(&fx, "d/old");
		fx_unlink(&fx, "d/l");
		fx_unlink(&fx, "d/h");
		fx_rmdir(&fx, "d/n");
	}
}
END_TEST

START_TEST(test_sticky)
{
	static const struct {
		uint32_t uid;
		int rc;
	} t[] = { { 0, 0 }, { OWNER, 0 }, { 101, 0 }, { 102, -EPERM } };

	for (size_t i = 0; i < sizeof(t) / sizeof(t[0]); i++) {
		root();
		fx_mkdir(&fx, "d", 0777);
		set("d", 01777);
		fx_become(&fx, 101, 1);
		ck_assert_int_eq(fx_creat(&fx, "d/f", 0666), 0);
		ck_assert_int_eq(fx_creat(&fx, "d/g", 0666), 0);
		ck_assert_int_eq(fx_mkdir(&fx, "d/h", 0777), 0);
		fx_become(&fx, t[i].uid, 1);
		ck_assert_int_eq(fx_creat(&fx, "d/mine", 0666), 0);
		ck_assert_int_eq(fx_rename(&fx, "d/f", "d/e"), t[i].rc);
		ck_assert_int_eq(fx_rename(&fx, "d/mine", "d/g"), t[i].rc);
		ck_assert_int_eq(fx_rmdir(&fx, "d/h"), t[i].rc);
		root();
		fx_unlink(&fx, "d/mine");
		fx_unlink(&fx, "d/e");
		fx_unlink(&fx, "d/f");
		fx_unlink(&fx, "d/g");
		fx_rmdir(&fx, "d/h");
		ck_assert_int_eq(fx_rmdir(&fx, "d"), 0);
	}
}
END_TEST

START_TEST(test_setgid)
{
	struct inode ino;

	ck_assert_int_eq(fx_mkdir(&fx, "d", 0777), 0);
	set("d", 02777);
	fx_become(&fx, 101, 1);
	ck_assert_int_eq(fx_creat(&fx, "d/f", 02755), 0);
	ck_assert_int_eq(fx_stat(&fx, "d/f", &ino), 0);
	ck_assert_uint_eq(ino.gid, GROUP);
	ck_assert_uint_eq(ino.mode, S_IFREG | 0755);
	ck_assert_int_eq(fx_mkdir(&fx, "d/e", 0700), 0);
	ck_assert_int_eq(fx_stat(&fx, "d/e", &ino), 0);
	ck_assert_uint_eq(ino.gid, GROUP);
	ck_assert_uint_eq(ino.mode, S_IFDIR | 02700);
	ck_assert_int_eq(fx_creat(&fx, "g", 0644), -EACCES);
}
END_TEST

START_TEST(test_chmod)
{
	struct inode ino;

	ck_assert_int_eq(fx_creat(&fx, "f", 0644), 0);
	for (size_t i = 0; i < NPEOPLE; i++) {
		const struct person *p = &people[i];
		bool may = p->uid == 0 || p->uid == OWNER;
		bool group = p->uid == 0 || p->gid == GROUP;

		set("f", 0600);
		become(p);
		ck_assert_int_eq(fx_chmod(&fx, "f", 02771), may ? 0 : -EPERM);
		root();
		ck_assert_int_eq(fx_stat(&fx, "f", &ino), 0);
		ck_assert_uint_eq(ino.mode & 07777, !may    ? 0600
						    : group ? 02771
							    : 0771);
	}
	ck_assert_int_eq(fx_symlink(&fx, "f", "l"), 0);
}
END_TEST

START_TEST(test_chown)
{
	static const struct {
		uint32_t who, gid, extra, to_uid, to_gid;
		int rc;
	} t[] = {
		{ 0, 0, 0, 5, 6, 0 },
		{ OWNER, 1, 0, OWNER, GROUP, 0 },
		{ OWNER, 1, 0, OWNER, 1, 0 },
		{ OWNER, 1, 300, OWNER, 300, 0 },
		{ OWNER, 1, 0, OWNER, 300, -EPERM },
		{ OWNER, 1, 0, 101, GROUP, -EPERM },
		{ 101, GROUP, 0, 101, GROUP, -EPERM },
		{ 101, GROUP, 0, OWNER, GROUP, -EPERM },
	};

	ck_assert_int_eq(fx_creat(&fx, "f", 0644), 0);
	for (size_t i = 0; i < sizeof(t) / sizeof(t[0]); i++) {
		struct inode ino;

		set("f", 06755);
		fx_become(&fx, t[i].who, t[i].gid);
		fx.groups[0] = t[i].extra;
		fx.cred.ngroups = t[i].extra ? 1 : 0;
		ck_assert_msg(fx_chown(&fx, "f", t[i].to_uid, t[i].to_gid) ==
				      t[i].rc,
			      "case %zu", i);
		root();
		ck_assert_int_eq(fx_stat(&fx, "f", &ino), 0);
		ck_assert_uint_eq(ino.mode & 07777, t[i].rc ? 06755 : 0755);
		ck_assert_uint_eq(ino.uid, t[i].rc ? OWNER : t[i].to_uid);
		ck_assert_uint_eq(ino.gid, t[i].rc ? GROUP : t[i].to_gid);
	}
}
END_TEST

static int utimens(uint32_t valid)
{
	struct ns_setattr_args a = { .valid = valid, .atime = 5, .mtime = 6 };
	struct ns_path p = fx_path("f");
	struct inode ino;

	return FX_DO(&fx, ns_setattr(&op, &p, true, &a, &ino));
}

START_TEST(test_utimens)
{
	const uint32_t both_now = WIRE_S_ATIME_NOW | WIRE_S_MTIME_NOW;
	const uint32_t set_both = WIRE_S_ATIME | WIRE_S_MTIME;

	ck_assert_int_eq(fx_creat(&fx, "f", 0644), 0);
	for (size_t i = 0; i < NPEOPLE; i++) {
		const struct person *p = &people[i];
		bool owns = p->uid == 0 || p->uid == OWNER;

		set("f", 0020);
		become(p);
		ck_assert_int_eq(utimens(set_both), owns ? 0 : -EPERM);
		ck_assert_int_eq(utimens(WIRE_S_MTIME_NOW), owns ? 0 : -EPERM);
		ck_assert_int_eq(utimens(both_now), owns	    ? 0
						    : p->shift == 3 ? 0
								    : -EACCES);
		ck_assert_int_eq(utimens(WIRE_S_MTIME | WIRE_S_MTIME_NOW),
				 -EINVAL);
	}
}
END_TEST

/* Returns the stored mode; a stat might need the size from the iods. */
static unsigned int mode_of(uint64_t handle)
{
	struct inode ino;

	ck_assert_int_eq(FX_DO(&fx, inode_get(fx.db.st, handle, &ino)), 0);
	return ino.mode & 07777;
}

/* From the open on, whatever the owner sets meanwhile. */
START_TEST(test_write_drops_suid)
{
	enum { CLOSES, WROTE, DIES, WAYS };
	struct inode ino;
	uint64_t open;

	ck_assert_int_eq(fx_creat(&fx, "f", 0644), 0);
	for (int way = CLOSES; way < WAYS; way++) {
		set("f", 06777);
		fx_become(&fx, 101, 1);
		ck_assert_int_eq(fx_open_file(&fx, "f", WIRE_O_WRITE, 0, &ino,
					      &open),
				 0);
		ck_assert_uint_eq(mode_of(ino.handle), 0777);
		set("f", 06777);
		fx_become(&fx, 101, 1);
		if (way == DIES)
			ck_assert_int_eq(
				FX_DO(&fx, ns_drop_open(&op, fx.session)), 0);
		else
			ck_assert_int_eq(fx_release(&fx, ino.handle, open,
						    way == WROTE ? WIRE_R_WROTE
								 : 0,
						    1, 1),
					 0);
		ck_assert_uint_eq(mode_of(ino.handle),
				  way == CLOSES ? 06777 : 0777);
	}
}
END_TEST

START_TEST(test_move_directory)
{
	/* a move to another parent needs write permission on the directory itself */
	ck_assert_int_eq(fx_mkdir(&fx, "a", 0777), 0);
	ck_assert_int_eq(fx_chmod(&fx, "a", 0777), 0);
	ck_assert_int_eq(fx_mkdir(&fx, "b", 0777), 0);
	ck_assert_int_eq(fx_chmod(&fx, "b", 0777), 0);
	ck_assert_int_eq(fx_mkdir(&fx, "a/d", 0755), 0);
	fx_become(&fx, 101, 1);
	ck_assert_int_eq(fx_rename(&fx, "a/d", "b/d"), -EACCES);
	ck_assert_int_eq(fx_rename(&fx, "a/d", "a/e"), 0);
	root();
	ck_assert_int_eq(fx_chmod(&fx, "a/e", 0757), 0);
	fx_become(&fx, 101, 1);
	ck_assert_int_eq(fx_rename(&fx, "a/e", "b/d"), 0);
}
END_TEST

START_TEST(test_truncate)
{
	struct inode ino;
	struct intent in;
	struct ns_path p = fx_path("f");
	uint64_t open;

	ck_assert_int_eq(fx_creat(&fx, "f", 0644), 0);
	set("f", 0600);
	fx_become(&fx, OWNER, 1);
	ck_assert_int_eq(fx_open_file(&fx, "f", WIRE_O_WRITE, 0, &ino, &open),
			 0);
	fx_become(&fx, 101, 1);
	ck_assert_int_eq(fx_truncate(&fx, "f", 5, &in), -EACCES);
	/* a recorded open counts as the permission, only in its session */
	fx.session = 78;
	ck_assert_int_eq(FX_DO(&fx, ns_truncate(&op, &p, 5, open, &in)),
			 -EACCES);
	fx.session = 77;
	ck_assert_int_eq(FX_DO(&fx, ns_truncate(&op, &p, 5, open, &in)), 0);
	ck_assert_uint_ne(in.id, 0);
}
END_TEST

int main(void)
{
	TCase *tc = tcase_create("perm");
	TCase *cases[] = { tc, NULL };

	tcase_add_checked_fixture(tc, setup, teardown);
	tcase_set_timeout(tc, 60);
	tcase_add_loop_test(tc, test_file, 0, NPEOPLE);
	tcase_add_loop_test(tc, test_directory, 0, NPEOPLE);
	tcase_add_test(tc, test_sticky);
	tcase_add_test(tc, test_setgid);
	tcase_add_test(tc, test_chmod);
	tcase_add_test(tc, test_chown);
	tcase_add_test(tc, test_utimens);
	tcase_add_test(tc, test_write_drops_suid);
	tcase_add_test(tc, test_move_directory);
	tcase_add_test(tc, test_truncate);
	return fx_main("mgr_perm", cases);
}
