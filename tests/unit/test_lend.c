/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * test_lend.c - what is lent, and how it is taken back, from borrowers that are
 * processes of their own.
 */
#include <check.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/futex.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "clock.h"
#include "lend.h"
#include "lent.h"
#include "run_suite.h"

#define SESSION 0xabcd1234u
#define HANDLE 77u
#define BOUND_MS 60000u

static char dir[64];
static struct log_file out;
static struct log quiet;
static struct store *store;
static struct lends *lends;
static struct store_obj *obj;

static void open_lends(void)
{
	const struct lends_attr attr = { .dir = dir,
					 .store = store,
					 .log = &quiet };

	ck_assert_int_eq(lends_open(&attr, &lends), 0);
	lends_until(lends, clock_boot() + 3600 * UINT64_C(1000000000));
}

static uid_t whose; /* the process that asks */

static void setup(void)
{
	struct store_attr attr = { .dir = dir, .fsid = 1, .log = &quiet };

	strcpy(dir, "/dev/shm/pvfs-lend-XXXXXX");
	ck_assert_ptr_nonnull(mkdtemp(dir));
	out = (struct log_file){ stderr, "test" };
	quiet = (struct log){ LOG_LV_ERROR, log_to_file, &out };
	ck_assert_int_eq(store_open(&attr, &store), 0);
	ck_assert(store_in_memory(store));
	ck_assert_int_eq(store_obj_get(store, HANDLE, true, &obj), 0);
	whose = geteuid();
	open_lends();
}

static void teardown(void)
{
	char cmd[128];

	lends_close(lends);
	store_obj_put(obj);
	store_close(store);
	snprintf(cmd, sizeof(cmd), "rm -rf %s", dir);
	ck_assert_int_eq(system(cmd), 0);
}

static int lend_for(const struct lend_ask *ask, struct lent *lent)
{
	struct lend_ask all = *ask;

	all.session = SESSION;
	all.uid = whose;
	all.peer = "test";
	return lend_object(lends, obj, &all, lent);
}

static int lend_to(pid_t pid, bool write, struct lent *lent)
{
	const struct lend_ask ask = {
		.read = true, .until = UINT64_MAX, .pid = pid, .write = write
	};

	return lend_for(&ask, lent);
}

/* What a borrower sees. */
struct view {
	const struct lent_gate *gate;
	const struct lent_terms *terms;
	struct lent_marks *marks;
};

static struct view view_of(const struct lent *lent)
{
	struct view v = {
		.gate = mmap(NULL, sizeof(*v.gate), PROT_READ, MAP_SHARED,
			     lent->page[0], 0),
		.terms = mmap(NULL, sizeof(*v.terms), PROT_READ, MAP_SHARED,
			      lent->page[1], 0),
		.marks = mmap(NULL, sizeof(*v.marks), PROT_READ | PROT_WRITE,
			      MAP_SHARED, lent->page[2], 0),
	};

	ck_assert(v.gate != MAP_FAILED && v.terms != MAP_FAILED &&
		  v.marks != MAP_FAILED);
	return v;
}

static bool is_lent(const struct view *v, const struct lent *lent)
{
	return atomic_load(&v->terms->word[lent->index]) == lent->number;
}

/* ---- loans ---- */

START_TEST(is_lent_until_the_session_ends)
{
	struct lent lent;
	struct view v;

	ck_assert_int_eq(lend_to(getpid(), true, &lent), 0);
	ck_assert(lent.write);
	ck_assert_int_eq(pwrite(lent.fd, "abc", 3, 0), 3);
	v = view_of(&lent);
	ck_assert(is_lent(&v, &lent));
	ck_assert_uint_eq(lends_count(lends), 1);
	lend_end(lends, SESSION);
	ck_assert(!is_lent(&v, &lent));
	ck_assert_uint_eq(lends_count(lends), 0);
	ck_assert(!gate_is_shut(store_gate(store), HANDLE));
	close(lent.fd);
}
END_TEST

/* The number of a process outlives it. */
START_TEST(not_to_another_users_process)
{
	struct lent lent;

	whose++;
	ck_assert_int_eq(lend_to(getpid(), true, &lent), -ESRCH);
	ck_assert_uint_eq(lends_count(lends), 0);
	whose--;
	ck_assert_int_eq(lend_to(getpid(), true, &lent), 0);
	close(lent.fd);
}
END_TEST

START_TEST(a_reader_cannot_write)
{
	struct lent lent;

	ck_assert_int_eq(lend_to(getpid(), false, &lent), 0);
	ck_assert(!lent.write);
	ck_assert_int_eq(pwrite(lent.fd, "abc", 3, 0), -1);
	ck_assert_int_eq(errno, EBADF);
	close(lent.fd);
}
END_TEST

/* Who may write alone does not see what is there. */
START_TEST(a_writer_cannot_read)
{
	const struct lend_ask ask = { .write = true,
				      .until = UINT64_MAX,
				      .pid = getpid() };
	struct lent lent;
	char c;

	ck_assert_int_eq(lend_for(&ask, &lent), 0);
	ck_assert_int_eq(pwrite(lent.fd, "abc", 3, 0), 3);
	ck_assert_int_eq(pread(lent.fd, &c, 1, 0), -1);
	ck_assert_int_eq(errno, EBADF);
	close(lent.fd);
}
END_TEST

static struct lend_ask for_an_hour(void)
{
	return (struct lend_ask){ .read = true,
				  .pid = getpid(),
				  .until = clock_boot() +
					   3600 * UINT64_C(1000000000) };
}

START_TEST(a_loan_ends_with_its_time)
{
	struct lend_ask ask = for_an_hour();
	struct lent one, other;
	struct view v;

	ck_assert_int_eq(lend_for(&ask, &one), 0);
	ask.until = clock_boot() + 50 * UINT64_C(1000000);
	ck_assert_int_eq(lend_for(&ask, &other), 0);
	v = view_of(&one);
	while (clock_boot() < ask.until)
		usleep(1000);
	lends_look(lends);
	ck_assert(is_lent(&v, &one));
	ck_assert(!is_lent(&v, &other));
	close(one.fd);
	close(other.fd);
}
END_TEST

/* By a key that went away, nothing stays lent; what needed none stays. */
START_TEST(a_key_takes_its_loans_along)
{
	struct lend_ask ask = for_an_hour();
	struct lent one, other;
	struct view v;

	ck_assert_int_eq(lend_for(&ask, &one), 0);
	ck_assert_int_eq(lend_to(getpid(), false, &other), 0);
	v = view_of(&one);
	lends_recall(lends, 0);
	ck_assert(is_lent(&v, &one));
	lends_recall(lends, 1);
	ck_assert(!is_lent(&v, &one));
	ck_assert(is_lent(&v, &other));
	close(one.fd);
	close(other.fd);
	ck_assert_int_eq(lend_for(&ask, &one), -ENOKEY);
	ask.era = 1;
	ck_assert_int_eq(lend_for(&ask, &one), 0);
	close(one.fd);
}
END_TEST

START_TEST(only_marks_are_the_clients)
{
	struct lent lent;
	unsigned int i;

	ck_assert_int_eq(lend_to(getpid(), true, &lent), 0);
	for (i = 0; i < 2; i++) {
		ck_assert_int_eq(pwrite(lent.page[i], "x", 1, 0), -1);
		ck_assert_ptr_eq(mmap(NULL, 4096, PROT_READ | PROT_WRITE,
				      MAP_SHARED, lent.page[i], 0),
				 MAP_FAILED);
		ck_assert_int_eq(ftruncate(lent.page[i], 0), -1);
	}
	close(lent.fd);
}
END_TEST

/* What one client makes of its descriptor is not another's: all else would go to the end. */
START_TEST(each_loan_is_opened_anew)
{
	struct lent one, other;

	ck_assert_int_eq(lend_to(getpid(), true, &one), 0);
	ck_assert_int_eq(lend_to(getpid(), true, &other), 0);
	ck_assert_int_eq(pwrite(one.fd, "abc", 3, 0), 3);
	ck_assert_int_eq(fcntl(one.fd, F_SETFL, O_APPEND), 0);
	ck_assert_int_eq(fcntl(other.fd, F_GETFL) & O_APPEND, 0);
	ck_assert_int_eq(pwrite(other.fd, "x", 1, 0), 1);
	ck_assert_int_eq(lseek(other.fd, 0, SEEK_END), 3);
	ck_assert_int_eq(lseek(one.fd, 0, SEEK_CUR), 0);
	close(one.fd);
	close(other.fd);
}
END_TEST

START_TEST(a_removed_object_is_taken_back)
{
	struct lent lent;
	struct view v;

	ck_assert_int_eq(lend_to(getpid(), true, &lent), 0);
	v = view_of(&lent);
	lend_removed(lends, HANDLE + 1);
	ck_assert(is_lent(&v, &lent));
	lend_removed(lends, HANDLE);
	ck_assert(!is_lent(&v, &lent));
	close(lent.fd);
}
END_TEST

START_TEST(no_more_than_there_is_room_for)
{
	struct lent lent;
	struct view v;
	unsigned int i;

	for (i = 0; i < LENT_OBJECTS; i++) {
		ck_assert_int_eq(lend_to(getpid(), false, &lent), 0);
		close(lent.fd);
	}
	v = view_of(&lent);
	ck_assert_int_eq(lend_to(getpid(), false, &lent), -ENOSPC);
	atomic_store(&v.marks->back[9], 1);
	ck_assert_int_eq(lend_to(getpid(), false, &lent), 0);
	ck_assert_uint_eq(lent.index, 9);
	ck_assert_uint_eq(lends_count(lends), LENT_OBJECTS);
	close(lent.fd);
}
END_TEST

START_TEST(a_session_is_one_process)
{
	struct lent lent;

	ck_assert_int_eq(lend_to(getpid(), false, &lent), 0);
	close(lent.fd);
	ck_assert_int_eq(lend_to(getppid(), false, &lent), -ESRCH);
}
END_TEST

START_TEST(without_a_lease_nothing_is_written)
{
	struct lent w, r;
	struct view v;

	ck_assert_int_eq(lend_to(getpid(), true, &w), 0);
	ck_assert_int_eq(lend_to(getpid(), false, &r), 0);
	v = view_of(&w);
	lends_look(lends);
	ck_assert(is_lent(&v, &w));
	lends_until(lends, clock_boot());
	ck_assert_uint_eq(atomic_load(&v.gate->until) <= clock_boot(), 1);
	lends_look(lends);
	ck_assert(!is_lent(&v, &w));
	ck_assert(is_lent(&v, &r));
	close(w.fd);
	ck_assert_int_eq(lend_to(getpid(), true, &w), 0);
	ck_assert(!w.write);
	close(w.fd);
	close(r.fd);
}
END_TEST

/* ---- borrowers that are inside ---- */

static void nap(void)
{
	nanosleep(&(struct timespec){ .tv_nsec = 1000000 }, NULL);
}

/* It waits for its loan, goes inside and does what is to be done there. */
struct borrower {
	pid_t pid;
	int go[2]; /* it was lent */
	int in[2]; /* it is inside */
};

static struct lent given;

static void borrower_runs(struct borrower *b, void (*inside)(struct view *v))
{
	struct lent lent;
	struct view v;
	int fd[3];

	ck_assert_int_eq(read(b->go[0], &lent, sizeof(lent)), sizeof(lent));
	for (int i = 0; i < 3; i++) {
		char path[64];

		snprintf(path, sizeof(path), "/proc/%d/fd/%d", getppid(),
			 lent.page[i]);
		fd[i] = open(path, i == 2 ? O_RDWR : O_RDONLY);
		lent.page[i] = fd[i];
	}
	v = view_of(&lent);
	atomic_store(&v.marks->inside[5].object, lent.index + 1);
	ck_assert_int_eq(write(b->in[1], "", 1), 1);
	inside(&v);
	_exit(0);
}

static void begin(struct borrower *b, void (*inside)(struct view *v))
{
	char c;

	ck_assert_int_eq(pipe(b->go), 0);
	ck_assert_int_eq(pipe(b->in), 0);
	b->pid = fork();
	if (!b->pid)
		borrower_runs(b, inside);
	ck_assert_int_eq(lend_to(b->pid, true, &given), 0);
	ck_assert(given.write);
	ck_assert_int_eq(write(b->go[1], &given, sizeof(given)), sizeof(given));
	ck_assert_int_eq(read(b->in[0], &c, 1), 1);
	close(given.fd);
}

static void stand_still(struct view *v)
{
	for (;;)
		raise(SIGSTOP);
}

static void leave_soon(struct view *v)
{
	nanosleep(&(struct timespec){ .tv_nsec = 300000000 }, NULL);
	atomic_store(&v->marks->inside[5].object, 0);
	pause();
}

static void become_another(struct view *v)
{
	execl("/bin/sleep", "sleep", "1000", (char *)NULL);
}

static void wait_till_open(void)
{
	uint64_t late = clock_after_ms(BOUND_MS);

	while (gate_is_shut(store_gate(store), HANDLE)) {
		ck_assert(clock_now() < late);
		nap();
	}
}

static void was_killed(const struct borrower *b)
{
	int status;

	ck_assert_int_eq(waitpid(b->pid, &status, 0), b->pid);
	ck_assert(WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL);
}

static void lives(const struct borrower *b)
{
	int status;

	ck_assert_int_eq(waitpid(b->pid, &status, WNOHANG), 0);
	kill(b->pid, SIGKILL);
	waitpid(b->pid, &status, 0);
}

START_TEST(who_stands_still_inside_keeps_it_shut_and_is_killed)
{
	struct borrower b;

	begin(&b, stand_still);
	ck_assert(!gate_is_shut(store_gate(store), HANDLE));
	lend_end(lends, SESSION);
	ck_assert(gate_is_shut(store_gate(store), HANDLE));
	/* a zombie has ended, too */
	wait_till_open();
	was_killed(&b);
}
END_TEST

START_TEST(so_is_it_when_the_lease_has_passed)
{
	struct borrower b;

	begin(&b, stand_still);
	lends_until(lends, clock_boot());
	lends_look(lends);
	ck_assert(gate_is_shut(store_gate(store), HANDLE));
	wait_till_open();
	was_killed(&b);
}
END_TEST

START_TEST(who_leaves_lives)
{
	struct borrower b;

	begin(&b, leave_soon);
	lend_end(lends, SESSION);
	wait_till_open();
	lives(&b);
}
END_TEST

START_TEST(another_program_is_not_inside)
{
	struct borrower b;

	begin(&b, become_another);
	lend_end(lends, SESSION);
	wait_till_open();
	lives(&b);
}
END_TEST

START_TEST(marks_that_cannot_be_read_count)
{
	struct borrower b;

	begin(&b, stand_still);
	ck_assert_int_eq(ftruncate(given.page[2], 0), 0);
	lend_end(lends, SESSION);
	ck_assert(gate_is_shut(store_gate(store), HANDLE));
	wait_till_open();
	was_killed(&b);
}
END_TEST

/* Also to make room for others. */
START_TEST(who_gave_it_back_too_early_keeps_it_shut)
{
	struct lent other;
	struct borrower b;
	struct view v;
	unsigned int i;

	begin(&b, leave_soon);
	v = view_of(&given);
	atomic_store(&v.marks->back[given.index], 1);
	for (i = 1; i < LENT_OBJECTS; i++) {
		ck_assert_int_eq(lend_to(b.pid, false, &other), 0);
		close(other.fd);
	}
	ck_assert_int_eq(lend_to(b.pid, false, &other), -ENOSPC);
	ck_assert(!is_lent(&v, &given));
	ck_assert(gate_is_shut(store_gate(store), HANDLE));
	wait_till_open();
	ck_assert_int_eq(lend_to(b.pid, false, &other), 0);
	ck_assert_uint_eq(other.index, given.index);
	close(other.fd);
	lives(&b);
}
END_TEST

/* ---- the next process ---- */

static uint32_t owner(void)
{
	return atomic_load(gate_owner(store_gate(store))) & FUTEX_TID_MASK;
}

/* Before it could be missed by others. */
START_TEST(borrowers_see_that_it_was_killed)
{
	int ready[2];
	pid_t pid;
	char c;

	lends_close(lends);
	lends = NULL;
	ck_assert_uint_eq(owner(), 0);
	ck_assert_int_eq(pipe(ready), 0);
	pid = fork();
	if (!pid) {
		open_lends();
		ck_assert_int_eq(write(ready[1], "", 1), 1);
		pause();
	}
	ck_assert_int_eq(read(ready[0], &c, 1), 1);
	ck_assert_uint_ne(owner(), 0);
	ck_assert_int_eq(kill(pid, SIGKILL), 0);
	ck_assert_int_eq(waitpid(pid, NULL, 0), pid);
	ck_assert_uint_eq(owner(), 0);
}
END_TEST

START_TEST(what_was_lent_before_is_taken_back)
{
	struct lent lent;
	struct view v;

	ck_assert_int_eq(lend_to(getpid(), true, &lent), 0);
	v = view_of(&lent);
	lends_close(lends);
	ck_assert(!is_lent(&v, &lent));
	open_lends();
	close(lent.fd);
}
END_TEST

START_TEST(who_is_inside_over_a_restart_is_killed_first)
{
	struct borrower b;
	struct view v;
	char path[128];
	pid_t pid;

	begin(&b, stand_still);
	v = view_of(&given);
	/* the one before was killed: its words are there */
	lends_close(lends);
	open_lends();
	pid = waitpid(b.pid, NULL, WNOHANG);
	ck_assert_int_eq(pid, b.pid);
	ck_assert(!is_lent(&v, &given));
	snprintf(path, sizeof(path), "%s/lent/%016llx.terms", dir,
		 (unsigned long long)SESSION);
	ck_assert_int_eq(access(path, F_OK), -1);
}
END_TEST

START_TEST(so_is_who_is_stuck_in_a_session_that_ended)
{
	struct borrower b;

	begin(&b, stand_still);
	lend_end(lends, SESSION);
	ck_assert(gate_is_shut(store_gate(store), HANDLE));
	lends_close(lends);
	ck_assert(!gate_is_shut(store_gate(store), HANDLE));
	open_lends();
	ck_assert_int_eq(waitpid(b.pid, NULL, WNOHANG), b.pid);
}
END_TEST

/* Its number may be another one's by now: that one is not touched. */
START_TEST(a_process_that_began_later_is_another_one)
{
	struct lent_terms terms = { .session = 5, .pid = getpid(), .began = 1 };
	struct lent_marks marks = { .inside[0].object = 3 };
	char path[128];
	FILE *f;

	lends_close(lends);
	snprintf(path, sizeof(path), "%s/lent/%016x.terms", dir, 5);
	f = fopen(path, "w");
	ck_assert_uint_eq(fwrite(&terms, sizeof(terms), 1, f), 1);
	fclose(f);
	snprintf(path, sizeof(path), "%s/lent/%016x.marks", dir, 5);
	f = fopen(path, "w");
	ck_assert_uint_eq(fwrite(&marks, sizeof(marks), 1, f), 1);
	fclose(f);
	open_lends();
	ck_assert_int_eq(access(path, F_OK), -1);
}
END_TEST

/* Half made, or damaged: it was never lent. */
START_TEST(files_that_are_none)
{
	char path[128];
	FILE *f;

	lends_close(lends);
	snprintf(path, sizeof(path), "%s/lent/x.terms", dir);
	f = fopen(path, "w");
	fputs("x", f);
	fclose(f);
	open_lends();
	ck_assert_int_eq(access(path, F_OK), -1);
}
END_TEST

static TCase *lend_case(const char *name)
{
	TCase *tc = tcase_create(name);

	tcase_add_checked_fixture(tc, setup, teardown);
	tcase_set_timeout(tc, 120);
	return tc;
}

static Suite *lend_suite(void)
{
	Suite *s = suite_create("lend");
	TCase *tc = lend_case("loans");

	tcase_add_test(tc, is_lent_until_the_session_ends);
	tcase_add_test(tc, a_reader_cannot_write);
	tcase_add_test(tc, a_writer_cannot_read);
	tcase_add_test(tc, a_loan_ends_with_its_time);
	tcase_add_test(tc, a_key_takes_its_loans_along);
	tcase_add_test(tc, not_to_another_users_process);
	tcase_add_test(tc, only_marks_are_the_clients);
	tcase_add_test(tc, each_loan_is_opened_anew);
	tcase_add_test(tc, a_removed_object_is_taken_back);
	tcase_add_test(tc, no_more_than_there_is_room_for);
	tcase_add_test(tc, a_session_is_one_process);
	tcase_add_test(tc, without_a_lease_nothing_is_written);
	suite_add_tcase(s, tc);
	tc = lend_case("inside");
	tcase_add_test(tc, who_stands_still_inside_keeps_it_shut_and_is_killed);
	tcase_add_test(tc, so_is_it_when_the_lease_has_passed);
	tcase_add_test(tc, who_leaves_lives);
	tcase_add_test(tc, another_program_is_not_inside);
	tcase_add_test(tc, who_gave_it_back_too_early_keeps_it_shut);
	tcase_add_test(tc, marks_that_cannot_be_read_count);
	suite_add_tcase(s, tc);
	tc = lend_case("restart");
	tcase_add_test(tc, borrowers_see_that_it_was_killed);
	tcase_add_test(tc, what_was_lent_before_is_taken_back);
	tcase_add_test(tc, who_is_inside_over_a_restart_is_killed_first);
	tcase_add_test(tc, so_is_who_is_stuck_in_a_session_that_ended);
	tcase_add_test(tc, a_process_that_began_later_is_another_one);
	tcase_add_test(tc, files_that_are_none);
	suite_add_tcase(s, tc);
	return s;
}

int main(void)
{
	return run_suite(lend_suite());
}
