/* SPDX-License-Identifier: BSD-2-Clause */
/* iod_order2.c - the orders of a primary at a member.  The test is the primary, iod 1. */
#include <check.h>
#include <errno.h>
#include <pthread.h>
#include <semaphore.h>
#include <stdatomic.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "common/util/clock.h"
#include "server/copyset/assignments.h"
#include "server/once/change_records.h"
#include "server/state/worker.h"
#include "tests/e2e/iod/iod_here.h"
#include "tests/e2e/iod/iodc.h"
#include "tests/e2e/iod/stalled.h"
#include "tests/run_suite.h"

#define GROUP 1024u
#define PRIMARY 1u
#define CLIENT 0x77u /* the session for which the primary sends orders */
#define HANDLE 5u
/* the request of the client, at iod PRIMARY */
#define SLOT 3u
#define SEQ 9u
#define MANY WIRE_ORDER_REGIONS

static char dir[64];
static struct iod *iod;
static struct addr addr;
static struct iodc primary, second, mgr;
/* bytes of the request of which an order is a part; 0: it is all of it */
static uint64_t request_bytes;

/* Interposed: stops the next write of the iod. */
static atomic_bool slow_write, written;
static sem_t entered, go;

ssize_t pwrite(int fd, const void *buf, size_t len, off_t off)
{
	ssize_t n;

	if (!atomic_exchange(&slow_write, false))
		return syscall(SYS_pwrite64, fd, buf, len, off);
	sem_post(&entered);
	sem_wait(&go);
	n = syscall(SYS_pwrite64, fd, buf, len, off);
	atomic_store(&written, true);
	return n;
}

/* ---- the iod ---- */

static int assign(uint32_t version, const struct copyset_member member[2])
{
	struct wire_copyset set = { .id = htole32(GROUP),
				    .version = htole32(version),
				    .n = htole32(2) };
	struct wire_assign body = { .revision = htole64(version),
				    .n = htole32(1) };
	struct iodc_item item = { &set, sizeof(set) };

	for (unsigned int i = 0; i < 2; i++) {
		set.member[i].iod = htole16((uint16_t)member[i].iod);
		set.member[i].state = htole16((uint16_t)member[i].state);
	}
	return iodc_call(&mgr, WIRE_ASSIGN, &body, sizeof(body), &item, 1);
}

static const struct copyset_member as_second[2] = { { PRIMARY }, { 0 } };
static const struct copyset_member as_primary[2] = {
	{ PRIMARY, COPYSET_OFFLINE }, { 0 }
};

static void open_as(struct iodc *c, enum wire_role role)
{
	iodc_open_with(c, &addr, role, 0,
		       &(struct iodc_with){ .features = WIRE_FT_COPIES });
	c->copyset = (struct copyset_ref){ GROUP, 1 };
}

static void setup(void)
{
	struct iod_conf conf;

	iodc_mkdir(dir);
	sem_init(&entered, 0, 0);
	sem_init(&go, 0, 0);
	atomic_store(&slow_write, false);
	atomic_store(&written, false);
	request_bytes = 0;
	iod_here_conf(&conf, dir);
	conf.threads = 1;
	conf.group_lease_ms = 1;
	conf.zones.n = 1;
	conf.zones.zone[0].size = 64 << 10;
	conf.zones.zone[0].count = 4;
	iod_here_start(&conf, NULL, &iod, &addr);
	iodc_open_mgr(&mgr, &addr);
	open_as(&primary, WIRE_ROLE_IOD);
	open_as(&second, WIRE_ROLE_IOD);
	ck_assert_int_eq(assign(1, as_second), 0);
}

static void teardown(void)
{
	iodc_close(&primary);
	iodc_close(&second);
	iodc_close(&mgr);
	iod_stop(iod);
	iodc_rmdir(dir);
	sem_destroy(&entered);
	sem_destroy(&go);
}

/* ---- orders ---- */

static struct wire_order make_order(enum wire_order_kind kind)
{
	return (struct wire_order){ .io.handle = htole64(HANDLE),
				    .session = htole64(CLIENT),
				    .seq = htole64(SEQ),
				    .slot = htole32(SLOT),
				    .origin = htole32(PRIMARY),
				    .primary = htole32(PRIMARY),
				    .kind = htole32(kind) };
}

static int order_io(struct iodc *c, const struct iodc_io *io)
{
	struct wire_order body = make_order(WIRE_ORDER_WRITE);
	uint64_t buf[WIRE_BODY_MAX / 8];
	size_t inside = io->mem ? 0 : (size_t)io->total;
	struct wire_out out;

	body.io.total = htole64(io->total);
	body.io.nreg = htole32(io->nreg);
	body.io.nmem = htole32(io->mem ? io->nmem : 0);
	body.io.data_len = htole32((uint32_t)inside);
	body.total = htole64(request_bytes ?: io->total);
	wire_begin(&out, buf, sizeof(buf));
	wire_put(&out, &body, sizeof(body));
	iodc_put_lists(c, &out, io);
	return iodc_send(c, &out, WIRE_ORDER, inside);
}

/* The bytes are at the start of the arena; up to 64 KiB go with the message. */
static int order_write(struct iodc *c, uint64_t off, uint32_t len)
{
	struct wire_region reg = { htole64(off), htole64(len) };
	struct iodc_mem mem = { 0, len };
	struct iodc_io io = { .reg = &reg,
			      .nreg = 1,
			      .mem = len > WIRE_INLINE_MAX ? &mem : NULL,
			      .nmem = 1,
			      .total = len };

	return order_io(c, &io);
}

static int order_other(enum wire_order_kind kind, uint64_t arg0, uint64_t arg1,
		       uint32_t flags)
{
	struct wire_order body = make_order(kind);

	body.arg[0] = htole64(arg0);
	body.arg[1] = htole64(arg1);
	body.flags = htole32(flags);
	return iodc_call(&primary, WIRE_ORDER, &body, sizeof(body), NULL, 0);
}

static void fill(struct iodc *c, uint32_t len, unsigned int seed)
{
	for (uint32_t i = 0; i < len; i++)
		c->arena[i] = (uint8_t)(i * 7 + i / 251 + seed);
}

/* ---- what the member has ---- */

static struct store_obj *find_object(void)
{
	struct object_key key = { HANDLE, GROUP };
	struct store_obj *obj;

	return store_obj_get(iod->store, key, false, &obj) ? NULL : obj;
}

static uint64_t size(void)
{
	struct store_obj *obj = find_object();
	struct store_stat st;

	if (!obj)
		return UINT64_MAX;
	ck_assert_int_eq(store_obj_stat(obj, &st), 0);
	store_obj_put(obj);
	return st.size;
}

static bool is_missing(void)
{
	return size() == UINT64_MAX;
}

static void has_bytes(uint64_t off, const uint8_t *bytes, size_t len)
{
	static uint8_t buf[1 << 20];
	struct store_obj *obj = find_object();
	size_t got;

	ck_assert_ptr_nonnull(obj);
	ck_assert_int_eq(store_obj_read(obj, buf, len, off, &got), 0);
	ck_assert_uint_eq(got, len);
	ck_assert(!memcmp(buf, bytes, len));
	store_obj_put(obj);
}

/* ---- the kinds of orders ---- */

START_TEST(writes_bytes_of_the_message)
{
	fill(&primary, 65536, 1);
	ck_assert_int_eq(order_write(&primary, 100, 65536), 0);
	has_bytes(100, primary.arena, 65536);
	ck_assert_int_eq(order_write(&primary, 200, 1), 0);
	has_bytes(200, primary.arena, 1);
}
END_TEST

/* As a copy of 512 KiB, too, which is longer than the largest buffer. */
START_TEST(fetches_bytes_from_the_primary)
{
	fill(&primary, 512 << 10, 2);
	ck_assert_int_eq(order_write(&primary, 4096, 512 << 10), 0);
	has_bytes(4096, primary.arena, 512 << 10);
}
END_TEST

START_TEST(writes_many_pieces)
{
	struct wire_region reg[MANY];
	struct iodc_mem mem = { 0, MANY * 200 };
	struct iodc_io io = { .reg = reg,
			      .nreg = MANY,
			      .mem = &mem,
			      .nmem = 1,
			      .total = MANY * 200 };

	fill(&primary, MANY * 200, 3);
	for (unsigned int i = 0; i < MANY; i++)
		reg[i] = (struct wire_region){ htole64((MANY - 1 - i) * 300),
					       htole64(200) };
	ck_assert_int_eq(order_io(&primary, &io), 0);
	for (unsigned int i = 0; i < MANY; i++)
		has_bytes((MANY - 1 - i) * 300, primary.arena + i * 200, 200);
}
END_TEST

/* A truncation is made once, as at the primary. */
START_TEST(truncates)
{
	ck_assert_int_eq(order_other(WIRE_ORDER_RESIZE, 0, 0, 0), 0);
	ck_assert_uint_eq(size(), UINT64_MAX);
	ck_assert_int_eq(order_other(WIRE_ORDER_RESIZE, 5000, 9, 0), 0);
	ck_assert_uint_eq(size(), 5000);
	ck_assert_int_eq(order_other(WIRE_ORDER_RESIZE, 10, 10, 0), 0);
	ck_assert_int_eq(order_other(WIRE_ORDER_RESIZE, 5000, 9, 0), 0);
	ck_assert_uint_eq(size(), 10);
}
END_TEST

static enum change_outcome outcome(void)
{
	const struct change_id id = { CLIENT, PRIMARY, SLOT, SEQ };
	enum change_outcome outcome;
	uint64_t done;

	ck_assert_int_eq(change_records_find(iod->change_records, &id,
					     clock_boot(), &outcome, &done),
			 0);
	return outcome;
}

/* For the next primary, until the session ends. */
START_TEST(writes_are_recorded)
{
	request_bytes = 20000;
	ck_assert_int_eq(outcome(), CHANGE_UNKNOWN);
	ck_assert_int_eq(order_write(&primary, 0, 10000), 0);
	ck_assert_int_eq(outcome(), CHANGE_PART);
	ck_assert_int_eq(order_write(&primary, 10000, 10000), 0);
	ck_assert_int_eq(outcome(), CHANGE_DONE);
	ck_assert_int_eq(iodc_fence(&mgr, CLIENT), 0);
	ck_assert_int_eq(outcome(), CHANGE_UNKNOWN);
}
END_TEST

START_TEST(allocates_and_frees_space)
{
	static const uint8_t zeros[4096];

	ck_assert_int_eq(order_other(WIRE_ORDER_SPACE, 0, 4096,
				     WIRE_FA_PUNCH | WIRE_FA_KEEP),
			 0);
	ck_assert_uint_eq(size(), UINT64_MAX);
	ck_assert_int_eq(order_other(WIRE_ORDER_SPACE, 4096, 8192, 0), 0);
	ck_assert_uint_eq(size(), 12288);
	fill(&primary, 8192, 4);
	ck_assert_int_eq(order_write(&primary, 0, 8192), 0);
	ck_assert_int_eq(order_other(WIRE_ORDER_SPACE, 4096, 4096,
				     WIRE_FA_PUNCH | WIRE_FA_KEEP),
			 0);
	has_bytes(0, primary.arena, 4096);
	has_bytes(4096, zeros, 4096);
}
END_TEST

/* A member that becomes primary continues a counter where the order says. */
START_TEST(counters_continue_at_their_limits)
{
	struct wire_counter body = { .handle = htole64(HANDLE),
				     .value = htole64(1),
				     .number = htole32(3) };
	const struct wire_counter_rep *rep;
	struct iodc client;
	int rc;

	ck_assert_int_eq(order_other(WIRE_ORDER_COUNTER, 1000, 3, 0), 0);
	ck_assert_int_eq(order_other(WIRE_ORDER_COUNTER, 2000, 3, 0), 0);
	open_as(&client, WIRE_ROLE_CLIENT);
	client.copyset.version = 2;
	ck_assert_int_eq(assign(2, as_primary), 0);
	do /* a new process may not serve at once: promises.h */
		rc = iodc_call(&client, WIRE_COUNTER, &body, sizeof(body), NULL,
			       0);
	while (rc == -WIRE_ECOPYSET);
	ck_assert_int_eq(rc, 0);
	rep = (const void *)client.body;
	ck_assert_int_eq((int64_t)le64toh(rep->old), 2000);
	iodc_close(&client);
}
END_TEST

/* ---- refusals ---- */

START_TEST(only_of_the_version_in_force)
{
	struct wire_order body = make_order(WIRE_ORDER_RESIZE);
	struct copyset_member gone[2] = { { PRIMARY }, { 0, COPYSET_OFFLINE } };

	ck_assert_int_eq(assign(3, as_second), 0);
	primary.copyset.version = 2;
	ck_assert_int_eq(order_write(&primary, 0, 10), -WIRE_ECOPYSET);
	primary.copyset.version = 4; /* its ASSIGN is on the way */
	ck_assert_int_eq(order_write(&primary, 0, 10), -EAGAIN);
	ck_assert_int_eq(order_other(WIRE_ORDER_COUNTER, 1, 0, 0), -EAGAIN);
	ck_assert(is_missing());
	primary.copyset.id++;
	ck_assert_int_eq(order_write(&primary, 0, 10), -EAGAIN);
	primary.copyset = (struct copyset_ref){ GROUP, 3 };
	body.primary = htole32(2);
	ck_assert_int_eq(iodc_call(&primary, WIRE_ORDER, &body, sizeof(body),
				   NULL, 0),
			 -WIRE_ECOPYSET);
	ck_assert_int_eq(order_write(&primary, 0, 10), 0);
	ck_assert_int_eq(assign(4, gone), 0);
	primary.copyset.version = 4;
	ck_assert_int_eq(order_write(&primary, 0, 20), -WIRE_ECOPYSET);
	ck_assert_uint_eq(size(), 10);
}
END_TEST

/* Not from itself, and no client's order. */
START_TEST(only_of_iods)
{
	struct iodc client;

	open_as(&client, WIRE_ROLE_CLIENT);
	ck_assert_int_eq(order_write(&client, 0, 10), -EPERM);
	iodc_close(&client);
	ck_assert_int_eq(assign(2, as_primary), 0);
	primary.copyset.version = 2;
	ck_assert_int_eq(order_write(&primary, 0, 10), -WIRE_ECOPYSET);
	ck_assert(is_missing());
}
END_TEST

START_TEST(not_of_fenced_sessions)
{
	ck_assert_int_eq(iodc_fence(&mgr, CLIENT), 0);
	ck_assert_int_eq(order_write(&primary, 0, 10), -ESTALE);
	ck_assert_int_eq(order_other(WIRE_ORDER_RESIZE, 10, 0, 0), -ESTALE);
	ck_assert_int_eq(order_other(WIRE_ORDER_COUNTER, 10, 0, 0), -ESTALE);
}
END_TEST

/* As above, with a fence that is not written to the disk. */
START_TEST(not_of_sessions_fenced_in_memory)
{
	struct {
		struct wire_fence body;
		le64 session;
	} fence = { { htole32(1), htole32(WIRE_FN_MEMORY) }, htole64(CLIENT) };

	ck_assert_int_eq(
		iodc_call(&mgr, WIRE_FENCE, &fence, sizeof(fence), NULL, 0), 0);
	ck_assert_int_eq(order_write(&primary, 0, 10), -ESTALE);
	ck_assert(is_missing());
}
END_TEST

/* ---- waiting ---- */

struct ordering {
	struct iodc *c;
	int status;
	pthread_t thread;
};

static void *order_ten_bytes(void *arg)
{
	struct ordering *o = arg;

	o->status = order_write(o->c, 0, 10);
	return NULL;
}

static void start(struct ordering *o, struct iodc *c)
{
	*o = (struct ordering){ .c = c };
	pthread_create(&o->thread, NULL, order_ten_bytes, o);
}

static int finish(struct ordering *o)
{
	pthread_join(o->thread, NULL);
	return o->status;
}

/* One order is in the disk queue, and one of the same bytes waits for it. */
static void start_two(struct ordering o[2])
{
	atomic_store(&slow_write, true);
	start(&o[0], &primary);
	sem_wait(&entered);
	start(&o[1], &second);
	catch_up(&mgr);
}

/* The iod has one progress thread, which does not wait for the disk. */
START_TEST(overlapping_orders_take_turns)
{
	struct ordering o[2];

	memset(primary.arena, 'a', 10);
	memset(second.arena, 'b', 10);
	start_two(o);
	ck_assert_int_eq(iodc_call(&mgr, WIRE_PING, NULL, 0, NULL, 0), 0);
	sem_post(&go);
	ck_assert_int_eq(finish(&o[0]), 0);
	ck_assert_int_eq(finish(&o[1]), 0);
	has_bytes(0, second.arena, 10);
}
END_TEST

/* The version is compared when the order begins, not when it arrives. */
START_TEST(refused_when_the_version_changes)
{
	struct ordering o[2];

	start_two(o);
	ck_assert_int_eq(assign(2, as_second), 0);
	sem_post(&go);
	ck_assert_int_eq(finish(&o[0]), 0);
	ck_assert_int_eq(finish(&o[1]), -WIRE_ECOPYSET);
}
END_TEST

static void *release_later(void *arg)
{
	usleep(50000);
	sem_post(&go);
	return arg;
}

/* A FENCE is answered after the orders of its session, and refuses those that wait. */
START_TEST(fence_waits_for_orders)
{
	struct ordering o[2];
	pthread_t thread;

	start_two(o);
	pthread_create(&thread, NULL, release_later, NULL);
	ck_assert_int_eq(iodc_fence(&mgr, CLIENT), 0);
	ck_assert(atomic_load(&written));
	ck_assert_int_eq(finish(&o[0]), 0);
	ck_assert_int_eq(finish(&o[1]), -ESTALE);
	pthread_join(thread, NULL);
}
END_TEST

/* Without a lease an order waits, as a client's change does. */
START_TEST(waits_for_a_lease)
{
	struct ordering o;

	iod->lease.until = clock_boot(); /* it ends now */
	start(&o, &primary);
	catch_up(&mgr);
	ck_assert(is_missing());
	ck_assert_int_eq(iodc_lease(&mgr, 3600000), 0);
	ck_assert_int_eq(finish(&o), 0);
	ck_assert_uint_eq(size(), 10);
}
END_TEST

/* An order whose lease ends while it waits for another one gets the next lease. */
START_TEST(lease_that_ends_in_the_queue)
{
	struct ordering o[2];

	start_two(o);
	iod->lease.until = clock_boot();
	sem_post(&go);
	ck_assert_int_eq(finish(&o[0]), 0);
	catch_up(&mgr);
	ck_assert_int_eq(iodc_lease(&mgr, 3600000), 0);
	ck_assert_int_eq(finish(&o[1]), 0);
}
END_TEST

static void *order_512k(void *arg)
{
	struct ordering *o = arg;

	o->status = order_write(o->c, 0, 512 << 10);
	return NULL;
}

/*
 * The lease ends between the two halves of an order.  The order fails, and its first half is
 * recorded once, so a part of the client's change does not count as all of it.
 */
START_TEST(lease_that_ends_between_two_parts)
{
	struct ordering o = { .c = &primary };

	request_bytes = 768 << 10;
	fill(&primary, 512 << 10, 6);
	atomic_store(&slow_write, true);
	pthread_create(&o.thread, NULL, order_512k, &o);
	sem_wait(&entered);
	iod->lease.until = clock_boot();
	sem_post(&go);
	while (outcome() == CHANGE_UNKNOWN)
		usleep(1000);
	catch_up(&mgr);
	ck_assert_int_eq(iodc_lease(&mgr, 3600000), 0);
	ck_assert_int_eq(finish(&o), -EIO);
	ck_assert_int_eq(outcome(), CHANGE_PART);
}
END_TEST

/* Clients hold all buffers of the iod, and do not move their data. */
START_TEST(orders_have_their_own_buffers)
{
	static struct stalled s[4];

	for (unsigned int i = 0; i < 4; i++)
		stall(&s[i], &addr, 100 + i, 60000);
	catch_up(&mgr);
	fill(&primary, 256 << 10, 5);
	ck_assert_int_eq(order_write(&primary, 0, 256 << 10), 0);
	has_bytes(0, primary.arena, 256 << 10);
	for (unsigned int i = 0; i < 4; i++)
		iodc_close(&s[i].c);
}
END_TEST

int main(void)
{
	Suite *s = suite_create("iod_order2");
	TCase *tc = tcase_create("orders");

	tcase_add_checked_fixture(tc, setup, teardown);
	tcase_set_timeout(tc, 60);
	tcase_add_test(tc, writes_bytes_of_the_message);
	tcase_add_test(tc, fetches_bytes_from_the_primary);
	tcase_add_test(tc, writes_many_pieces);
	tcase_add_test(tc, truncates);
	tcase_add_test(tc, writes_are_recorded);
	tcase_add_test(tc, allocates_and_frees_space);
	tcase_add_test(tc, counters_continue_at_their_limits);
	tcase_add_test(tc, only_of_the_version_in_force);
	tcase_add_test(tc, only_of_iods);
	tcase_add_test(tc, not_of_fenced_sessions);
	tcase_add_test(tc, not_of_sessions_fenced_in_memory);
	tcase_add_test(tc, overlapping_orders_take_turns);
	tcase_add_test(tc, refused_when_the_version_changes);
	tcase_add_test(tc, fence_waits_for_orders);
	tcase_add_test(tc, waits_for_a_lease);
	tcase_add_test(tc, lease_that_ends_in_the_queue);
	tcase_add_test(tc, lease_that_ends_between_two_parts);
	tcase_add_test(tc, orders_have_their_own_buffers);
	suite_add_tcase(s, tc);
	return run_suite(s);
}
