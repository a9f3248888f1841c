/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * test_mgr_members.c - the stores of several managers: their state after a crash, the state that a
 * new leader finds, and entries that do not match.
 */
#include <db.h>
#include <errno.h>
#include <stdatomic.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "mgr/db/write_set.h"
#include "tests/run_suite.h"
#include "tests/unit/member_rig.h"
#include "tests/unit/rnd.h"

static struct rig *rig;
static struct rig_member a, b, copy;
static struct rnd rnd;

static void setup(void)
{
	rig = malloc(sizeof(*rig));
	rig_init(rig);
	rig_member_make(&a, "a");
	rig_member_make(&b, "b");
	rig_member_make(&copy, "copy");
	ck_assert_int_eq(rig_open(rig, &a), 0);
	ck_assert_int_eq(rig_open(rig, &b), 0);
}

static void teardown(void)
{
	rig_member_remove(&a);
	rig_member_remove(&b);
	rig_member_remove(&copy);
	rig_free(rig);
	free(rig);
}

/* Commits one row without a flush. */
static void commit_row(struct store *st, unsigned int key, uint32_t seed)
{
	ck_assert_int_eq(store_begin(st), 0);
	ck_assert_int_eq(rig_put(st, 0, key, seed), 0);
	ck_assert_int_eq(store_commit(st), 0);
}

/* ---- random work ---- */

static struct rig_model now; /* the rows of the leader */

static void random_op(struct store *st, struct rig_model *model)
{
	unsigned int t = (unsigned int)rnd_in(&rnd, 0, RIG_TABLES - 1);
	unsigned int k = (unsigned int)rnd_in(&rnd, 0, RIG_KEYS - 1);
	uint32_t *seed = &model->seed[t][k], new = (uint32_t)rnd_next(&rnd) | 1;

	if (rnd_in(&rnd, 0, 3) == 0)
		new = 0;
	if (!new && !*seed) {
		ck_assert_int_eq(rig_put(st, t, k, 0), -ENOENT);
		return;
	}
	ck_assert_int_eq(rig_put(st, t, k, new), 0);
	*seed = new;
}

static void random_transaction(void)
{
	struct rig_model model = now;

	ck_assert_int_eq(store_begin(rig->leader), 0);
	for (uint64_t n = rnd_in(&rnd, 0, 9); n; n--)
		random_op(rig->leader, &model);
	if (rnd_in(&rnd, 0, 7) == 0) {
		store_abort(rig->leader);
		return;
	}
	ck_assert_int_eq(store_commit(rig->leader), 0);
	now = model;
}

static void flush_leader(void)
{
	ck_assert_int_eq(rig_flush(rig), 0);
	ck_assert_mem_eq(&now, &rig->entry[rig->last].after, sizeof(now));
}

/* After a kill, the files of a member contain what it has applied. */
static void check_crash(const struct rig_member *m)
{
	uint64_t durable = store_durable_index(m->st);
	struct store_applied applied;

	rig_member_copy(m, &copy);
	ck_assert_int_eq(rig_open(rig, &copy), 0);
	rig_check_applied(rig, &copy);
	store_get_applied(copy.st, &applied);
	ck_assert_uint_ge(applied.index, durable);
	rig_apply_all(rig, &copy);
	rig_check_rows(copy.st, &rig->entry[rig->committed].after);
	rig_close(&copy);
}

/* Checks that an entry is rejected that the follower already has, and one that is too early. */
static void check_refused(struct rig_member *m)
{
	uint64_t next = rig_next_index(m->st), i = next;

	if (next > 1)
		ck_assert_int_eq(rig_apply(rig, m, next - 1), -EALREADY);
	while (i <= rig->committed && rig->entry[i].kind != RIG_DATA)
		i++;
	while (++i <= rig->committed)
		if (rig->entry[i].kind == RIG_DATA)
			ck_assert_int_eq(rig_apply(rig, m, i), -EILSEQ);
}

static void follow(struct rig_member *m)
{
	uint64_t i = rig_next_index(m->st), to;

	check_refused(m);
	for (to = rnd_in(&rnd, i - 1, rig->committed); i <= to; i++)
		ck_assert_int_eq(rig_apply(rig, m, i), 0);
	ck_assert_int_eq(store_record_committed(m->st), 0);
	rig_check_applied(rig, m);
}

/* The leader has stored an entry, but never learns whether it is committed. */
static void depose(struct rig_member *m)
{
	uint64_t before = rig->last;

	random_transaction();
	rig->depose = true;
	if (rig_flush(rig) && !rig->takes_entries)
		ck_assert(store_failed(m->st));
	rig->depose = false;
	if (rnd_in(&rnd, 0, 1) && rig->last > before)
		rig->committed = before + 1;
	rig_truncate(rig);
}

static void fail_over(struct rig_member **leader, struct rig_member **other)
{
	struct rig_member *old = *leader;

	for (uint64_t n = rnd_in(&rnd, 0, 5); n; n--)
		random_transaction();
	if (rnd_in(&rnd, 0, 1))
		depose(old);
	if (rnd_in(&rnd, 0, 1)) {
		rig_member_copy(old, &copy);
		rig_close(old);
		rig_member_copy(&copy, old);
	}
	rig_close(old);
	rig_apply_all(rig, *other);
	now = rig->entry[rig->committed].after;
	rig_lead(rig, *other);
	ck_assert_int_eq(rig_open(rig, old), 0);
	rig_check_applied(rig, old);
	*leader = *other;
	*other = old;
}

static void random_step(struct rig_member **leader, struct rig_member **other)
{
	switch (rnd_in(&rnd, 0, 40)) {
	case 0:
		check_crash(*leader);
		break;
	case 1:
		check_crash(*other);
		break;
	case 2:
		fail_over(leader, other);
		break;
	case 3:
		ck_assert_int_eq(store_checkpoint((*leader)->st, 0), 0);
		break;
	case 4:
		ck_assert_int_eq(store_checkpoint((*other)->st, 0), 0);
		break;
	case 5:
	case 6:
		flush_leader();
		rig_append_other(rig, rnd_in(&rnd, RIG_NOTHING, RIG_CONFIG));
		break;
	case 7:
		rig->refuse = (int)rnd_in(&rnd, 0, 2);
		while (rig_flush(rig))
			;
		rig->refuse = 0;
		break;
	case 8:
		follow(*other);
		break;
	case 9:
		ck_assert_int_eq(store_record_committed(rig->leader), 0);
		break;
	case 10:
	case 11:
	case 12:
	case 13:
		flush_leader();
		break;
	default:
		random_transaction();
	}
}

START_TEST(test_random)
{
	struct rig_member *leader = &a, *other = &b;

	rnd_init(&rnd, 1000 + (uint64_t)_i);
	memset(&now, 0, sizeof(now));
	rig->takes_entries = _i % 2;
	rig_close(&a);
	rig_close(&b);
	ck_assert_int_eq(rig_open(rig, &a), 0);
	ck_assert_int_eq(rig_open(rig, &b), 0);
	rig_lead(rig, leader);
	for (int i = 0; i < 250; i++)
		random_step(&leader, &other);
	flush_leader();
	rig_apply_all(rig, other);
	rig_check_rows(leader->st, &now);
	rig_check_rows(other->st, &now);
	ck_assert_uint_eq(rig_sum(leader->st), rig_sum(other->st));
}
END_TEST

/* ---- an interrupted undo ---- */

static atomic_long writes_left;

static void die_at_last_write(void)
{
	if (atomic_fetch_sub(&writes_left, 1) == 1)
		_exit(0);
}

static ssize_t deadly_pwrite(int fd, const void *p, size_t n, off_t at)
{
	die_at_last_write();
	return pwrite(fd, p, n, at);
}

static ssize_t deadly_write(int fd, const void *p, size_t n)
{
	die_at_last_write();
	return write(fd, p, n);
}

/*
 * Opens and closes the copy in a process that dies at the n-th write.  Returns true if it did not
 * reach it.
 */
static bool open_until_write(long nth)
{
	pid_t pid = fork();
	int status;

	if (!pid) {
		atomic_store(&writes_left, nth);
		db_env_set_func_pwrite(deadly_pwrite);
		db_env_set_func_write(deadly_write);
		if (rig_open(rig, &copy))
			_exit(2);
		rig_close(&copy);
		_exit(1);
	}
	ck_assert_int_eq(waitpid(pid, &status, 0), pid);
	ck_assert(WIFEXITED(status) && WEXITSTATUS(status) < 2);
	return WEXITSTATUS(status) == 1;
}

/* The last part deletes and inserts rows again, so a wrong order is visible. */
START_TEST(test_interrupted_undo)
{
	struct rig_member start = { .dir = "/tmp/pvfs-start-XXXXXX" };
	long nth = 1, step = 1 + _i;

	rig_lead(rig, &a);
	for (unsigned int k = 0; k < RIG_KEYS; k++)
		commit_row(a.st, k, k + 1);
	ck_assert_int_eq(store_flush(a.st), 0);
	ck_assert_int_eq(store_record_committed(a.st), 0);
	/* more log than fits into Berkeley DB's buffer */
	for (uint32_t i = 1; i < 3000; i++) {
		commit_row(a.st, i % RIG_KEYS, 16 * (i + 100));
		if (i % 5 == 0)
			commit_row(a.st, i % RIG_KEYS, 0);
	}
	ck_assert_ptr_nonnull(mkdtemp(start.dir));
	rig_close(&a); /* with all undo rows */
	rig_member_copy(&a, &start);
	do {
		rig_member_copy(&start, &copy);
		if (open_until_write(nth))
			nth = -1;
		ck_assert_int_eq(rig_open(rig, &copy), 0);
		rig_check_applied(rig, &copy);
		rig_check_rows(copy.st, &rig->entry[rig->committed].after);
		rig_close(&copy);
		step += step / 2 + 1;
		nth += step;
	} while (nth > step);
	rig_member_remove(&start);
}
END_TEST

/* ---- the event loop must not wait for flushes ---- */

static atomic_uint syncs;

static int count_sync(int fd)
{
	atomic_fetch_add(&syncs, 1);
	return 0;
}

/* Many changes in flight, whose undo rows fill several pages. */
START_TEST(test_changes_sync_nothing)
{
	rig_lead(rig, &a);
	ck_assert_int_eq(store_flush(a.st), 0);
	db_env_set_func_fsync(count_sync);
	atomic_store(&syncs, 0);
	for (uint32_t i = 1; i <= 2000; i++) {
		commit_row(a.st, i % RIG_KEYS, 16 * i + 1);
		if (i % 100 == 0)
			ck_assert_int_eq(store_flush(a.st), 0);
	}
	ck_assert_uint_eq(atomic_load(&syncs), 0);
	db_env_set_func_fsync(NULL);
}
END_TEST

/* ---- entries ---- */

static void put_big_rows(struct store *st, unsigned int n, unsigned int from)
{
	static const uint8_t val[STORE_VAL_MAX];
	uint8_t key[8];

	for (unsigned int i = 0; i < n; i++) {
		key_u64(key, from + i);
		ck_assert_int_eq(store_put(st, STORE_SYMLINKS, key, sizeof(key),
					   val, sizeof(val)),
				 0);
	}
}

START_TEST(test_large_entries)
{
	uint64_t before;

	rig_lead(rig, &a);
	before = rig->last;
	for (unsigned int i = 0; i < 10; i++) {
		ck_assert_int_eq(store_begin(a.st), 0);
		put_big_rows(a.st, 200, 200 * i);
		ck_assert_int_eq(store_commit(a.st), 0);
	}
	ck_assert_int_eq(store_flush(a.st), 0);
	ck_assert_uint_eq(rig->last - before, 5); /* two in each */
	rig_apply_all(rig, &b);
	ck_assert_int_eq(store_record_committed(a.st), 0);
	ck_assert_uint_eq(rig_sum(a.st), rig_sum(b.st));
}
END_TEST

START_TEST(test_too_large)
{
	static const uint8_t val[STORE_VAL_MAX];
	uint64_t last;
	uint32_t sum;
	int rc = 0;

	rig_lead(rig, &a);
	last = rig->last;
	sum = rig_sum(a.st);
	ck_assert_int_eq(store_begin(a.st), 0);
	put_big_rows(a.st, 500, 0);
	for (unsigned int i = 500; !rc && i < 600; i++) {
		uint8_t key[8];

		key_u64(key, i);
		rc = store_put(a.st, STORE_SYMLINKS, key, sizeof(key), val,
			       sizeof(val));
	}
	ck_assert_int_eq(rc, -E2BIG);
	ck_assert_int_eq(store_commit(a.st), -E2BIG);
	ck_assert_int_eq(store_flush(a.st), 0);
	ck_assert_uint_eq(rig->last, last);
	ck_assert_uint_eq(rig_sum(a.st), sum);
	ck_assert(!store_failed(a.st));
}
END_TEST

/* Damaged entries change nothing. */
START_TEST(test_damaged_entry)
{
	struct rig_entry *e;
	uint8_t *bad;

	rig_lead(rig, &a);
	commit_row(a.st, 1, 1);
	ck_assert_int_eq(store_flush(a.st), 0);
	e = &rig->entry[1];
	bad = malloc(e->len);
	for (size_t i = 0; i < 32; i++) {
		memcpy(bad, e->bytes, e->len);
		bad[i] ^= 0x80;
		/* all bytes except the number of changes */
		if (i < 16 || i >= 20)
			ck_assert_int_eq(store_apply(b.st, 1, 1, bad, e->len),
					 i / 8 == 1 ? -EILSEQ : -EBADMSG);
	}
	for (size_t len = 0; len < e->len; len++)
		ck_assert_int_eq(store_apply(b.st, 1, 1, e->bytes, len),
				 -EBADMSG);
	free(bad);
}
END_TEST

/* The leader deletes a row that does not exist here: the stores differ, and this one stops. */
START_TEST(test_different)
{
	struct row_list set = { 0 };
	struct write_entry e = { .first = 1 };
	const struct row_image row = { STORE_INODES, false, "no", 2, NULL, 0 };

	ck_assert_int_eq(row_list_add(&set, &row), 0);
	ck_assert_int_eq(write_entry_reserve(&e, &set), 0);
	write_entry_add(&e, &set);
	write_entry_finish(&e);
	ck_assert_int_eq(store_apply(b.st, 1, 1, e.list.bytes, e.list.len),
			 -EIO);
	ck_assert(store_failed(b.st));
	write_entry_free(&e);
	row_list_free(&set);
}
END_TEST

START_TEST(test_not_leading)
{
	rig_lead(rig, &a);
	ck_assert_int_eq(store_begin(b.st), -EPERM);
	ck_assert_int_eq(rig_apply(rig, &a, 1), -EPERM);
	ck_assert_int_eq(store_note_own_entry(b.st, 1, 1, rig->entry[1].bytes,
					      rig->entry[1].len),
			 -EILSEQ);
	rig_apply_all(rig, &b);
	rig_check_applied(rig, &b);
}
END_TEST

/* The hook does not record what was committed. */
static int forget_to_note(void *arg, const void *entry, size_t len)
{
	return 0;
}

START_TEST(test_hook_without_note)
{
	struct store_attr attr = { .dir = copy.dir,
				   .cache_size = 1 << 20,
				   .log = &rig->log,
				   .replicated = true,
				   .replicate = forget_to_note };

	ck_assert_int_eq(store_open(&attr, &copy.st), 0);
	ck_assert_int_eq(store_lead(copy.st), -EIO);
	ck_assert(store_failed(copy.st));
}
END_TEST

/* ---- identifiers ---- */

static uint64_t new_id(struct store *st)
{
	uint64_t id;

	ck_assert_int_eq(store_begin(st), 0);
	id = store_new_id(st);
	store_abort(st);
	return id;
}

static uint64_t reserved_in(struct rig_member *m)
{
	uint64_t end;

	ck_assert_int_eq(meta_get_u64(m->st, "next_id", &end), 0);
	return end;
}

/* Each id is lower than the limit that a majority has stored when it is issued. */
START_TEST(test_ids)
{
	uint64_t last, flushed = 0;

	rig_lead(rig, &a);
	for (int i = 0; i < 60; i++) {
		ck_assert_int_eq(store_begin(a.st), 0);
		for (int n = 0; n < 60000; n++)
			last = store_new_id(a.st);
		ck_assert_int_eq(rig_put(a.st, 0, 1, (uint32_t)i + 1), 0);
		ck_assert_int_eq(store_commit(a.st), 0);
		rig_apply_all(rig, &b);
		ck_assert_uint_lt(last, reserved_in(&b));
		flushed = rig->last;
	}
	ck_assert_uint_lt(flushed, 8); /* there was no unnecessary flush */
	last = new_id(a.st);
	rig_close(&a);
	rig_apply_all(rig, &b);
	rig_lead(rig, &b);
	ck_assert_uint_gt(new_id(b.st), last);
}
END_TEST

/* ---- one manager and several ---- */

static int open_alone(struct rig_member *m, bool leave)
{
	struct store_attr attr = { .dir = m->dir,
				   .cache_size = 1 << 20,
				   .log = &rig->log,
				   .leave_group = leave };

	return store_open(&attr, &m->st);
}

START_TEST(test_migration)
{
	struct rig_model model = { 0 };
	uint64_t id;

	ck_assert_int_eq(open_alone(&copy, false), 0);
	commit_row(copy.st, 1, 11);
	ck_assert_int_eq(store_flush(copy.st), 0);
	id = new_id(copy.st);
	rig_close(&copy);

	ck_assert_int_eq(rig_open(rig, &copy), 0);
	model.seed[0][1] = 11;
	rig->entry[0].after = model;
	rig_check_rows(copy.st, &model);
	rig_member_copy(&copy, &a);
	rig_close(&a);
	rig_member_copy(&copy, &a);
	rig_lead(rig, &copy);
	commit_row(copy.st, 2, 22);
	ck_assert_int_eq(store_flush(copy.st), 0);
	/* a store without the earlier rows is rejected */
	ck_assert_int_eq(rig_apply(rig, &b, 1), -EILSEQ);
	/* a copy is accepted */
	ck_assert_int_eq(rig_open(rig, &a), 0);
	rig_apply_all(rig, &a);
	rig_check_applied(rig, &a);
	ck_assert_uint_eq(rig_sum(a.st), rig_sum(copy.st));
	rig_close(&a);

	/* back to one manager: uncommitted changes are undone */
	commit_row(copy.st, 3, 33);
	rig_close(&copy);
	ck_assert_int_eq(open_alone(&copy, false), -EPERM);
	ck_assert_int_eq(open_alone(&copy, true), 0);
	rig_check_rows(copy.st, &rig->entry[rig->committed].after);
	ck_assert_uint_gt(new_id(copy.st), id);
	commit_row(copy.st, 4, 44);
	ck_assert_int_eq(store_flush(copy.st), 0);
	rig_close(&copy);
	ck_assert_int_eq(open_alone(&copy, false), 0);
}
END_TEST

/* A store was opened as that of a group by mistake. */
START_TEST(test_unused_group)
{
	struct store_attr attr = { .dir = copy.dir,
				   .cache_size = 1 << 20,
				   .log = &rig->log,
				   .leave_unused_group = true };

	ck_assert_int_eq(open_alone(&copy, false), 0);
	commit_row(copy.st, 1, 11);
	rig_close(&copy);
	ck_assert_int_eq(rig_open(rig, &copy), 0);
	rig_close(&copy);
	ck_assert_int_eq(open_alone(&copy, false), -EPERM);
	ck_assert_int_eq(store_open(&attr, &copy.st), 0);
	rig_close(&copy);
	ck_assert_int_eq(open_alone(&copy, false), 0);
	rig_close(&copy);
	/* ... but was used */
	ck_assert_int_eq(rig_open(rig, &copy), 0);
	rig_lead(rig, &copy);
	commit_row(copy.st, 2, 22);
	ck_assert_int_eq(store_flush(copy.st), 0);
	commit_row(copy.st, 3, 33);
	ck_assert_int_eq(store_flush(copy.st), 0);
	rig_close(&copy);
	ck_assert_int_eq(store_open(&attr, &copy.st), -EPERM);
}
END_TEST

/* The undo rows are lost, so the committed changes are unknown. */
START_TEST(test_lost_member_table)
{
	char path[128];

	rig_lead(rig, &a);
	commit_row(a.st, 1, 1);
	rig_close(&a);
	snprintf(path, sizeof(path), "%s/db/member", a.dir);
	ck_assert_int_eq(unlink(path), 0);
	ck_assert_int_eq(rig_open(rig, &a), -EIO);
}
END_TEST

int main(void)
{
	TCase *tc = tcase_create("members");
	Suite *s = suite_create("mgr_members");

	tcase_add_checked_fixture(tc, setup, teardown);
	tcase_set_timeout(tc, 300);
	tcase_add_loop_test(tc, test_random, 0, 4);
	tcase_add_loop_test(tc, test_interrupted_undo, 0, 1);
	tcase_add_test(tc, test_changes_sync_nothing);
	tcase_add_test(tc, test_large_entries);
	tcase_add_test(tc, test_too_large);
	tcase_add_test(tc, test_damaged_entry);
	tcase_add_test(tc, test_different);
	tcase_add_test(tc, test_not_leading);
	tcase_add_test(tc, test_hook_without_note);
	tcase_add_test(tc, test_ids);
	tcase_add_test(tc, test_migration);
	tcase_add_test(tc, test_unused_group);
	tcase_add_test(tc, test_lost_member_table);
	suite_add_tcase(s, tc);
	return run_suite(s);
}
