/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * test_lend.c - which objects are lent, and how they are taken back.  The borrowers are other
 * processes.
 */
#include <check.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/futex.h>
#include <linux/userfaultfd.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/mount.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "common/util/clock.h"
#include "server/lend/loan_table.h"
#include "common/wire/loan_pages.h"
#include "tests/run_suite.h"

#define SESSION 0xabcd1234u
#define HANDLE 77u
#define KEY object_key_own(HANDLE)
#define BOUND_MS 60000u
#define TRIES 20u

static char dir[64];
static struct log_file out;
static struct log quiet;
static struct object_store *store;
static struct loan_table *loans;
static struct store_obj *obj;

static bool reads; /* objects are lent only for reading */

static void open_lends(void)
{
	const struct loan_table_attr attr = {
		.dir = dir, .store = store, .log = &quiet, .reads = reads
	};

	ck_assert_int_eq(loan_table_open(&attr, &loans), 0);
	loan_table_set_lease(loans, clock_boot() + 3600 * UINT64_C(1000000000));
}

static uid_t whose; /* the user of the process that asks */
static uint64_t session = SESSION;
static bool strangers; /* the borrowers are not trusted */

static void setup(void)
{
	struct object_store_attr attr = { .dir = dir,
					  .fsid = 1,
					  .log = &quiet };

	strcpy(dir, "/dev/shm/pvfs-lend-XXXXXX");
	ck_assert_ptr_nonnull(mkdtemp(dir));
	out = (struct log_file){ stderr, "test" };
	quiet = (struct log){ LOG_LV_ERROR, log_to_file, &out };
	ck_assert_int_eq(store_open(&attr, &store), 0);
	ck_assert(store_in_memory(store));
	ck_assert_int_eq(store_obj_get(store, KEY, true, &obj), 0);
	whose = geteuid();
	open_lends();
}

static void setup_reads(void)
{
	reads = true;
	setup();
}

static void close_all(void)
{
	loan_table_close(loans);
	store_obj_put(obj);
	store_close(store);
}

static void remove_dir(void)
{
	char cmd[128];

	snprintf(cmd, sizeof(cmd), "rm -rf %s", dir);
	ck_assert_int_eq(system(cmd), 0);
}

static void teardown(void)
{
	close_all();
	remove_dir();
	reads = strangers = false;
}

static int lend_for(const struct loan_request *ask, struct loan_grant *lent)
{
	struct loan_request all = *ask;

	all.session = session;
	all.uid = whose;
	all.trusted = !strangers;
	all.peer = "test";
	return loan_table_lend(loans, obj, &all, lent);
}

static int lend_to(pid_t pid, bool write, struct loan_grant *lent)
{
	const struct loan_request ask = {
		.read = true, .until = UINT64_MAX, .pid = pid, .write = write
	};

	return lend_for(&ask, lent);
}

/* The pages of a borrower. */
struct view {
	const struct loan_page_gate *gate;
	const struct loan_page_terms *terms;
	struct loan_page_marks *marks;
};

static struct view view_of(const struct loan_grant *lent)
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

static bool is_lent(const struct view *v, const struct loan_grant *lent)
{
	return atomic_load(&v->terms->word[lent->index]) == lent->number;
}

/* ---- loans ---- */

START_TEST(is_lent_until_the_session_ends)
{
	struct loan_grant lent;
	struct view v;

	ck_assert_int_eq(lend_to(getpid(), true, &lent), 0);
	ck_assert(lent.write);
	ck_assert_int_eq(pwrite(lent.fd, "abc", 3, 0), 3);
	v = view_of(&lent);
	ck_assert(is_lent(&v, &lent));
	ck_assert_uint_eq(loan_table_count(loans), 1);
	loan_session_end(loans, SESSION);
	ck_assert(!is_lent(&v, &lent));
	ck_assert_uint_eq(loan_table_count(loans), 0);
	ck_assert(!gate_is_shut(store_gate(store), KEY));
	close(lent.fd);
}
END_TEST

/* The pid of a process may be reused by a process of another user. */
START_TEST(not_to_another_users_process)
{
	struct loan_grant lent;

	whose++;
	ck_assert_int_eq(lend_to(getpid(), true, &lent), -ESRCH);
	ck_assert_uint_eq(loan_table_count(loans), 0);
	whose--;
	ck_assert_int_eq(lend_to(getpid(), true, &lent), 0);
	close(lent.fd);
}
END_TEST

START_TEST(a_reader_cannot_write)
{
	struct loan_grant lent;

	ck_assert_int_eq(lend_to(getpid(), false, &lent), 0);
	ck_assert(!lent.write);
	ck_assert_int_eq(pwrite(lent.fd, "abc", 3, 0), -1);
	ck_assert_int_eq(errno, EBADF);
	close(lent.fd);
}
END_TEST

/* A client that may only write cannot read the object. */
START_TEST(a_writer_cannot_read)
{
	const struct loan_request ask = { .write = true,
					  .until = UINT64_MAX,
					  .pid = getpid() };
	struct loan_grant lent;
	char c;

	ck_assert_int_eq(lend_for(&ask, &lent), 0);
	ck_assert_int_eq(pwrite(lent.fd, "abc", 3, 0), 3);
	ck_assert_int_eq(pread(lent.fd, &c, 1, 0), -1);
	ck_assert_int_eq(errno, EBADF);
	close(lent.fd);
}
END_TEST

static struct loan_request for_an_hour(void)
{
	return (struct loan_request){ .read = true,
				      .pid = getpid(),
				      .until = clock_boot() +
					       3600 * UINT64_C(1000000000) };
}

START_TEST(a_loan_ends_with_its_time)
{
	struct loan_request ask = for_an_hour();
	struct loan_grant one, other;
	struct view v;

	ck_assert_int_eq(lend_for(&ask, &one), 0);
	ask.until = clock_boot() + 50 * UINT64_C(1000000);
	ck_assert_int_eq(lend_for(&ask, &other), 0);
	v = view_of(&one);
	while (clock_boot() < ask.until)
		usleep(1000);
	loan_table_expire(loans);
	ck_assert(is_lent(&v, &one));
	ck_assert(!is_lent(&v, &other));
	close(one.fd);
	close(other.fd);
}
END_TEST

/* When a key is removed, the loans that needed it end; others stay. */
START_TEST(a_key_takes_its_loans_along)
{
	struct loan_request ask = for_an_hour();
	struct loan_grant one, other;
	struct view v;

	ck_assert_int_eq(lend_for(&ask, &one), 0);
	ck_assert_int_eq(lend_to(getpid(), false, &other), 0);
	v = view_of(&one);
	loan_table_set_era(loans, 0);
	ck_assert(is_lent(&v, &one));
	loan_table_set_era(loans, 1);
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
	struct loan_grant lent;
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

/* Each loan is a separate open: flags that one client sets do not affect another one. */
START_TEST(each_loan_is_opened_anew)
{
	struct loan_grant one, other;

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
	struct loan_grant lent;
	struct view v;

	ck_assert_int_eq(lend_to(getpid(), true, &lent), 0);
	v = view_of(&lent);
	loan_object_drop(loans, object_key_own(HANDLE + 1));
	ck_assert(is_lent(&v, &lent));
	loan_object_drop(loans, KEY);
	ck_assert(!is_lent(&v, &lent));
	close(lent.fd);
}
END_TEST

/* What is of another group is lent for reading only. */
START_TEST(two_objects_of_a_file)
{
	const struct object_key key = { HANDLE, 1024 };
	struct loan_grant lent, lent_other;
	struct store_obj *own = obj, *other;
	struct view v;

	ck_assert_int_eq(store_obj_get(store, key, true, &other), 0);
	ck_assert_int_eq(lend_to(getpid(), true, &lent), 0);
	obj = other;
	ck_assert_int_eq(lend_to(getpid(), true, &lent_other), 0);
	obj = own;
	ck_assert(lent.write && !lent_other.write);
	ck_assert(lent.inode != lent_other.inode);
	v = view_of(&lent);
	loan_object_drop(loans, key);
	ck_assert(is_lent(&v, &lent) && !is_lent(&v, &lent_other));
	loan_object_drop(loans, KEY);
	ck_assert(!is_lent(&v, &lent));
	loan_session_evict(loans, SESSION);
	loan_session_end(loans, SESSION);
	while (loan_evictions_pending(loans))
		usleep(1000);
	ck_assert_uint_eq(store_obj_replacements(obj), 1);
	ck_assert_uint_eq(store_obj_replacements(other), 1);
	store_obj_put(other);
	close(lent.fd);
	close(lent_other.fd);
}
END_TEST

START_TEST(no_more_than_there_is_room_for)
{
	struct loan_grant lent;
	struct view v;
	unsigned int i;

	for (i = 0; i < LOAN_PAGE_OBJECTS; i++) {
		ck_assert_int_eq(lend_to(getpid(), false, &lent), 0);
		close(lent.fd);
	}
	v = view_of(&lent);
	ck_assert_int_eq(lend_to(getpid(), false, &lent), -ENOSPC);
	atomic_store(&v.marks->back[9], 1);
	ck_assert_int_eq(lend_to(getpid(), false, &lent), 0);
	ck_assert_uint_eq(lent.index, 9);
	ck_assert_uint_eq(loan_table_count(loans), LOAN_PAGE_OBJECTS);
	close(lent.fd);
}
END_TEST

START_TEST(a_session_is_one_process)
{
	struct loan_grant lent;

	ck_assert_int_eq(lend_to(getpid(), false, &lent), 0);
	close(lent.fd);
	ck_assert_int_eq(lend_to(getppid(), false, &lent), -ESRCH);
}
END_TEST

START_TEST(without_a_lease_nothing_is_written)
{
	struct loan_grant w, r;
	struct view v;

	ck_assert_int_eq(lend_to(getpid(), true, &w), 0);
	ck_assert_int_eq(lend_to(getpid(), false, &r), 0);
	v = view_of(&w);
	loan_table_expire(loans);
	ck_assert(is_lent(&v, &w));
	loan_table_set_lease(loans, clock_boot());
	ck_assert_uint_eq(atomic_load(&v.gate->until) <= clock_boot(), 1);
	loan_table_expire(loans);
	ck_assert(!is_lent(&v, &w));
	ck_assert(is_lent(&v, &r));
	close(w.fd);
	ck_assert_int_eq(lend_to(getpid(), true, &w), 0);
	ck_assert(!w.write);
	close(w.fd);
	close(r.fd);
}
END_TEST

/* ---- borrowers inside a write ---- */

static void nap(void)
{
	nanosleep(&(struct timespec){ .tv_nsec = 1000000 }, NULL);
}

/* The descriptor of the borrower itself. */
static int own_fd;

/* Waits for its loan, enters a write, and acts there. */
struct borrower {
	pid_t pid;
	int go[2]; /* written when the object is lent */
	int in[2]; /* written when the borrower is inside */
};

static struct loan_grant given;
static uint32_t given_index; /* in the borrower */

static int parents(int fd, bool write)
{
	char path[64];

	snprintf(path, sizeof(path), "/proc/%d/fd/%d", getppid(), fd);
	return open(path, write ? O_RDWR : O_RDONLY);
}

static void borrower_runs(struct borrower *b, void (*inside)(struct view *v))
{
	struct loan_grant lent;
	struct view v;

	ck_assert_int_eq(read(b->go[0], &lent, sizeof(lent)), sizeof(lent));
	for (int i = 0; i < 3; i++)
		lent.page[i] = parents(lent.page[i], i == 2);
	v = view_of(&lent);
	own_fd = parents(lent.fd, true);
	given_index = lent.index;
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

static void become_another(struct view *v)
{
	execl("/bin/sleep", "sleep", "1000", (char *)NULL);
}

static void wait_till_open(void)
{
	uint64_t late = clock_after_ms(BOUND_MS);

	while (gate_is_shut(store_gate(store), KEY)) {
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

/* Exits with 0 if it sees that the object was replaced. */
static void write_late(struct view *v)
{
	raise(SIGSTOP);
	if (pwrite(own_fd, "late", 4, 0) != 4)
		_exit(2);
	atomic_thread_fence(memory_order_seq_cst);
	_exit(atomic_load(&v->terms->word[given_index]) != LOAN_PAGE_ASIDE);
}

static void stopped(const struct borrower *b)
{
	int status;

	ck_assert_int_eq(waitpid(b->pid, &status, WUNTRACED), b->pid);
	ck_assert(WIFSTOPPED(status));
}

static void sees_it(const struct borrower *b)
{
	int status;

	ck_assert_int_eq(kill(b->pid, SIGCONT), 0);
	ck_assert_int_eq(waitpid(b->pid, &status, 0), b->pid);
	ck_assert(WIFEXITED(status));
	ck_assert_int_eq(WEXITSTATUS(status), 0);
}

static void holds(const char *text)
{
	char buf[16] = "";
	size_t done;

	ck_assert_int_eq(store_obj_read(obj, buf, sizeof(buf) - 1, 0, &done),
			 0);
	ck_assert_str_eq(buf, text);
}

static void in_time(const char *text)
{
	ck_assert_int_eq(store_obj_write(obj, text, strlen(text), 0), 0);
}

START_TEST(who_stands_still_inside_is_set_aside)
{
	struct borrower b;

	in_time("first");
	begin(&b, write_late);
	stopped(&b);
	loan_session_end(loans, SESSION);
	wait_till_open();
	in_time("other");
	sees_it(&b);
	holds("other");
}
END_TEST

/* Its next writes need a new loan. */
START_TEST(marks_that_cannot_be_read_count)
{
	struct borrower b;

	begin(&b, write_late);
	stopped(&b);
	ck_assert_int_eq(ftruncate(given.page[2], 0), 0);
	loan_session_end(loans, SESSION);
	wait_till_open();
	sees_it(&b);
}
END_TEST

/* ... also if the object is taken back to make room for other loans. */
START_TEST(who_gave_it_back_too_early_is_set_aside)
{
	struct loan_grant other;
	struct borrower b;
	struct view v;
	unsigned int i;

	begin(&b, write_late);
	stopped(&b);
	v = view_of(&given);
	atomic_store(&v.marks->back[given.index], 1);
	for (i = 1; i < LOAN_PAGE_OBJECTS; i++) {
		ck_assert_int_eq(lend_to(b.pid, false, &other), 0);
		close(other.fd);
	}
	ck_assert_int_eq(lend_to(b.pid, false, &other), -ENOSPC);
	ck_assert(!is_lent(&v, &given));
	wait_till_open();
	in_time("other");
	sees_it(&b);
	holds("other");
}
END_TEST

START_TEST(so_is_it_when_the_lease_has_passed)
{
	struct borrower b;
	struct loan_grant lent;

	in_time("first");
	begin(&b, write_late);
	stopped(&b);
	loan_table_set_lease(loans, clock_boot());
	loan_table_expire(loans);
	wait_till_open();
	loan_table_set_lease(loans, clock_boot() + 3600 * UINT64_C(1000000000));
	ck_assert_int_eq(lend_to(b.pid, true, &lent), 0);
	ck_assert(lent.write);
	/* that mark belongs to no other loan */
	ck_assert_uint_ne(lent.index, given.index);
	close(lent.fd);
	loan_table_close(loans);
	open_lends();
	ck_assert(!gate_is_shut(store_gate(store), KEY));
	sees_it(&b);
	holds("first");
}
END_TEST

/* One borrower is stopped, and another one runs.  The second leaves before the iod signals. */
static bool leaves_in_time(void)
{
	struct borrower b;
	struct loan_grant lent;
	struct view v;
	bool told;

	begin(&b, write_late);
	stopped(&b);
	session++;
	ck_assert_int_eq(lend_to(getpid(), true, &lent), 0);
	close(lent.fd);
	v = view_of(&lent);
	atomic_store(&v.marks->inside[5].object, lent.index + 1);
	loan_session_end(loans, session - 1);
	while (is_lent(&v, &lent))
		nap();
	atomic_thread_fence(memory_order_seq_cst);
	told = atomic_load(&v.terms->word[lent.index]) == LOAN_PAGE_ASIDE;
	atomic_store(&v.marks->inside[5].object, 0);
	wait_till_open();
	sees_it(&b);
	loan_session_end(loans, session++);
	return !told;
}

START_TEST(who_runs_beside_that_has_written)
{
	unsigned int i;

	for (i = 0; i < TRIES && !leaves_in_time(); i++)
		;
	ck_assert_uint_lt(i, TRIES);
	session = SESSION;
}
END_TEST

#define OTHER (HANDLE + 1)
#define LARGE ((size_t)64 << 20)

static void make_large(void)
{
	static const char zero[1 << 20];

	for (size_t at = 0; at < LARGE; at += sizeof(zero))
		ck_assert_int_eq(store_obj_write(obj, zero, sizeof(zero), at),
				 0);
	in_time("first");
}

static struct view lend_another(void)
{
	const struct loan_request ask = { .read = true,
					  .write = true,
					  .pid = getpid(),
					  .uid = whose,
					  .until = UINT64_MAX,
					  .trusted = true,
					  .peer = "other",
					  .session = SESSION + 9 };
	struct store_obj *other;
	struct loan_grant lent;
	struct view v;

	ck_assert_int_eq(
		store_obj_get(store, object_key_own(OTHER), true, &other), 0);
	ck_assert_int_eq(loan_table_lend(loans, other, &ask, &lent), 0);
	store_obj_put(other);
	close(lent.fd);
	v = view_of(&lent);
	atomic_store(&v.marks->inside[5].object, lent.index + 1);
	return v;
}

static bool is_copied(void)
{
	char path[128];

	snprintf(path, sizeof(path), "%s/objects/aside", dir);
	return !access(path, F_OK);
}

/* While a copy is made, a borrower leaves another object. */
static bool opens_meanwhile(void)
{
	struct borrower b;
	struct view v;
	bool meanwhile;

	begin(&b, write_late);
	stopped(&b);
	loan_session_end(loans, SESSION);
	v = lend_another();
	while (!is_copied() && gate_is_shut(store_gate(store), KEY))
		;
	loan_session_end(loans, SESSION + 9);
	atomic_store(&v.marks->inside[5].object, 0);
	while (gate_is_shut(store_gate(store), object_key_own(OTHER)))
		;
	meanwhile = gate_is_shut(store_gate(store), KEY);
	wait_till_open();
	sees_it(&b);
	return meanwhile;
}

START_TEST(a_long_copy_keeps_nobody_from_other_objects)
{
	unsigned int i;

	make_large();
	for (i = 0; i < TRIES && !opens_meanwhile(); i++)
		;
	ck_assert_uint_lt(i, TRIES);
}
END_TEST

/* A mark that remains although its thread has long left. */
static void jump_out(struct view *v)
{
	for (;;)
		pause();
}

static struct stat now_is(void)
{
	char cmd[128];
	struct stat sb;
	int fd = store_obj_lend(obj, true, false);

	snprintf(cmd, sizeof(cmd), "/proc/self/fd/%d", fd);
	ck_assert_int_eq(stat(cmd, &sb), 0);
	close(fd);
	return sb;
}

START_TEST(a_mark_that_stays_counts_once)
{
	struct borrower b;
	struct stat first, second;
	struct loan_grant lent;

	begin(&b, jump_out);
	loan_table_set_lease(loans, clock_boot());
	loan_table_expire(loans);
	wait_till_open();
	first = now_is();
	loan_table_set_lease(loans, clock_boot() + 3600 * UINT64_C(1000000000));
	ck_assert_int_eq(lend_to(b.pid, true, &lent), 0);
	close(lent.fd);
	loan_session_end(loans, SESSION);
	ck_assert(!gate_is_shut(store_gate(store), KEY));
	second = now_is();
	ck_assert_uint_eq(first.st_ino, second.st_ino);
	lives(&b);
}
END_TEST

START_TEST(a_removed_object_needs_no_copy)
{
	struct borrower b;
	struct store_stat st;

	begin(&b, write_late);
	stopped(&b);
	loan_session_end(loans, SESSION);
	ck_assert_int_eq(store_remove(store, KEY, false), 0);
	loan_object_drop(loans, KEY);
	wait_till_open();
	kill(b.pid, SIGCONT);
	ck_assert_int_eq(waitpid(b.pid, NULL, 0), b.pid);
	ck_assert_int_eq(store_stat(store, KEY, &st), 0);
	ck_assert_uint_eq(st.size, 0);
}
END_TEST

static struct store_obj *filler;

static void setup_small(void)
{
	struct object_store_attr attr = { .dir = dir,
					  .fsid = 1,
					  .log = &quiet };

	setup();
	close_all();
	ck_assert_int_eq(mount("lend", dir, "tmpfs", 0, "size=4m"), 0);
	ck_assert_int_eq(store_open(&attr, &store), 0);
	ck_assert_int_eq(store_obj_get(store, KEY, true, &obj), 0);
	ck_assert_int_eq(store_obj_get(store, object_key_own(HANDLE + 1), true,
				       &filler),
			 0);
	open_lends();
}

static void teardown_small(void)
{
	store_obj_put(filler);
	close_all();
	ck_assert_int_eq(umount(dir), 0);
	remove_dir();
}

#define PAGES 40u

static void some_pages(void)
{
	static const char zero[PAGES * 4096];

	ck_assert_int_eq(store_obj_write(obj, zero, sizeof(zero), 0), 0);
	in_time("first");
}

static int lend_other(pid_t pid, bool write, struct loan_grant *lent)
{
	const struct loan_request ask = { .read = true,
					  .write = write,
					  .pid = pid,
					  .uid = whose,
					  .until = UINT64_MAX,
					  .trusted = true,
					  .peer = "other",
					  .session = SESSION + 9 };

	return loan_table_lend(loans, filler, &ask, lent);
}

/* Leaves too little room for a copy. */
static void fill_up(bool on)
{
	struct statvfs fs;

	if (!on) {
		ck_assert_int_eq(store_obj_resize(filler, 0), 0);
		return;
	}
	ck_assert_int_eq(store_statfs(store, &fs), 0);
	ck_assert_int_eq(store_obj_space(filler, STORE_ALLOCATE, false, 0,
					 (fs.f_bavail - PAGES / 2) *
						 fs.f_frsize),
			 0);
}

/* Only borrowers of this object wait. */
START_TEST(without_room_it_waits_for_who_runs)
{
	struct borrower b;
	struct loan_grant lent;

	some_pages();
	begin(&b, jump_out);
	fill_up(true);
	loan_session_end(loans, SESSION);
	usleep((LOAN_KILL_MS + 500) * 1000);
	ck_assert(gate_is_shut(store_gate(store), KEY));
	session++;
	ck_assert_int_eq(lend_to(getpid(), true, &lent), -EBUSY);
	session--;
	ck_assert_int_eq(lend_other(getpid(), true, &lent), 0);
	close(lent.fd);
	fill_up(false);
	wait_till_open();
	holds("first");
	lives(&b);
}
END_TEST

START_TEST(and_ends_who_is_stopped)
{
	struct borrower b;

	some_pages();
	begin(&b, stand_still);
	stopped(&b);
	fill_up(true);
	loan_session_end(loans, SESSION);
	wait_till_open();
	fill_up(false);
	was_killed(&b);
	holds("first");
}
END_TEST

static void is_sleeping_program(pid_t pid)
{
	char path[64], name[16] = "";
	FILE *f;

	snprintf(path, sizeof(path), "/proc/%d/comm", (int)pid);
	while (strcmp(name, "sleep\n")) {
		f = fopen(path, "r");
		ck_assert_ptr_nonnull(fgets(name, sizeof(name), f));
		fclose(f);
		nap();
	}
}

START_TEST(but_not_another_program)
{
	struct borrower b;

	some_pages();
	begin(&b, become_another);
	is_sleeping_program(b.pid);
	ck_assert_int_eq(kill(b.pid, SIGSTOP), 0);
	fill_up(true);
	loan_session_end(loans, SESSION);
	wait_till_open();
	fill_up(false);
	lives(&b);
}
END_TEST

START_TEST(over_a_restart_it_is_the_next_that_does_it)
{
	struct borrower b;

	in_time("first");
	begin(&b, write_late);
	stopped(&b);
	loan_table_close(loans);
	open_lends();
	wait_till_open();
	in_time("other");
	/* objects that were replaced stay so */
	loan_table_close(loans);
	open_lends();
	ck_assert(!gate_is_shut(store_gate(store), KEY));
	sees_it(&b);
	holds("other");
}
END_TEST

/* Lends as a user who may neither kill the borrower nor read its state. */
static void lend_as_another(void)
{
	struct loan_grant lent;
	int rc;

	ck_assert_int_eq(setresgid(65534, 65534, 65534), 0);
	ck_assert_int_eq(setresuid(65534, 65534, 65534), 0);
	rc = lend_to(getppid(), true, &lent);
	_exit(rc ? 1 : lent.write ? 0 : 2);
}

static int as_another(void)
{
	int status;
	pid_t pid;

	/* the thread of the table is its own */
	loan_table_close(loans);
	loans = NULL;
	pid = fork();
	if (!pid) {
		char cmd[128];

		open_lends();
		snprintf(cmd, sizeof(cmd), "chown -R 65534 %s", dir);
		ck_assert_int_eq(system(cmd), 0);
		lend_as_another();
	}
	ck_assert_int_eq(waitpid(pid, &status, 0), pid);
	open_lends();
	return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

START_TEST(who_may_not_end_it_lends_for_writing)
{
	if (geteuid())
		return;
	ck_assert_int_eq(as_another(), 0);
}
END_TEST

/*
 * A program can ignore the rules: it keeps its descriptor, until the object is replaced or removed.
 */
START_TEST(who_breaks_the_rules_keeps_his_descriptor)
{
	struct loan_grant lent;

	in_time("first");
	ck_assert_int_eq(lend_to(getpid(), true, &lent), 0);
	loan_session_end(loans, SESSION);
	ck_assert(!gate_is_shut(store_gate(store), KEY));
	ck_assert_int_eq(pwrite(lent.fd, "FIRST", 5, 0), 5);
	holds("FIRST");
	close(lent.fd);
}
END_TEST

/* Case 0: lent for writing.  Case 1: also given back.  Case 2: lent for reading. */
START_TEST(who_is_evicted_keeps_nothing)
{
	char buf[16] = "";
	struct loan_grant lent;

	in_time("first");
	ck_assert_int_eq(lend_to(getpid(), _i < 2, &lent), 0);
	if (_i == 1)
		loan_session_end(loans, SESSION);
	loan_session_evict(loans, SESSION);
	loan_session_end(loans, SESSION);
	while (!store_obj_replacements(obj))
		nap();
	wait_till_open();
	if (_i < 2)
		ck_assert_int_eq(pwrite(lent.fd, "FIRST", 5, 0), 5);
	holds("first");
	in_time("other");
	ck_assert_int_eq(pread(lent.fd, buf, sizeof(buf), 0), 5);
	ck_assert_str_eq(buf, _i < 2 ? "FIRST" : "first");
	holds("other");
	close(lent.fd);
	/* other sessions can borrow it as before */
	session++;
	ck_assert_int_eq(lend_to(getpid(), true, &lent), 0);
	ck_assert(lent.write);
	close(lent.fd);
	session--;
}
END_TEST

/* Other workers may still serve the evicted session, and FENCE may be repeated. */
START_TEST(who_is_evicted_borrows_no_more)
{
	struct loan_grant lent, late;

	in_time("first");
	ck_assert_int_eq(lend_to(getpid(), true, &lent), 0);
	loan_session_evict(loans, SESSION);
	loan_session_end(loans, SESSION);
	while (loan_evictions_pending(loans))
		nap();
	ck_assert(store_obj_replacements(obj));
	ck_assert(!gate_is_shut(store_gate(store), KEY));
	holds("first");
	ck_assert_int_eq(lend_to(getpid(), true, &late), -ESTALE);
	ck_assert_int_eq(lend_to(getpid(), false, &late), -ESTALE);
	loan_session_evict(loans, SESSION);
	loan_session_end(loans, SESSION);
	ck_assert(!loan_evictions_pending(loans));
	ck_assert(!gate_is_shut(store_gate(store), KEY));
	close(lent.fd);
}
END_TEST

static void evict_all(void)
{
	loan_session_evict(loans, SESSION);
	loan_session_end(loans, SESSION);
	while (loan_evictions_pending(loans))
		nap();
}

static void keeps_nothing(const struct loan_grant *lent)
{
	ck_assert(store_obj_replacements(obj));
	ck_assert(!gate_is_shut(store_gate(store), KEY));
	ck_assert_int_eq(pwrite(lent->fd, "FIRST", 5, 0), 5);
	holds("first");
}

/* Borrows this object and keeps nothing of it. */
static void lend_number(uint64_t handle, bool back)
{
	struct store_obj *mine = obj;
	struct loan_grant lent;

	ck_assert_int_eq(
		store_obj_get(store, object_key_own(handle), true, &obj), 0);
	ck_assert_int_eq(lend_to(getpid(), true, &lent), 0);
	close(lent.fd);
	if (back)
		loan_table_cancel(loans, session, &lent);
	store_obj_put(obj);
	obj = mine;
}

START_TEST(who_borrows_often_is_found_all_the_same)
{
	struct loan_grant lent;

	in_time("first");
	ck_assert_int_eq(lend_to(getpid(), true, &lent), 0);
	loan_table_cancel(loans, SESSION, &lent);
	for (int i = 0; i < 5000; i++)
		lend_number(HANDLE + 1, true);
	evict_all();
	keeps_nothing(&lent);
	close(lent.fd);
}
END_TEST

#define SESSIONS 4u /* each with as many loans as it may have */

START_TEST(many_are_set_aside)
{
	for (unsigned int i = 0; i < SESSIONS * LOAN_PAGE_OBJECTS; i++) {
		session = SESSION + i / LOAN_PAGE_OBJECTS;
		lend_number(HANDLE + i, false);
	}
	for (session = SESSION; session < SESSION + SESSIONS; session++) {
		loan_session_evict(loans, session);
		loan_session_end(loans, session);
	}
	session = SESSION;
	while (loan_evictions_pending(loans))
		nap();
	ck_assert(store_obj_replacements(obj));
	for (unsigned int i = 0; i < SESSIONS * LOAN_PAGE_OBJECTS; i++)
		ck_assert(!gate_is_shut(store_gate(store),
					object_key_own(HANDLE + i)));
	ck_assert_uint_eq(loan_evictions_deferred(loans), 0);
}
END_TEST

/*
 * If there is no room, the object is not copied now, and clients may use it; the copy is made
 * later.
 */
START_TEST(without_room_it_is_done_later)
{
	struct loan_grant lent;

	ck_assert_int_eq(lend_to(getpid(), true, &lent), 0);
	some_pages();
	fill_up(true);
	evict_all();
	ck_assert_uint_eq(loan_evictions_deferred(loans), 1);
	ck_assert(!store_obj_replacements(obj));
	ck_assert(!gate_is_shut(store_gate(store), KEY));
	ck_assert(!loan_object_is_busy(loans, KEY));
	fill_up(false);
	while (loan_evictions_deferred(loans))
		nap();
	keeps_nothing(&lent);
	close(lent.fd);
}
END_TEST

/* ---- the next process of the iod ---- */

/* Case 0: the process ended during the replacement; case 1: before it. */
START_TEST(what_was_lent_before_is_set_aside)
{
	struct gate *gate = store_gate(store);
	struct gate_entry inside;
	struct loan_grant lent;

	in_time("first");
	ck_assert_int_eq(lend_to(getpid(), true, &lent), 0);
	if (!_i) {
		ck_assert_int_eq(gate_enter(gate, KEY, UINT64_MAX, &inside), 0);
		loan_session_evict(loans, SESSION);
		loan_session_end(loans, SESSION);
	}
	loan_table_close(loans);
	if (!_i)
		gate_leave(gate, &inside);
	open_lends();
	evict_all();
	keeps_nothing(&lent);
	close(lent.fd);
}
END_TEST

/*
 * Lent by an earlier process.  Case 0: for writing.  Case 1: also given back.  Case 2: for reading.
 */
START_TEST(what_was_lent_once_is_set_aside)
{
	char buf[16] = "";
	struct loan_grant lent;

	in_time("first");
	ck_assert_int_eq(lend_to(getpid(), _i < 2, &lent), 0);
	ck_assert(lent.write == (_i < 2));
	if (_i == 1)
		loan_session_end(loans, SESSION);
	for (int i = 0; i < 2; i++) {
		loan_table_close(loans);
		open_lends();
	}
	evict_all();
	ck_assert(store_obj_replacements(obj));
	if (_i < 2)
		keeps_nothing(&lent);
	in_time("other");
	ck_assert_int_eq(pread(lent.fd, buf, sizeof(buf), 0), 5);
	ck_assert_str_ne(buf, "other");
	close(lent.fd);
}
END_TEST

/* The process has already told the manager that it knows the eviction. */
START_TEST(without_room_the_next_process_does_it)
{
	struct loan_grant lent;

	in_time("first");
	ck_assert_int_eq(lend_to(getpid(), true, &lent), 0);
	some_pages();
	fill_up(true);
	evict_all();
	for (int i = 0; i < 2; i++) {
		ck_assert_uint_eq(loan_evictions_deferred(loans), 1);
		loan_table_close(loans);
		open_lends();
		while (loan_evictions_pending(loans))
			nap();
	}
	fill_up(false);
	while (loan_evictions_deferred(loans))
		nap();
	ck_assert(store_obj_replacements(obj));
	/* another process has nothing left to do */
	loan_table_close(loans);
	open_lends();
	ck_assert(!loan_evictions_pending(loans));
	ck_assert(!gate_is_shut(store_gate(store), KEY));
	close(lent.fd);
}
END_TEST

#define HAD 65536u /* number of known loans */

START_TEST(what_is_known_has_an_end)
{
	lend_number(HANDLE, true);
	loan_session_end(loans, session++);
	for (unsigned int i = 1; i < HAD + (unsigned int)_i; i++)
		lend_number(HANDLE + i, true);
	session = SESSION;
	loan_table_close(loans);
	open_lends();
	evict_all();
	ck_assert(store_obj_replacements(obj) == !_i);
}
END_TEST

static uint32_t owner(void)
{
	return atomic_load(gate_owner(store_gate(store))) & FUTEX_TID_MASK;
}

/* Borrowers notice the kill before others can miss the iod. */
START_TEST(borrowers_see_that_it_was_killed)
{
	int ready[2];
	pid_t pid;
	char c;

	loan_table_close(loans);
	loans = NULL;
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
	struct loan_grant lent;
	struct view v;

	ck_assert_int_eq(lend_to(getpid(), true, &lent), 0);
	v = view_of(&lent);
	loan_table_close(loans);
	ck_assert(!is_lent(&v, &lent));
	open_lends();
	close(lent.fd);
}
END_TEST

/* The file of terms of an earlier release is shorter. */
START_TEST(who_borrowed_from_an_earlier_release_leaves_first)
{
	const struct loan_table_attr attr = { .dir = dir,
					      .store = store,
					      .log = &quiet };
	struct borrower b;
	char path[128];

	begin(&b, stand_still);
	stopped(&b);
	loan_table_close(loans);
	snprintf(path, sizeof(path), "%s/lent/%016llx.terms", dir,
		 (unsigned long long)SESSION);
	ck_assert_int_eq(truncate(path, sizeof(struct loan_page_terms)), 0);
	ck_assert_int_eq(loan_table_open(&attr, &loans), -EBUSY);
	lives(&b);
	open_lends();
	ck_assert_int_eq(access(path, F_OK), -1);
}
END_TEST

START_TEST(who_is_stuck_in_a_session_that_ended_is_set_aside)
{
	struct borrower b;

	begin(&b, write_late);
	stopped(&b);
	loan_session_end(loans, SESSION);
	loan_table_close(loans);
	open_lends();
	wait_till_open();
	in_time("other");
	sees_it(&b);
	holds("other");
}
END_TEST

/* Opens the table with at most n more descriptors. */
static int open_with_descriptors(unsigned int n)
{
	const struct loan_table_attr attr = { .dir = dir,
					      .store = store,
					      .log = &quiet };
	struct rlimit limit, low;
	int rc, next = dup(0);

	close(next);
	ck_assert_int_eq(getrlimit(RLIMIT_NOFILE, &limit), 0);
	low = (struct rlimit){ (rlim_t)next + n, limit.rlim_max };
	ck_assert_int_eq(setrlimit(RLIMIT_NOFILE, &low), 0);
	rc = loan_table_open(&attr, &loans);
	ck_assert_int_eq(setrlimit(RLIMIT_NOFILE, &limit), 0);
	return rc;
}

/* If the process has no descriptors, it does not take the borrower for dead. */
START_TEST(without_descriptors_the_table_does_not_open)
{
	unsigned int n = 0;
	struct borrower b;

	in_time("first");
	begin(&b, write_late);
	stopped(&b);
	loan_table_close(loans);
	while (open_with_descriptors(n))
		ck_assert_uint_lt(++n, 64);
	ck_assert_uint_gt(n, 3);
	ck_assert(gate_is_shut(store_gate(store), KEY));
	wait_till_open();
	in_time("other");
	sees_it(&b);
	holds("other");
}
END_TEST

/* The pid may be reused by a process that started later, which is not touched. */
START_TEST(a_process_that_began_later_is_another_one)
{
	struct loan_page_terms terms = { .session = 5,
					 .pid = getpid(),
					 .began = 1 };
	struct loan_page_marks marks = { .inside[0].object = 3 };
	char path[128];
	FILE *f;

	loan_table_close(loans);
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

/* A file that is incomplete or damaged was never lent. */
START_TEST(files_that_are_none)
{
	char path[128];
	FILE *f;

	loan_table_close(loans);
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

START_TEST(nothing_is_lent_for_writing)
{
	struct loan_grant lent;

	ck_assert_int_eq(lend_to(getpid(), true, &lent), 0);
	ck_assert(!lent.write);
	ck_assert_int_eq(pwrite(lent.fd, "abc", 3, 0), -1);
	close(lent.fd);
}
END_TEST

/*
 * A reader that writes to its page from memory that never arrives would block the removal of the
 * page's name for ever.  So such a page has no name.
 */
START_TEST(what_readers_may_write_has_no_name)
{
	struct loan_grant lent;
	struct stat sb;

	ck_assert_int_eq(lend_to(getpid(), false, &lent), 0);
	ck_assert_int_eq(fstat(lent.page[2], &sb), 0);
	ck_assert_uint_eq(sb.st_nlink, 0);
	ck_assert_int_eq(ftruncate(lent.page[2], 0), -1);
	close(lent.fd);
}
END_TEST

START_TEST(strangers_are_lent_nothing_to_hold_up)
{
	struct loan_grant lent;
	struct stat sb;

	strangers = true;
	ck_assert_int_eq(lend_to(getpid(), true, &lent), 0);
	ck_assert(!lent.write);
	ck_assert_int_eq(fcntl(lent.fd, F_GETFL) & O_ACCMODE, O_RDONLY);
	ck_assert_int_eq(fstat(lent.page[2], &sb), 0);
	ck_assert_uint_eq(sb.st_nlink, 0);
	close(lent.fd);
	/* pages of this session have no names, so the loan would be unknown after a restart */
	strangers = false;
	ck_assert_int_eq(lend_to(getpid(), true, &lent), 0);
	ck_assert(!lent.write);
	close(lent.fd);
}
END_TEST

/* ---- memory that never arrives ---- */

#define PAGE 4096u

static char *never(void)
{
	struct uffdio_api api = { .api = UFFD_API };
	struct uffdio_register reg = { .range.len = PAGE,
				       .mode = UFFDIO_REGISTER_MODE_MISSING };
	char *mem = mmap(NULL, PAGE, PROT_READ | PROT_WRITE,
			 MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	int fd = (int)syscall(SYS_userfaultfd, O_CLOEXEC);

	reg.range.start = (uintptr_t)mem;
	if (fd < 0 || ioctl(fd, UFFDIO_API, &api) ||
	    ioctl(fd, UFFDIO_REGISTER, &reg))
		_exit(1);
	return mem;
}

static void write_never(struct view *v)
{
	ssize_t n = pwrite(own_fd, never(), PAGE, 0);

	_exit(n < 0);
}

static bool is_there(pid_t pid, const char *where)
{
	char path[64], text[64] = "";
	FILE *f;

	snprintf(path, sizeof(path), "/proc/%d/wchan", (int)pid);
	f = fopen(path, "r");
	if (!f)
		return false;
	if (!fgets(text, sizeof(text), f))
		text[0] = '\0';
	fclose(f);
	return strstr(text, where);
}

/* Returns false if the kernel has no userfaultfd, or does not show where a thread waits. */
static bool waits_in(atomic_int *tid, const char *where)
{
	for (unsigned int i = 0; i < BOUND_MS / 10; i++) {
		if (atomic_load(tid) && is_there(atomic_load(tid), where))
			return true;
		nap();
	}
	return false;
}

static atomic_int writer;

static void *write_one(void *arg)
{
	atomic_store(&writer, gettid());
	in_time("other");
	atomic_store(&writer, 0);
	return NULL;
}

/* The kernel allows no other write to that file meanwhile, and offers no way not to wait. */
START_TEST(who_writes_what_never_comes_stops_who_writes)
{
	atomic_int never_comes;
	struct borrower b;
	pthread_t thread;

	begin(&b, write_never);
	atomic_init(&never_comes, b.pid);
	if (!waits_in(&never_comes, "userfault"))
		return;
	ck_assert_int_eq(pthread_create(&thread, NULL, write_one, NULL), 0);
	ck_assert(waits_in(&writer, "write"));
	lives(&b);
	ck_assert_int_eq(pthread_join(thread, NULL), 0);
	holds("other");
}
END_TEST

/* ---- the suite ---- */

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
	tcase_add_test(tc, strangers_are_lent_nothing_to_hold_up);
	tcase_add_test(tc, each_loan_is_opened_anew);
	tcase_add_test(tc, a_removed_object_is_taken_back);
	tcase_add_test(tc, two_objects_of_a_file);
	tcase_add_test(tc, no_more_than_there_is_room_for);
	tcase_add_test(tc, a_session_is_one_process);
	tcase_add_test(tc, without_a_lease_nothing_is_written);
	suite_add_tcase(s, tc);
	tc = lend_case("inside");
	tcase_add_test(tc, who_stands_still_inside_is_set_aside);
	tcase_add_test(tc, marks_that_cannot_be_read_count);
	tcase_add_test(tc, who_gave_it_back_too_early_is_set_aside);
	tcase_add_test(tc, so_is_it_when_the_lease_has_passed);
	tcase_add_test(tc, who_runs_beside_that_has_written);
	tcase_add_test(tc, a_long_copy_keeps_nobody_from_other_objects);
	tcase_add_test(tc, a_mark_that_stays_counts_once);
	tcase_add_test(tc, a_removed_object_needs_no_copy);
	tcase_add_test(tc, over_a_restart_it_is_the_next_that_does_it);
	tcase_add_test(tc, who_may_not_end_it_lends_for_writing);
	tcase_add_test(tc, who_breaks_the_rules_keeps_his_descriptor);
	tcase_add_loop_test(tc, who_is_evicted_keeps_nothing, 0, 3);
	tcase_add_test(tc, who_is_evicted_borrows_no_more);
	tcase_add_test(tc, who_borrows_often_is_found_all_the_same);
	tcase_add_test(tc, many_are_set_aside);
	suite_add_tcase(s, tc);
	tc = tcase_create("reads");
	tcase_add_checked_fixture(tc, setup_reads, teardown);
	tcase_add_loop_test(tc, what_was_lent_once_is_set_aside, 2, 3);
	tcase_set_timeout(tc, 120);
	tcase_add_test(tc, a_loan_ends_with_its_time);
	tcase_add_test(tc, no_more_than_there_is_room_for);
	tcase_add_test(tc, nothing_is_lent_for_writing);
	tcase_add_test(tc, what_readers_may_write_has_no_name);
	tcase_add_test(tc, only_marks_are_the_clients);
	tcase_add_test(tc, strangers_are_lent_nothing_to_hold_up);
	suite_add_tcase(s, tc);
	if (!geteuid()) { /* needs the right to mount and to use userfaultfd */
		tc = lend_case("never");
		tcase_add_test(tc,
			       who_writes_what_never_comes_stops_who_writes);
		suite_add_tcase(s, tc);
		tc = tcase_create("full");
		tcase_add_checked_fixture(tc, setup_small, teardown_small);
		tcase_set_timeout(tc, 120);
		tcase_add_test(tc, without_room_it_waits_for_who_runs);
		tcase_add_test(tc, and_ends_who_is_stopped);
		tcase_add_test(tc, but_not_another_program);
		tcase_add_test(tc, without_room_it_is_done_later);
		tcase_add_test(tc, without_room_the_next_process_does_it);
		suite_add_tcase(s, tc);
	}
	tc = lend_case("restart");
	tcase_add_test(tc, borrowers_see_that_it_was_killed);
	tcase_add_test(tc, what_was_lent_before_is_taken_back);
	tcase_add_loop_test(tc, what_was_lent_before_is_set_aside, 0, 2);
	tcase_add_loop_test(tc, what_was_lent_once_is_set_aside, 0, 3);
	tcase_add_loop_test(tc, what_is_known_has_an_end, 0, 2);
	tcase_add_test(tc, who_borrowed_from_an_earlier_release_leaves_first);
	tcase_add_test(tc, who_is_stuck_in_a_session_that_ended_is_set_aside);
	tcase_add_test(tc, without_descriptors_the_table_does_not_open);
	tcase_add_test(tc, a_process_that_began_later_is_another_one);
	tcase_add_test(tc, files_that_are_none);
	suite_add_tcase(s, tc);
	return s;
}

int main(void)
{
	return run_suite(lend_suite());
}
