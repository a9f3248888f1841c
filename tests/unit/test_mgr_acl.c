/* SPDX-License-Identifier: BSD-2-Clause */
/* test_mgr_acl.c - access control lists of the name space: set, obeyed, inherited. */
#include <errno.h>
#include <linux/posix_acl.h>
#include <unistd.h>

#include "mgr/ns/acl.h"
#include "tests/unit/mgr_fixture.h"
#include "mgr/db/inode.h"

#define ACCESS "system.posix_acl_access"
#define DEFAULT "system.posix_acl_default"

static struct fixture fx;

static void setup(void)
{
	fx_open(&fx);
	ck_assert_int_eq(fx_mkdir(&fx, "d", 0755), 0);
	ck_assert_int_eq(fx_creat(&fx, "f", 0640), 0);
}

static void teardown(void)
{
	fx_close(&fx);
}

/* A list for user 1000 with this mask; the owner has rwx, others nothing. */
static struct acl list_of(uint16_t user, uint16_t mask)
{
	return (struct acl){ .n = 5,
			     .e = { { ACL_USER_OBJ, 7, 0 },
				    { ACL_USER, user, 1000 },
				    { ACL_GROUP_OBJ, 5, 0 },
				    { ACL_MASK, mask, 0 },
				    { ACL_OTHER, 0, 0 } } };
}

static int set(const char *path, const char *name, const struct acl *acl)
{
	struct ns_xattr x = fx_xattr(path, name);
	uint8_t bytes[ACL_BYTES_MAX];

	x.value = bytes;
	x.len = acl_pack(acl, bytes);
	return FX_DO(&fx, ns_setxattr(&op, &x));
}

static int get(const char *path, const char *name, struct acl *acl)
{
	struct ns_xattr x = fx_xattr(path, name);
	char value[WIRE_XATTR_MAX];
	size_t len;
	int rc = FX_DO(&fx, ns_getxattr(&op, &x, value, &len));

	return rc ? rc : acl_parse(value, len, acl);
}

static int drop(const char *path, const char *name)
{
	struct ns_xattr x = fx_xattr(path, name);

	return FX_DO(&fx, ns_removexattr(&op, &x));
}

static int may(const char *path, uint32_t mask)
{
	struct ns_path p = fx_path(path);

	return FX_DO(&fx, ns_access(&op, &p, mask));
}

static uint32_t mode_of(const char *path)
{
	struct inode ino;

	ck_assert_int_eq(fx_stat(&fx, path, &ino), 0);
	return ino.mode & 07777;
}

START_TEST(test_obeyed)
{
	struct acl acl = list_of(6, 7);

	ck_assert_int_eq(set("f", ACCESS, &acl), 0);
	ck_assert_uint_eq(mode_of("f"), 0770);
	fx_reopen(&fx);
	fx_become(&fx, 1000, 1000);
	ck_assert_int_eq(may("f", R_OK | W_OK), 0);
	ck_assert_int_eq(may("f", X_OK), -EACCES);
	ck_assert_int_eq(set("f", ACCESS, &acl), -EPERM);
	ck_assert_int_eq(drop("f", ACCESS), -EPERM);
	fx_become(&fx, 0, 0);
	ck_assert_int_eq(fx_chmod(&fx, "f", 0740), 0);
	ck_assert_int_eq(get("f", ACCESS, &acl), 0);
	ck_assert_uint_eq(acl.e[3].perm, 4);
	ck_assert_uint_eq(acl.e[1].perm, 6);
	ck_assert_int_eq(fx_rename(&fx, "f", "d/g"), 0);
	ck_assert_int_eq(fx_link(&fx, "d/g", "h"), 0);
	ck_assert_int_eq(fx_chown(&fx, "h", 5, 6), 0);
	fx_become(&fx, 1000, 1000);
	ck_assert_int_eq(may("d/g", R_OK), 0);
	ck_assert_int_eq(may("h", W_OK), -EACCES);
	fx_become(&fx, 0, 0);
	ck_assert_int_eq(drop("h", ACCESS), 0);
	ck_assert_int_eq(drop("h", ACCESS), 0);
	ck_assert_int_eq(get("h", ACCESS, &acl), -ENODATA);
	ck_assert_uint_eq(mode_of("h"), 0740);
	fx_become(&fx, 1000, 1000);
	ck_assert_int_eq(may("h", R_OK), -EACCES);
}
END_TEST

START_TEST(test_plain)
{
	struct acl plain = { .n = 3,
			     .e = { { ACL_USER_OBJ, 6, 0 },
				    { ACL_GROUP_OBJ, 4, 0 },
				    { ACL_OTHER, 1, 0 } } };
	struct acl none = { 0 }, acl = list_of(6, 7), out;

	ck_assert_int_eq(set("f", ACCESS, &acl), 0);
	ck_assert_int_eq(set("f", ACCESS, &plain), 0);
	ck_assert_uint_eq(mode_of("f"), 0641);
	ck_assert_int_eq(get("f", ACCESS, &out), -ENODATA);
	ck_assert_int_eq(set("f", DEFAULT, &plain), -EACCES);
	ck_assert_int_eq(set("f", DEFAULT, &none), 0);
	ck_assert_int_eq(set("d", DEFAULT, &plain), 0);
	ck_assert_int_eq(get("d", DEFAULT, &out), 0);
	ck_assert_int_eq(set("d", DEFAULT, &none), 0);
	ck_assert_int_eq(get("d", DEFAULT, &out), -ENODATA);
	/* a user outside the group clears the bit */
	ck_assert_int_eq(fx_chown(&fx, "f", 1000, 77), 0);
	ck_assert_int_eq(fx_chmod(&fx, "f", 02770), 0);
	fx_become(&fx, 1000, 1000);
	ck_assert_int_eq(set("f", ACCESS, &acl), 0);
	ck_assert_uint_eq(mode_of("f"), 0770);
}
END_TEST

/* As in Linux: a removal of an impossible list needs no right and changes nothing. */
START_TEST(test_none_to_remove)
{
	struct acl none = { 0 };
	struct inode before, after;

	ck_assert_int_eq(fx_stat(&fx, "f", &before), 0);
	fx_become(&fx, 1000, 1000);
	ck_assert_int_eq(set("f", DEFAULT, &none), 0);
	ck_assert_int_eq(drop("f", DEFAULT), 0);
	ck_assert_int_eq(set("d", DEFAULT, &none), -EPERM);
	ck_assert_int_eq(drop("d", DEFAULT), -EPERM);
	ck_assert_int_eq(fx_stat(&fx, "f", &after), 0);
	ck_assert_int_eq(after.ctime, before.ctime);
	ck_assert_uint_eq(after.flags, before.flags);
}
END_TEST

static int make_dir(const char *path, uint32_t mode, uint32_t umask)
{
	struct ns_path p = fx_path(path);
	struct inode ino;

	return FX_DO(&fx, (op.umask = umask, ns_mkdir(&op, &p, mode, &ino)));
}

START_TEST(test_inherited)
{
	struct acl acl = list_of(7, 7), out;

	ck_assert_int_eq(make_dir("d/before", 0777, 027), 0);
	ck_assert_uint_eq(mode_of("d/before"), 0750);
	ck_assert_int_eq(set("d", DEFAULT, &acl), 0);
	ck_assert_uint_eq(mode_of("d"), 0755);
	ck_assert_int_eq(get("d", ACCESS, &out), -ENODATA);
	ck_assert_int_eq(make_dir("d/sub", 0777, 077), 0);
	ck_assert_uint_eq(mode_of("d/sub"), 0770);
	ck_assert_int_eq(get("d/sub", ACCESS, &out), 0);
	ck_assert_int_eq(get("d/sub", DEFAULT, &out), 0);
	ck_assert_uint_eq(out.n, 5);
	ck_assert_int_eq(fx_creat(&fx, "d/sub/f", 0644), 0);
	ck_assert_uint_eq(mode_of("d/sub/f"), 0640);
	ck_assert_int_eq(get("d/sub/f", ACCESS, &out), 0);
	ck_assert_uint_eq(out.e[3].perm, 4);
	ck_assert_int_eq(get("d/sub/f", DEFAULT, &out), -ENODATA);
	ck_assert_int_eq(fx_symlink(&fx, "x", "d/sub/l"), 0);
	fx_become(&fx, 1000, 1000);
	ck_assert_int_eq(may("d/sub/f", R_OK), 0);
	ck_assert_int_eq(may("d/sub/f", W_OK), -EACCES);
	ck_assert_int_eq(fx_creat(&fx, "d/sub/mine", 0600), 0);
}
END_TEST

START_TEST(test_gone)
{
	struct acl acl = list_of(7, 7);
	struct store_cursor it;

	ck_assert_int_eq(set("d", DEFAULT, &acl), 0);
	ck_assert_int_eq(set("d", ACCESS, &acl), 0);
	ck_assert_int_eq(fx_creat(&fx, "d/f", 0666), 0);
	ck_assert_int_eq(fx_unlink(&fx, "d/f"), 0);
	ck_assert_int_eq(fx_rmdir(&fx, "d"), 0);
	ck_assert_int_eq(store_get_first(fx.db.st, STORE_SYMLINKS, "", 0, &it),
			 -ENOENT);
}
END_TEST

static uint32_t shown(const char *path, uint32_t features)
{
	struct ns_op asks = { .ns = &fx.ns, .features = features };
	struct wire_attr attr;
	struct inode ino;

	ck_assert_int_eq(fx_stat(&fx, path, &ino), 0);
	ns_fill_attr(&asks, &ino, &attr);
	return le32toh(attr.flags) & ~WIRE_A_SIZE;
}

/* Attributes tell clients that know this flag that there is no list. */
START_TEST(test_shown)
{
	struct acl acl = list_of(7, 7);

	ck_assert_uint_eq(shown("f", WIRE_FT_LACKS),
			  WIRE_A_NOACL | WIRE_A_NOXATTR);
	ck_assert_uint_eq(shown("f", ~WIRE_FT_LACKS), 0);
	ck_assert_int_eq(set("f", ACCESS, &acl), 0);
	ck_assert_uint_eq(shown("f", WIRE_FT_LACKS), 0);
	ck_assert_int_eq(drop("f", ACCESS), 0);
	ck_assert_uint_eq(shown("f", WIRE_FT_LACKS), WIRE_A_NOACL);
	ck_assert_int_eq(set("d", DEFAULT, &acl), 0);
	ck_assert_uint_eq(shown("d", WIRE_FT_LACKS), 0);
}
END_TEST

int main(void)
{
	TCase *tc = tcase_create("acl");
	TCase *cases[] = { tc, NULL };

	tcase_add_checked_fixture(tc, setup, teardown);
	tcase_set_timeout(tc, 60);
	tcase_add_test(tc, test_obeyed);
	tcase_add_test(tc, test_plain);
	tcase_add_test(tc, test_none_to_remove);
	tcase_add_test(tc, test_inherited);
	tcase_add_test(tc, test_gone);
	tcase_add_test(tc, test_shown);
	return fx_main("mgr_acl", cases);
}
