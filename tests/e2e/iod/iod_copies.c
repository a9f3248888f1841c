/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * iod_copies.c - objects that two iods store.  Iod 0 is the primary of group 1024, and iod 1 of
 * group 1025.
 */
#include <check.h>
#include <errno.h>
#include <pthread.h>
#include <semaphore.h>
#include <stdatomic.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "server/copyset/assignments.h"
#include "server/state/worker.h"
#include "tests/e2e/iod/iod_here.h"
#include "tests/e2e/iod/iodc.h"
#include "tests/run_suite.h"
#include "tests/unit/rnd.h"

#define GROUP 1024u
#define HANDLE 5u
#define CLIENTS 4u
#define SPAN (1u << 20) /* bytes of an object */
#define LEASE_MS 500u

static char dir[2][64];
static struct iod *iod[2];
static struct addr addr[2];
static struct iodc mgr[2], client;

/* Interposed: stops the next write, which is that of the member. */
static atomic_bool slow_write;
static sem_t entered, go;

ssize_t pwrite(int fd, const void *buf, size_t len, off_t off)
{
	if (atomic_exchange(&slow_write, false)) {
		sem_post(&entered);
		sem_wait(&go);
	}
	return syscall(SYS_pwrite64, fd, buf, len, off);
}

/* ---- two iods ---- */

static void start_iod(unsigned int i, unsigned int buffers)
{
	struct iod_conf conf;

	iodc_mkdir(dir[i]);
	iod_here_conf(&conf, dir[i]);
	conf.index = i;
	conf.niods = 2;
	conf.iods = addr; /* filled in before the iod connects */
	conf.threads = 1;
	conf.group_lease_ms = LEASE_MS;
	conf.zones.n = 1;
	conf.zones.zone[0].size = 64 << 10;
	conf.zones.zone[0].count = buffers;
	iod_here_start(&conf, NULL, &iod[i], &addr[i]);
	iodc_open_with(&mgr[i], &addr[i], WIRE_ROLE_MGR, 0,
		       &(struct iodc_with){ .features = WIRE_FT_COPIES,
					    .index = i });
	must(!iodc_claim(&mgr[i], 1));
	must(!iodc_lease(&mgr[i], 3600000));
}

static int assign(unsigned int i, uint32_t version)
{
	struct wire_assign body = { .revision = htole64(version),
				    .n = htole32(2) };
	struct wire_copyset set[2] = { 0 };
	struct iodc_item item = { set, sizeof(set) };

	for (uint16_t k = 0; k < 2; k++) {
		set[k].id = htole32(GROUP + k);
		set[k].version = htole32(version);
		set[k].n = htole32(2);
		set[k].member[0].iod = htole16(k);
		set[k].member[1].iod = htole16(!k);
	}
	return iodc_call(&mgr[i], WIRE_ASSIGN, &body, sizeof(body), &item, 1);
}

static void open_client(struct iodc *c, uint32_t k)
{
	iodc_open_with(c, &addr[k], WIRE_ROLE_CLIENT, 0,
		       &(struct iodc_with){ .features = WIRE_FT_COPIES,
					    .index = k });
	c->copyset = (struct copyset_ref){ GROUP + k, 1 };
}

/* The primaries need promises first. */
static void wait_until_served(unsigned int i, uint32_t group, uint32_t version)
{
	const struct copyset_ref ref = { group, version };

	while (copyset_check(iod[i]->assignments, ref))
		usleep(10000);
}

static void start_all(unsigned int buffers)
{
	sem_init(&entered, 0, 0);
	sem_init(&go, 0, 0);
	atomic_store(&slow_write, false);
	for (unsigned int i = 0; i < 2; i++)
		start_iod(i, buffers);
	for (unsigned int i = 0; i < 2; i++)
		ck_assert_int_eq(assign(i, 1), 0);
	for (unsigned int i = 0; i < 2; i++)
		wait_until_served(i, GROUP + i, 1);
	open_client(&client, 0);
}

static void setup(void)
{
	start_all(8);
}

static void teardown(void)
{
	iodc_close(&client);
	for (unsigned int i = 0; i < 2; i++) {
		iodc_close(&mgr[i]);
		iod_stop(iod[i]);
	}
	for (unsigned int i = 0; i < 2; i++)
		iodc_rmdir(dir[i]);
	sem_destroy(&entered);
	sem_destroy(&go);
}

/* ---- what an iod has ---- */

static size_t read_object(unsigned int i, uint32_t group, uint8_t *buf)
{
	struct object_key key = { HANDLE, group };
	struct store_obj *obj;
	size_t got;

	if (store_obj_get(iod[i]->store, key, false, &obj))
		return 0;
	ck_assert_int_eq(store_obj_read(obj, buf, 4 * SPAN, 0, &got), 0);
	store_obj_put(obj);
	return got;
}

static void must_be_equal(uint32_t group)
{
	static uint8_t bytes[2][4 * SPAN];
	size_t len = read_object(0, group, bytes[0]);

	ck_assert_uint_gt(len, 0);
	ck_assert_uint_eq(read_object(1, group, bytes[1]), len);
	ck_assert(!memcmp(bytes[0], bytes[1], len));
}

static size_t size_at(unsigned int i)
{
	static uint8_t bytes[4 * SPAN];

	return read_object(i, GROUP, bytes);
}

/* ---- operations ---- */

static int write_list(struct iodc *c, uint64_t off, uint32_t len,
		      uint32_t count)
{
	struct wire_list body = {
		.io = { .handle = htole64(HANDLE),
			.total = htole64((uint64_t)len * count),
			.nreg = htole32(1),
			.nmem = htole32(1) },
		.dist = { .pcount = htole32(1), .ssize = htole32(65536) },
	};
	struct wire_vec vec = { .off = htole64(off),
				.len = htole64(len),
				.stride = htole64(2 * len),
				.count = htole32(count),
				.count2 = htole32(1) };
	struct wire_mem mem = { .addr = htole64((uintptr_t)c->arena),
				.len = htole32(len * count),
				.rkey = htole32(c->mr->rkey) };
	uint64_t buf[64];
	struct wire_out out;

	wire_begin(&out, buf, sizeof(buf));
	wire_put(&out, &body, sizeof(body));
	wire_put(&out, &vec, sizeof(vec));
	wire_put(&out, &mem, sizeof(mem));
	return iodc_send(c, &out, WIRE_WRITE_LIST, 0);
}

/* Pieces that overlap: the later one in the list remains. */
static int write_pieces(struct iodc *c, uint64_t off, uint32_t len)
{
	struct wire_region reg[8];
	struct iodc_mem mem = { 0, 8 * len };
	struct iodc_io io = { .handle = HANDLE,
			      .reg = reg,
			      .nreg = 8,
			      .mem = &mem,
			      .nmem = 1,
			      .total = 8 * len };

	for (unsigned int i = 0; i < 8; i++)
		reg[i] = (struct wire_region){
			htole64(off + (i * 3 % 8) * len / 2), htole64(len)
		};
	return iodc_write(c, &io);
}

/* Only managers truncate.  Several threads share this one. */
static int truncate_object(uint32_t k, uint64_t size)
{
	static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
	int rc;

	pthread_mutex_lock(&lock);
	mgr[k].copyset = (struct copyset_ref){ GROUP + k, 1 };
	rc = iodc_resize(&mgr[k], HANDLE, size);
	mgr[k].copyset = (struct copyset_ref){ 0 };
	pthread_mutex_unlock(&lock);
	return rc;
}

static int allocate(struct iodc *c, uint64_t off, uint64_t len, uint32_t flags)
{
	struct wire_fallocate body = { .handle = htole64(HANDLE),
				       .off = htole64(off),
				       .len = htole64(len),
				       .flags = htole32(flags) };

	return iodc_call(c, WIRE_FALLOCATE, &body, sizeof(body), NULL, 0);
}

/* From the own object 7 of the iod. */
static int copy_from(struct iodc *c, uint32_t k, uint64_t off, uint64_t len)
{
	struct wire_copy body = { .handle = htole64(HANDLE),
				  .from = htole64(7),
				  .off = htole64(off),
				  .len = htole64(len),
				  .iod = htole32(k) };

	return iodc_call(c, WIRE_COPY, &body, sizeof(body), NULL, 0);
}

static int add_to_counter(struct iodc *c, int64_t value, int64_t *old)
{
	struct wire_counter body = { .handle = htole64(HANDLE),
				     .value = htole64((uint64_t)value) };
	const struct wire_counter_rep *rep = (const void *)c->body;
	int rc = iodc_call(c, WIRE_COUNTER, &body, sizeof(body), NULL, 0);

	if (!rc)
		*old = (int64_t)le64toh(rep->old);
	return rc;
}

static int change_somehow(struct iodc *c, struct rnd *rnd, uint32_t k)
{
	uint64_t off = rnd_in(rnd, 0, SPAN - 1);
	int64_t old;

	for (unsigned int i = 0; i < 64; i++)
		c->arena[rnd_in(rnd, 0, SPAN - 1)] = (uint8_t)rnd_next(rnd);
	switch (rnd_next(rnd) % 8) {
	case 0:
		return iodc_pwrite(c, HANDLE, off,
				   (uint32_t)rnd_in(rnd, 1, 5000));
	case 1:
		return iodc_pwrite(c, HANDLE, off,
				   (uint32_t)rnd_in(rnd, 70000, 500000));
	case 2:
		return write_list(c, off, 16, 3000);
	case 3:
		return write_pieces(c, off, 40000);
	case 4:
		return truncate_object(k, off);
	case 5:
		return allocate(c, off, 50000,
				rnd_next(rnd) % 2 ? WIRE_FA_PUNCH | WIRE_FA_KEEP
						  : WIRE_FA_ZERO);
	case 6:
		return copy_from(c, k, off, 600000);
	default:
		return add_to_counter(c, 1, &old);
	}
}

struct busy {
	unsigned int number;
	pthread_t thread;
};

static void *change_often(void *arg)
{
	const struct busy *b = arg;
	uint32_t k = b->number % 2;
	struct rnd rnd = { 17 + b->number };
	struct iodc c;

	open_client(&c, k);
	for (unsigned int i = 0; i < 60; i++) {
		int rc = change_somehow(&c, &rnd, k);

		/* on a busy host, promises may end */
		must(!rc || rc == -WIRE_ECOPYSET);
	}
	iodc_close(&c);
	return NULL;
}

static void change_from(unsigned int clients, void *(*change)(void *arg))
{
	struct busy b[CLIENTS];

	for (unsigned int i = 0; i < clients; i++) {
		b[i].number = i;
		pthread_create(&b[i].thread, NULL, change, &b[i]);
	}
	for (unsigned int i = 0; i < clients; i++)
		pthread_join(b[i].thread, NULL);
}

/* Two clients change each of the two objects. */
START_TEST(equal_after_all_operations)
{
	struct iodc own;

	for (uint32_t k = 0; k < 2; k++) {
		open_client(&own, k);
		own.copyset = (struct copyset_ref){ 0 };
		memset(own.arena, 'c', 500000);
		ck_assert_int_eq(iodc_pwrite(&own, 7, 0, 500000), 0);
		iodc_close(&own);
	}
	change_from(CLIENTS, change_often);
	must_be_equal(GROUP);
	must_be_equal(GROUP + 1);
}
END_TEST

static void *write_long(void *arg)
{
	const struct busy *b = arg;
	struct iodc c;

	open_client(&c, b->number % 2);
	memset(c.arena, (int)('a' + b->number), SPAN);
	for (unsigned int i = 0; i < 10; i++) {
		int rc = iodc_pwrite(&c, HANDLE, 0, SPAN);

		must(!rc || rc == -WIRE_ECOPYSET);
	}
	iodc_close(&c);
	return NULL;
}

/* Each iod has one buffer for clients, and orders at the other one. */
START_TEST(both_directions_with_one_buffer)
{
	change_from(CLIENTS, write_long);
	must_be_equal(GROUP);
	must_be_equal(GROUP + 1);
}
END_TEST

/* The limit is at the member before a value is handed out. */
START_TEST(counters_do_not_repeat)
{
	struct wire_copyset set = { .id = htole32(GROUP),
				    .version = htole32(2),
				    .n = htole32(2) };
	struct wire_assign body = { .revision = htole64(2), .n = htole32(1) };
	struct iodc_item item = { &set, sizeof(set) };
	struct iodc second;
	int64_t old, last = -1;

	for (unsigned int i = 0; i < 300; i++) {
		ck_assert_int_eq(add_to_counter(&client, 1, &old), 0);
		ck_assert_int_eq(old, last + 1);
		last = old;
	}
	set.member[0].state = htole16(WIRE_CS_OFFLINE);
	set.member[1].iod = htole16(1);
	ck_assert_int_eq(iodc_call(&mgr[1], WIRE_ASSIGN, &body, sizeof(body),
				   &item, 1),
			 0);
	wait_until_served(1, GROUP, 2);
	open_client(&second, 1);
	second.copyset = (struct copyset_ref){ GROUP, 2 };
	ck_assert_int_eq(add_to_counter(&second, 1, &old), 0);
	ck_assert_int_gt(old, last);
	iodc_close(&second);
}
END_TEST

/* ---- a member that is slow or fails ---- */

static void *write_ten_bytes(void *arg)
{
	struct iodc *c = arg;

	memset(c->arena, 'x', 10);
	c->body[7] = (uint64_t)iodc_pwrite(c, HANDLE, 0, 10);
	return NULL;
}

/* The primary stores last, and a change that is carried out after its deadline is not missed. */
START_TEST(late_change)
{
	struct iodc reader;
	pthread_t thread;
	uint64_t done;

	open_client(&reader, 0);
	client.timeout_ms = 300;
	reader.timeout_ms = 300;
	atomic_store(&slow_write, true);
	pthread_create(&thread, NULL, write_ten_bytes, &client);
	sem_wait(&entered);
	ck_assert_uint_eq(size_at(0), 0);
	pthread_join(thread, NULL);
	ck_assert_int_eq((int)client.body[7], -ETIMEDOUT);
	ck_assert_int_eq(iodc_pread(&reader, HANDLE, 0, 10, &done), -ETIMEDOUT);
	sem_post(&go);
	reader.timeout_ms = 10000;
	ck_assert_int_eq(iodc_pread(&reader, HANDLE, 0, 10, &done), 0);
	ck_assert_uint_eq(done, 10);
	must_be_equal(GROUP);
	iodc_close(&reader);
}
END_TEST

/* Nothing is acknowledged or stored here while the member is missing. */
START_TEST(missing_member_stops_changes)
{
	int rc;

	memset(client.arena, 'a', 10);
	ck_assert_int_eq(iodc_pwrite(&client, HANDLE, 0, 10), 0);
	iodc_close(&mgr[1]);
	iod_stop(iod[1]);
	client.timeout_ms = 200;
	memset(client.arena, 'b', 20);
	rc = iodc_pwrite(&client, HANDLE, 5, 20);
	ck_assert(rc == -ETIMEDOUT || rc == -WIRE_ECOPYSET);
	ck_assert_uint_eq(size_at(0), 10);
	iodc_rmdir(dir[1]);
	start_iod(1, 8);
}
END_TEST

/* ---- what such objects do not have ---- */

START_TEST(not_lent_and_no_places)
{
	struct wire_place place = { .handle = htole64(HANDLE),
				    .step = htole64(1) };
	struct wire_borrow borrow = { .handle = htole64(HANDLE) };

	ck_assert_int_eq(iodc_pwrite(&client, HANDLE, 0, 10), 0);
	ck_assert_int_eq(iodc_call(&client, WIRE_PLACE, &place, sizeof(place),
				   NULL, 0),
			 -EOPNOTSUPP);
	ck_assert_int_eq(iodc_call(&client, WIRE_BORROW, &borrow,
				   sizeof(borrow), NULL, 0),
			 -EOPNOTSUPP);
}
END_TEST

static void setup_one_buffer(void)
{
	start_all(1);
}

int main(void)
{
	Suite *s = suite_create("iod_copies");
	TCase *tc = tcase_create("two");
	TCase *one = tcase_create("one buffer");

	tcase_add_checked_fixture(tc, setup, teardown);
	tcase_set_timeout(tc, 100);
	tcase_add_test(tc, equal_after_all_operations);
	tcase_add_test(tc, counters_do_not_repeat);
	tcase_add_test(tc, late_change);
	tcase_add_test(tc, missing_member_stops_changes);
	tcase_add_test(tc, not_lent_and_no_places);
	tcase_add_checked_fixture(one, setup_one_buffer, teardown);
	tcase_set_timeout(one, 100);
	tcase_add_test(one, both_directions_with_one_buffer);
	suite_add_tcase(s, tc);
	suite_add_tcase(s, one);
	return run_suite(s);
}
