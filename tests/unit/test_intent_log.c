/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * test_intent_log.c - random changes, epochs and failures, compared with a model that knows for each
 * region whether a change of it counts; and single cases.
 */
#include <check.h>
#include <errno.h>
#include <pthread.h>
#include <semaphore.h>
#include <string.h>

#include "common/util/container.h"
#include "server/copyset/intent_log.h"
#include "tests/raft_sim/sim_disk.h"
#include "tests/run_suite.h"
#include "tests/unit/rnd.h"

#define STORE 77u
#define STEPS 3000u
#ifdef __SANITIZE_THREAD__ /* which only by_threads() needs */
#define RUNS 1
#else
#define RUNS 50
#endif
#define FILES 60u
#define REGIONS 136u /* two blocks and a part */
#define COPYSETS 3u
#define CHANGES 24u
#define REGION INTENT_LOG_REGION

struct sim {
	struct rnd rnd;
};

static struct sim sim;
static struct sim_disk *disk;
static struct intent_log *intents;
static bool work_wanted;

uint64_t sim_random(struct sim *s, uint64_t lo, uint64_t hi)
{
	return rnd_in(&s->rnd, lo, hi);
}

bool sim_chance(struct sim *s, unsigned int n)
{
	return sim_random(s, 0, 999) < n;
}

static void want_work(void *arg)
{
	work_wanted = true;
}

/* A disk on which each write and sync calls busy() first, if it is set. */
static struct disk_folder_ops busy_ops;
static const struct disk_folder_ops *idle_ops;
static void (*busy)(void);

static int busy_write(void *arg, int fd, const void *buf, size_t len,
		      uint64_t offset)
{
	if (busy)
		busy();
	return idle_ops->write(arg, fd, buf, len, offset);
}

static int busy_sync(void *arg, int fd)
{
	if (busy)
		busy();
	return idle_ops->sync(arg, fd);
}

static struct disk_folder busy_disk(void)
{
	struct disk_folder idle = sim_disk_ops(disk);

	idle_ops = idle.ops;
	busy_ops = *idle.ops;
	busy_ops.write = busy_write;
	busy_ops.sync = busy_sync;
	return (struct disk_folder){ &busy_ops, idle.arg };
}

static struct intent_log_attr test_attr(size_t blocks_max)
{
	return (struct intent_log_attr){ .disk = busy_disk(),
					 .store = STORE,
					 .blocks_max = blocks_max,
					 .submitted = want_work };
}

static void setup(void)
{
	rnd_init(&sim.rnd, 1);
	disk = sim_disk_new(&sim);
	sim_disk_faults(disk)->keeps_size = true;
	work_wanted = false;
	busy = NULL;
}

static void teardown(void)
{
	intent_log_close(intents);
	ck_assert_uint_eq(sim_disk_open_files(disk), 0);
	sim_disk_free(disk);
}

/* ---- single cases ---- */

enum state { UNUSED, WAITING, RUNNING, FAILED };

struct change {
	struct intent_log_change log;
	enum state state;
	unsigned int file, first, last; /* in the model */
	int rc;
};

static void change_durable(struct intent_log_change *change, int rc)
{
	struct change *c = container_of(change, struct change, log);

	ck_assert(c->state == WAITING);
	c->state = rc ? FAILED : RUNNING;
	c->rc = rc;
}

static int begin_change(struct change *c, uint64_t number, uint64_t copyset,
			uint64_t from, uint64_t end)
{
	int rc;

	c->log = (struct intent_log_change){ .object = { number * 1000003,
							 copyset },
					     .number = number,
					     .from = from,
					     .end = end,
					     .durable = change_durable };
	c->state = WAITING;
	rc = intent_log_begin(intents, &c->log);
	if (!rc)
		c->state = RUNNING;
	else if (rc != -EINPROGRESS)
		c->state = FAILED;
	return rc;
}

static void end_change(struct change *c)
{
	ck_assert(c->state == RUNNING);
	intent_log_end(intents, &c->log);
	c->state = UNUSED;
}

/* Makes a whole change.  Returns whether it waited. */
static bool make_change(uint64_t number, uint64_t copyset, uint64_t from,
			uint64_t end)
{
	struct change c;
	int rc = begin_change(&c, number, copyset, from, end);

	if (rc) {
		ck_assert_int_eq(rc, -EINPROGRESS);
		intent_log_work(intents);
	}
	end_change(&c);
	return rc;
}

static bool keeps_none(void *arg, uint64_t copyset)
{
	return false;
}

static bool keeps_all(void *arg, uint64_t copyset)
{
	return true;
}

static void pass_epoch(uint64_t newest)
{
	intent_log_epoch_begin(intents, newest, newest ? keeps_none : keeps_all,
			       NULL);
	ck_assert_int_eq(intent_log_epoch_end(intents), 0);
}

/* A new log whose horizon is 100. */
static void create_log(size_t blocks_max)
{
	struct intent_log_attr attr = test_attr(blocks_max);

	ck_assert_int_eq(intent_log_create(&attr, 5, &intents), 0);
	pass_epoch(100);
	pass_epoch(100);
}

static int open_log(size_t blocks_max)
{
	struct intent_log_attr attr = test_attr(blocks_max);

	intent_log_close(intents);
	intents = NULL;
	return intent_log_open(&attr, &intents);
}

static struct intent_log_status get_status(void)
{
	struct intent_log_status status;

	intent_log_get_status(intents, &status);
	return status;
}

START_TEST(new_files_need_no_entries)
{
	struct intent_log_attr attr = test_attr(100);

	ck_assert_int_eq(open_log(100), -ENOENT);
	ck_assert_int_eq(intent_log_create(&attr, 5, &intents), 0);
	ck_assert_uint_eq(get_status().epoch, 5);
	ck_assert_uint_eq(get_status().horizon, 0);
	ck_assert(!make_change(3, 1, 0, 10));
	pass_epoch(100);
	ck_assert(!make_change(3, 1, 0, 10)); /* the horizon is still 0 */
	pass_epoch(100);
	ck_assert_uint_eq(get_status().horizon, 100);
	ck_assert(!make_change(100, 1, 0, 10));
	ck_assert(make_change(99, 1, 0, 10));
	ck_assert(!make_change(99, 1, 10, REGION)); /* its entry is there */
	ck_assert_int_eq(open_log(100), 0);
	ck_assert_uint_eq(get_status().horizon, 100);
	ck_assert_uint_eq(get_status().epoch, 8);
	ck_assert_uint_eq(get_status().entries, 1); /* of file 99 */
	pass_epoch(100);
	pass_epoch(100);
	ck_assert_uint_eq(get_status().entries, 0);
}
END_TEST

START_TEST(sequential_writes_wait_seldom)
{
	unsigned int waits = 0;

	create_log(100);
	for (uint64_t i = 0; i < 64; i++)
		waits += make_change(1, 1, i * REGION, (i + 1) * REGION);
	ck_assert_uint_eq(waits, 7);
	for (uint64_t i = 64; i < 128; i++)
		waits += make_change(1, 1, i * REGION, (i + 1) * REGION);
	ck_assert_uint_eq(waits, 8);
	ck_assert(make_change(1, 1, 256 * REGION, 256 * REGION + 1));
	ck_assert(make_change(1, 1, 258 * REGION, 258 * REGION + 1));
}
END_TEST

START_TEST(changes_share_a_flush)
{
	struct change c[10];
	unsigned int writes;

	create_log(100);
	writes = sim_disk_faults(disk)->writes;
	for (unsigned int i = 0; i < 10; i++)
		ck_assert_int_eq(begin_change(&c[i], 1 + i % 5, 1, 0, 10),
				 -EINPROGRESS);
	ck_assert(work_wanted);
	intent_log_work(intents);
	ck_assert_uint_eq(sim_disk_faults(disk)->writes, writes + 1);
	for (unsigned int i = 0; i < 10; i++)
		end_change(&c[i]);
	ck_assert_uint_eq(get_status().entries, 5);
}
END_TEST

START_TEST(wide_changes_are_of_whole_objects)
{
	struct intent_log_entry entries[4];

	create_log(100);
	ck_assert(make_change(1, 1, 63 * REGION, 66 * REGION));
	ck_assert(make_change(2, 1, 5, UINT64_MAX));
	ck_assert(make_change(3, 1, 5, 129 * REGION));
	ck_assert_int_eq(intent_log_list(intents, 1, NULL, entries, 3), 3);
	ck_assert_uint_eq(entries[0].bits, UINT64_C(1) << 63);
	ck_assert_uint_eq(entries[1].block, 1);
	ck_assert_uint_eq(entries[1].bits, 3);
	ck_assert_uint_eq(entries[2].block, INTENT_LOG_WHOLE);
	ck_assert_int_eq(
		intent_log_list(intents, 1, &entries[2], &entries[3], 1), 1);
	ck_assert_uint_eq(entries[3].block, INTENT_LOG_WHOLE);
	ck_assert_int_eq(
		intent_log_list(intents, 1, &entries[3], &entries[0], 1), 0);
	ck_assert_int_eq(intent_log_list(intents, 2, NULL, entries, 1), 0);
	entries[3].handle++;
	ck_assert_int_eq(intent_log_list(intents, 1, &entries[3], &entries[0],
					 1),
			 -ESTALE);
}
END_TEST

/* Copyset 1 has most entries.  Then one of its own takes their place. */
START_TEST(too_many_entries)
{
	struct intent_log_entry entry;

	create_log(20);
	make_change(99, 2, 0, 10);
	for (uint64_t i = 1; i <= 19; i++)
		make_change(i, 1, 0, 10);
	make_change(98, 2, 0, 10);
	pass_epoch(0);
	ck_assert_uint_eq(get_status().entries, 3);
	ck_assert(!make_change(50, 1, 0, 10));
	ck_assert_int_eq(open_log(20), 0);
	ck_assert_int_eq(intent_log_list(intents, 1, NULL, &entry, 1), 1);
	ck_assert_uint_eq(entry.handle, 0);
	ck_assert_int_eq(intent_log_list(intents, 2, NULL, &entry, 1), 1);
	ck_assert_uint_ne(entry.handle, 0);
	/* Once no member is missing, objects have entries again. */
	intent_log_epoch_begin(intents, 100, keeps_none, NULL);
	ck_assert(!make_change(51, 1, 0, 10));
	ck_assert_int_eq(intent_log_epoch_end(intents), 0);
	ck_assert_uint_eq(get_status().entries, 1);
	ck_assert(make_change(52, 1, 0, 10));
	ck_assert_int_eq(open_log(20), 0);
	ck_assert_uint_eq(get_status().entries, 2);
}
END_TEST

/* The entry of a copyset stays in force until another file is installed. */
START_TEST(too_many_entries_on_a_full_disk)
{
	struct intent_log_entry entry;

	create_log(5);
	for (uint64_t i = 1; i <= 6; i++)
		make_change(i, 1, 0, 10);
	pass_epoch(0);
	intent_log_epoch_begin(intents, 100, keeps_none, NULL);
	ck_assert(!make_change(50, 1, 0, 10));
	sim_disk_faults(disk)->full = true;
	ck_assert_int_eq(intent_log_epoch_end(intents), -ENOSPC);
	sim_disk_faults(disk)->full = false;
	ck_assert_int_eq(intent_log_epoch_end(intents), 0);
	ck_assert_int_eq(open_log(5), 0);
	ck_assert_int_eq(intent_log_list(intents, 1, NULL, &entry, 1), 1);
	ck_assert_uint_eq(entry.handle, 50 * 1000003);
}
END_TEST

START_TEST(a_full_disk)
{
	struct change c;

	create_log(100);
	sim_disk_faults(disk)->full = true;
	ck_assert_int_eq(begin_change(&c, 1, 1, 0, 10), -EINPROGRESS);
	intent_log_work(intents);
	ck_assert_int_eq(c.rc, -ENOSPC);
	intent_log_epoch_begin(intents, 200, keeps_none, NULL);
	ck_assert_int_eq(intent_log_epoch_end(intents), -ENOSPC);
	ck_assert_uint_eq(get_status().horizon, 100);
	sim_disk_faults(disk)->full = false;
	ck_assert(make_change(1, 1, 0, 10));
	pass_epoch(200);
	pass_epoch(200);
	ck_assert_uint_eq(get_status().horizon, 200);
}
END_TEST

START_TEST(a_failed_flush_is_final)
{
	struct change c, late;

	create_log(100);
	ck_assert_int_eq(begin_change(&c, 1, 1, 0, 10), -EINPROGRESS);
	sim_disk_faults(disk)->breaks_in = 2;
	intent_log_work(intents);
	ck_assert_int_eq(c.rc, -EIO);
	sim_disk_faults(disk)->broken = false;
	ck_assert_int_eq(begin_change(&late, 2, 1, 0, 10), -EIO);
	intent_log_epoch_begin(intents, 100, keeps_none, NULL);
	ck_assert_int_eq(intent_log_epoch_end(intents), -EIO);
}
END_TEST

/* Only the last one of the operations that install a file leaves its name uncertain. */
START_TEST(a_failed_installation)
{
	struct change c;

	create_log(100);
	for (unsigned int i = 1; i <= 5; i++) {
		intent_log_epoch_begin(intents, 100, keeps_none, NULL);
		sim_disk_faults(disk)->breaks_in = i;
		ck_assert_int_eq(intent_log_epoch_end(intents), -EIO);
		sim_disk_faults(disk)->broken = false;
		ck_assert_int_eq(begin_change(&c, i, 1, 0, 10),
				 i < 4 ? -EINPROGRESS : -EIO);
		if (i < 4) {
			intent_log_work(intents);
			end_change(&c);
		}
	}
}
END_TEST

START_TEST(of_another_store)
{
	struct intent_log_attr attr = test_attr(100);
	struct intent_log *log;

	create_log(100);
	attr.store++;
	ck_assert_int_eq(intent_log_open(&attr, &log), -ESTALE);
}
END_TEST

START_TEST(each_flipped_bit_is_found)
{
	create_log(100);
	for (uint64_t i = 1; i <= 3; i++)
		make_change(i, 1, 0, 10);
	intent_log_close(intents);
	intents = NULL;
	for (uint64_t i = 0; i < 512 + 3 * 32; i++)
		for (unsigned int bit = 0; bit < 8; bit++) {
			sim_disk_flip(disk, "intents", i, bit);
			ck_assert_int_eq(open_log(100), -EIO);
			sim_disk_flip(disk, "intents", i, bit);
		}
	ck_assert_int_eq(open_log(100), 0);
	ck_assert_uint_eq(get_status().entries, 3);
}
END_TEST

/* ---- the model ---- */

static struct {
	unsigned int files; /* numbers 1 to files */
	uint64_t epoch;
	bool in_epoch;
	bool degraded[COPYSETS], kept[COPYSETS];
	unsigned int running[FILES][REGIONS];
	/* the epoch in which the last change that may count has ended; 0: none */
	uint64_t ended[FILES][REGIONS];
	struct change change[CHANGES];
	size_t blocks_max;
} model;

static unsigned int copyset_of_file(unsigned int file)
{
	return file % COPYSETS;
}

static void model_end(struct change *c)
{
	for (unsigned int i = c->first; i <= c->last; i++) {
		model.running[c->file][i]--;
		model.ended[c->file][i] = model.epoch;
	}
}

/* Changes that have become durable run in the model, too. */
static void model_run(struct change *c)
{
	if (c->state == FAILED)
		c->state = UNUSED;
	for (unsigned int i = c->first; i <= c->last && c->state == RUNNING;
	     i++)
		model.running[c->file][i]++;
}

static void random_begin(void)
{
	struct change *c = &model.change[sim_random(&sim, 0, CHANGES - 1)];
	uint64_t end;

	if (c->state != UNUSED)
		return;
	if (model.files < FILES - 1 && sim_chance(&sim, 60))
		model.files++;
	c->file = (unsigned int)sim_random(&sim, 1, model.files);
	c->first = (unsigned int)sim_random(&sim, 0, REGIONS - 1);
	c->last = c->first + (unsigned int)sim_random(&sim, 0, 1);
	if (c->last >= REGIONS)
		c->last = REGIONS - 1;
	end = (c->last + 1) * REGION - sim_random(&sim, 0, REGION - 1);
	if (sim_chance(&sim, 100)) {
		c->first = 0;
		c->last = REGIONS - 1;
		end = UINT64_MAX;
	}
	if (begin_change(c, c->file, copyset_of_file(c->file),
			 c->first * REGION, end) != -EINPROGRESS)
		model_run(c);
}

static void random_end(void)
{
	struct change *c = &model.change[sim_random(&sim, 0, CHANGES - 1)];

	if (c->state != RUNNING)
		return;
	end_change(c);
	model_end(c);
}

static void do_work(void)
{
	bool waiting[CHANGES];

	for (unsigned int i = 0; i < CHANGES; i++) {
		waiting[i] = model.change[i].state == WAITING;
		ck_assert(!waiting[i] || work_wanted);
	}
	work_wanted = false;
	intent_log_work(intents);
	for (unsigned int i = 0; i < CHANGES; i++) {
		if (!waiting[i])
			continue;
		ck_assert(model.change[i].state != WAITING);
		model_run(&model.change[i]);
	}
}

static bool model_keeps(void *arg, uint64_t copyset)
{
	return model.degraded[copyset];
}

static void begin_epoch(void)
{
	bool any = false;

	for (unsigned int i = 0; i < COPYSETS; i++) {
		model.kept[i] = model.degraded[i];
		any |= model.degraded[i];
	}
	intent_log_epoch_begin(intents, any ? 0 : model.files + 1, model_keeps,
			       NULL);
	model.epoch++;
	model.in_epoch = true;
}

/* If it fails, the file has too many entries. */
static void end_epoch(void)
{
	bool failed = intent_log_epoch_end(intents);

	for (unsigned int f = 1; f < FILES; f++)
		for (unsigned int i = 0; i < REGIONS; i++)
			if (model.ended[f][i] < model.epoch &&
			    !model.kept[copyset_of_file(f)])
				model.ended[f][i] = 0;
	model.in_epoch = failed;
}

/* An epoch whose flush failed makes all copysets keep changes. */
static void random_epoch(void)
{
	if (!model.in_epoch)
		begin_epoch();
	else if (!sim_chance(&sim, 100))
		end_epoch();
	else {
		for (unsigned int i = 0; i < COPYSETS; i++)
			model.degraded[i] = true;
		model.in_epoch = false;
	}
}

static bool covered[FILES][REGIONS];

static void cover_entry(uint64_t copyset, const struct intent_log_entry *entry)
{
	for (unsigned int f = 1; f < FILES; f++) {
		if (copyset_of_file(f) != copyset ||
		    (entry->handle && entry->handle != f * UINT64_C(1000003)))
			continue;
		for (unsigned int i = 0; i < REGIONS; i++)
			covered[f][i] |= !entry->handle ||
					 entry->block == INTENT_LOG_WHOLE ||
					 (entry->block == i / 64 &&
					  entry->bits >> i % 64 & 1);
	}
}

static void check_coverage(void)
{
	struct intent_log_entry entry[3];
	uint64_t horizon = get_status().horizon;
	int n;

	memset(covered, 0, sizeof(covered));
	for (unsigned int c = 0; c < COPYSETS; c++) {
		n = intent_log_list(intents, c, NULL, entry, 3);
		while (n > 0) {
			for (int i = 0; i < n; i++)
				cover_entry(c, &entry[i]);
			n = intent_log_list(intents, c, &entry[n - 1], entry,
					    3);
		}
		ck_assert_int_eq(n, 0);
	}
	for (unsigned int f = 1; f < FILES; f++)
		for (unsigned int i = 0; i < REGIONS; i++)
			if (model.running[f][i] || model.ended[f][i])
				ck_assert(covered[f][i] || f >= horizon);
}

/* While the disk works, others begin and end changes. */
static void others_change(void)
{
	for (unsigned int i = 0; i < 3; i++) {
		random_begin();
		random_end();
	}
}

/* The iod ends, perhaps with its host, and starts again. */
static void restart_log(void)
{
	uint64_t epoch = get_status().epoch;

	sim_disk_faults(disk)->broken = false;
	sim_disk_faults(disk)->breaks_in = 0;
	sim_disk_faults(disk)->full = false;
	if (sim_chance(&sim, 700))
		sim_disk_lose_power(disk);
	for (unsigned int i = 0; i < CHANGES; i++) {
		if (model.change[i].state == RUNNING)
			model_end(&model.change[i]);
		model.change[i].state = UNUSED;
	}
	busy = NULL;
	ck_assert_int_eq(open_log(model.blocks_max), 0);
	busy = others_change;
	ck_assert_uint_gt(get_status().epoch, epoch);
	model.epoch++;
	model.in_epoch = false;
	for (unsigned int f = 1; f < FILES; f++)
		for (unsigned int i = 0; i < REGIONS; i++)
			if (model.ended[f][i])
				model.ended[f][i] = model.epoch;
	check_coverage();
}

static void random_fault(void)
{
	uint64_t what = sim_random(&sim, 0, 3);

	if (what == 0)
		restart_log();
	else if (what == 1)
		sim_disk_faults(disk)->breaks_in =
			(unsigned int)sim_random(&sim, 1, 8);
	else if (what == 2)
		sim_disk_faults(disk)->full ^= true;
	else
		model.degraded[sim_random(&sim, 0, COPYSETS - 1)] ^= true;
}

static void random_step(void)
{
	uint64_t what = sim_random(&sim, 0, 99);

	if (what < 40)
		random_begin();
	else if (what < 70)
		random_end();
	else if (what < 85)
		do_work();
	else if (what < 95)
		random_epoch();
	else
		random_fault();
	if (sim_disk_faults(disk)->broken)
		restart_log();
}

/* Without changes, the log becomes empty. */
static void settle_log(void)
{
	restart_log();
	busy = NULL;
	memset(model.degraded, 0, sizeof(model.degraded));
	for (unsigned int i = 0; i < 3; i++) {
		begin_epoch();
		end_epoch();
	}
	check_coverage();
	ck_assert_uint_eq(get_status().entries, 0);
	ck_assert_uint_eq(get_status().horizon, model.files + 1);
}

START_TEST(like_the_model)
{
	struct intent_log_attr attr = test_attr(_i % 2 ? 12 : 1000);

	sim.rnd.state += (uint64_t)_i;
	memset(&model, 0, sizeof(model));
	model.files = 1;
	model.epoch = 1;
	model.blocks_max = attr.blocks_max;
	ck_assert_int_eq(intent_log_create(&attr, 1, &intents), 0);
	busy = others_change;
	for (unsigned int i = 0; i < STEPS; i++) {
		random_step();
		if (i % 64 == 0)
			check_coverage();
	}
	settle_log();
}
END_TEST

/* ---- threads ---- */

#define THREADS 3u
#define TURNS 300u

static sem_t submitted;
static _Atomic bool stop;

static void post_work(void *arg)
{
	sem_post(&submitted);
}

static void *work_thread(void *arg)
{
	while (!stop) {
		sem_wait(&submitted);
		intent_log_work(intents);
	}
	return NULL;
}

struct waiter {
	struct intent_log_change log;
	sem_t durable;
};

static void wake_waiter(struct intent_log_change *change, int rc)
{
	ck_assert_int_eq(rc, 0);
	sem_post(&container_of(change, struct waiter, log)->durable);
}

static void *change_objects(void *arg)
{
	struct rnd r = { .state = (uintptr_t)arg };
	struct waiter w;

	sem_init(&w.durable, 0, 0);
	for (unsigned int i = 0; i < TURNS; i++) {
		uint64_t number = rnd_in(&r, 1, 30);
		int rc;

		w.log = (struct intent_log_change){ .object = { number, 0 },
						    .number = number,
						    .end = 1,
						    .durable = wake_waiter };
		rc = intent_log_begin(intents, &w.log);
		if (rc)
			sem_wait(&w.durable);
		intent_log_end(intents, &w.log);
	}
	sem_destroy(&w.durable);
	return NULL;
}

START_TEST(by_threads)
{
	struct intent_log_attr attr = test_attr(10);
	pthread_t worker, thread[THREADS];

	attr.submitted = post_work;
	sem_init(&submitted, 0, 0);
	ck_assert_int_eq(intent_log_create(&attr, 1, &intents), 0);
	pthread_create(&worker, NULL, work_thread, NULL);
	for (uintptr_t t = 0; t < THREADS; t++)
		pthread_create(&thread[t], NULL, change_objects,
			       (void *)(t + 1));
	for (unsigned int i = 0; i < 30; i++)
		pass_epoch(i % 3 ? 20 : 0);
	for (unsigned int t = 0; t < THREADS; t++)
		pthread_join(thread[t], NULL);
	stop = true;
	sem_post(&submitted);
	pthread_join(worker, NULL);
	pass_epoch(20);
	pass_epoch(20);
	ck_assert_uint_eq(get_status().entries, 0);
}
END_TEST

int main(void)
{
	Suite *s = suite_create("intent_log");
	TCase *tc = tcase_create("entries");

	tcase_set_timeout(tc, 60);
	tcase_add_checked_fixture(tc, setup, teardown);
	tcase_add_test(tc, new_files_need_no_entries);
	tcase_add_test(tc, sequential_writes_wait_seldom);
	tcase_add_test(tc, changes_share_a_flush);
	tcase_add_test(tc, wide_changes_are_of_whole_objects);
	tcase_add_test(tc, too_many_entries);
	tcase_add_test(tc, too_many_entries_on_a_full_disk);
	tcase_add_test(tc, a_full_disk);
	tcase_add_test(tc, a_failed_flush_is_final);
	tcase_add_test(tc, a_failed_installation);
	tcase_add_test(tc, of_another_store);
	tcase_add_test(tc, each_flipped_bit_is_found);
	tcase_add_loop_test(tc, like_the_model, 0, RUNS);
	tcase_add_test(tc, by_threads);
	suite_add_tcase(s, tc);
	return run_suite(s);
}
