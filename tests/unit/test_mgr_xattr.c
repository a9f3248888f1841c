/* SPDX-License-Identifier: BSD-2-Clause */
/* test_mgr_xattr.c - extended attributes: the required rights, their limits, and their removal. */
#include <errno.h>

#include "tests/unit/mgr_fixture.h"
#include "mgr/db/inode.h"

static struct fixture fx;

static void setup(void)
{
	fx_open(&fx);
	ck_assert_int_eq(fx_creat(&fx, "f", 0644), 0);
}

static void teardown(void)
{
	fx_close(&fx);
}

static int set(const char *path, const char *name, const char *value,
	       uint32_t flags)
{
	struct ns_xattr x = fx_xattr(path, name);

	x.value = value;
	x.len = strlen(value);
	x.flags = flags;
	return FX_DO(&fx, ns_setxattr(&op, &x));
}

static char value[WIRE_XATTR_MAX];

static int get(const char *path, const char *name, size_t *len)
{
	struct ns_xattr x = fx_xattr(path, name);

	return FX_DO(&fx, ns_getxattr(&op, &x, value, len));
}

static int drop(const char *path, const char *name)
{
	struct ns_xattr x = fx_xattr(path, name);

	return FX_DO(&fx, ns_removexattr(&op, &x));
}

static char names[WIRE_XATTR_LIST_MAX];

static size_t list(const char *path)
{
	struct ns_path p = fx_path(path);
	size_t len;

	ck_assert_int_eq(FX_DO(&fx, ns_listxattr(&op, &p, names, &len)), 0);
	return len;
}

START_TEST(test_set_get)
{
	struct inode ino;
	size_t len;

	ck_assert_uint_eq(list("f"), 0);
	ck_assert_int_eq(get("f", "user.a", &len), -ENODATA);
	ck_assert_int_eq(set("f", "user.a", "one", WIRE_X_REPLACE), -ENODATA);
	ck_assert_int_eq(set("f", "user.a", "one", 0), 0);
	ck_assert_int_eq(set("f", "user.a", "two", WIRE_X_CREATE), -EEXIST);
	ck_assert_int_eq(set("f", "user.b", "", WIRE_X_CREATE), 0);
	fx_reopen(&fx);
	ck_assert_int_eq(get("f", "user.a", &len), 0);
	ck_assert_uint_eq(len, 3);
	ck_assert_mem_eq(value, "one", 3);
	ck_assert_int_eq(set("f", "user.a", "longer", WIRE_X_REPLACE), 0);
	ck_assert_int_eq(get("f", "user.a", &len), 0);
	ck_assert_mem_eq(value, "longer", 6);
	ck_assert_int_eq(get("f", "user.b", &len), 0);
	ck_assert_uint_eq(len, 0);
	ck_assert_uint_eq(list("f"), 14);
	ck_assert_mem_eq(names, "user.a\0user.b", 14);
	ck_assert_int_eq(drop("f", "user.a"), 0);
	ck_assert_int_eq(drop("f", "user.a"), -ENODATA);
	ck_assert_uint_eq(list("f"), 7);
	ck_assert_int_eq(fx_stat(&fx, "f", &ino), 0);
	ck_assert_int_eq(ino.ctime, fx.now - 3);
}
END_TEST

START_TEST(test_rights)
{
	size_t len;

	ck_assert_int_eq(set("f", "trusted.t", "x", 0), 0);
	ck_assert_int_eq(set("f", "security.s", "x", 0), 0);
	ck_assert_int_eq(set("f", "system.posix_acl_access", "x", 0), -EINVAL);
	ck_assert_int_eq(set("f", "system.other", "x", 0), -EOPNOTSUPP);
	ck_assert_int_eq(set("f", "user.", "x", 0), -EINVAL);
	ck_assert_int_eq(set("f", "trusted.", "x", 0), -EINVAL);
	ck_assert_int_eq(get("f", "security.", &len), -EINVAL);
	ck_assert_int_eq(set("f", "other.a", "x", 0), -EOPNOTSUPP);
	ck_assert_int_eq(set("f", "", "x", 0), -EOPNOTSUPP);
	ck_assert_int_eq(set("f", "user.u", "x", 0), 0);
	ck_assert_int_eq(fx_symlink(&fx, "f", "l"), 0);
	ck_assert_int_eq(fx_mkdir(&fx, "d", 01777), 0);
	fx_become(&fx, 1000, 1000);
	ck_assert_int_eq(set("f", "user.u", "x", 0), -EACCES);
	ck_assert_int_eq(set("f", "other.a", "x", 0), -EACCES);
	ck_assert_int_eq(set("f", "trusted.", "x", 0), -EPERM);
	ck_assert_int_eq(drop("f", "user.u"), -EACCES);
	ck_assert_int_eq(set("d", "user.u", "x", 0), -EPERM);
	ck_assert_int_eq(set("f", "trusted.t", "x", 0), -EPERM);
	ck_assert_int_eq(set("f", "security.s", "x", 0), -EPERM);
	ck_assert_int_eq(get("f", "user.u", &len), 0);
	ck_assert_int_eq(get("l", "user.u", &len), 0);
	ck_assert_int_eq(get("f", "security.s", &len), 0);
	ck_assert_int_eq(get("f", "trusted.t", &len), -ENODATA);
	ck_assert_uint_eq(list("f"), sizeof("security.s") + sizeof("user.u"));
	fx_become(&fx, 0, 0);
	ck_assert_uint_eq(list("f"), sizeof("security.s") + sizeof("user.u") +
					     sizeof("trusted.t"));
	ck_assert_int_eq(fx_chmod(&fx, "f", 0600), 0);
	fx_become(&fx, 1000, 1000);
	ck_assert_int_eq(get("f", "user.u", &len), -EACCES);
}
END_TEST

START_TEST(test_many_and_gone)
{
	struct store_cursor it;
	char name[32];

	ck_assert_int_eq(fx_symlink(&fx, "text", "l"), 0);
	for (unsigned int i = 0; i < WIRE_XATTRS_MAX; i++) {
		snprintf(name, sizeof(name), "user.%u", i);
		ck_assert_int_eq(set("f", name, "x", 0), 0);
	}
	ck_assert_int_eq(set("f", "user.more", "x", 0), -ENOSPC);
	ck_assert_int_eq(set("f", "user.7", "other", 0), 0);
	ck_assert_int_eq(fx_creat(&fx, "g", 0644), 0);
	ck_assert_int_eq(set("g", "user.g", "x", 0), 0);
	ck_assert_int_eq(fx_unlink(&fx, "f"), 0);
	ck_assert_uint_eq(list("g"), 7);
	ck_assert_int_eq(fx_unlink(&fx, "g"), 0);
	ck_assert_int_eq(fx_unlink(&fx, "l"), 0);
	ck_assert_int_eq(store_get_first(fx.db.st, STORE_SYMLINKS, "", 0, &it),
			 -ENOENT);
}
END_TEST

#define CAPS "security.capability"

static bool has_caps(void)
{
	size_t len;
	int rc;

	fx_become(&fx, 0, 0);
	rc = get("f", CAPS, &len);
	ck_assert(!rc || rc == -ENODATA);
	return !rc;
}

static int try_open(uint32_t flags)
{
	struct inode ino;
	uint64_t open;
	int rc = fx_open_file(&fx, "f", flags, 0, &ino, &open);

	if (!rc && open)
		fx_release(&fx, ino.handle, open, 0, 0, 0);
	return rc;
}

static int setattr(uint32_t valid)
{
	struct ns_setattr_args a = { .valid = valid, .mode = 0755, .uid = 7 };
	struct ns_path p = fx_path("f");
	struct inode ino;

	return FX_DO(&fx, ns_setattr(&op, &p, true, &a, &ino));
}

static int cut(void)
{
	struct ns_path p = fx_path("f");
	struct intent in;

	return FX_DO(&fx, ns_truncate(&op, &p, 0, 0, &in));
}

/* A write, a truncation or a new owner removes file capabilities.  Other attributes stay. */
START_TEST(test_capabilities)
{
	static const struct {
		uint32_t open, set; /* both 0: a truncation */
		bool kept;
	} way[] = {
		{ .open = WIRE_O_READ, .kept = true },
		{ .open = WIRE_O_WRITE },
		{ .open = WIRE_O_READ | WIRE_O_TRUNC },
		{ .set = WIRE_S_MODE, .kept = true },
		{ .set = WIRE_S_MTIME_NOW, .kept = true },
		{ .set = WIRE_S_UID },
		{ .set = WIRE_S_KILL },
		{ .kept = false },
	};
	size_t len;

	for (size_t i = 0; i < sizeof(way) / sizeof(way[0]); i++) {
		ck_assert_int_eq(set("f", CAPS, "x", 0), 0);
		ck_assert_int_eq(set("f", "security.other", "y", 0), 0);
		ck_assert_int_eq(way[i].open  ? try_open(way[i].open)
				 : way[i].set ? setattr(way[i].set)
					      : cut(),
				 0);
		ck_assert_int_eq(has_caps(), way[i].kept);
		ck_assert_int_eq(get("f", "security.other", &len), 0);
	}
}
END_TEST

/* A user who may write to the file may clear its set-id bits. */
START_TEST(test_kill)
{
	struct inode ino;

	ck_assert_int_eq(fx_chown(&fx, "f", 1000, 1000), 0);
	ck_assert_int_eq(fx_chmod(&fx, "f", 07757), 0);
	fx_become(&fx, 1001, 1001);
	ck_assert_int_eq(setattr(WIRE_S_KILL), 0);
	ck_assert_int_eq(fx_stat(&fx, "f", &ino), 0);
	ck_assert_uint_eq(ino.mode & 07777, 01757);
	fx_become(&fx, 0, 0);
	ck_assert_int_eq(fx_chmod(&fx, "f", 06755), 0);
	fx_become(&fx, 1001, 1001);
	ck_assert_int_eq(setattr(WIRE_S_KILL), -EACCES);
	fx_become(&fx, 1000, 1000);
	ck_assert_int_eq(setattr(WIRE_S_KILL), 0);
	ck_assert_int_eq(fx_stat(&fx, "f", &ino), 0);
	ck_assert_uint_eq(ino.mode & 07777, 0755);
}
END_TEST

int main(void)
{
	TCase *tc = tcase_create("xattr");
	TCase *cases[] = { tc, NULL };

	tcase_add_checked_fixture(tc, setup, teardown);
	tcase_set_timeout(tc, 60);
	tcase_add_test(tc, test_set_get);
	tcase_add_test(tc, test_rights);
	tcase_add_test(tc, test_many_and_gone);
	tcase_add_test(tc, test_capabilities);
	tcase_add_test(tc, test_kill);
	return fx_main("mgr_xattr", cases);
}
