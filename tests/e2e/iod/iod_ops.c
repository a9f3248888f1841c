/* SPDX-License-Identifier: BSD-2-Clause */
/* iod_ops.c - each operation of an iod that runs in this process, over tcp. */
#include <check.h>
#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "tests/e2e/iod/iod_here.h"
#include "tests/e2e/iod/iodc.h"
#include "tests/run_suite.h"

static char dir[64];
static struct iod *iod;
static struct addr addr;
static struct iodc client, mgr;

/* Counts the flushes of the iod. */
static atomic_uint data_syncs, name_syncs;
static atomic_bool disk_fails;

int fdatasync(int fd)
{
	atomic_fetch_add(&data_syncs, 1);
	if (atomic_load(&disk_fails)) {
		errno = EIO;
		return -1;
	}
	return (int)syscall(SYS_fdatasync, fd);
}

int fsync(int fd)
{
	atomic_fetch_add(&name_syncs, 1);
	return (int)syscall(SYS_fsync, fd);
}

static const char *mgr_from = "127.0.0.1";

static void start(bool sync)
{
	struct iod_conf conf;

	iod_here_conf(&conf, dir);
	conf.threads = 2;
	conf.sync = sync;
	strcpy(conf.mgr_from, mgr_from);
	iod_here_start(&conf, NULL, &iod, &addr);
}

static void setup_sync(bool sync)
{
	iodc_mkdir(dir);
	start(sync);
	iodc_open(&client, &addr, WIRE_ROLE_CLIENT, 0);
	iodc_open_mgr(&mgr, &addr);
}

static void setup(void)
{
	setup_sync(false);
}

static void setup_durable(void)
{
	setup_sync(true);
}

static void teardown(void)
{
	iodc_close(&client);
	iodc_close(&mgr);
	iod_stop(iod);
	iodc_rmdir(dir);
}

/* Writes len bytes of a pattern at off and reads them back. */
static void round_trip(uint64_t handle, uint64_t off, uint32_t len)
{
	uint8_t *want = malloc(len);
	uint64_t done;
	uint32_t i;

	for (i = 0; i < len; i++)
		want[i] = (uint8_t)(i * 7 + i / 251 + off);
	memcpy(client.arena, want, len);
	ck_assert_int_eq(iodc_pwrite(&client, handle, off, len), 0);
	memset(client.arena, 0xee, len);
	ck_assert_int_eq(iodc_pread(&client, handle, off, len, &done), 0);
	ck_assert_uint_eq(done, len);
	ck_assert_mem_eq(client.arena, want, len);
	free(want);
}

START_TEST(every_size)
{
	static const uint32_t len[] = {
		1,	7,	4095,	4096,	4097,	65535,	 65536,	 65537,
		262143, 262144, 262145, 524288, 524289, 1 << 20, 3000001
	};
	unsigned int i;

	for (i = 0; i < sizeof(len) / sizeof(len[0]); i++)
		round_trip(100 + i, i * 1000, len[i]);
}
END_TEST

START_TEST(read_stops_at_the_end)
{
	uint64_t done = 1;

	ck_assert_int_eq(iodc_pread(&client, 1, 0, 100, &done), 0);
	ck_assert_uint_eq(done, 0);
	ck_assert_int_eq(iodc_pread(&client, 1, 0, 100000, &done), 0);
	ck_assert_uint_eq(done, 0);
	memset(client.arena, 'a', 5000);
	ck_assert_int_eq(iodc_pwrite(&client, 1, 0, 5000), 0);
	memset(client.arena, 'z', 100000);
	ck_assert_int_eq(iodc_pread(&client, 1, 0, 100000, &done), 0);
	ck_assert_uint_eq(done, 5000);
	ck_assert_int_eq(client.arena[4999], 'a');
	ck_assert_int_eq(client.arena[5000], 'z');
	ck_assert_int_eq(iodc_pread(&client, 1, 4990, 100, &done), 0);
	ck_assert_uint_eq(done, 10);
	ck_assert_int_eq(iodc_pread(&client, 1, 6000, 100, &done), 0);
	ck_assert_uint_eq(done, 0);
}
END_TEST

/* The regions are not in order, and one of them is beyond the end of the object. */
START_TEST(regions_beyond_the_end)
{
	struct wire_region reg[3] = { { htole64(50), htole64(20) },
				      { htole64(200), htole64(10) },
				      { htole64(0), htole64(30) } };
	struct iodc_mem mem = { 0, 60 };
	struct iodc_io io = { .handle = 3,
			      .reg = reg,
			      .nreg = 3,
			      .mem = &mem,
			      .nmem = 1,
			      .total = 60 };
	unsigned int i;

	memset(client.arena, 'a', 60);
	ck_assert_int_eq(iodc_pwrite(&client, 3, 0, 60), 0);
	memset(client.arena, 'z', 100);
	ck_assert_int_eq(iodc_read(&client, &io), 0);
	ck_assert_uint_eq(io.size, 60);
	ck_assert_uint_eq(io.done, 60);
	for (i = 0; i < 60; i++)
		ck_assert_int_eq(client.arena[i],
				 i >= 10 && i < 30 ? '\0' : 'a');
	/* the last region is beyond the end: its memory is not changed */
	reg[2].off = htole64(300);
	memset(client.arena, 'z', 100);
	ck_assert_int_eq(iodc_read(&client, &io), 0);
	ck_assert_uint_eq(io.done, 10);
	ck_assert_int_eq(client.arena[9], 'a');
	ck_assert_int_eq(client.arena[10], 'z');
}
END_TEST

START_TEST(inline_reply_is_bounded)
{
	struct wire_region reg = { 0, htole64(65536) };
	struct iodc_io io = {
		.handle = 3, .reg = &reg, .nreg = 1, .total = 65536
	};

	memset(client.arena, 'a', 65536);
	ck_assert_int_eq(iodc_pwrite(&client, 3, 0, 65536), 0);
	ck_assert_int_eq(iodc_read(&client, &io), -EMSGSIZE);
	round_trip(3, 0, 100);
}
END_TEST

START_TEST(sizes_and_removal)
{
	struct wire_objects body = { .n = htole32(WIRE_HANDLE_MAX) };
	const struct wire_objsize *obj = (void *)client.tail;
	le64 handle[WIRE_HANDLE_MAX];
	struct iodc_item item = { handle, sizeof(handle) };
	uint64_t size;
	unsigned int i;

	for (i = 0; i < WIRE_HANDLE_MAX; i++) {
		handle[i] = htole64(1000 + i);
		if (i % 2)
			ck_assert_int_eq(iodc_pwrite(&client, 1000 + i, i, 10),
					 0);
	}
	ck_assert_int_eq(iodc_call(&client, WIRE_GETSIZE, &body, sizeof(body),
				   &item, 1),
			 0);
	ck_assert_uint_eq(client.tail_len, WIRE_HANDLE_MAX * sizeof(*obj));
	for (i = 0; i < WIRE_HANDLE_MAX; i++) {
		ck_assert_uint_eq(le64toh(obj[i].size), i % 2 ? i + 10 : 0);
		ck_assert_int_eq(obj[i].mtime != 0, i % 2);
	}
	ck_assert_int_eq(
		iodc_call(&mgr, WIRE_REMOVE, &body, sizeof(body), &item, 1), 0);
	ck_assert_int_eq(iodc_remove(&mgr, 1001), 0);
	ck_assert_int_eq(iodc_size(&client, 1001, &size), 0);
	ck_assert_uint_eq(size, 0);
}
END_TEST

START_TEST(resize)
{
	uint64_t size = 7, done;

	ck_assert_int_eq(iodc_resize(&mgr, 8, 0), 0);
	ck_assert_int_eq(iodc_resize(&mgr, 8, 5ull << 30), 0);
	ck_assert_int_eq(iodc_size(&client, 8, &size), 0);
	ck_assert_uint_eq(size, 5ull << 30);
	ck_assert_int_eq(iodc_pread(&client, 8, 1 << 20, 8192, &done), 0);
	ck_assert_uint_eq(done, 8192);
	ck_assert_int_eq(client.arena[8191], 0);
	ck_assert_int_eq(iodc_resize(&mgr, 8, 3), 0);
	ck_assert_int_eq(iodc_size(&client, 8, &size), 0);
	ck_assert_uint_eq(size, 3);
}
END_TEST

/* ---- objects of other groups ---- */

#define LEAF_OF_1                                                              \
	(0x27 * 64 + 0x23) /* the directory of the objects of file 1 */

/* An object of file 1. */
static void make_object(uint32_t group)
{
	char path[160];

	snprintf(path, sizeof(path), "%s/objects/27/23/0000000000000001-%08x",
		 dir, group);
	ck_assert_int_eq(mknod(path, S_IFREG | 0600, 0), 0);
}

static int list_objects(uint32_t keys, uint64_t after)
{
	const struct wire_walk walk = { .after = htole64(after),
					.place = htole32(LEAF_OF_1),
					.keys = htole32(keys) };

	return iodc_call(&mgr, WIRE_OBJECTS, &walk, sizeof(walk), NULL, 0);
}

/* The answer cannot name it, and pvfs-fsck must not take the store for complete without it. */
START_TEST(objects_of_other_groups_are_not_left_out)
{
	round_trip(1, 0, 10);
	ck_assert_int_eq(list_objects(0, 0), 0);
	make_object(1024);
	ck_assert_int_eq(list_objects(0, 0), -EOPNOTSUPP);
}
END_TEST

START_TEST(objects_with_their_groups)
{
	const le64 *number = (void *)mgr.tail;

	round_trip(1, 0, 10);
	make_object(1024);
	make_object(1025);
	ck_assert_int_eq(list_objects(WIRE_WALK_KEYS, 0), 0);
	ck_assert_uint_eq(mgr.tail_len, 6 * sizeof(le64));
	for (unsigned int i = 0; i < 3; i++) {
		ck_assert_uint_eq(le64toh(number[2 * i]), 1);
		ck_assert_uint_eq(le64toh(number[2 * i + 1]), i ? 1023 + i : 0);
	}
	ck_assert_int_eq(list_objects(WIRE_WALK_KEYS | 1024, 1), 0);
	ck_assert_uint_eq(mgr.tail_len, 2 * sizeof(le64));
	ck_assert_uint_eq(le64toh(number[1]), 1025);
}
END_TEST

START_TEST(removal_from_groups)
{
	const struct wire_remove body = { htole32(2), htole32(2) };
	const le64 handle[2] = { htole64(1), htole64(1) };
	const le32 copyset[2] = { htole32(1025), 0 };
	struct iodc_item item[2] = { { handle, sizeof(handle) },
				     { copyset, sizeof(copyset) } };

	round_trip(1, 0, 10);
	make_object(1024);
	make_object(1025);
	ck_assert_int_eq(
		iodc_call(&mgr, WIRE_REMOVE, &body, sizeof(body), item, 2), 0);
	ck_assert_int_eq(list_objects(WIRE_WALK_KEYS, 0), 0);
	ck_assert_uint_eq(mgr.tail_len, 2 * sizeof(le64));
	ck_assert_uint_eq(le64toh(((const le64 *)mgr.tail)[1]), 1024);
}
END_TEST

START_TEST(only_the_manager_may)
{
	ck_assert_int_eq(iodc_resize(&client, 8, 1), -EPERM);
	ck_assert_int_eq(iodc_remove(&client, 8), -EPERM);
	ck_assert_int_eq(iodc_fence(&client, 8), -EPERM);
	ck_assert_int_eq(iodc_call(&client, WIRE_OBJECTS,
				   &(struct wire_walk){ 0 },
				   sizeof(struct wire_walk), NULL, 0),
			 -EPERM);
	ck_assert_int_eq(iodc_call(&client, WIRE_MOUNT, NULL, 0, NULL, 0),
			 -ENOSYS);
	round_trip(8, 0, 10);
}
END_TEST

/* Checks the numbers of flushes of data and of names for one write. */
static void count_syncs(uint32_t len, unsigned int data, unsigned int names)
{
	atomic_store(&data_syncs, 0);
	atomic_store(&name_syncs, 0);
	ck_assert_int_eq(iodc_pwrite(&client, 1, 0, len), 0);
	ck_assert_uint_eq(atomic_load(&data_syncs), data);
	ck_assert_uint_eq(atomic_load(&name_syncs), names);
}

START_TEST(answered_when_durable)
{
	count_syncs(100, 1, 3); /* flushes the object and two directories */
	count_syncs(100, 1, 0);
	count_syncs(1 << 20, 1, 0);
	atomic_store(&disk_fails, true);
	ck_assert_int_eq(iodc_pwrite(&client, 1, 0, 100), -EIO);
	atomic_store(&disk_fails, false);
	count_syncs(100, 1, 0);
}
END_TEST

START_TEST(answered_from_the_cache)
{
	count_syncs(100, 0, 0);
	count_syncs(1 << 20, 0, 0);
	atomic_store(&disk_fails, true);
	ck_assert_int_eq(iodc_sync(&client, 1), -EIO);
	atomic_store(&disk_fails, false);
	ck_assert_int_eq(iodc_sync(&client, 1), 0);
	ck_assert_uint_eq(atomic_load(&data_syncs), 2);
	ck_assert_uint_eq(atomic_load(&name_syncs), 3);
}
END_TEST

START_TEST(sync_object)
{
	round_trip(5, 0, 300000);
	ck_assert_int_eq(iodc_sync(&client, 5), 0);
	ck_assert_int_eq(iodc_sync(&client, 6), 0);
}
END_TEST

START_TEST(sync_flag)
{
	struct wire_region reg = { 0, htole64(100) };
	struct iodc_io io = { .handle = 3,
			      .reg = &reg,
			      .nreg = 1,
			      .total = 100,
			      .flags = WIRE_IO_SYNC };

	ck_assert_int_eq(iodc_write(&client, &io), 0);
	ck_assert_uint_eq(io.done, 100);
	ck_assert_uint_eq(io.size, 100);
}
END_TEST

START_TEST(ping_and_statfs)
{
	const struct wire_ping_rep *ping = (void *)client.body;
	const struct wire_statfs_rep *fs = (void *)client.body;

	ck_assert_int_eq(iodc_call(&client, WIRE_PING, NULL, 0, NULL, 0), 0);
	ck_assert_uint_eq(client.tail_len, strlen(PVFS_VERSION));
	ck_assert_mem_eq(client.tail, PVFS_VERSION, client.tail_len);
	ck_assert_uint_gt(le64toh(ping->uptime_ns), 0);
	ck_assert_uint_ge(le64toh(ping->sessions), 1);
	ck_assert_int_eq(iodc_call(&client, WIRE_STATFS, NULL, 0, NULL, 0), 0);
	ck_assert_uint_gt(le64toh(fs->bsize), 0);
	ck_assert_uint_ge(le64toh(fs->blocks), le64toh(fs->bfree));
}
END_TEST

START_TEST(fenced_stays_out)
{
	uint64_t size;
	struct iodc again;

	memset(client.arena, 'a', 10);
	ck_assert_int_eq(iodc_pwrite(&client, 1, 0, 10), 0);
	ck_assert_int_eq(iodc_fence(&mgr, client.session), 0);
	client.timeout_ms = 2000;
	ck_assert_int_eq(iodc_pwrite(&client, 1, 0, 20), -ESTALE);
	iodc_close(&mgr);
	iod_stop(iod);
	start(false);
	iodc_open_mgr(&mgr, &addr);
	iodc_open(&again, &addr, WIRE_ROLE_CLIENT, client.session);
	ck_assert_int_eq(iodc_pwrite(&again, 1, 0, 20), -ESTALE);
	iodc_close(&again);
	ck_assert_int_eq(iodc_size(&mgr, 1, &size), 0);
	ck_assert_uint_eq(size, 10);
}
END_TEST

/* A program is not accepted as the manager because it says so. */
START_TEST(a_false_manager)
{
	uint64_t size;

	memset(client.arena, 'a', 10);
	ck_assert_int_eq(iodc_pwrite(&client, 1, 0, 10), 0);
	iodc_close(&client);
	iodc_close(&mgr);
	iod_stop(iod);
	mgr_from = "192.0.2.1";
	start(false);
	mgr_from = "127.0.0.1";
	iodc_open(&mgr, &addr, WIRE_ROLE_MGR, 0);
	ck_assert_int_eq(iodc_claim(&mgr, 1), -EKEYREJECTED);
	ck_assert_int_eq(iodc_remove(&mgr, 1), -EKEYREJECTED);
	ck_assert_int_eq(iodc_fence(&mgr, 1), -EKEYREJECTED);
	iodc_close(&mgr);
	iod_stop(iod);
	start(false);
	iodc_open_mgr(&mgr, &addr);
	iodc_open(&client, &addr, WIRE_ROLE_CLIENT, 0);
	ck_assert_int_eq(iodc_size(&client, 1, &size), 0);
	ck_assert_uint_eq(size, 10);
}
END_TEST

START_TEST(data_survives_restart)
{
	uint64_t done;

	round_trip(1, 0, 700000);
	memcpy(client.arena + (4 << 20), client.arena, 700000);
	iodc_close(&client);
	iodc_close(&mgr);
	iod_stop(iod);
	start(false);
	iodc_open(&client, &addr, WIRE_ROLE_CLIENT, 0);
	iodc_open_mgr(&mgr, &addr);
	ck_assert_int_eq(iodc_pread(&client, 1, 0, 700000, &done), 0);
	ck_assert_uint_eq(done, 700000);
	round_trip(1, 100, 700000);
}
END_TEST

/* The limit of this process applies to the writes of the iod in it. */
START_TEST(error_reaches_the_client)
{
	struct rlimit old, lim;

	signal(SIGXFSZ, SIG_IGN);
	getrlimit(RLIMIT_FSIZE, &old);
	lim = old;
	lim.rlim_cur = 1 << 20;
	setrlimit(RLIMIT_FSIZE, &lim);
	ck_assert_int_eq(iodc_pwrite(&client, 1, 0, 4 << 20), -EFBIG);
	ck_assert_int_eq(iodc_pwrite(&client, 1, 2 << 20, 100), -EFBIG);
	round_trip(2, 0, 1 << 20);
	setrlimit(RLIMIT_FSIZE, &old);
	round_trip(1, 0, 4 << 20);
}
END_TEST

START_TEST(foreign_memory_costs_the_connection)
{
	struct wire_region reg = { 0, htole64(100000) };
	struct iodc_mem mem = { IODC_ARENA - 1000, 100000 };
	struct iodc_io io = { .handle = 3,
			      .reg = &reg,
			      .nreg = 1,
			      .mem = &mem,
			      .nmem = 1,
			      .total = 100000 };
	struct iodc other;
	uint64_t done;

	iodc_open(&other, &addr, WIRE_ROLE_CLIENT, 0);
	other.timeout_ms = 500;
	ck_assert_int_ne(iodc_write(&other, &io), 0);
	iodc_close(&other);
	ck_assert_int_eq(iodc_pread(&client, 3, 0, 10, &done), 0);
	ck_assert_uint_eq(done, 0);
	round_trip(3, 0, 100000);
}
END_TEST

/* Returns the number of mappings of objects in this process. */
static int mapped(void)
{
	char line[512];
	FILE *f = fopen("/proc/self/maps", "r");
	int n = 0;

	while (fgets(line, sizeof(line), f))
		n += strstr(line, dir) && strstr(line, "/objects/");
	fclose(f);
	return n;
}

static void read_all(uint64_t handle, uint32_t len, int c)
{
	uint64_t done;

	memset(client.arena, 'z', len);
	ck_assert_int_eq(iodc_pread(&client, handle, 0, len, &done), 0);
	ck_assert_uint_eq(done, len);
	ck_assert_int_eq(client.arena[0], c);
	ck_assert_int_eq(client.arena[len / 2], c);
	ck_assert_int_eq(client.arena[len - 1], c);
}

static void write_all(uint64_t handle, uint32_t len, int c)
{
	memset(client.arena, c, len);
	ck_assert_int_eq(iodc_pwrite(&client, handle, 0, len), 0);
}

START_TEST(read_again_from_a_mapping)
{
	const uint32_t len = 6 << 20;
	uint64_t size;

	write_all(1, len, 'a');
	read_all(1, len, 'a');
	ck_assert_int_eq(mapped(), 0);
	read_all(1, len, 'a');
	ck_assert_int_eq(mapped(), 2);
	write_all(1, len, 'b');
	read_all(1, len, 'b');
	ck_assert_int_eq(iodc_remove(&mgr, 1), 0);
	ck_assert_int_eq(iodc_size(&client, 1, &size), 0);
	ck_assert_uint_eq(size, 0);
	while (mapped())
		usleep(10000);
}
END_TEST

START_TEST(holes_are_not_mapped)
{
	const uint32_t len = 6 << 20;
	uint64_t done;
	unsigned int i;

	write_all(1, len, 'a');
	ck_assert_int_eq(iodc_resize(&mgr, 1, len + 8192), 0);
	for (i = 0; i < 3; i++)
		ck_assert_int_eq(iodc_pread(&client, 1, 0, len + 8192, &done),
				 0);
	ck_assert_uint_eq(done, len + 8192);
	ck_assert_int_eq(client.arena[len], 0);
	ck_assert_int_eq(mapped(), 0);
}
END_TEST

static void *truncate_often(void *arg)
{
	atomic_bool *stop = arg;

	while (!atomic_load(stop)) {
		must(!iodc_resize(&mgr, 1, 4096));
		must(!iodc_resize(&mgr, 1, 0));
		memset(mgr.arena, 'a', 4 << 20);
		must(!iodc_pwrite(&mgr, 1, 0, 4 << 20));
		usleep(3000);
	}
	return NULL;
}

/* A truncation removes the pages of a mapping while it is sent; the client repeats the read. */
START_TEST(truncated_while_read)
{
	atomic_bool stop = false;
	pthread_t thread;
	uint64_t done, j;
	unsigned int i;

	write_all(1, 4 << 20, 'a');
	pthread_create(&thread, NULL, truncate_often, &stop);
	for (i = 0; i < 300; i++) {
		ck_assert_int_eq(iodc_pread(&client, 1, 0, 4 << 20, &done), 0);
		for (j = 0; j < done; j += 1000)
			if (client.arena[j] != 'a' && client.arena[j])
				ck_abort_msg("%d", client.arena[j]);
	}
	atomic_store(&stop, true);
	pthread_join(thread, NULL);
}
END_TEST

static TCase *tcase(const char *name, void (*up)(void), const TTest *own)
{
	TCase *tc = tcase_create(name);

	tcase_add_checked_fixture(tc, up, teardown);
	tcase_set_timeout(tc, 60);
	tcase_add_test(tc, every_size);
	tcase_add_test(tc, read_stops_at_the_end);
	tcase_add_test(tc, regions_beyond_the_end);
	tcase_add_test(tc, inline_reply_is_bounded);
	tcase_add_test(tc, sizes_and_removal);
	tcase_add_test(tc, resize);
	tcase_add_test(tc, objects_of_other_groups_are_not_left_out);
	tcase_add_test(tc, objects_with_their_groups);
	tcase_add_test(tc, removal_from_groups);
	tcase_add_test(tc, only_the_manager_may);
	tcase_add_test(tc, sync_object);
	tcase_add_test(tc, sync_flag);
	tcase_add_test(tc, ping_and_statfs);
	tcase_add_test(tc, fenced_stays_out);
	tcase_add_test(tc, a_false_manager);
	tcase_add_test(tc, data_survives_restart);
	tcase_add_test(tc, error_reaches_the_client);
	tcase_add_test(tc, foreign_memory_costs_the_connection);
	tcase_add_test(tc, read_again_from_a_mapping);
	tcase_add_test(tc, holes_are_not_mapped);
	tcase_add_test(tc, truncated_while_read);
	tcase_add_test(tc, own);
	return tc;
}

int main(void)
{
	Suite *s = suite_create("iod_ops");

	suite_add_tcase(s, tcase("sync=off", setup, answered_from_the_cache));
	suite_add_tcase(s,
			tcase("sync=on", setup_durable, answered_when_durable));
	return run_suite(s);
}
