/* SPDX-License-Identifier: BSD-2-Clause */
/* mgr_ops.c - every operation over the wire, with a valid and an invalid request. */
#include <check.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "tests/e2e/mgr/mgrrig.h"
#include "tests/run_suite.h"

static struct mgrrig rig;
static struct mgrc c;

static void setup(void)
{
	rig_serve(&rig, "", &c);
}

static void teardown(void)
{
	mgrc_close(&c, true);
	rig_close(&rig);
}

START_TEST(test_mount)
{
	struct wire_mount_rep m;
	struct wire_ping_rep p;
	const char *uri = c.tail;

	ck_assert_int_eq(mgrc_call(&c, WIRE_MOUNT, NULL, 0, NULL, 0), 0);
	memcpy(&m, c.body, sizeof(m));
	ck_assert_uint_eq(le64toh(m.fsid), mgrc_fsid());
	ck_assert_uint_eq(le32toh(m.niods), RIG_IODS);
	ck_assert_uint_eq(le32toh(m.ssize), 65536);
	for (int i = 0; i < RIG_IODS; i++) {
		struct addr a;

		ck_assert_int_eq(addr_parse(uri, 0, &a), 0);
		ck_assert_int_eq(a.port, rig.iod[i].port);
		uri += strlen(uri) + 1;
	}
	ck_assert_ptr_eq(uri, c.tail + c.tail_len);
	ck_assert_int_eq(mgrc_call(&c, WIRE_PING, NULL, 0, NULL, 0), 0);
	memcpy(&p, c.body, sizeof(p));
	ck_assert_uint_eq(le64toh(p.sessions), 1);
	ck_assert_uint_ge(le64toh(p.requests), 1);
	ck_assert_mem_eq(c.tail, PVFS_VERSION, c.tail_len);
	ck_assert_int_eq(mgrc_call(&c, WIRE_SYNC, c.body, 8, NULL, 0), -EPROTO);
}
END_TEST

/* All files have one copy. */
START_TEST(test_copysets)
{
	struct wire_copysets body = { 0 };
	struct wire_copysets_rep rep;
	struct wire_ring ring;

	for (unsigned int i = 0; i < 2; i++) {
		body.since = htole64(7 * i);
		ck_assert_int_eq(mgrc_call(&c, WIRE_COPYSETS, &body,
					   sizeof(body), NULL, 0),
				 0);
		memcpy(&rep, c.body, sizeof(rep));
		ck_assert_uint_eq(le64toh(rep.revision), 0);
		ck_assert_uint_eq(rep.next, 0);
		ck_assert_uint_eq(rep.n, 0);
		ck_assert_uint_eq(c.tail_len, sizeof(ring));
		memcpy(&ring, c.tail, sizeof(ring));
		ck_assert_uint_eq(ring.id, 0);
		ck_assert_uint_eq(le32toh(ring.copies), 1);
		ck_assert_uint_eq(ring.first, 0);
		ck_assert_uint_eq(le32toh(ring.n), RIG_IODS);
	}
}
END_TEST

/* A request about the group, to a manager without one. */
START_TEST(test_no_member)
{
	const struct wire_raft body = { .group = htole64(5),
					.from = htole64(1),
					.to = htole64(2),
					.len = htole32(8),
					.data_len = htole32(8) };
	const struct mgrc_item tail = { "message!", 8 };

	const struct wire_managers remove = { .id = htole64(7),
					      .cmd = htole32(WIRE_MA_REMOVE) };
	const struct wire_managers status = { .cmd = htole32(WIRE_MA_STATUS) };
	struct wire_managers_rep state;

	ck_assert_int_eq(mgrc_call(&c, WIRE_RAFT, &body, sizeof(body), &tail,
				   1),
			 -ENOSYS);
	ck_assert_int_eq(mgrc_call(&c, WIRE_MANAGERS, &remove, sizeof(remove),
				   NULL, 0),
			 -ENOSYS);
	ck_assert_int_eq(mgrc_call(&c, WIRE_MANAGERS, &status, sizeof(status),
				   NULL, 0),
			 0);
	memcpy(&state, c.body, sizeof(state));
	ck_assert_uint_eq(le32toh(state.role), WIRE_MR_LEADER);
	ck_assert_uint_eq(le32toh(state.n), 0);
	ck_assert_int_eq(mgrc_mkdir(&c, "d"), 0);
}
END_TEST

START_TEST(test_statfs)
{
	struct wire_statfs_rep a, b;

	ck_assert_int_eq(mgrc_call(&c, WIRE_STATFS, NULL, 0, NULL, 0), 0);
	memcpy(&a, c.body, sizeof(a));
	ck_assert_int_eq(mgrc_mkdir(&c, "d"), 0);
	ck_assert_int_eq(mgrc_make(&c, "d/f", 0), 0);
	ck_assert_int_eq(mgrc_call(&c, WIRE_STATFS, NULL, 0, NULL, 0), 0);
	memcpy(&b, c.body, sizeof(b));
	ck_assert_uint_eq(le64toh(a.files) - le64toh(a.ffree), 1);
	ck_assert_uint_eq(le64toh(b.files) - le64toh(b.ffree), 3);
	ck_assert_uint_gt(le64toh(b.blocks), le64toh(b.bavail));
}
END_TEST

START_TEST(test_names)
{
	struct wire_path_rep moved;
	struct wire_attr attr;

	ck_assert_int_eq(mgrc_mkdir(&c, "d"), 0);
	ck_assert_int_eq(mgrc_mkdir(&c, "d"), -EEXIST);
	ck_assert_int_eq(mgrc_make(&c, "d/f", 123), 0);
	ck_assert_int_eq(mgrc_stat(&c, "d/f", &attr), 0);
	ck_assert_uint_eq(le64toh(attr.size), 123);
	ck_assert_uint_eq(le32toh(attr.flags), WIRE_A_SIZE);
	ck_assert_uint_eq(le32toh(attr.mode), S_IFREG | 0644);
	ck_assert_uint_eq(le32toh(attr.dist.pcount), RIG_IODS);
	ck_assert_int_eq(mgrc_symlink(&c, "/out/side", "l"), 0);
	ck_assert_int_eq(mgrc_readlink(&c, "l"), 0);
	ck_assert_uint_eq(c.tail_len, 9);
	ck_assert_mem_eq(c.tail, "/out/side", 9);
	ck_assert_int_eq(mgrc_stat(&c, "l/x", &attr), WIRE_REDIRECT);
	ck_assert_mem_eq(c.tail, "/out/side/x", 11);
	ck_assert_int_eq(mgrc_rename(&c, "d/f", "l/y"), WIRE_REDIRECT);
	memcpy(&moved, c.body, sizeof(moved));
	ck_assert_uint_eq(le32toh(moved.which), 1);
	ck_assert_int_eq(mgrc_rename(&c, "d/f", "g"), 0);
	ck_assert_int_eq(mgrc_rmdir(&c, "d"), 0);
	ck_assert_int_eq(mgrc_unlink(&c, "g"), 0);
	ck_assert_int_eq(mgrc_unlink(&c, "g"), -ENOENT);
}
END_TEST

/* A client that did not offer a feature gets no flags that it would reject. */
START_TEST(test_features)
{
	struct mgrc other = { .features = ~(uint32_t)(WIRE_FT_PROOF |
						      WIRE_FT_RECORDED) };

	mgrc_open(&other, &rig.addr, 0);
	ck_assert_int_eq(mgrc_make(&c, "f", 123), 0);
	ck_assert_uint_eq(le32toh(mgrc_stat_ok(&c, "f").flags), WIRE_A_SIZE);
	ck_assert_uint_eq(le32toh(mgrc_stat_ok(&other, "f").flags),
			  WIRE_A_SIZE | WIRE_A_NOACL | WIRE_A_NOXATTR);
	mgrc_close(&other, true);
}
END_TEST

START_TEST(test_readdir)
{
	struct wire_readdir_rep rep;
	unsigned int seen = 0;
	uint64_t cookie = 0;
	char name[32];

	for (int i = 0; i < 3000; i++) {
		snprintf(name, sizeof(name), "a_name_of_some_length_%d", i);
		ck_assert_int_eq(mgrc_make(&c, name, 0), 0);
	}
	do {
		const uint8_t *p = c.arena;

		ck_assert_int_eq(mgrc_readdir(&c, 0, cookie, MGRC_ARENA, &rep),
				 0);
		ck_assert_uint_le(le32toh(rep.bytes), 65536);
		for (uint32_t i = 0; i < le32toh(rep.count); i++) {
			const struct wire_dirent *d = (const void *)p;

			cookie = le64toh(d->cookie);
			p += le16toh(d->reclen);
		}
		seen += le32toh(rep.count);
	} while (!le32toh(rep.eof));
	ck_assert_uint_eq(seen, 3002);
	ck_assert_int_eq(mgrc_readdir(&c, 0, 0, 8, &rep), -EINVAL);
	ck_assert_int_eq(mgrc_readdir(&c, 0, cookie, 64, &rep), 0);
	ck_assert_uint_eq(le32toh(rep.count), 0);
}
END_TEST

START_TEST(test_truncate)
{
	struct wire_attr attr;
	struct mgrc_file f;
	uint64_t h;

	ck_assert_int_eq(mgrc_make(&c, "f", 1 << 20), 0);
	ck_assert_int_eq(mgrc_truncate(&c, "f", 100000), 0);
	ck_assert_int_eq(mgrc_stat(&c, "f", &attr), 0);
	ck_assert_uint_eq(le64toh(attr.size), 100000);
	h = le64toh(attr.handle);
	for (unsigned int k = 0, base = le32toh(attr.dist.base); k < 3; k++)
		ck_assert_int_eq(fakeiod_size(&rig.iod[(base + k) % 3], h),
				 k == 0	  ? 65536
				 : k == 1 ? 100000 - 65536
					  : 0);
	/* an OPEN with O_TRUNC */
	ck_assert_int_eq(
		mgrc_open_file(&c, "f", WIRE_O_WRITE | WIRE_O_TRUNC, &f), 0);
	ck_assert_uint_ne(f.open, 0);
	for (int i = 0; i < 3; i++)
		ck_assert_int_eq(fakeiod_size(&rig.iod[i], h), 0);
	ck_assert_int_eq(mgrc_release(&c, &f, 0, 0), 0);
	ck_assert_int_eq(mgrc_stat(&c, "f", &attr), 0);
	ck_assert_uint_eq(le64toh(attr.size), 0);
	/* an iod rejects the truncation */
	atomic_store(&rig.iod[1].fail, ENOSPC);
	ck_assert_int_eq(mgrc_truncate(&c, "f", 1 << 30), -ENOSPC);
	atomic_store(&rig.iod[1].fail, 0);
	ck_assert_int_eq(mgrc_stat(&c, "f", &attr), 0);
	/* the other iods have extended the file, without data */
	ck_assert_uint_eq(le32toh(attr.flags), WIRE_A_SIZE | WIRE_A_HOLES);
	ck_assert_int_eq(mgrc_truncate(&c, "f", 5), 0);
	ck_assert_int_eq(mgrc_unlink(&c, "f"), 0);
	for (int i = 0; i < 3; i++)
		rig_until(fakeiod_count(&rig.iod[i]) == 0);
}
END_TEST

START_TEST(test_append)
{
	struct mgrc_file a, w;
	uint64_t off;

	ck_assert_int_eq(
		mgrc_open_file(&c, "f",
			       WIRE_O_CREAT | WIRE_O_WRITE | WIRE_O_APPEND, &a),
		0);
	ck_assert_int_eq(mgrc_append(&c, &a, 10, &off), 0);
	ck_assert_int_eq(mgrc_append(&c, &a, 10, &off), 0);
	ck_assert_uint_eq(off, 10);
	ck_assert_int_eq(mgrc_open_file(&c, "f", WIRE_O_WRITE, &w), 0);
	fakeiod_set(&rig.iod[le32toh(w.attr.dist.base)], w.handle, 1000);
	ck_assert_int_eq(mgrc_append(&c, &a, 10, &off), 0);
	ck_assert_uint_eq(off, 1000);
	ck_assert_int_eq(mgrc_append(&c, &a, INT64_MAX, &off), -EFBIG);
	ck_assert_int_eq(mgrc_release(&c, &w, WIRE_R_WROTE, 1000), 0);
	ck_assert_int_eq(mgrc_release(&c, &a, WIRE_R_WROTE, 1010), 0);
	ck_assert_int_eq(mgrc_release(&c, &a, 0, 0), -EBADF);
}
END_TEST

START_TEST(test_credentials)
{
	struct mgrc user = { .cred = { .uid = 1000,
				       .gid = 1000,
				       .ngroups = 1,
				       .groups = { 50 } } };

	ck_assert_int_eq(mgrc_mkdir(&c, "d"), 0);
	mgrc_open(&user, &rig.addr, 0);
	ck_assert_int_eq(mgrc_mkdir(&user, "d/e"), -EACCES);
	ck_assert_int_eq(mgrc_stat(&user, "d", NULL), 0);
	mgrc_close(&user, true);
}
END_TEST

/* Only root can send requests for other users. */
START_TEST(test_for_others)
{
	const struct wire_as alice = { .uid = htole32(1001),
				       .gid = htole32(1001) };
	struct mgrc other = { .cred = { .uid = 1002, .gid = 1002 } };

	ck_assert_int_eq(mgrc_mkdir(&c, "d"), 0);
	c.as = &alice;
	ck_assert_int_eq(mgrc_mkdir(&c, "mine"), -EACCES);
	ck_assert_int_eq(mgrc_stat(&c, "d", NULL), 0);
	c.as = NULL;
	ck_assert_int_eq(mgrc_mkdir(&c, "mine"), 0);
	mgrc_open(&other, &rig.addr, 0);
	ck_assert_int_eq(mgrc_stat(&other, "d", NULL), 0);
	other.as = &alice;
	ck_assert_int_eq(mgrc_stat(&other, "d", NULL), -EPERM);
	mgrc_close(&other, true);
}
END_TEST

static int grant(const struct mgrc_file *f, uint32_t flags,
		 struct wire_redeem *token)
{
	struct wire_grant body = { .handle = htole64(f->handle),
				   .open = htole64(f->open),
				   .flags = htole32(flags) };
	int rc = mgrc_call(&c, WIRE_GRANT, &body, sizeof(body), NULL, 0);

	if (!rc)
		memcpy(token->token, c.body, WIRE_TOKEN_LEN);
	return rc;
}

static int redeem(struct mgrc *by, struct wire_redeem *token, uint32_t flags,
		  struct mgrc_file *f)
{
	struct wire_open_rep rep;
	int rc;

	token->flags = htole32(flags);
	rc = mgrc_call(by, WIRE_REDEEM, token, sizeof(*token), NULL, 0);
	if (rc)
		return rc;
	memcpy(&rep, by->body, sizeof(rep));
	f->handle = le64toh(rep.attr.handle);
	f->open = le64toh(rep.open);
	return 0;
}

/* The redeeming user has no right to open the file, which also has no name any more. */
START_TEST(test_grant)
{
	struct mgrc user = { .cred = { .uid = 1000, .gid = 1000 } };
	struct wire_redeem token = { 0 }, later = { 0 };
	struct mgrc_file w, r, f;
	struct wire_attr attr;
	uint64_t off;

	mgrc_open(&user, &rig.addr, 0);
	ck_assert_int_eq(
		mgrc_open_file(&c, "f", WIRE_O_CREAT | WIRE_O_WRITE, &w), 0);
	ck_assert_int_eq(mgrc_open_file(&c, "f", WIRE_O_READ | WIRE_O_HOLD, &r),
			 0);
	ck_assert_int_eq(mgrc_unlink(&c, "f"), 0);
	ck_assert_int_eq(grant(&r, WIRE_O_WRITE, &token), -EBADF);
	ck_assert_int_eq(grant(&r, WIRE_O_READ, &token), 0);
	ck_assert_int_eq(redeem(&user, &token, WIRE_O_WRITE, &f), -EACCES);
	ck_assert_int_eq(redeem(&user, &token, WIRE_O_READ, &f), 0);
	ck_assert_uint_eq(f.handle, r.handle);
	ck_assert_uint_eq(f.open, 0);
	ck_assert_int_eq(redeem(&user, &token, WIRE_O_READ, &f), -ENOENT);
	ck_assert_int_eq(grant(&w, WIRE_O_WRITE, &token), 0);
	ck_assert_int_eq(grant(&w, WIRE_O_WRITE, &later), 0);
	ck_assert_int_eq(
		redeem(&user, &token, WIRE_O_WRITE | WIRE_O_APPEND, &f), 0);
	ck_assert_int_eq(mgrc_append(&user, &f, 10, &off), 0);
	ck_assert_int_eq(mgrc_release(&c, &r, 0, 0), 0);
	ck_assert_int_eq(mgrc_release(&c, &w, 0, 0), 0);
	/*
	 * the client that granted it has closed the file; the one that redeemed it keeps the file
	 * alive
	 */
	ck_assert_int_eq(redeem(&user, &later, WIRE_O_WRITE, &r), -EBADF);
	ck_assert_int_eq(mgrc_stat_handle(&c, f.handle, &attr), 0);
	ck_assert_int_eq(mgrc_release(&user, &f, WIRE_R_WROTE, 10), 0);
	ck_assert_int_eq(mgrc_stat_handle(&c, f.handle, &attr), -ESTALE);
	ck_assert_int_eq(grant(&w, WIRE_O_WRITE, &token), -EBADF);
	mgrc_close(&user, true);
}
END_TEST

/* One grant more than the manager remembers. */
START_TEST(test_grants_too_many)
{
	struct wire_redeem first = { 0 }, second = { 0 }, token = { 0 };
	struct mgrc_file w, f;

	ck_assert_int_eq(
		mgrc_open_file(&c, "f", WIRE_O_CREAT | WIRE_O_WRITE, &w), 0);
	ck_assert_int_eq(grant(&w, WIRE_O_WRITE, &first), 0);
	ck_assert_int_eq(grant(&w, WIRE_O_WRITE, &second), 0);
	for (int i = 0; i < 1023; i++)
		ck_assert_int_eq(grant(&w, WIRE_O_WRITE, &token), 0);
	ck_assert_int_eq(redeem(&c, &first, WIRE_O_WRITE, &f), -ENOENT);
	ck_assert_int_eq(redeem(&c, &second, WIRE_O_WRITE, &f), 0);
	ck_assert_int_eq(redeem(&c, &token, WIRE_O_WRITE, &f), 0);
}
END_TEST

static void write_at(struct mgrc *by, int64_t mtime)
{
	struct wire_release body = { .end = htole64(10),
				     .mtime = htole64((uint64_t)mtime),
				     .flags = htole32(WIRE_R_WROTE |
						      WIRE_R_MTIME) };
	struct mgrc_file f;

	ck_assert_int_eq(mgrc_open_file(by, "f", WIRE_O_WRITE, &f), 0);
	body.handle = htole64(f.handle);
	body.open = htole64(f.open);
	ck_assert_int_eq(
		mgrc_call(by, WIRE_RELEASE, &body, sizeof(body), NULL, 0), 0);
}

/*
 * A user who may write a file that he does not own can set its times only to the present. Otherwise
 * later writes would not change the times.
 */
START_TEST(test_written_ahead)
{
	struct wire_setattr open = { .valid = htole32(WIRE_S_MODE),
				     .mode = htole32(0666),
				     .path_len = htole32(1) };
	struct mgrc_item item = { "f", 1 };
	struct mgrc user = { .cred = { .uid = 1000, .gid = 1000 } };
	struct wire_attr a;
	int64_t now;

	ck_assert_int_eq(mgrc_make(&c, "f", 10), 0);
	ck_assert_int_eq(
		mgrc_call(&c, WIRE_SETATTR, &open, sizeof(open), &item, 1), 0);
	mgrc_open(&user, &rig.addr, 0);
	write_at(&user, INT64_MAX);
	a = mgrc_stat_ok(&c, "f");
	now = clock_wall();
	ck_assert_int_le((int64_t)le64toh(a.mtime), now);
	ck_assert_int_le((int64_t)le64toh(a.ctime), now);
	write_at(&c, now);
	a = mgrc_stat_ok(&c, "f");
	ck_assert_int_eq((int64_t)le64toh(a.mtime), now);
	mgrc_close(&user, true);
}
END_TEST

START_TEST(test_stop_and_start)
{
	struct wire_attr attr;

	for (int i = 0; i < 3; i++) {
		char name[8] = { (char)('a' + i), 0 };

		ck_assert_int_eq(mgrc_make(&c, name, 7), 0);
		rig_stop(&rig);
		rig_start(&rig);
		ck_assert_int_eq(mgrc_stat(&c, name, &attr), 0);
	}
	ck_assert_uint_le(c.fresh, 1);
	/* after a clean stop there is nothing to fence */
	for (int i = 0; i < 3; i++)
		ck_assert_uint_eq(fakeiod_get(&rig.iod[i], &rig.iod[i].fences),
				  0);
}
END_TEST

int main(void)
{
	Suite *s = suite_create("mgr_ops");
	TCase *tc = tcase_create("ops");

	tcase_add_checked_fixture(tc, setup, teardown);
	tcase_set_timeout(tc, 120);
	tcase_add_test(tc, test_mount);
	tcase_add_test(tc, test_copysets);
	tcase_add_test(tc, test_no_member);
	tcase_add_test(tc, test_statfs);
	tcase_add_test(tc, test_names);
	tcase_add_test(tc, test_features);
	tcase_add_test(tc, test_readdir);
	tcase_add_test(tc, test_truncate);
	tcase_add_test(tc, test_append);
	tcase_add_test(tc, test_credentials);
	tcase_add_test(tc, test_for_others);
	tcase_add_test(tc, test_grant);
	tcase_add_test(tc, test_grants_too_many);
	tcase_add_test(tc, test_written_ahead);
	tcase_add_test(tc, test_stop_and_start);
	suite_add_tcase(s, tc);
	return run_suite(s);
}
