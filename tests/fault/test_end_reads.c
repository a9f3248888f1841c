/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * test_end_reads.c - a client reads sizes of objects by RDMA, and the reads, or their connections,
 * fail: each result is right, and failed reads are replaced by requests.
 */
#include <errno.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "common/util/clock.h"
#include "client/lib/names/end_reads.h"
#include "common/transport/fault/fault.h"
#include "tests/run_suite.h"
#include "server/store/size_table.h"

#define HANDLE 5u
#define SLOTS 4u
#define ASKS 8u

/* ---- an iod with one object, in its own thread ---- */

static struct {
	struct tp_dev *dev;
	struct rpc_ctx *ctx;
	struct rpc_server *server;
	struct size_table *shown;
	struct tp_mr *mr;
	_Atomic uint64_t size;
	atomic_uint getsizes;
	atomic_bool stop;
	pthread_t thread;
} iod;

static struct {
	struct tp_dev *dev;
	struct rpc_ctx *ctx;
	struct session s;
	struct rpc_peer *peer;
	struct end_reads reads;
} client;

static const struct dist whole = { .pcount = 1, .ssize = 65536 };
static const struct log silent = { .level = LOG_LV_ERROR };

static int look(void *arg, struct object_key key, struct object_size *st)
{
	*st = (struct object_size){ .size = atomic_load(&iod.size) };
	return 0;
}

static int opened(void *arg, struct rpc_session *session)
{
	return 0;
}

static void closed(void *arg, struct rpc_session *session, bool clean)
{
}

static void getsize(void *arg, struct rpc_req *req)
{
	struct wire_getsize_rep rep = { .n = htole32(1) };
	const struct wire_objsize size = { .size = htole64(iod.size) };
	struct wire_out *out;
	struct wire_end_place place = { .rkey = htole32(iod.mr->rkey) };
	uint64_t tag = 0;
	size_t at = 0;

	/* no assertion of Check: this is another thread */
	if (req->op != WIRE_GETSIZE ||
	    !(rpc_session_info(req->session)->features & WIRE_FT_ENDS)) {
		rpc_reply_status(req, -ENOSYS);
		return;
	}
	rep.places = htole32(
		size_table_place(iod.shown, object_key_own(HANDLE), &at, &tag));
	place.addr = htole64((uintptr_t)iod.mr->addr + at);
	place.tag = htole64(tag);
	atomic_fetch_add(&iod.getsizes, 1);
	out = rpc_reply_begin(req);
	wire_put(out, &rep, sizeof(rep));
	wire_put(out, &size, sizeof(size));
	if (rep.places)
		wire_put(out, &place, sizeof(place));
	rpc_reply_end(req, 0, RPC_REEXECUTE);
	rpc_reply_send(req);
}

static const struct rpc_service service = {
	.session_open = opened,
	.session_close = closed,
	.request = getsize,
};

static void *serve(void *arg)
{
	while (!atomic_load(&iod.stop))
		rpc_ctx_progress(iod.ctx, clock_after_ms(20));
	return NULL;
}

static void iod_open(struct addr *addr)
{
	const struct size_table_attr shown = { .places = 1,
					       .look = look,
					       .clock = clock_now };
	const struct rpc_ctx_attr ctx = { .log = &silent, .dev = iod.dev };
	struct rpc_server_attr attr = {
		.ctx = &iod.ctx,
		.nctx = 1,
		.log = &silent,
		.addr = *addr,
		.fsid = 7,
		.boot = 3,
		.role = WIRE_ROLE_IOD,
		.slots = SLOTS,
		.request_max = 8192,
		.reply_max = 8192,
		.max_sessions = 4,
		.session_ttl_ms = 60000,
		.features = WIRE_FT_ENDS,
		.service = &service,
	};
	size_t len;
	void *memory;

	ck_assert_int_eq(rpc_ctx_open(&ctx, &iod.ctx), 0);
	ck_assert_int_eq(size_table_open(&shown, &iod.shown), 0);
	memory = size_table_memory(iod.shown, &len);
	ck_assert_int_eq(tp_mr_reg(iod.dev, memory, len,
				   TP_REMOTE_READ | TP_LENT, &iod.mr),
			 0);
	ck_assert_int_eq(rpc_server_open(&attr, &iod.server), 0);
	rpc_server_addr(iod.server, addr);
	atomic_store(&iod.stop, false);
	atomic_store(&iod.getsizes, 0);
	pthread_create(&iod.thread, NULL, serve, NULL);
}

static void iod_close(void)
{
	atomic_store(&iod.stop, true);
	rpc_ctx_wake(iod.ctx);
	pthread_join(iod.thread, NULL);
	rpc_server_close(iod.server);
	rpc_ctx_close(iod.ctx);
	tp_mr_dereg(iod.mr);
	size_table_close(iod.shown);
}

/* ---- the client of that iod ---- */

static void client_open(const struct addr *addr)
{
	const struct rpc_ctx_attr ctx = { .log = &silent, .dev = client.dev };
	static const struct rpc_cred cred = { .name = "test" };
	const struct rpc_peer_attr peer = {
		.addr = *addr,
		.name = "iod 0",
		.role = WIRE_ROLE_CLIENT,
		.server = WIRE_ROLE_IOD,
		.session = 77,
		.cred = &cred,
		.features = WIRE_FT_ENDS,
	};

	memset(&client.s, 0, sizeof(client.s));
	ck_assert_int_eq(rpc_ctx_open(&ctx, &client.ctx), 0);
	ck_assert_int_eq(rpc_peer_open(client.ctx, &peer, &client.peer), 0);
	drive_init(&client.s.drive, client.ctx, NULL);
	client.s.id = 77;
	client.s.log = &silent;
	client.s.direct = true;
	client.s.timeout_ms = 60000;
	client.s.niods = 1;
	client.s.iod = &client.peer;
}

static void client_close(void)
{
	end_reads_close(&client.reads);
	rpc_peer_close(client.peer, true);
	drive_destroy(&client.s.drive);
	rpc_ctx_close(client.ctx);
}

static void setup(void)
{
	const struct tp_dev_attr attr = { .log = &silent };
	struct addr addr = { .scheme = "fault+tcp", .host = "127.0.0.1" };

	ck_assert_int_eq(tp_dev_open("fault+tcp", &attr, &iod.dev), 0);
	ck_assert_int_eq(tp_dev_open("fault+tcp", &attr, &client.dev), 0);
	iod_open(&addr);
	client_open(&addr);
}

static void teardown(void)
{
	client_close();
	iod_close();
	tp_dev_close(client.dev);
	tp_dev_close(iod.dev);
}

static void grow(uint64_t size)
{
	size_table_change_begin(iod.shown, object_key_own(HANDLE));
	atomic_store(&iod.size, size);
	size_table_change_end(iod.shown, object_key_own(HANDLE));
}

static uint64_t size_now(void)
{
	struct file_size size;

	ck_assert_int_eq(end_reads_size(&client.reads, &client.s, HANDLE,
					&whole, &size),
			 0);
	return size.size;
}

/* Checks that each result is right.  Returns how many needed a request. */
static unsigned int all_right(unsigned int seed)
{
	unsigned int i, before = atomic_load(&iod.getsizes);

	for (i = 0; i < ASKS; i++) {
		grow(seed * 1000 + i);
		ck_assert_uint_eq(size_now(), seed * 1000 + i);
	}
	return atomic_load(&iod.getsizes) - before;
}

START_TEST(asked_once)
{
	ck_assert_uint_eq(all_right(1), 1);
	ck_assert_uint_eq(all_right(2), 0);
}
END_TEST

/* During a change the size is not shown; afterwards it is again. */
START_TEST(changes_are_asked_about)
{
	all_right(1);
	size_table_change_begin(iod.shown, object_key_own(HANDLE));
	ck_assert_uint_eq(size_now(), 1000 + ASKS - 1);
	size_table_change_end(iod.shown, object_key_own(HANDLE));
	ck_assert_uint_eq(atomic_load(&iod.getsizes), 2);
	ck_assert_uint_eq(all_right(2), 0);
}
END_TEST

/* Another object has the place for a while: the data there belongs to that object. */
START_TEST(others_take_the_place)
{
	uint64_t tag;
	size_t at;

	all_right(1);
	usleep((SIZE_TABLE_HOLD_MS + 1) * 1000);
	ck_assert(size_table_place(iod.shown, object_key_own(HANDLE + 1), &at,
				   &tag));
	ck_assert_uint_ge(all_right(2), 1);
	usleep((SIZE_TABLE_HOLD_MS + 1) * 1000);
	ck_assert_uint_le(all_right(3), 1);
}
END_TEST

static const struct fault_rule rules[] = {
	{ .ops = FAULT_READ, .action = FAULT_RESET },
	{ .ops = FAULT_READ, .action = FAULT_FAIL },
	{ .ops = FAULT_READ, .action = FAULT_VANISH, .ms = 5 },
	{ .ops = FAULT_READ, .action = FAULT_CORRUPT, .at = 9 },
	{ .ops = FAULT_READ, .action = FAULT_CORRUPT, .at = 0 },
};

/* Read 0, 1, 2, ... fails, until no read is hit. */
START_TEST(reads_go_wrong)
{
	struct fault_rule rule = rules[_i];
	unsigned int n, asked;
	int id;

	for (n = 0; n < ASKS - 1; n++) {
		end_reads_close(&client.reads);
		rule.after = n;
		id = fault_add(client.dev, &rule);
		ck_assert_int_gt(id, 0);
		asked = all_right(n + 1);
		ck_assert_uint_eq(fault_hits(client.dev, id), 1);
		ck_assert_uint_eq(asked, 2);
		fault_set(client.dev, "", NULL, 0);
	}
}
END_TEST

int main(void)
{
	Suite *s = suite_create("end_reads");
	TCase *c = tcase_create("reads");

	tcase_add_checked_fixture(c, setup, teardown);
	tcase_set_timeout(c, 100);
	tcase_add_test(c, asked_once);
	tcase_add_test(c, changes_are_asked_about);
	tcase_add_test(c, others_take_the_place);
	tcase_add_loop_test(c, reads_go_wrong, 0,
			    sizeof(rules) / sizeof(rules[0]));
	suite_add_tcase(s, c);
	return run_suite(s);
}
