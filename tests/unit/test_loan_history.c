/* SPDX-License-Identifier: BSD-2-Clause */
/* test_loan_history.c - the history of loans, if memory is short or its file cannot be written. */
#include <check.h>
#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

#include "server/lend/loan_history.h"
#include "tests/run_suite.h"

#define SESSION 5u
#define HANDLE 77u
#define KEY object_key_own(HANDLE)

static char dir[64];
static int dirfd;
static unsigned int lines; /* lines in the log */
static struct loan_history *history;

static bool no_memory;

void *__real_malloc(size_t size);
void *__wrap_malloc(size_t size);

void *__wrap_malloc(size_t size)
{
	return no_memory ? NULL : __real_malloc(size);
}

static void count_line(void *arg, enum log_level level, const char *text)
{
	lines++;
}

static const struct log counted = { LOG_LV_ERROR, count_line, NULL };

static void open_history(void)
{
	ck_assert_int_eq(loan_history_open(dirfd, &counted, &history), 0);
}

static void setup(void)
{
	strcpy(dir, "/tmp/pvfs-loan-history-XXXXXX");
	ck_assert_ptr_nonnull(mkdtemp(dir));
	dirfd = open(dir, O_RDONLY | O_DIRECTORY);
	ck_assert_int_ge(dirfd, 0);
	lines = 0;
	signal(SIGXFSZ, SIG_IGN);
	open_history();
}

static void teardown(void)
{
	loan_history_close(history);
	unlinkat(dirfd, ".had", 0);
	close(dirfd);
	rmdir(dir);
}

static void permit_writes(bool permitted)
{
	struct rlimit limit;

	ck_assert_int_eq(getrlimit(RLIMIT_FSIZE, &limit), 0);
	limit.rlim_cur = permitted ? limit.rlim_max : 0;
	ck_assert_int_eq(setrlimit(RLIMIT_FSIZE, &limit), 0);
}

/* Reads the history again, as the next process does. */
static void reopen(void)
{
	loan_history_close(history);
	open_history();
}

static void see_object(void *arg, uint64_t session, struct object_key object,
		       bool write)
{
	ck_assert(object_key_equal(object, KEY));
	*(int *)arg = write;
}

static void ck_lent_for_writing(bool write)
{
	int seen = -1;

	loan_history_visit(history, SESSION, see_object, &seen);
	ck_assert_int_eq(seen, write);
}

/* Each try reports the error until the file records that the object is lent for writing. */
START_TEST(record_for_writing_is_retried)
{
	int read, write[2];

	ck_assert_int_eq(loan_history_record(history, SESSION, KEY, false), 0);
	permit_writes(false);
	for (int i = 0; i < 2; i++)
		write[i] = loan_history_record(history, SESSION, KEY, true);
	read = loan_history_record(history, SESSION, KEY, false);
	permit_writes(true);
	ck_assert_int_lt(write[0], 0);
	ck_assert_int_lt(write[1], 0);
	ck_assert_int_eq(read, 0);
	ck_lent_for_writing(false);
	ck_assert_int_eq(loan_history_record(history, SESSION, KEY, true), 0);
	reopen();
	ck_lent_for_writing(true);
}
END_TEST

/* Existing records are not lost, whatever their number. */
START_TEST(no_memory_to_record)
{
	static const unsigned int numbers[] = { 1, 2, 9, 31, 320, 321, 5000 };
	unsigned int n = numbers[_i];

	for (unsigned int i = 0; i < n; i++)
		ck_assert_int_eq(loan_history_record(history, SESSION + i, KEY,
						     false),
				 0);
	no_memory = true;
	for (unsigned int i = 0; i < n; i++) {
		ck_assert_int_eq(loan_history_record(history, SESSION + i, KEY,
						     false),
				 0);
		ck_assert_int_eq(loan_history_record(history, SESSION + i, KEY,
						     true),
				 0);
	}
	no_memory = false;
	ck_lent_for_writing(true);
	reopen();
	ck_lent_for_writing(true);
}
END_TEST

START_TEST(eviction_that_is_not_recorded_is_logged)
{
	int seen = -1;

	ck_assert_int_eq(loan_history_record(history, SESSION, KEY, true), 0);
	permit_writes(false);
	loan_history_evict(history, SESSION, KEY);
	permit_writes(true);
	ck_assert_uint_eq(lines, 1);
	loan_history_visit_evicted(history, see_object, &seen);
	ck_assert_int_eq(seen, true);
}
END_TEST

/* The records of earlier releases have zeros in the place of the group. */
START_TEST(record_of_the_own_group_is_as_before)
{
	const uint64_t words[4] = { SESSION, HANDLE, 1, 0 };
	uint64_t file[4];
	int fd = openat(dirfd, ".had", O_RDONLY);

	ck_assert_int_eq(loan_history_record(history, SESSION, KEY, true), 0);
	ck_assert_int_eq(read(fd, file, sizeof(file)), sizeof(file));
	ck_assert_mem_eq(file, words, sizeof(file));
	close(fd);
}
END_TEST

/* The next process also tells the two objects apart. */
START_TEST(two_objects_of_a_file)
{
	const struct object_key other = { HANDLE, 1024 };
	int seen = -1;

	ck_assert_int_eq(loan_history_record(history, SESSION, KEY, true), 0);
	ck_assert_int_eq(loan_history_record(history, SESSION, other, false),
			 0);
	loan_history_evict(history, SESSION, KEY);
	reopen();
	loan_history_visit_evicted(history, see_object, &seen);
	ck_assert_int_eq(seen, true);
	loan_history_erase(history, SESSION, other);
	reopen();
	ck_lent_for_writing(true);
}
END_TEST

int main(void)
{
	Suite *s = suite_create("loan_history");
	TCase *tc = tcase_create("file");

	tcase_add_checked_fixture(tc, setup, teardown);
	tcase_add_test(tc, record_for_writing_is_retried);
	tcase_add_loop_test(tc, no_memory_to_record, 0, 7);
	tcase_add_test(tc, eviction_that_is_not_recorded_is_logged);
	tcase_add_test(tc, record_of_the_own_group_is_as_before);
	tcase_add_test(tc, two_objects_of_a_file);
	suite_add_tcase(s, tc);
	return run_suite(s);
}
