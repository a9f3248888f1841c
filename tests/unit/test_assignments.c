/* SPDX-License-Identifier: BSD-2-Clause */
/* test_assignments.c - the copysets of an iod: which requests it serves, compared with a model. */
#include <check.h>
#include <errno.h>
#include <fcntl.h>
#include <ftw.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "common/util/clock.h"
#include "server/copyset/assignments.h"
#include "tests/run_suite.h"

#define SELF 3u /* this iod; the others are 1 and 2 */
#define LEASE (3600 * 1000 * CLOCK_NS_PER_MS)

static char dir[64], file[80], blocker[80];
static struct assignments *all;
static char logged[512];

static void keep_line(void *arg, enum log_level level, const char *line)
{
	snprintf(logged, sizeof(logged), "%s", line);
}
static const struct log the_log = { LOG_LV_ERROR, keep_line, NULL };

/* age: how long ago the process was started. */
static int open_with(uint64_t lease, uint64_t age)
{
	struct assignments_attr attr = { .dir = dir,
					 .iod = SELF,
					 .process = 7,
					 .lease = lease,
					 .started = clock_boot() - age,
					 .log = &the_log };

	return assignments_open(&attr, &all);
}

static int try_open(void)
{
	return open_with(LEASE, LEASE);
}

static void reopen(void)
{
	assignments_close(all);
	all = NULL;
	ck_assert_int_eq(try_open(), 0);
}

static void setup(void)
{
	strcpy(dir, "/dev/shm/pvfs-assign-XXXXXX");
	ck_assert_ptr_nonnull(mkdtemp(dir));
	snprintf(file, sizeof(file), "%s/copysets", dir);
	snprintf(blocker, sizeof(blocker), "%s/copysets.new", dir);
	logged[0] = 0;
	all = NULL;
	ck_assert_int_eq(try_open(), 0);
}

static int rm_one(const char *path, const struct stat *sb, int type,
		  struct FTW *ftw)
{
	return remove(path);
}

static void teardown(void)
{
	assignments_close(all);
	ck_assert_int_eq(nftw(dir, rm_one, 16, FTW_DEPTH | FTW_PHYS), 0);
}

/* A folder with the name of the temporary file: the file cannot be written. */
static void block_writes(bool block)
{
	ck_assert_int_eq(block ? mkdir(blocker, 0700) : rmdir(blocker), 0);
}

/* A copyset with two members. */
static struct copyset pair(uint32_t id, uint32_t version, uint32_t first,
			   uint32_t second)
{
	return (struct copyset){ .id = id,
				 .version = version,
				 .n = 2,
				 .member = { { .iod = first },
					     { .iod = second } } };
}

/* Each part has a revision of its own. */
static uint64_t revision;

static int assign_part(const struct copyset *set, unsigned int n, bool last)
{
	const struct assignment_part part = { ++revision, set, n, last };

	return assignments_change(all, &part);
}

static int assign(struct copyset set)
{
	return assign_part(&set, 1, false);
}

/* Iod `from` promises all that it is asked for.  Returns the number of promises. */
static uint32_t promise_by(uint32_t from)
{
	struct promise list[100];
	struct promise_head head;
	uint32_t n, sum = 0, first = 0;

	do {
		n = assignments_ask_promises(all, from, first, &head, list,
					     100);
		assignments_accept_promises(all, from, &head, list, n);
		first = n ? list[n - 1].copyset + 1 : 0;
		sum += n;
	} while (n == 100);
	return sum;
}

static void promise(void)
{
	promise_by(1);
	promise_by(2);
}

static int enter(uint32_t id, uint32_t version)
{
	promise();
	return copyset_enter(all, (struct copyset_ref){ id, version });
}

static int check_alone(uint32_t id, uint32_t version)
{
	return copyset_check(all, (struct copyset_ref){ id, version });
}

static int check(uint32_t id, uint32_t version)
{
	promise();
	return check_alone(id, version);
}

/* ---- cases ---- */

START_TEST(only_the_version_in_force)
{
	ck_assert_int_eq(enter(1024, 1), -WIRE_ECOPYSET);
	ck_assert_int_eq(assign(pair(1024, 7, SELF, 1)), 0);
	ck_assert_int_eq(enter(1024, 6), -WIRE_ECOPYSET);
	ck_assert_int_eq(enter(1024, 8), -WIRE_ECOPYSET);
	ck_assert_int_eq(enter(1025, 7), -WIRE_ECOPYSET);
	ck_assert_int_eq(check(1024, 7), 0);
	ck_assert_int_eq(enter(1024, 7), 0);
	copyset_leave(all, 1024);
	ck_assert_int_eq(assign(pair(1024, 6, 1, SELF)), 0); /* it is late */
	ck_assert_int_eq(check(1024, 7), 0);
	ck_assert_int_eq(check(1024, 6), -WIRE_ECOPYSET);
}
END_TEST

/* Only as the first member that is SERVING. */
START_TEST(only_as_primary)
{
	struct copyset set = pair(1024, 1, 1, SELF);

	ck_assert_int_eq(assign(set), 0);
	ck_assert_int_eq(check(1024, 1), -WIRE_ECOPYSET);
	set.version++;
	set.member[0].state = COPYSET_SYNCING;
	ck_assert_int_eq(assign(set), 0);
	ck_assert_int_eq(check(1024, 2), 0);
	set.version++;
	set.member[1].state = COPYSET_OFFLINE;
	ck_assert_int_eq(assign(set), 0);
	ck_assert_int_eq(check(1024, 3), -WIRE_ECOPYSET);
}
END_TEST

START_TEST(only_with_the_promises_of_all)
{
	struct copyset set = pair(1024, 1, SELF, 1);

	set.n = 3;
	set.member[2] = (struct copyset_member){ 2, COPYSET_SYNCING };
	ck_assert_int_eq(assign(set), 0);
	ck_assert_int_eq(check_alone(1024, 1), -WIRE_ECOPYSET);
	ck_assert_uint_eq(promise_by(1), 1);
	ck_assert_int_eq(check_alone(1024, 1), -WIRE_ECOPYSET);
	ck_assert_uint_eq(promise_by(2), 1);
	ck_assert_int_eq(check_alone(1024, 1), 0);
	/* over a change of the row, but not over a time without being primary */
	set.version = 2;
	ck_assert_int_eq(assign(set), 0);
	ck_assert_int_eq(check_alone(1024, 2), 0);
	ck_assert_int_eq(assign(pair(1024, 3, 1, SELF)), 0);
	set.version = 4;
	ck_assert_int_eq(assign(set), 0);
	ck_assert_int_eq(check_alone(1024, 4), -WIRE_ECOPYSET);
}
END_TEST

START_TEST(the_only_serving_member_needs_none)
{
	struct copyset set = pair(1024, 1, 1, SELF);

	set.member[0].state = COPYSET_OFFLINE;
	ck_assert_int_eq(assign(set), 0);
	ck_assert_int_eq(check_alone(1024, 1), 0);
	set = pair(1025, 1, SELF, 0);
	set.n = 1;
	ck_assert_int_eq(assign(set), 0);
	ck_assert_int_eq(check_alone(1025, 1), 0);
}
END_TEST

/* The managers have seen that the former primary does not run any more. */
START_TEST(not_against_a_promise_to_an_ended_process)
{
	const struct promise_head head = { .process = 8, .lease = LEASE };
	const struct iod_process ended[2] = { { 1, 9 }, { 1, 8 } };
	struct promise list = { .copyset = 1024, .version = 1 };
	struct copyset set = pair(1024, 2, 1, SELF);
	struct assignment_part part = { .revision = 1000,
					.set = &set,
					.n = 1,
					.ended = ended,
					.nended = 1 };

	ck_assert_int_eq(assign(pair(1024, 1, 1, SELF)), 0);
	ck_assert_uint_eq(assignments_give_promises(all, 1, &head, &list, 1),
			  1);
	set.member[0].state = COPYSET_OFFLINE;
	ck_assert_int_eq(assignments_change(all, &part), 0);
	ck_assert_int_eq(check_alone(1024, 2), -WIRE_ECOPYSET);
	part.nended = 2;
	ck_assert_int_eq(assignments_change(all, &part), 0);
	ck_assert_int_eq(check_alone(1024, 2), 0);
}
END_TEST

/* This process has promised not to serve it, and the process before it may have. */
START_TEST(not_against_its_own_promise)
{
	struct promise_head head = { .process = 8, .lease = LEASE };
	struct promise list = { .copyset = 1024, .version = 1 };
	struct copyset set = pair(1024, 2, 1, SELF);

	ck_assert_int_eq(assign(pair(1024, 1, 1, SELF)), 0);
	ck_assert_uint_eq(assignments_give_promises(all, 1, &head, &list, 1),
			  1);
	set.member[0].state = COPYSET_OFFLINE;
	ck_assert_int_eq(assign(set), 0);
	ck_assert_int_eq(check_alone(1024, 2), -WIRE_ECOPYSET);
	assignments_close(all);
	all = NULL;
	ck_assert_int_eq(open_with(LEASE, 0), 0);
	ck_assert_int_eq(check_alone(1024, 2), -WIRE_ECOPYSET);
	reopen(); /* one lease later */
	ck_assert_int_eq(check_alone(1024, 2), 0);
}
END_TEST

START_TEST(promises_end)
{
	assignments_close(all);
	all = NULL;
	ck_assert_int_eq(open_with(4, 4), 0); /* ns */
	ck_assert_int_eq(assign(pair(1024, 1, SELF, 1)), 0);
	ck_assert_uint_eq(promise_by(1), 1);
	ck_assert_int_eq(check_alone(1024, 1), -WIRE_ECOPYSET);
}
END_TEST

START_TEST(a_primary_that_stays_keeps_its_changes)
{
	ck_assert_int_eq(assign(pair(1024, 1, SELF, 1)), 0);
	ck_assert_int_eq(enter(1024, 1), 0);
	ck_assert_int_eq(assign(pair(1024, 2, SELF, 2)), 0);
	ck_assert_int_eq(enter(1024, 2), 0);
	copyset_leave(all, 1024);
	copyset_leave(all, 1024);
}
END_TEST

/* Also if the versions between were never assigned here: another iod may have been primary. */
START_TEST(a_new_primary_waits_for_earlier_changes)
{
	bool skipped = _i;

	ck_assert_int_eq(assign(pair(1024, 1, SELF, 1)), 0);
	ck_assert_int_eq(enter(1024, 1), 0);
	ck_assert_int_eq(enter(1024, 1), 0);
	if (!skipped)
		ck_assert_int_eq(assign(pair(1024, 2, 1, SELF)), 0);
	ck_assert_int_eq(assign(pair(1024, 3, SELF, 1)), 0);
	ck_assert_int_eq(enter(1024, 3), -WIRE_ECOPYSET);
	copyset_leave(all, 1024);
	ck_assert_int_eq(assign(pair(1024, 4, SELF, 1)), 0);
	ck_assert_int_eq(check(1024, 4), -WIRE_ECOPYSET);
	copyset_leave(all, 1024);
	ck_assert_int_eq(enter(1024, 4), 0);
	copyset_leave(all, 1024);
}
END_TEST

START_TEST(not_before_it_is_written)
{
	ck_assert_int_eq(assign(pair(1024, 1, SELF, 1)), 0);
	block_writes(true);
	ck_assert_int_eq(assign(pair(1024, 2, SELF, 1)), -EISDIR);
	ck_assert_ptr_nonnull(strstr(logged, "copysets of the storage"));
	ck_assert_int_eq(check(1024, 1), -WIRE_ECOPYSET);
	ck_assert_int_eq(check(1024, 2), -WIRE_ECOPYSET);
	ck_assert_int_eq(assign(pair(1024, 2, SELF, 1)), -EISDIR);
	block_writes(false);
	ck_assert_int_eq(assign(pair(1024, 2, SELF, 1)), 0);
	ck_assert_int_eq(check(1024, 2), 0);
	reopen();
	ck_assert_int_eq(check(1024, 2), 0);
}
END_TEST

/* A repeated ASSIGN costs no write. */
START_TEST(nothing_new_is_not_written)
{
	ck_assert_int_eq(assign(pair(1024, 1, SELF, 1)), 0);
	block_writes(true);
	ck_assert_int_eq(assign(pair(1024, 1, SELF, 1)), 0);
	ck_assert_int_eq(assign_part(NULL, 0, false), 0);
	block_writes(false);
}
END_TEST

static void assign_many(uint32_t from, uint32_t end)
{
	struct copyset *set = calloc(end - from, sizeof(*set));

	ck_assert_ptr_nonnull(set);
	for (uint32_t id = from; id < end; id++)
		set[id - from] = pair(id, id, SELF, 1);
	ck_assert_int_eq(assign_part(set, end - from, false), 0);
	free(set);
}

START_TEST(a_bounded_number)
{
	const uint32_t end = 1024 + ASSIGNMENTS_MAX;

	assign_many(1024, end);
	ck_assert_int_eq(assign(pair(end, 1, SELF, 1)), -ENOSPC);
	ck_assert_ptr_nonnull(strstr(logged, "more than 8192"));
	ck_assert_int_eq(assign(pair(1024, 1025, SELF, 1)), 0);
	reopen();
	ck_assert_int_eq(check(1024, 1025), 0);
	for (uint32_t id = 1025; id < end; id++)
		ck_assert_int_eq(check_alone(id, id), 0);
}
END_TEST

/* ---- parts ---- */

static void put_part(uint64_t number, uint32_t id, uint32_t version, bool last)
{
	const struct copyset set = pair(id, version, SELF, 1);
	const struct assignment_part part = { number, &set, 1, last };

	ck_assert_int_eq(assignments_change(all, &part), 0);
}

/* Two parts of revision 7 have all rows, then one part of revision 9. */
START_TEST(refused_if_the_last_part_lacks_it)
{
	put_part(7, 1024, 1, false);
	put_part(7, 1025, 1, true);
	ck_assert_int_eq(enter(1024, 1), 0);
	ck_assert_int_eq(check(1025, 1), 0);
	put_part(9, 1025, 1, false);
	ck_assert_int_eq(check(1024, 1), 0);
	put_part(9, 1025, 1, true);
	ck_assert_int_eq(check(1024, 1), -WIRE_ECOPYSET);
	ck_assert_int_eq(check(1025, 1), 0);
	put_part(10, 1024, 3, false); /* it is back */
	ck_assert_int_eq(check(1024, 3), -WIRE_ECOPYSET);
	copyset_leave(all, 1024);
	ck_assert_int_eq(check(1024, 3), 0);
}
END_TEST

/* A row in the file, if it moved away while this iod did not run. */
START_TEST(refused_if_it_moved_before_the_start)
{
	put_part(7, 1024, 1, true);
	reopen();
	ck_assert_int_eq(check(1024, 1), 0);
	put_part(8, 1025, 1, true);
	ck_assert_int_eq(check(1024, 1), -WIRE_ECOPYSET);
}
END_TEST

START_TEST(late_parts_are_ignored)
{
	put_part(8, 1024, 2, true);
	put_part(7, 1025, 1, true);
	ck_assert_int_eq(check(1024, 2), 0);
	ck_assert_int_eq(check(1025, 1), -WIRE_ECOPYSET);
	put_part(8, 1024, 2, true); /* repeated */
	ck_assert_int_eq(check(1024, 2), 0);
}
END_TEST

/* ---- threads ---- */

#define THREADS 2u

static atomic_uint newest; /* version; 0: the threads end */

static void *change_objects(void *arg)
{
	unsigned int *entered = arg;
	uint32_t version;

	while ((version = atomic_load(&newest))) {
		if (enter(1024, version))
			continue;
		++*entered;
		copyset_leave(all, 1024);
	}
	return NULL;
}

/* No change is forgotten, and none is counted for ever. */
START_TEST(from_several_threads)
{
	unsigned int entered[THREADS] = { 0 };
	pthread_t thread[THREADS];

	ck_assert_int_eq(assign(pair(1024, 1, SELF, 1)), 0);
	atomic_store(&newest, 1);
	for (unsigned int i = 0; i < THREADS; i++)
		ck_assert_int_eq(pthread_create(&thread[i], NULL,
						change_objects, &entered[i]),
				 0);
	for (uint32_t version = 2; version < 300; version++) {
		bool other = version % 3 == 0;

		ck_assert_int_eq(assign(pair(1024, version, other ? 1 : SELF,
					     other ? SELF : 1)),
				 0);
		ck_assert(!other || check(1024, version));
		atomic_store(&newest, version);
	}
	while (enter(1024, 299)) /* until the changes of 298 have ended */
		;
	copyset_leave(all, 1024);
	atomic_store(&newest, 0);
	for (unsigned int i = 0; i < THREADS; i++)
		pthread_join(thread[i], NULL);
	ck_assert_int_eq(assign(pair(1024, 301, SELF, 1)), 0);
	ck_assert_int_eq(check(1024, 301), 0);
}
END_TEST

/* ---- damage ---- */

static size_t read_file(uint8_t *buf, size_t len)
{
	int fd = open(file, O_RDONLY);
	ssize_t n = read(fd, buf, len);

	close(fd);
	ck_assert_int_gt(n, 0);
	return (size_t)n;
}

static void write_file(const uint8_t *buf, size_t len)
{
	int fd = open(file, O_WRONLY | O_TRUNC | O_CREAT, 0600);

	ck_assert_int_eq(write(fd, buf, len), (ssize_t)len);
	close(fd);
}

static void must_be_refused(const uint8_t *buf, size_t len)
{
	write_file(buf, len);
	logged[0] = 0;
	ck_assert_int_eq(try_open(), -EBADMSG);
	ck_assert_ptr_nonnull(strstr(logged, "is damaged"));
}

START_TEST(damage_is_noticed)
{
	uint8_t buf[4096];
	size_t len;

	assign_many(1024, 1027);
	assignments_close(all);
	all = NULL;
	len = read_file(buf, sizeof(buf) - 1);
	for (size_t i = 0; i < 8 * len; i++) {
		buf[i / 8] ^= (uint8_t)(1u << i % 8);
		must_be_refused(buf, len);
		buf[i / 8] ^= (uint8_t)(1u << i % 8);
	}
	for (size_t i = 0; i < len; i++)
		must_be_refused(buf, i);
	buf[len] = 0;
	must_be_refused(buf, len + 1);
	write_file(buf, len);
	ck_assert_int_eq(try_open(), 0);
	ck_assert_int_eq(check(1026, 1026), 0);
}
END_TEST

/* ---- the model ---- */

#define IDS 4u
#define VERSIONS 400u
#define STEPS 20000u

/*
 * All rows that the managers will make.  The model keeps the version of each change, so it knows
 * which changes must have ended.
 */
static struct {
	struct copyset set[VERSIONS + 1];
	uint32_t in_force; /* 0: none */
	uint32_t written; /* the version in the file */
	bool assigned[VERSIONS + 1]; /* to this process, or in the file */
	bool moved; /* the rows of the last revision do not have it */
	unsigned int running[VERSIONS +
			     1]; /* changes that began under the version */
} model[IDS];

static unsigned int served,
	drained; /* requests; drained: refused for changes in progress */

static bool is_mine(unsigned int i, uint32_t version)
{
	return copyset_primary(&model[i].set[version]) == SELF;
}

/* Since the version v, this iod knows that it was primary all the time. */
static bool was_primary_since(unsigned int i, uint32_t v)
{
	for (; v <= model[i].in_force; v++)
		if (!is_mine(i, v) || !model[i].assigned[v])
			return false;
	return true;
}

static bool must_drain(unsigned int i)
{
	for (uint32_t v = 1; v <= model[i].in_force; v++)
		if (model[i].running[v] && !was_primary_since(i, v))
			return true;
	return false;
}

static bool model_serves(unsigned int i, uint32_t version)
{
	return version && version == model[i].in_force &&
	       version == model[i].written && is_mine(i, version) &&
	       !must_drain(i) && !model[i].moved;
}

static void make_rows(void)
{
	memset(model, 0, sizeof(model));
	for (unsigned int i = 0; i < IDS; i++) {
		for (uint32_t v = 1; v <= VERSIONS; v++) {
			struct copyset set = pair(1024 + i, v, 1, 2);

			set.member[rand() % 3 == 0].iod = SELF;
			for (unsigned int m = 0; m < 2; m++)
				set.member[m].state =
					rand() % 4 ? COPYSET_SERVING
						   : rand() % COPYSET_STATES;
			model[i].set[v] = set;
		}
	}
}

/* Mostly the next version, or one of the next; sometimes one of the past. */
static uint32_t random_version(unsigned int i)
{
	uint32_t v = model[i].in_force + 1 + (uint32_t)(rand() % 2);

	if (rand() % 4 == 0)
		v = v > 4 ? v - (uint32_t)(rand() % 4) : v;
	return v <= VERSIONS ? v : VERSIONS;
}

static void note_written(void)
{
	for (unsigned int i = 0; i < IDS; i++)
		model[i].written = model[i].in_force;
}

static void step_assign(void)
{
	unsigned int first = (unsigned int)rand() % IDS, n = 0;
	bool fails = rand() % 8 == 0, unwritten = false;
	bool last = rand() % 4 == 0;
	struct copyset set[IDS];
	int rc;

	for (unsigned int i = 0; i < first; i++)
		model[i].moved |= last;
	for (unsigned int i = first; i < IDS; i++) {
		uint32_t v = random_version(i);

		set[n++] = model[i].set[v];
		model[i].moved = false;
		if (v <= model[i].in_force)
			continue;
		model[i].in_force = v;
		model[i].assigned[v] = true;
	}
	for (unsigned int i = 0; i < IDS; i++)
		unwritten |= model[i].written != model[i].in_force;
	if (fails)
		block_writes(true);
	rc = assign_part(set, n, last);
	if (fails)
		block_writes(false);
	ck_assert_int_eq(rc, fails && unwritten ? -EISDIR : 0);
	if (!rc)
		note_written();
}

static void step_request(void)
{
	unsigned int i = (unsigned int)rand() % IDS;
	uint32_t v = model[i].in_force;
	int want;

	if (rand() % 4 == 0)
		v += (uint32_t)(rand() % 5) - 2;
	want = v <= VERSIONS && model_serves(i, v) ? 0 : -WIRE_ECOPYSET;
	ck_assert_int_eq(check(1024 + i, v), want);
	if (rand() % 2)
		return;
	ck_assert_int_eq(enter(1024 + i, v), want);
	if (!want)
		model[i].running[v]++;
	served += !want;
	drained += v == model[i].in_force && is_mine(i, v) && must_drain(i);
}

/* Ends one of the changes. */
static void step_leave(void)
{
	unsigned int i = (unsigned int)rand() % IDS;

	for (uint32_t v = 1; v <= model[i].in_force; v++) {
		if (!model[i].running[v] || rand() % 2)
			continue;
		model[i].running[v]--;
		copyset_leave(all, 1024 + i);
		return;
	}
}

static void step_restart(void)
{
	reopen();
	for (unsigned int i = 0; i < IDS; i++) {
		model[i].in_force = model[i].written;
		model[i].moved = false;
		memset(model[i].running, 0, sizeof(model[i].running));
		for (uint32_t v = model[i].written + 1; v <= VERSIONS; v++)
			model[i].assigned[v] = false;
	}
}

START_TEST(as_the_model)
{
	srand((unsigned int)_i);
	served = drained = 0;
	make_rows();
	for (unsigned int step = 0; step < STEPS; step++) {
		unsigned int kind = (unsigned int)rand() % 100;

		if (kind < 3)
			step_assign();
		else if (kind < 75)
			step_request();
		else
			step_leave();
		if (rand() % 1000 == 0)
			step_restart();
	}
	ck_assert_uint_gt(served, STEPS / 20);
	ck_assert_uint_gt(drained, STEPS / 100);
}
END_TEST

int main(void)
{
	Suite *s = suite_create("assignments");
	TCase *tc = tcase_create("versions");

	tcase_add_checked_fixture(tc, setup, teardown);
	tcase_add_test(tc, only_the_version_in_force);
	tcase_add_test(tc, only_as_primary);
	tcase_add_test(tc, only_with_the_promises_of_all);
	tcase_add_test(tc, the_only_serving_member_needs_none);
	tcase_add_test(tc, not_against_a_promise_to_an_ended_process);
	tcase_add_test(tc, not_against_its_own_promise);
	tcase_add_test(tc, promises_end);
	tcase_add_test(tc, a_primary_that_stays_keeps_its_changes);
	tcase_add_loop_test(tc, a_new_primary_waits_for_earlier_changes, 0, 2);
	tcase_add_test(tc, not_before_it_is_written);
	tcase_add_test(tc, nothing_new_is_not_written);
	tcase_add_test(tc, a_bounded_number);
	tcase_add_test(tc, refused_if_the_last_part_lacks_it);
	tcase_add_test(tc, refused_if_it_moved_before_the_start);
	tcase_add_test(tc, late_parts_are_ignored);
	tcase_add_test(tc, from_several_threads);
	tcase_add_test(tc, damage_is_noticed);
	tcase_add_loop_test(tc, as_the_model, 0, 4);
	suite_add_tcase(s, tc);
	return run_suite(s);
}
