/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * mgr_copysets.c - a manager with a ring of copysets of one member: the iods get their rows, and
 * sizes, truncations and removals go to the members.  The manager is that of ../copysets, which
 * makes rings and moves copysets at a command.
 */
#include <check.h>
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "common/dist/copyset.h"
#include "tests/e2e/mgr/mgrrig.h"
#include "tests/run_suite.h"

#define RING 1000u /* each iod has more rows than a part of ASSIGN */

static struct mgrrig rig;
static struct mgrc c;
static char fifo[96];
static unsigned int command_number;

/* ---- the rig ---- */

static void open_client(struct mgrc *client, uint32_t features)
{
	memset(client, 0, sizeof(*client));
	client->features = features;
	mgrc_open(client, &rig.addr, 0);
}

static void setup(void)
{
	rig_open(&rig);
	for (uint32_t i = 0; i < RIG_IODS; i++) {
		fakeiod_down(&rig.iod[i]);
		rig.iod[i].copies = true;
		rig.iod[i].index = i;
		fakeiod_up(&rig.iod[i]);
	}
	snprintf(fifo, sizeof(fifo), "%s/commands", rig.dir);
	must(!setenv("PVFS_TEST_COMMANDS", fifo, 1));
	command_number = 0;
	rig_start(&rig);
	open_client(&c, WIRE_FT_COPIES);
}

static void teardown(void)
{
	mgrc_close(&c, true);
	rig_close(&rig);
}

/* Returns when the change is durable. */
static void command(const char *text)
{
	char line[80], answer[40];
	int fd = open(fifo, O_WRONLY | O_CLOEXEC), len;

	must(fd >= 0);
	len = snprintf(line, sizeof(line), "%u %s\n", ++command_number, text);
	must(write(fd, line, (size_t)len) == len);
	close(fd);
	snprintf(answer, sizeof(answer), "command %u: done", command_number);
	must(rig_says(&rig, answer));
}

static void move(uint32_t copyset, uint32_t iod)
{
	char text[40];

	snprintf(text, sizeof(text), "move %u %u", copyset, iod);
	command(text);
}

/* ---- the rows ---- */

/* The row that each copyset must have. */
static struct {
	uint32_t iod, version;
} model[RING];

static void make_ring(void)
{
	char text[40];

	snprintf(text, sizeof(text), "ring %u", RING);
	command(text);
	for (uint32_t j = 0; j < RING; j++) {
		model[j].iod = j % RIG_IODS;
		model[j].version = 1;
	}
}

static bool has_its_rows(uint32_t iod)
{
	struct fakeiod *f = &rig.iod[iod];
	unsigned int n = 0;

	for (uint32_t j = 0; j < RING; j++) {
		if (model[j].iod != iod)
			continue;
		if (fakeiod_version(f, COPYSET_FIRST + j) != model[j].version)
			return false;
		n++;
	}
	return n == fakeiod_get(f, &f->rows.n);
}

static void await_rows(void)
{
	for (uint32_t i = 0; i < RIG_IODS; i++)
		rig_until(has_its_rows(i));
}

START_TEST(nothing_is_sent_without_rows)
{
	for (uint32_t i = 0; i < RIG_IODS; i++) {
		rig_until(fakeiod_get(&rig.iod[i], &rig.iod[i].leases));
		ck_assert_uint_eq(
			fakeiod_get(&rig.iod[i], &rig.iod[i].rows.parts), 0);
	}
}
END_TEST

START_TEST(all_rows_before_the_first_lease)
{
	struct fakeiod *f = &rig.iod[1];

	make_ring();
	await_rows();
	ck_assert_uint_ge(fakeiod_get(f, &f->rows.parts), 2);
	for (int round = 0; round < 2; round++) {
		fakeiod_down(f);
		f->leases = f->rows_at_lease = 0;
		if (round) {
			rig_kill(&rig);
			rig_start(&rig);
		}
		fakeiod_up(f);
		rig_until(fakeiod_get(f, &f->leases));
		ck_assert_uint_eq(fakeiod_get(f, &f->rows_at_lease), RING / 3);
	}
}
END_TEST

static void move_any(void)
{
	uint32_t j = (uint32_t)rand() % RING, iod = (uint32_t)rand() % RIG_IODS;

	move(COPYSET_FIRST + j, iod);
	model[j].iod = iod;
	model[j].version++;
}

/* Copysets move while iods and the manager restart. */
START_TEST(rows_as_the_model)
{
	srand(1);
	make_ring();
	for (unsigned int step = 0; step < 12; step++) {
		struct fakeiod *f = &rig.iod[step % RIG_IODS];

		if (step % 2)
			fakeiod_down(f);
		for (unsigned int i = 0; i < 5; i++)
			move_any();
		if (step % 4 == 3) {
			rig_kill(&rig);
			rig_start(&rig);
		}
		if (step % 2)
			fakeiod_up(f);
		await_rows();
	}
}
END_TEST

/* ---- work at the iods ---- */

/* Server k of the file is copyset first + k, at iod (first + k) % 3. */
struct file {
	uint64_t handle;
	uint32_t first;
};

static uint64_t end_of(unsigned int k)
{
	return k + 1;
}

/* Creates a file that has k + 1 bytes at server k. */
static struct file make(const char *path)
{
	struct wire_attr attr;
	struct mgrc_file f;
	struct file file;

	ck_assert_int_eq(
		mgrc_open_file(&c, path, WIRE_O_CREAT | WIRE_O_WRITE, &f), 0);
	ck_assert_int_eq(mgrc_release(&c, &f, WIRE_R_WROTE | WIRE_R_DOUBT, 0),
			 0);
	attr = f.attr;
	ck_assert_uint_eq(le32toh(attr.dist.ring), 1);
	ck_assert_uint_eq(le32toh(attr.dist.pcount), RIG_IODS);
	file.handle = le64toh(attr.handle);
	file.first = le32toh(attr.dist.base);
	for (uint32_t k = 0; k < RIG_IODS; k++) {
		uint32_t j = (file.first + k) % RING;
		struct object_key key = { file.handle, COPYSET_FIRST + j };

		fakeiod_set_in(&rig.iod[model[j].iod], key, end_of(k));
	}
	return file;
}

static unsigned int total_objects(void)
{
	unsigned int n = 0;

	for (int i = 0; i < RIG_IODS; i++)
		n += fakeiod_count(&rig.iod[i]);
	return n;
}

static uint64_t size_for(struct mgrc *client, const char *path)
{
	struct wire_attr attr = mgrc_stat_ok(client, path);

	ck_assert(le32toh(attr.flags) & WIRE_A_SIZE);
	return le64toh(attr.size);
}

/* The last byte is the last one of server 2. */
static uint64_t size_by_servers(const struct wire_attr *attr)
{
	return 2ull * le32toh(attr->dist.ssize) + end_of(2);
}

/* A manager that has an older row, or an iod that has not got the row yet. */
START_TEST(sizes_are_asked_again_after_a_refusal)
{
	struct wire_attr attr;

	make_ring();
	await_rows();
	make("f");
	for (int i = 0; i < RIG_IODS; i++)
		atomic_store(&rig.iod[i].refuse, 2);
	attr = mgrc_stat_ok(&c, "f");
	ck_assert_uint_eq(size_for(&c, "f"), size_by_servers(&attr));
	for (int i = 0; i < RIG_IODS; i++)
		ck_assert_uint_eq(atomic_load(&rig.iod[i].refuse), 0);
}
END_TEST

/* It cannot ask the iods itself, because it does not know the ring. */
START_TEST(an_older_client_gets_the_present_size)
{
	struct mgrc older;
	struct wire_attr attr;
	struct mgrc_file f;
	struct file file;

	make_ring();
	await_rows();
	file = make("f");
	open_client(&older, 0);
	attr = mgrc_stat_ok(&older, "f");
	ck_assert_uint_eq(attr.dist.ring, 0);
	ck_assert_uint_eq(size_for(&older, "f"), size_by_servers(&attr));
	ck_assert_int_eq(mgrc_open_file(&c, "f", WIRE_O_WRITE, &f), 0);
	fakeiod_set_in(&rig.iod[(file.first + 2) % RING % RIG_IODS],
		       (struct object_key){ file.handle,
					    COPYSET_FIRST +
						    (file.first + 2) % RING },
		       end_of(2) + 100);
	ck_assert_uint_eq(size_for(&older, "f"), size_by_servers(&attr) + 100);
	ck_assert_int_eq(mgrc_release(&c, &f, 0, 0), 0);
	mgrc_close(&older, true);
}
END_TEST

static void *stat_file(void *arg)
{
	struct mgrc_file *f = arg;
	struct mgrc client;

	open_client(&client, WIRE_FT_COPIES);
	f->attr = mgrc_stat_ok(&client, "f");
	mgrc_close(&client, true);
	return NULL;
}

/* The call to the former member is given up. */
START_TEST(calls_go_to_the_new_member)
{
	struct fakeiod *f = &rig.iod[0];
	struct mgrc_file found;
	struct file file;
	pthread_t thread;

	make_ring();
	await_rows();
	file = make("f");
	atomic_store(&rig.iod[1].hold, true);
	must(!pthread_create(&thread, NULL, stat_file, &found));
	rig_until(fakeiod_get(f, &f->getsizes));
	for (uint32_t k = 0; k < RIG_IODS; k++) {
		uint32_t j = (file.first + k) % RING;
		struct object_key key = { file.handle, COPYSET_FIRST + j };

		if (model[j].iod != 1)
			continue;
		fakeiod_set_in(f, key, end_of(k) + 7);
		move(COPYSET_FIRST + j, 0);
	}
	pthread_join(thread, NULL);
	ck_assert(le32toh(found.attr.flags) & WIRE_A_SIZE);
	fakeiod_release(&rig.iod[1]);
}
END_TEST

START_TEST(truncations_and_removals_by_copyset)
{
	char name[16];

	make_ring();
	await_rows();
	make("f");
	atomic_store(&rig.iod[2].refuse, 1);
	ck_assert_int_eq(mgrc_truncate(&c, "f", 2), 0);
	ck_assert_uint_eq(size_for(&c, "f"), 2);
	for (int i = 0; i < 200; i++) {
		snprintf(name, sizeof(name), "g%d", i);
		make(name);
	}
	for (int i = 0; i < 200; i++) {
		snprintf(name, sizeof(name), "g%d", i);
		ck_assert_int_eq(mgrc_unlink(&c, name), 0);
	}
	rig_until(total_objects() == RIG_IODS);
	ck_assert_int_eq(mgrc_unlink(&c, "f"), 0);
	rig_until(!total_objects());
}
END_TEST

int main(void)
{
	Suite *s = suite_create("mgr_copysets");
	TCase *tc = tcase_create("copysets");

	tcase_add_checked_fixture(tc, setup, teardown);
	tcase_set_timeout(tc, 120);
	tcase_add_test(tc, nothing_is_sent_without_rows);
	tcase_add_test(tc, all_rows_before_the_first_lease);
	tcase_add_test(tc, rows_as_the_model);
	tcase_add_test(tc, sizes_are_asked_again_after_a_refusal);
	tcase_add_test(tc, an_older_client_gets_the_present_size);
	tcase_add_test(tc, calls_go_to_the_new_member);
	tcase_add_test(tc, truncations_and_removals_by_copyset);
	suite_add_tcase(s, tc);
	return run_suite(s);
}
