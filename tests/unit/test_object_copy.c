/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * test_object_copy.c - an object is replaced by a copy, which has all acknowledged writes, whoever
 * made them meanwhile, and none of the later writes to the old file.
 */
#include <check.h>
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <unistd.h>

#include "common/util/clock.h"
#include "common/wire/loan_pages.h"
#include "server/store/object_tree.h"
#include "tests/unit/rnd.h"
#include "tests/run_suite.h"
#include "server/store/object_store.h"

#define HANDLE 77u
#define KEY object_key_own(HANDLE)
#define PAGE 4096u
#define PAGES 300u
#define TIMES 300u

static char dir[64];
static struct object_store *store;
static struct store_obj *obj;

static bool says(void *arg)
{
	return arg;
}
static const struct store_copy_control go_on = { says, &store };

static void open_it(void)
{
	const struct object_store_attr attr = { .dir = dir,
						.fsid = 1,
						.max_open = 16 };

	ck_assert_int_eq(store_open(&attr, &store), 0);
	ck_assert(store_in_memory(store));
	ck_assert_int_eq(store_obj_get(store, KEY, true, &obj), 0);
}

static void close_it(void)
{
	store_obj_put(obj);
	store_close(store);
}

static void setup(void)
{
	strcpy(dir, "/dev/shm/pvfs-aside-XXXXXX");
	ck_assert_ptr_nonnull(mkdtemp(dir));
	open_it();
}

static void teardown(void)
{
	char cmd[128];

	close_it();
	snprintf(cmd, sizeof(cmd), "rm -rf %s", dir);
	ck_assert_int_eq(system(cmd), 0);
}

static void set_aside(void)
{
	int rc;

	do
		rc = store_obj_replace(store, KEY, &go_on);
	while (rc == -EAGAIN);
	ck_assert_int_eq(rc, 0);
}

static void path_of(const char *name, char *path, size_t len)
{
	char object[OBJECT_PATH_LEN];

	object_path_make(KEY, object);
	snprintf(path, len, "%s/objects/%s", dir, name ? name : object);
}

static void stat_it(struct stat *sb)
{
	char path[128];

	path_of(NULL, path, sizeof(path));
	ck_assert_int_eq(stat(path, sb), 0);
}

static bool is_left(void)
{
	char path[128];

	path_of("aside", path, sizeof(path));
	return !access(path, F_OK);
}

/* ---- content that is preserved ---- */

static uint8_t model[PAGES * PAGE], got[PAGES * PAGE];

/* Writes pieces with gaps between them. */
static void scatter(struct rnd *r)
{
	unsigned int i;

	memset(model, 0, sizeof(model));
	for (i = 0; i < 20; i++) {
		uint64_t at = rnd_in(r, 0, sizeof(model) - 1);
		uint64_t len = rnd_in(r, 1, 3 * PAGE);

		if (len > sizeof(model) - at)
			len = sizeof(model) - at;
		memset(model + at, (int)rnd_in(r, 1, 255), len);
		ck_assert_int_eq(store_obj_write(obj, model + at, len, at), 0);
	}
	ck_assert_int_eq(store_obj_resize(obj, sizeof(model)), 0);
}

static void same_content(void)
{
	size_t done;

	ck_assert_int_eq(store_obj_read(obj, got, sizeof(got), 0, &done), 0);
	ck_assert_uint_eq(done, sizeof(got));
	ck_assert(!memcmp(model, got, sizeof(got)));
}

START_TEST(all_is_kept)
{
	struct stat before, after;
	struct rnd r;

	rnd_init(&r, (uint64_t)_i + 1);
	scatter(&r);
	stat_it(&before);
	set_aside();
	stat_it(&after);
	ck_assert_uint_ne(before.st_ino, after.st_ino);
	ck_assert_int_eq(before.st_size, after.st_size);
	ck_assert_int_eq(before.st_blocks, after.st_blocks);
	ck_assert_uint_eq(before.st_mode, after.st_mode);
	ck_assert(!memcmp(&before.st_mtim, &after.st_mtim,
			  sizeof(before.st_mtim)));
	same_content();
	ck_assert(!is_left());
}
END_TEST

/* Preallocated space before and after data is preserved. */
START_TEST(so_is_space)
{
	struct store_stat before, after;

	ck_assert_int_eq(store_obj_write(obj, "abc", 3, 0), 0);
	ck_assert_int_eq(
		store_obj_space(obj, STORE_ALLOCATE, true, 0, 10 * PAGE), 0);
	ck_assert_int_eq(store_obj_stat(obj, &before), 0);
	ck_assert(before.padded);
	set_aside();
	ck_assert_int_eq(store_obj_stat(obj, &after), 0);
	ck_assert_uint_eq(before.size, after.size);
	ck_assert_uint_eq(before.blocks, after.blocks);
	ck_assert(after.padded);
}
END_TEST

static int other_fd(void)
{
	int fd = store_obj_lend(obj, true, true);

	ck_assert_int_ge(fd, 0);
	return fd;
}

START_TEST(the_old_file_is_nobodys)
{
	int fd = other_fd();
	char buf[4] = "";
	size_t done;

	ck_assert_int_eq(pwrite(fd, "abc", 3, 0), 3);
	set_aside();
	ck_assert_int_eq(pwrite(fd, "xyz", 3, 0), 3);
	ck_assert_int_eq(store_obj_read(obj, buf, 3, 0, &done), 0);
	ck_assert_str_eq(buf, "abc");
	ck_assert_uint_eq(store_obj_replacements(obj), 1);
	close(fd);
}
END_TEST

/* An object that was evicted from the cache, and is still in use. */
START_TEST(whoever_has_it_open)
{
	struct store_obj *again, *other;
	char buf[4] = "";
	uint64_t i;
	size_t done;

	for (i = 1; i <= 64; i++) {
		ck_assert_int_eq(store_obj_get(store,
					       object_key_own(HANDLE + 16 * i),
					       true, &other),
				 0);
		store_obj_put(other);
	}
	ck_assert_int_eq(store_obj_get(store, KEY, false, &again), 0);
	ck_assert_ptr_ne(again, obj);
	set_aside();
	ck_assert_int_eq(store_obj_write(obj, "abc", 3, 0), 0);
	ck_assert_int_eq(store_obj_read(again, buf, 3, 0, &done), 0);
	ck_assert_str_eq(buf, "abc");
	store_obj_put(again);
}
END_TEST

START_TEST(the_other_object_of_the_file_stays)
{
	const struct object_key key = { HANDLE, 1024 };
	struct store_obj *other;

	ck_assert_int_eq(store_obj_get(store, key, true, &other), 0);
	set_aside();
	ck_assert_uint_eq(store_obj_replacements(obj), 1);
	ck_assert_uint_eq(store_obj_replacements(other), 0);
	ck_assert_int_eq(store_obj_replace(store, key, &go_on), 0);
	ck_assert_uint_eq(store_obj_replacements(obj), 1);
	ck_assert_uint_eq(store_obj_replacements(other), 1);
	store_obj_put(other);
}
END_TEST

START_TEST(what_is_not_there_need_not_be)
{
	ck_assert_int_eq(store_remove(store, KEY, false), 0);
	ck_assert_int_eq(store_obj_replace(store, KEY, &go_on), 0);
	ck_assert_int_eq(store_obj_replace(store, object_key_own(HANDLE + 1),
					   &go_on),
			 0);
	ck_assert(!is_left());
}
END_TEST

START_TEST(not_in_the_middle_of_a_change)
{
	struct gate_entry entry;

	ck_assert_int_eq(store_obj_enter(obj, CLOCK_NEVER, &entry), 0);
	ck_assert_int_eq(store_obj_replace(store, KEY, &go_on), -EAGAIN);
	store_obj_leave(obj, &entry);
	gate_enter_late(store_gate(store), KEY, 1, &entry);
	ck_assert_int_eq(store_obj_replace(store, KEY, &go_on), 0);
	gate_leave(store_gate(store), &entry);
}
END_TEST

START_TEST(what_was_left_goes)
{
	char path[128];
	FILE *f;

	close_it();
	path_of("aside", path, sizeof(path));
	f = fopen(path, "w");
	fputs("half", f);
	fclose(f);
	open_it();
	ck_assert(!is_left());
}
END_TEST

START_TEST(it_stops)
{
	static const struct store_copy_control stop = { says, NULL };

	ck_assert_int_eq(store_obj_write(obj, "abc", 3, 0), 0);
	ck_assert_int_eq(store_obj_replace(store, KEY, &stop), -ECANCELED);
	ck_assert(!is_left());
}
END_TEST

/* ---- without room ---- */

static void setup_small(void)
{
	strcpy(dir, "/tmp/pvfs-aside-XXXXXX");
	ck_assert_ptr_nonnull(mkdtemp(dir));
	ck_assert_int_eq(mount("aside", dir, "tmpfs", 0, "size=4m"), 0);
	open_it();
}

static void teardown_small(void)
{
	close_it();
	ck_assert_int_eq(umount(dir), 0);
	ck_assert_int_eq(rmdir(dir), 0);
}

static uint64_t room(void)
{
	struct statvfs fs;

	ck_assert_int_eq(store_statfs(store, &fs), 0);
	return fs.f_bavail * fs.f_frsize;
}

START_TEST(no_room_is_taken_in_vain)
{
	struct store_obj *other;
	uint64_t before;

	memset(model, 'x', sizeof(model));
	ck_assert_int_eq(store_obj_write(obj, model, sizeof(model), 0), 0);
	ck_assert_int_eq(store_obj_get(store, object_key_own(HANDLE + 1), true,
				       &other),
			 0);
	ck_assert_int_eq(store_obj_space(other, STORE_ALLOCATE, true, 0,
					 room() - sizeof(model) + 2 * PAGE),
			 0);
	before = room();
	ck_assert_int_eq(store_obj_replace(store, KEY, &go_on), -ENOSPC);
	ck_assert_uint_eq(room(), before);
	ck_assert(!is_left());
	ck_assert_int_eq(store_obj_resize(other, 0), 0);
	ck_assert_int_eq(store_obj_space(other, STORE_PUNCH, true, 0, 1u << 30),
			 0);
	store_obj_put(other);
	set_aside();
	same_content();
}
END_TEST

/* ---- concurrent writers ---- */

static atomic_bool stop;

/* Each page has the number of the last acknowledged write, or of a later one. */
static struct writer {
	pthread_t thread;
	uint64_t page;
	_Atomic uint64_t n;
} writer[4];

static void enter_and_write(struct store_obj *o, const struct writer *w)
{
	struct gate_entry entry;

	ck_assert_int_eq(store_obj_enter(o, CLOCK_NEVER, &entry), 0);
	ck_assert_int_eq(
		store_obj_write(o, &w->n, sizeof(w->n), w->page * PAGE), 0);
	store_obj_leave(o, &entry);
}

static void *writes_by_message(void *arg)
{
	struct writer *w = arg;
	struct store_obj *o;

	while (!atomic_load(&stop)) {
		w->n++;
		ck_assert_int_eq(store_obj_get(store, KEY, true, &o), 0);
		enter_and_write(o, w);
		store_obj_put(o);
		if (w->n % 64 == 0)
			usleep(100);
	}
	return NULL;
}

static void start(void *(*run)(void *arg))
{
	atomic_store(&stop, false);
	for (unsigned int i = 0; i < 4; i++) {
		writer[i] = (struct writer){ .page = i };
		ck_assert_int_eq(pthread_create(&writer[i].thread, NULL, run,
						&writer[i]),
				 0);
	}
}

static void end(void)
{
	uint64_t n;
	size_t done;

	atomic_store(&stop, true);
	for (unsigned int i = 0; i < 4; i++) {
		ck_assert_int_eq(pthread_join(writer[i].thread, NULL), 0);
		ck_assert_int_eq(
			store_obj_read(obj, &n, sizeof(n), i * PAGE, &done), 0);
		ck_assert(done == sizeof(n) ? n == writer[i].n : !writer[i].n);
	}
}

START_TEST(nothing_that_was_answered_is_lost)
{
	unsigned int made = 0, i;

	start(writes_by_message);
	for (i = 0; i < 10 * TIMES || !made; i++)
		made += !store_obj_replace(store, KEY, &go_on);
	end();
}
END_TEST

/* Follows loan_pages.h; writes by message wait until the object is the copy. */
static _Atomic uint64_t word;
static _Atomic uint32_t mark[4];
static _Atomic int lent_fd;

static bool write_inside(const struct writer *w)
{
	uint64_t number = atomic_load(&word);
	int fd = atomic_load(&lent_fd);
	bool ok = false;

	if (!number || number == LOAN_PAGE_ASIDE)
		return false;
	atomic_store(&mark[w->page], 1);
	if (atomic_load(&word) == number) {
		ok = pwrite(fd, &w->n, sizeof(w->n), (off_t)(w->page * PAGE)) ==
		     sizeof(w->n);
		atomic_thread_fence(memory_order_seq_cst);
		ok &= atomic_load(&word) != LOAN_PAGE_ASIDE;
	}
	atomic_store_explicit(&mark[w->page], 0, memory_order_release);
	return ok;
}

static void *writes_itself(void *arg)
{
	struct writer *w = arg;

	while (!atomic_load(&stop)) {
		w->n++;
		while (!write_inside(w) && !atomic_load(&stop))
			;
	}
	return NULL;
}

/* A writer that was stopped at the end may have written nothing. */
static void by_message(void)
{
	for (unsigned int i = 0; i < 4; i++)
		enter_and_write(obj, &writer[i]);
}

static void check_lent(const uint64_t *least)
{
	uint64_t n;
	size_t done;

	for (unsigned int i = 0; i < 4; i++) {
		ck_assert_int_eq(
			store_obj_read(obj, &n, sizeof(n), i * PAGE, &done), 0);
		ck_assert(!done || n + 1 >= least[i]);
		ck_assert(done || least[i] <= 1);
	}
}

/* A write that was acknowledged before the word changed is in the copy. */
START_TEST(nor_is_what_borrowers_wrote)
{
	unsigned int i, k;
	uint64_t number = 0, least[4];
	int fd[2];

	fd[0] = other_fd();
	atomic_store(&lent_fd, fd[0]);
	start(writes_itself);
	for (i = 0; i < TIMES; i++) {
		atomic_store(&word, ++number);
		usleep(i % 7 * 50);
		atomic_store(&word, LOAN_PAGE_ASIDE);
		atomic_thread_fence(memory_order_seq_cst);
		set_aside();
		for (k = 0; k < 4; k++)
			while (atomic_load(&mark[k]))
				sched_yield();
		/* no borrower is inside: n is what they could not write yet */
		for (k = 0; k < 4; k++)
			least[k] = atomic_load(&writer[k].n);
		check_lent(least);
		fd[1] = other_fd();
		atomic_store(&lent_fd, fd[1]);
		close(fd[0]);
		fd[0] = fd[1];
	}
	atomic_store(&stop, true);
	for (k = 0; k < 4; k++)
		pthread_join(writer[k].thread, NULL);
	by_message();
	close(fd[0]);
}
END_TEST

static void *removes(void *arg)
{
	usleep(*(unsigned int *)arg);
	ck_assert_int_eq(store_remove(store, KEY, false), 0);
	return NULL;
}

START_TEST(what_was_removed_stays_away)
{
	unsigned int i, pause;
	struct store_obj *o;
	struct store_stat st;
	pthread_t t;

	for (i = 0; i < TIMES; i++) {
		ck_assert_int_eq(store_obj_get(store, KEY, true, &o), 0);
		ck_assert_int_eq(store_obj_write(o, "abc", 3, 0), 0);
		store_obj_put(o);
		pause = i % 10 * 20;
		ck_assert_int_eq(pthread_create(&t, NULL, removes, &pause), 0);
		set_aside();
		pthread_join(t, NULL);
		ck_assert_int_eq(store_stat(store, KEY, &st), 0);
		ck_assert_uint_eq(st.size, 0);
		ck_assert(!is_left());
	}
}
END_TEST

static TCase *add(Suite *s, const char *name, void (*up)(void),
		  void (*down)(void))
{
	TCase *tc = tcase_create(name);

	tcase_add_checked_fixture(tc, up, down);
	tcase_set_timeout(tc, 120);
	suite_add_tcase(s, tc);
	return tc;
}

int main(void)
{
	Suite *s = suite_create("object_copy");
	TCase *tc = add(s, "kept", setup, teardown);

	tcase_add_loop_test(tc, all_is_kept, 0, 10);
	tcase_add_test(tc, so_is_space);
	tcase_add_test(tc, the_old_file_is_nobodys);
	tcase_add_test(tc, whoever_has_it_open);
	tcase_add_test(tc, the_other_object_of_the_file_stays);
	tcase_add_test(tc, what_is_not_there_need_not_be);
	tcase_add_test(tc, not_in_the_middle_of_a_change);
	tcase_add_test(tc, what_was_left_goes);
	tcase_add_test(tc, it_stops);
	if (!geteuid()) { /* may mount */
		tc = add(s, "full", setup_small, teardown_small);
		tcase_add_test(tc, no_room_is_taken_in_vain);
	}
	tc = add(s, "at once", setup, teardown);
	tcase_add_test(tc, nothing_that_was_answered_is_lost);
	tcase_add_test(tc, nor_is_what_borrowers_wrote);
	tcase_add_test(tc, what_was_removed_stays_away);
	return run_suite(s);
}
