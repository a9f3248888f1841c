/* SPDX-License-Identifier: BSD-2-Clause */
/* test_change.c - which changes an iod makes: those of the groups that it serves. */
#include <check.h>
#include <errno.h>
#include <ftw.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "common/comm/serve/conn_int.h"
#include "common/util/clock.h"
#include "server/copyset/assignments.h"
#include "server/copyset/change.h"
#include "server/once/change_records.h"
#include "tests/run_suite.h"

#define GROUP 1024u /* of `other` */

static char dir[64];
static struct iod *iod;
static struct iod_session ses;
static struct store_obj *own, *other;
static int ended; /* times that done() was called */

static struct store_obj *open_object(struct object_key key)
{
	struct store_obj *obj;

	ck_assert_int_eq(store_obj_get(iod->store, key, true, &obj), 0);
	return obj;
}

/* A copyset of one member. */
static void assign(uint32_t version, uint32_t member)
{
	struct copyset set = { .id = GROUP,
			       .version = version,
			       .n = 1,
			       .member = { { .iod = member } } };
	const struct assignment_part part = { version, &set, 1, true };

	ck_assert_int_eq(assignments_change(iod->assignments, &part), 0);
}

static int serves(uint32_t version)
{
	return copyset_check(iod->assignments,
			     (struct copyset_ref){ GROUP, version });
}

static void setup(void)
{
	struct object_store_attr attr = { .dir = dir, .fsid = 1 };
	struct assignments_attr assignments = { .dir = dir, .lease = 1 };

	strcpy(dir, "/tmp/pvfs-change-XXXXXX");
	ck_assert_ptr_nonnull(mkdtemp(dir));
	iod = calloc(1, sizeof(*iod) + sizeof(iod->worker[0]));
	ck_assert_ptr_nonnull(iod);
	ck_assert_int_eq(store_open(&attr, &iod->store), 0);
	ck_assert_int_eq(assignments_open(&assignments, &iod->assignments), 0);
	ck_assert_int_eq(range_locks_open(&iod->ranges), 0);
	ck_assert_int_eq(change_records_open(16, &iod->change_records), 0);
	iod->worker[0].iod = iod;
	ses.worker = &iod->worker[0];
	ended = 0;
	own = open_object(object_key_own(7));
	other = open_object((struct object_key){ 7, GROUP });
}

static int rm_one(const char *path, const struct stat *sb, int type,
		  struct FTW *ftw)
{
	return remove(path);
}

static void teardown(void)
{
	store_obj_put(own);
	store_obj_put(other);
	assignments_close(iod->assignments);
	range_locks_close(iod->ranges);
	change_records_close(iod->change_records);
	store_close(iod->store);
	free(iod);
	ck_assert_int_eq(nftw(dir, rm_one, 16, FTW_DEPTH | FTW_PHYS), 0);
}

static bool is_shut(struct store_obj *obj)
{
	return gate_is_shut(store_gate(iod->store), store_obj_key(obj));
}

static void wait_until(uint64_t expiry)
{
	while (clock_boot() < expiry)
		;
}

/* A change that stays inside is late for its own object alone. */
START_TEST(enters_the_gate_in_time)
{
	struct rpc_req req = { .expiry = clock_boot() + 200000000 };
	struct change_entry entry;

	ck_assert_int_eq(change_enter(iod, &req, own, NULL, &entry), 0);
	wait_until(req.expiry);
	ck_assert(is_shut(own) && !is_shut(other));
	change_leave(iod, own, &entry, 0);
	ck_assert(!is_shut(own));
	ck_assert_int_eq(change_enter(iod, &req, own, NULL, &entry),
			 -ETIMEDOUT);
}
END_TEST

/* ---- of a group ---- */

static struct wire_hdr header; /* of the request */
static struct wire_io body;

static void name_version(struct rpc_req *req, uint32_t version)
{
	header = (struct wire_hdr){ .credits = htole32(GROUP),
				    .status = htole32(version) };
	*req = (struct rpc_req){ .expiry = CLOCK_NEVER,
				 .msg = { .hdr = &header, .body = &body } };
}

static void note_status(struct file_access *change, int status)
{
	change->status = status;
	ended++;
}

static const struct store_seg seg = { 0, 3 };
static char seg_bytes[] = "abc";

static struct file_access change_of(struct rpc_req *req)
{
	static struct rail_mem mem; /* the bytes do not lie in a message */

	return (struct file_access){
		.mem = &mem,
		.io = { .obj = other, .seg = &seg, .buf = seg_bytes, .len = 3 },
		.ses = &ses,
		.req = req,
		.done = note_status
	};
}

START_TEST(only_in_the_version_in_force)
{
	struct rpc_req req;
	struct file_access change = change_of(&req);
	struct change_entry entry;
	struct store_stat st;

	for (uint32_t version = 1; version <= 3; version++) {
		if (version == 2)
			assign(2, 0);
		if (version == 3) /* another iod serves it */
			assign(3, 1);
		name_version(&req, version == 2 ? 1 : version);
		ck_assert_int_eq(change_enter(iod, &req, other, NULL, &entry),
				 -WIRE_ECOPYSET);
		change_start(&change);
		ck_assert_int_eq(change.status, -WIRE_ECOPYSET);
	}
	ck_assert_int_eq(ended, 3);
	ck_assert_int_eq(store_obj_stat(other, &st), 0);
	ck_assert_uint_eq(st.size, 0);
}
END_TEST

/* Another iod was primary meanwhile.  This one waits for its own earlier change. */
static void must_be_in_progress(uint32_t version, bool is)
{
	assign(version + 1, 1);
	assign(version + 2, 0);
	ck_assert_int_eq(serves(version + 2), is ? -WIRE_ECOPYSET : 0);
}

START_TEST(in_progress_from_enter_to_leave)
{
	struct change_entry entry;
	struct rpc_req req;

	assign(1, 0);
	name_version(&req, 1);
	req.expiry = 1;
	ck_assert_int_eq(change_enter(iod, &req, other, NULL, &entry),
			 -ETIMEDOUT);
	must_be_in_progress(1, false);
	name_version(&req, 3);
	ck_assert_int_eq(change_enter(iod, &req, other, NULL, &entry), 0);
	must_be_in_progress(3, true);
	change_leave(iod, other, &entry, 0);
	ck_assert_int_eq(serves(5), 0);
}
END_TEST

static int write_status;
static char written[4]; /* the bytes, and where they were */
static const void *written_from;

/* Instead of the one in file_access.c, which needs a request that came over a connection. */
void file_access_write(struct file_access *access)
{
	ck_assert_int_eq(ended, 0);
	memcpy(written, access->io.buf, access->io.len);
	written_from = access->io.buf;
	must_be_in_progress(1, true);
	access->done(access, write_status);
}

void file_access_write_in_gate(struct file_access *change)
{
	file_access_write(change);
}

START_TEST(in_progress_until_it_is_written)
{
	static const int status[] = { 0, -ENOSPC };
	struct rpc_req req;
	struct file_access change = change_of(&req);

	assign(1, 0);
	name_version(&req, 1);
	write_status = status[_i];
	change_start(&change);
	ck_assert_int_eq(ended, 1);
	ck_assert_int_eq(change.status, status[_i]);
	ck_assert_int_eq(serves(3), 0);
}
END_TEST

/* The client may change them while they are sent to the other members. */
START_TEST(bytes_of_a_fast_buffer_are_copied)
{
	struct rx *rx = calloc(1, sizeof(*rx));
	struct file_access change = change_of(&rx->req);

	ck_assert_ptr_nonnull(rx);
	assign(1, 0);
	name_version(&rx->req, 1);
	rx->by_fast = _i;
	change.mem = NULL;
	write_status = 0;
	change_start(&change);
	ck_assert_int_eq(change.status, 0);
	ck_assert_str_eq(written, "abc");
	ck_assert_int_eq(written_from != seg_bytes, _i);
	free(rx);
}
END_TEST

int main(void)
{
	Suite *s = suite_create("change");
	TCase *tc = tcase_create("groups");

	tcase_add_checked_fixture(tc, setup, teardown);
	tcase_add_test(tc, enters_the_gate_in_time);
	tcase_add_test(tc, only_in_the_version_in_force);
	tcase_add_test(tc, in_progress_from_enter_to_leave);
	tcase_add_loop_test(tc, in_progress_until_it_is_written, 0, 2);
	tcase_add_loop_test(tc, bytes_of_a_fast_buffer_are_copied, 0, 2);
	suite_add_tcase(s, tc);
	return run_suite(s);
}
