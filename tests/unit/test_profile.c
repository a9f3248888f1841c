/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * test_profile.c - the counts of a profile are those of a model that has all calls.  No call of any
 * thread is lost, and files above the limit are in the sums.
 */
#include <check.h>
#include <errno.h>
#include <pthread.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "client/lib/profile/profile_int.h"
#include "tests/unit/rnd.h"

#define CALLS 3000u
#define STRIPE 4096u

/* ---- a record, compared with the model ---- */

static struct profile_call calls[CALLS];

static int64_t some_size(struct rnd *r)
{
	static const int64_t sizes[] = {
		0, 1, 100, 101, STRIPE, 65536, 1 << 20
	};

	return rnd_in(r, 0, 30) ? sizes[rnd_in(r, 0, 6)] : -EIO;
}

static void make_calls(struct rnd *r)
{
	uint64_t end = 0;

	for (unsigned int i = 0; i < CALLS; i++) {
		struct profile_call *c = &calls[i];

		*c = (struct profile_call){
			.kind = rnd_in(r, 0, 9) ? PROFILE_WRITE
						: PROFILE_LIST_WRITE,
			.begun = 1000 + 10 * i,
			.result = some_size(r),
			.pieces = rnd_in(r, 1, 5),
			.ssize = rnd_in(r, 0, 3) ? STRIPE : 0,
			.off = rnd_in(r, 0, 1) ? end : end + STRIPE,
		};
		if (!rnd_in(r, 0, 3))
			c->off = end > 65536 ? end - 65536 : 0;
		if (c->result >= 0)
			end = c->off + (uint64_t)c->result;
	}
}

/* Returns the n-th last call before i that moved data, or NULL. */
static const struct profile_call *before(unsigned int i, unsigned int nth)
{
	while (i-- > 0) {
		if (calls[i].result >= 0 && !nth--)
			return &calls[i];
	}
	return NULL;
}

static uint64_t end_of(const struct profile_call *c)
{
	return c->off + (uint64_t)c->result;
}

static bool is_consecutive(unsigned int i)
{
	const struct profile_call *b = before(i, 0);

	return b && calls[i].off == end_of(b);
}

static bool is_strided(unsigned int i)
{
	const struct profile_call *b = before(i, 0), *a = before(i, 1);

	if (!a || calls[i].off == end_of(b) || b->off == end_of(a))
		return false;
	return calls[i].off - b->off == b->off - a->off;
}

static uint64_t of_size(int64_t lo, int64_t hi)
{
	uint64_t n = 0;

	for (unsigned int i = 0; i < CALLS; i++)
		n += calls[i].result >= lo && calls[i].result <= hi;
	return n;
}

static void check_way(const struct profile_way *w)
{
	uint64_t bytes = 0, seq = 0, cons = 0, strided = 0, un = 0, large = 0,
		 both = 0;

	for (unsigned int i = 0; i < CALLS; i++) {
		const struct profile_call *c = &calls[i], *b = before(i, 0);
		bool off = c->ssize && c->off % STRIPE;
		bool big = c->ssize && c->result >= (int64_t)STRIPE;

		if (c->result < 0)
			continue;
		bytes += (uint64_t)c->result;
		seq += b && c->off >= end_of(b);
		cons += is_consecutive(i);
		strided += is_strided(i);
		un += off;
		large += big;
		both += off && big;
	}
	ck_assert_uint_eq(w->bytes, bytes);
	ck_assert_uint_eq(w->sequential, seq);
	ck_assert_uint_eq(w->consecutive, cons);
	ck_assert_uint_eq(w->strided, strided);
	ck_assert_uint_eq(w->unaligned, un);
	ck_assert_uint_eq(w->large, large);
	ck_assert_uint_eq(w->large_unaligned, both);
}

static void check_sizes(const struct profile_way *w)
{
	const struct profile_common *top = w->size;

	ck_assert_uint_eq(w->sizes[0], of_size(0, 100));
	ck_assert_uint_eq(w->sizes[1], of_size(101, 1024));
	ck_assert_uint_eq(w->sizes[2], of_size(1025, 10240));
	ck_assert_uint_eq(w->sizes[3], of_size(10241, 102400));
	ck_assert_uint_eq(w->sizes[4], of_size(102401, 1 << 20));
	/* seven different sizes: exact */
	for (unsigned int i = 0; i < PROFILE_COMMON && top[i].count; i++) {
		ck_assert_uint_eq(top[i].count,
				  of_size(top[i].value, top[i].value));
		ck_assert(!i || top[i].count <= top[i - 1].count);
	}
}

START_TEST(record_is_the_models)
{
	struct profile_counts r = { 0 };
	struct profile_record sum = { 0 };
	uint64_t pieces = 0, errors = 0, lists = 0;
	struct rnd rnd;

	rnd_init(&rnd, 5);
	make_calls(&rnd);
	for (unsigned int i = 0; i < CALLS; i++) {
		record_count(&r, &calls[i], calls[i].begun + 7 + (i == 1234));
		errors += calls[i].result < 0;
		if (calls[i].kind == PROFILE_LIST_WRITE) {
			lists++;
			pieces += calls[i].pieces;
		}
	}
	profile_record_add(&sum, &r.sum);
	ck_assert_uint_eq(sum.calls[PROFILE_LIST_WRITE], lists);
	ck_assert_uint_eq(sum.calls[PROFILE_WRITE], CALLS - lists);
	ck_assert_uint_eq(sum.errors, errors);
	ck_assert_uint_eq(sum.pieces, pieces);
	ck_assert_uint_eq(sum.slowest_ns, 8);
	ck_assert_uint_eq(sum.ns[PROFILE_WRITE] + sum.ns[PROFILE_LIST_WRITE],
			  CALLS * 7 + 1);
	ck_assert_uint_eq(sum.first, 1000);
	ck_assert_uint_eq(sum.last, calls[CALLS - 1].begun + 7);
	check_way(&sum.way[1]);
	check_sizes(&sum.way[1]);
	ck_assert_uint_eq(sum.way[0].bytes, 0);
}
END_TEST

/* The common size stays listed, however many others there are. */
START_TEST(common_stays_in_sight)
{
	static uint64_t times[77778];
	const struct profile_common *top;
	struct profile_counts r = { 0 };
	struct rnd rnd;

	rnd_init(&rnd, 6);
	for (unsigned int i = 0; i < 20000; i++) {
		struct profile_call c = { .kind = PROFILE_READ, .begun = 1 };

		c.result = rnd_in(&rnd, 0, 2) ? (int64_t)rnd_in(&rnd, 0, 9999)
					      : 77777;
		record_count(&r, &c, 2);
		times[c.result]++;
	}
	top = r.sum.way[PROFILE_READS].size;
	ck_assert_int_eq(top[0].value, 77777);
	for (unsigned int i = 0; i < PROFILE_COMMON; i++)
		ck_assert_uint_ge(top[i].count, times[top[i].value]);
}
END_TEST

/* ---- the profile of a process ---- */

static char folder[] = "/tmp/test_profile.XXXXXX";
static unsigned int lines;

static void count_line(void *arg, enum log_level level, const char *msg)
{
	lines++;
}

static const struct log sink = { LOG_LV_WARN, count_line, NULL };

static struct profile *begin(const char *name)
{
	char path[PATH_MAX];

	ck_assert(mkdtemp(strcpy(folder, "/tmp/test_profile.XXXXXX")));
	snprintf(path, sizeof(path), "%s/%s", folder, name);
	setenv("PVFS_PROFILE", path, 1);
	lines = 0;
	profile_begin(&sink);
	ck_assert(profile_on());
	return atomic_load(&profile_active);
}

static bool there(const char *fmt, int pid)
{
	char path[PATH_MAX], name[64];

	snprintf(name, sizeof(name), fmt, pid);
	snprintf(path, sizeof(path), "%s/%s", folder, name);
	return !unlink(path);
}

static void *many(void *arg)
{
	/* all threads in one part */
	atomic_store(&atomic_load(&profile_active)->threads, 0);
	for (unsigned int i = 0; i < 20000; i++)
		profile_done(PROFILE_STAT, *(unsigned int *)arg,
			     profile_start(), 0, false);
	return NULL;
}

START_TEST(no_call_is_lost)
{
	struct profile *p = begin("out");
	unsigned int file = profile_file(1, 2, STRIPE, 4);
	pthread_t thread[24];
	struct profile_record sum;

	for (unsigned int i = 0; i < 24; i++)
		ck_assert(!pthread_create(&thread[i], NULL, many, &file));
	for (unsigned int i = 0; i < 10; i++)
		profile_write();
	for (unsigned int i = 0; i < 24; i++)
		pthread_join(thread[i], NULL);
	profile_sum(p, file, &sum);
	ck_assert_uint_eq(sum.calls[PROFILE_STAT], 24 * 20000);
	profile_write();
	ck_assert(there("out", 0));
	ck_assert(!there("out.new", 0));
	rmdir(folder);
}
END_TEST

START_TEST(files_are_bounded)
{
	struct profile *p = begin("out");

	for (unsigned int i = 0; i < PROFILE_FILES + 500; i++) {
		unsigned int file = profile_file(9, i * 7919u, STRIPE, 1);

		ck_assert_uint_eq(file == PROFILE_REST, i >= PROFILE_FILES);
		ck_assert_uint_lt(file, PROFILE_PLACES);
		profile_named(file, "name", 0);
	}
	ck_assert_uint_eq(profile_file(9, 7919, STRIPE, 1), PROFILE_FIRST + 1);
	ck_assert_uint_eq(p->left_out, 500);
	ck_assert_uint_eq(profile_file(9, 8, STRIPE, 1), PROFILE_REST);
	rmdir(folder);
}
END_TEST

START_TEST(unwritable_is_one_line)
{
	begin("none/out");
	many(&(unsigned int){ PROFILE_NAMES });
	profile_write();
	profile_write();
	ck_assert_uint_eq(lines, 1);
	rmdir(folder);
}
END_TEST

START_TEST(nothing_done_writes_nothing)
{
	begin("out");
	profile_write();
	ck_assert(!there("out", 0));
	ck_assert_uint_eq(lines, 0);
	rmdir(folder);
}
END_TEST

/* The profile does not contain the parent's calls. */
static void child_does(struct profile *p)
{
	struct profile_record sum;

	many(&(unsigned int){ PROFILE_NAMES });
	profile_sum(p, PROFILE_NAMES, &sum);
	profile_write();
	_exit(sum.calls[PROFILE_STAT] != 20000);
}

START_TEST(child_has_its_own)
{
	struct profile *p = begin("out");
	int status;
	pid_t pid;

	many(&(unsigned int){ PROFILE_NAMES });
	many(&(unsigned int){ PROFILE_NAMES });
	pid = fork();
	if (!pid)
		child_does(p);
	ck_assert_int_eq(waitpid(pid, &status, 0), pid);
	ck_assert_int_eq(status, 0);
	profile_write();
	ck_assert(there("out", 0));
	ck_assert(there("out.%d", (int)pid));
	rmdir(folder);
}
END_TEST

/* Existing files are not overwritten. */
START_TEST(names_are_not_taken)
{
	char path[PATH_MAX];
	FILE *other;

	begin("out");
	snprintf(path, sizeof(path), "%s/out", folder);
	other = fopen(path, "w");
	ck_assert_ptr_nonnull(other);
	fclose(other);
	many(&(unsigned int){ PROFILE_NAMES });
	profile_write();
	ck_assert(there("out.%d", (int)getpid()));
	ck_assert(there("out", 0));
	rmdir(folder);
}
END_TEST

int main(void)
{
	Suite *s = suite_create("profile");
	TCase *tc = tcase_create("profile");
	SRunner *runner;
	int failed;

	tcase_set_timeout(tc, 120);
	tcase_add_test(tc, record_is_the_models);
	tcase_add_test(tc, common_stays_in_sight);
	tcase_add_test(tc, no_call_is_lost);
	tcase_add_test(tc, files_are_bounded);
	tcase_add_test(tc, unwritable_is_one_line);
	tcase_add_test(tc, nothing_done_writes_nothing);
	tcase_add_test(tc, child_has_its_own);
	tcase_add_test(tc, names_are_not_taken);
	suite_add_tcase(s, tc);
	runner = srunner_create(s);
	/* a process can begin only one profile, whatever CK_FORK says */
	srunner_set_fork_status(runner, CK_FORK);
	srunner_run_all(runner, CK_ENV);
	failed = srunner_ntests_failed(runner);
	srunner_free(runner);
	return failed ? EXIT_FAILURE : EXIT_SUCCESS;
}
