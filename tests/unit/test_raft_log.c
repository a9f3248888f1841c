/* SPDX-License-Identifier: BSD-2-Clause */
/* test_raft_log.c - the log of a member on a failing disk, compared with a model. */
#include <check.h>
#include <errno.h>
#include <string.h>

#include "mgr/raft/entry_log.h"
#include "mgr/raft/member.h"
#include "mgr/raft/vote_file.h"
#include "tests/raft_sim/sim_disk.h"
#include "tests/run_suite.h"
#include "tests/unit/rnd.h"

#define SEGMENT (64u << 10)
#define LIMIT (1u << 20)
#define ENTRIES_MAX 20000u

struct sim {
	struct rnd rnd;
};

static struct sim sim;
static struct sim_disk *disk;
static struct entry_log *el;
static struct log_contents contents;

uint64_t sim_random(struct sim *s, uint64_t lo, uint64_t hi)
{
	return rnd_in(&s->rnd, lo, hi);
}

bool sim_chance(struct sim *s, unsigned int n)
{
	return sim_random(s, 0, 999) < n;
}

static void setup(void)
{
	rnd_init(&sim.rnd, 1);
	disk = sim_disk_new(&sim);
}

static void teardown(void)
{
	ck_assert_uint_eq(sim_disk_open_files(disk), 0);
	sim_disk_free(disk);
}

static int open_log(void)
{
	struct entry_log_attr attr = { .disk = sim_disk_ops(disk),
				       .segment_size = SEGMENT,
				       .limit = LIMIT };

	return entry_log_open(&attr, &contents, &el);
}

static void close_log(void)
{
	entry_log_close(el);
	log_contents_free(&contents);
}

/* ---- the model: the permitted contents of the log ---- */

struct model {
	uint64_t first, next; /* entries first to next - 1 exist */
	uint64_t terms[ENTRIES_MAX];
	uint32_t lens[ENTRIES_MAX];
	uint64_t snapshot, snapshot_term;
};

static struct model model;

/* The data of an entry follows from its index, term and length. */
static void fill_data(uint8_t *data, uint64_t index, uint64_t term,
		      uint32_t len)
{
	for (uint32_t i = 0; i < len; i++)
		data[i] = len % 3 ? (uint8_t)(index * 7 + term * 13 + i) : 0;
}

static void model_add(const struct log_record *record)
{
	switch (record->kind) {
	case LOG_ENTRY:
		model.terms[record->index] = record->term;
		model.lens[record->index] = record->len;
		model.next = record->index + 1;
		break;
	case LOG_TRUNCATE:
		model.next = record->index;
		break;
	case LOG_RESET:
		model.first = model.next = record->index + 1;
		/* fall through */
	case LOG_SNAPSHOT:
		model.snapshot = record->index;
		model.snapshot_term = record->term;
		break;
	}
}

/* Checks that the opened log is that of the model.  It may contain more entries at its head. */
static bool is_model(void)
{
	static uint8_t data[SEGMENT];

	if (log_contents_next(&contents) != model.next ||
	    contents.first > model.first ||
	    contents.snapshot.index != model.snapshot ||
	    contents.snapshot.term != model.snapshot_term)
		return false;
	for (size_t i = 0; i < contents.n; i++) {
		const struct log_entry *entry = &contents.entries[i];
		uint64_t index = contents.first + i;

		if (entry->term != model.terms[index] ||
		    entry->len != model.lens[index] || entry->type != 3)
			return false;
		fill_data(data, index, entry->term, entry->len);
		if (memcmp(data, entry->data, entry->len))
			return false;
	}
	return true;
}

/* ---- records at random ---- */

#define RECORDS_MAX 8u

struct batch {
	struct log_record records[RECORDS_MAX];
	uint8_t data[RECORDS_MAX][20000];
	size_t n;
};

static struct batch batch;
static uint64_t term;

static void add_entry(uint64_t index)
{
	uint32_t len = (uint32_t)sim_random(&sim, 0,
					    sim_chance(&sim, 100) ? 20000
								  : 600);
	uint8_t *data = batch.data[batch.n];

	fill_data(data, index, term, len);
	batch.records[batch.n++] = (struct log_record){ .kind = LOG_ENTRY,
							.type = 3,
							.index = index,
							.term = term,
							.data = data,
							.len = len };
}

/* Appends entries, sometimes after a truncation. */
static void make_entries(void)
{
	uint64_t next = model.next;

	batch.n = 0;
	if (model.next > model.snapshot + 1 && sim_chance(&sim, 200)) {
		uint64_t low = model.next - model.snapshot > 6
				       ? model.next - 5
				       : model.snapshot + 1;

		next = sim_random(&sim, low, model.next - 1);
		batch.records[batch.n++] = (struct log_record){
			.kind = LOG_TRUNCATE, .index = next
		};
		term++;
	}
	for (uint64_t n = sim_random(&sim, 1, RECORDS_MAX - batch.n); n--;)
		add_entry(next++);
}

static void make_snapshot(void)
{
	bool reset = sim_chance(&sim, 200);

	batch.n = 1;
	batch.records[0] = (struct log_record){
		.kind = reset ? LOG_RESET : LOG_SNAPSHOT,
		.index = reset ? model.next + sim_random(&sim, 0, 5)
			       : model.next - 1,
		.term = term,
	};
}

/* After a crash, the log has the records up to one of them, and at least all confirmed ones. */
static void reopen_after_crash(bool confirmed)
{
	size_t done = 0;

	entry_log_close(el);
	log_contents_free(&contents);
	if (sim_chance(&sim, 700))
		sim_disk_lose_power(disk);
	*sim_disk_faults(disk) = (struct sim_disk_faults){ 0 };
	ck_assert_int_eq(open_log(), 0);
	if (confirmed)
		ck_assert(is_model());
	while (!is_model()) {
		ck_assert_uint_lt(done, batch.n);
		model_add(&batch.records[done++]);
	}
}

static void step(void)
{
	bool snapshot = model.next > model.snapshot + 40;
	int rc;

	if (snapshot)
		make_snapshot();
	else
		make_entries();
	if (sim_chance(&sim, 250))
		sim_disk_faults(disk)->breaks_in =
			(unsigned int)sim_random(&sim, 1, 4);
	rc = entry_log_prepare(el);
	rc = rc ? rc : entry_log_write(el, batch.records, batch.n);
	if (rc) {
		ck_assert_int_eq(rc, -EIO);
		reopen_after_crash(false);
		return;
	}
	for (size_t i = 0; i < batch.n; i++)
		model_add(&batch.records[i]);
	if (snapshot) {
		if (model.first <= model.snapshot)
			model.first = model.snapshot + 1;
		rc = entry_log_cut(el, model.first);
		ck_assert(!rc || rc == -EIO);
	}
	if (rc || sim_chance(&sim, 50))
		reopen_after_crash(true);
}

/* ---- tests ---- */

START_TEST(test_model)
{
	model = (struct model){ .first = 1, .next = 1 };
	term = 1;
	ck_assert_int_eq(open_log(), 0);
	for (int i = 0; i < 4000; i++) {
		step();
		ck_assert_uint_le(entry_log_size(el), LIMIT);
	}
	ck_assert_uint_gt(model.snapshot, 1000);
	close_log();
}
END_TEST

static void write_entries(unsigned int batches)
{
	for (unsigned int i = 0; i < batches; i++) {
		make_entries();
		ck_assert_int_eq(entry_log_write(el, batch.records, batch.n),
				 0);
		for (size_t j = 0; j < batch.n; j++)
			model_add(&batch.records[j]);
	}
}

/* Every flipped bit is found, also in the last batch, and none is taken for a torn write. */
START_TEST(test_flipped_bits)
{
	model = (struct model){ .first = 1, .next = 1 };
	term = 1;
	ck_assert_int_eq(open_log(), 0);
	write_entries(12);
	close_log();
	for (int i = 0; i < 2000; i++) {
		uint64_t offset = sim_random(&sim, 0, SEGMENT - 1);
		unsigned int bit = (unsigned int)sim_random(&sim, 0, 7);

		sim_disk_flip(disk, "log.00000001", offset, bit);
		ck_assert_int_eq(open_log(), -EIO);
		sim_disk_flip(disk, "log.00000001", offset, bit);
	}
	ck_assert_int_eq(open_log(), 0);
	ck_assert(is_model());
	close_log();
}
END_TEST

START_TEST(test_missing_segment)
{
	struct disk_folder ops = sim_disk_ops(disk);

	model = (struct model){ .first = 1, .next = 1 };
	term = 1;
	ck_assert_int_eq(open_log(), 0);
	while (entry_log_size(el) < 4 * SEGMENT)
		write_entries(1);
	close_log();
	ck_assert_int_eq(disk_folder_remove(&ops, "log.00000002"), 0);
	ck_assert_int_eq(open_log(), -EIO);
	ck_assert_int_eq(disk_folder_remove(&ops, "log.00000001"), 0);
	ck_assert_int_eq(open_log(), -EIO);
}
END_TEST

/* Writes zeros from the offset on, as a disk that loses what it has confirmed. */
static void zero_rest(const struct disk_folder *ops, const char *name,
		      uint32_t offset)
{
	static const uint8_t zeros[SEGMENT];
	int fd = disk_folder_open_file(ops, name, false);

	ck_assert_int_ge(fd, 0);
	ck_assert_int_eq(
		disk_folder_write(ops, fd, zeros, SEGMENT - offset, offset), 0);
	disk_folder_close_file(ops, fd);
}

/* The end of the log is lost: whole batches, the last segment, or all of them. */
START_TEST(test_lost_end)
{
	struct disk_folder ops = sim_disk_ops(disk);
	uint32_t end;

	model = (struct model){ .first = 1, .next = 1 };
	term = 1;
	ck_assert_int_eq(open_log(), 0);
	write_entries(1);
	end = SEGMENT - (uint32_t)entry_log_room(el);
	while (entry_log_size(el) < 2 * SEGMENT)
		write_entries(1);
	close_log();
	sim_disk_flip(disk, "log.end", 100, 3);
	ck_assert_int_eq(open_log(), -EIO);
	sim_disk_flip(disk, "log.end", 100, 3);
	ck_assert_int_eq(disk_folder_remove(&ops, "log.00000002"), 0);
	ck_assert_int_eq(open_log(), -EIO);
	zero_rest(&ops, "log.00000001", end);
	ck_assert_int_eq(open_log(), -EIO);
	ck_assert_int_eq(disk_folder_remove(&ops, "log.00000001"), 0);
	ck_assert_int_eq(open_log(), -EIO);
}
END_TEST

/* A log of a release without log.end. */
START_TEST(test_log_without_end)
{
	struct disk_folder ops = sim_disk_ops(disk);

	model = (struct model){ .first = 1, .next = 1 };
	term = 1;
	ck_assert_int_eq(open_log(), 0);
	write_entries(3);
	close_log();
	ck_assert_int_eq(disk_folder_remove(&ops, "log.end"), 0);
	ck_assert_int_eq(open_log(), 0);
	ck_assert(is_model());
	write_entries(1);
	close_log();
	zero_rest(&ops, "log.00000001", 0);
	ck_assert_int_eq(open_log(), -EIO);
}
END_TEST

START_TEST(test_full_disk)
{
	ck_assert_int_eq(open_log(), 0);
	*sim_disk_faults(disk) = (struct sim_disk_faults){ .full = true };
	ck_assert_int_eq(entry_log_prepare(el), -ENOSPC);
	ck_assert_uint_eq(sim_disk_faults(disk)->writes, 0);
	ck_assert_uint_eq(entry_log_room(el), SEGMENT);
	sim_disk_faults(disk)->quota = true;
	ck_assert_int_eq(entry_log_prepare(el), -ENOSPC);
	*sim_disk_faults(disk) = (struct sim_disk_faults){ 0 };
	ck_assert_int_eq(entry_log_prepare(el), 0);
	close_log();
}
END_TEST

/* Records that certainly fit are written without a new segment. */
START_TEST(test_room)
{
	model = (struct model){ .first = 1, .next = 1 };
	term = 1;
	ck_assert_int_eq(open_log(), 0);
	for (int i = 0; i < 300; i++) {
		uint64_t room;
		int rc;

		make_entries();
		ck_assert_int_eq(entry_log_prepare(el), 0);
		room = entry_log_room(el);
		for (size_t j = 0; j < batch.n; j++) {
			uint64_t space = entry_log_space(batch.records[j].len);

			if (space > room)
				batch.n = j;
			else
				room -= space;
		}
		sim_disk_faults(disk)->full = true;
		rc = entry_log_write(el, batch.records, batch.n);
		ck_assert_int_eq(rc, 0);
		sim_disk_faults(disk)->full = false;
		for (size_t j = 0; j < batch.n; j++)
			model_add(&batch.records[j]);
		if (entry_log_size(el) > LIMIT / 2) {
			batch.records[0] =
				(struct log_record){ .kind = LOG_SNAPSHOT,
						     .index = model.next - 1,
						     .term = term };
			ck_assert_int_eq(entry_log_write(el, batch.records, 1),
					 0);
			ck_assert_int_eq(entry_log_cut(el, model.next), 0);
		}
	}
	close_log();
}
END_TEST

/* ---- the vote ---- */

START_TEST(test_vote)
{
	struct disk_folder ops = sim_disk_ops(disk);
	uint64_t stored = 0;
	struct vote_file file;

	ck_assert_int_eq(vote_file_open(&ops, &file), -ENOENT);
	ck_assert_int_eq(
		vote_file_create(&ops, &(struct vote){ 5, 6, 0, 0 }, &file), 0);
	for (uint64_t i = 1; i < 500; i++) {
		if (sim_chance(&sim, 300))
			sim_disk_faults(disk)->breaks_in =
				(unsigned int)sim_random(&sim, 1, 2);
		if (!vote_file_store(&file, i, i + 1)) {
			stored = i;
			continue;
		}
		vote_file_close(&file);
		sim_disk_lose_power(disk);
		*sim_disk_faults(disk) = (struct sim_disk_faults){ 0 };
		ck_assert_int_eq(vote_file_open(&ops, &file), 0);
		ck_assert(file.vote.term == stored || file.vote.term == i);
		if (stored)
			ck_assert_uint_eq(file.vote.voted_for,
					  file.vote.term + 1);
		ck_assert(file.vote.group == 5 && file.vote.member == 6);
		stored = file.vote.term;
	}
	vote_file_close(&file);
	for (uint64_t at = 0; at < 508; at++) {
		uint64_t offset = at + (at & 1) * 4096;

		sim_disk_flip(disk, "vote", offset, 3);
		ck_assert_int_eq(vote_file_open(&ops, &file), -EIO);
		sim_disk_flip(disk, "vote", offset, 3);
	}
}
END_TEST

/* ---- a new member ---- */

/* Checks that the files are those of a new member with a first entry. */
static void check_created(const struct disk_folder *ops)
{
	struct vote_file file;

	ck_assert_int_eq(vote_file_open(ops, &file), 0);
	ck_assert_uint_eq(file.vote.term, 1);
	ck_assert_uint_eq(file.vote.voted_for, 0);
	vote_file_close(&file);
	ck_assert_int_eq(open_log(), 0);
	ck_assert(contents.n == 1 && contents.first == 1 &&
		  contents.entries[0].term == 1);
	close_log();
}

/* member_create() is interrupted before each of its operations in turn, and called again. */
START_TEST(test_interrupted_create)
{
	const struct member_address voters[] = { { 1, "one" }, { 2, "two" } };
	struct disk_folder ops = sim_disk_ops(disk);
	struct member_attr attr = { .id = 1,
				    .group = 5,
				    .disk = ops,
				    .segment_size = SEGMENT,
				    .log_limit = LIMIT };
	int rc = -EIO;

	for (unsigned int at = 1; rc; at++) {
		bool exists;

		sim_disk_wipe(disk);
		sim_disk_faults(disk)->breaks_in = at;
		rc = member_create(&attr, voters, 2);
		ck_assert(!rc || rc == -EIO);
		if (sim_chance(&sim, 500))
			sim_disk_lose_power(disk);
		*sim_disk_faults(disk) = (struct sim_disk_faults){ 0 };
		ck_assert_int_eq(member_exists(&ops, &exists), 0);
		if (!exists)
			ck_assert_int_eq(member_create(&attr, voters, 2), 0);
		check_created(&ops);
	}
}
END_TEST

START_TEST(test_create_beside_log)
{
	const struct member_address voters[] = { { 1, "one" }, { 2, "two" } };
	struct disk_folder ops = sim_disk_ops(disk);
	struct member_attr attr = { .id = 1,
				    .group = 5,
				    .disk = ops,
				    .segment_size = SEGMENT,
				    .log_limit = LIMIT };

	ck_assert_int_eq(member_create(&attr, voters, 2), 0);
	ck_assert_int_eq(member_create(&attr, voters, 2), -EEXIST);
	ck_assert_int_eq(disk_folder_remove(&ops, "vote"), 0);
	ck_assert_int_eq(member_create(&attr, voters, 1), -EEXIST);
	ck_assert_int_eq(member_create(&attr, NULL, 0), -EEXIST);
	ck_assert_int_eq(member_create(&attr, voters, 2), 0);
	check_created(&ops);
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("raft_log");
	TCase *tc = tcase_create("raft_log");

	tcase_add_checked_fixture(tc, setup, teardown);
	tcase_set_timeout(tc, 120);
	tcase_add_test(tc, test_model);
	tcase_add_test(tc, test_flipped_bits);
	tcase_add_test(tc, test_missing_segment);
	tcase_add_test(tc, test_lost_end);
	tcase_add_test(tc, test_log_without_end);
	tcase_add_test(tc, test_full_disk);
	tcase_add_test(tc, test_room);
	tcase_add_test(tc, test_vote);
	tcase_add_test(tc, test_interrupted_create);
	tcase_add_test(tc, test_create_beside_log);
	suite_add_tcase(suite, tc);
	return run_suite(suite);
}
