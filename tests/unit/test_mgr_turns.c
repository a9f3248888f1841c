/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * test_mgr_turns.c - a request that needs much work has several turns, and users are served in
 * turn.  Work is counted, never timed.
 */
#include <endian.h>
#include <errno.h>
#include <linux/posix_acl.h>
#include <linux/posix_acl_xattr.h>

#include "common/util/container.h"
#include "tests/unit/mgr_fixture.h"
#include "mgr/request/run_queue.h"

#define LINKS 39u /* symbolic links in the longest path */
#define TEXT 3900u /* bytes of each link */
/* maximum of one turn: at most two rows for each component, and some for its begin and end */
#define WORK_MAX (3u * NS_TURN_STEPS + 16u)

static struct fixture fx;

static void setup(void)
{
	fx_open(&fx);
}

static void teardown(void)
{
	fx_close(&fx);
}

/* ---- long paths ---- */

/* "d/../d/../ ... last", TEXT bytes long. */
static void long_text(char text[TEXT + 1], const char *last)
{
	size_t len = strlen(last);

	for (size_t i = 0; i + 5 <= TEXT - len; i += 5)
		memcpy(text + i, "d/../", 5);
	memset(text + (TEXT - len) / 5 * 5, '/', (TEXT - len) % 5);
	memcpy(text + TEXT - len, last, len + 1);
}

/* Makes "f" reachable through LINKS links; the path is "l38". */
static void make_long_path(void)
{
	char text[TEXT + 1], name[8], last[8] = "f";

	ck_assert_int_eq(fx_mkdir(&fx, "d", 0755), 0);
	ck_assert_int_eq(fx_creat(&fx, "f", 0644), 0);
	for (unsigned int i = 0; i < LINKS; i++) {
		long_text(text, last);
		snprintf(name, sizeof(name), "l%u", i);
		ck_assert_int_eq(fx_symlink(&fx, text, name), 0);
		memcpy(last, name, sizeof(last));
	}
}

/* One turn. */
static int stat_turn(struct ns_pause *pause, const char *path,
		     struct inode *ino)
{
	struct ns_path p = fx_path(path);
	uint64_t before = ns_work(&fx.ns);
	struct ns_op op = fx_begin(&fx);
	int rc;

	op.pause = pause;
	rc = fx_end(&fx, &op, ns_getattr(&op, &p, true, ino));
	ck_assert_uint_le(ns_work(&fx.ns) - before, WORK_MAX);
	return rc;
}

START_TEST(test_turns_of_a_path)
{
	struct ns_pause pause = { 0 };
	struct inode ino, whole;
	uint64_t before = fx.ns.steps, steps;
	unsigned int turns = 1;
	int rc;

	make_long_path();
	before = fx.ns.steps;
	ck_assert_int_eq(fx_stat(&fx, "l38", &whole), 0);
	steps = fx.ns.steps - before;
	ck_assert_uint_gt(steps, 60000);
	before = fx.ns.steps;
	while ((rc = stat_turn(&pause, "l38", &ino)) == NS_PAUSED)
		turns++;
	ck_assert_int_eq(rc, 0);
	ck_assert_uint_eq(ino.handle, whole.handle);
	/* no step was repeated */
	ck_assert_uint_eq(fx.ns.steps - before, steps);
	ck_assert_uint_eq(turns, (steps + NS_TURN_STEPS - 1) / NS_TURN_STEPS);
	ns_pause_end(&fx.ns, &pause);
}
END_TEST

/* A path resolves to the same result with turns and without. */
START_TEST(test_turns_end_the_same)
{
	static const char *const last[] = {
		"f", "f/",     "f/x",  "none",	 "none/x", "d",	   "d/",
		".", "d/../.", "abs/", "../out", "loop",   "up/x", "d/..",
	};
	char path[TEXT + 1];

	make_long_path();
	ck_assert_int_eq(fx_symlink(&fx, "/abs", "abs"), 0);
	ck_assert_int_eq(fx_symlink(&fx, "loop", "loop"), 0);
	ck_assert_int_eq(fx_symlink(&fx, "..", "up"), 0);
	for (size_t i = 0; i < sizeof(last) / sizeof(last[0]); i++) {
		struct ns_pause pause = { 0 };
		struct inode ino, whole = { 0 };
		unsigned int turns = 1;
		char out[4096];
		size_t len;
		int rc, want;

		long_text(path, last[i]);
		want = fx_stat(&fx, path, &whole);
		len = fx.ns.redirect_len;
		memcpy(out, fx.ns.redirect, sizeof(out));
		while ((rc = stat_turn(&pause, path, &ino)) == NS_PAUSED)
			turns++;
		ck_assert_int_eq(rc, want);
		ck_assert_uint_gt(turns, 10);
		if (!rc)
			ck_assert_uint_eq(ino.handle, whole.handle);
		if (rc == NS_REDIRECT) {
			ck_assert_uint_eq(fx.ns.redirect_len, len);
			ck_assert_mem_eq(fx.ns.redirect, out, len);
		}
		ns_pause_end(&fx.ns, &pause);
	}
}
END_TEST

/* Changes between two turns have the effect of changes between two lookups. */
START_TEST(test_changes_between_turns)
{
	struct ns_pause pause = { 0 };
	char path[TEXT + 1];
	struct inode ino;

	ck_assert_int_eq(fx_mkdir(&fx, "d", 0755), 0);
	ck_assert_int_eq(fx_creat(&fx, "f", 0644), 0);
	long_text(path, "f");
	ck_assert_int_eq(stat_turn(&pause, path, &ino), NS_PAUSED);
	ck_assert_int_eq(fx_rmdir(&fx, "d"), 0);
	ck_assert_int_eq(stat_turn(&pause, path, &ino), -ENOENT);
	ns_pause_end(&fx.ns, &pause);
	/* the search permission of each directory is checked when the path reaches it */
	ck_assert_int_eq(fx_mkdir(&fx, "d", 0755), 0);
	fx_become(&fx, 7, 7);
	ck_assert_int_eq(stat_turn(&pause, path, &ino), NS_PAUSED);
	fx_become(&fx, 0, 0);
	ck_assert_int_eq(fx_chmod(&fx, "d", 0700), 0);
	fx_become(&fx, 7, 7);
	ck_assert_int_eq(stat_turn(&pause, path, &ino), -EACCES);
	ns_pause_end(&fx.ns, &pause);
}
END_TEST

#define ENTRIES 511u /* of an access list, with the four required ones */

/* Gives many groups search permission on "d". */
static void put_long_list(void)
{
	static struct {
		struct posix_acl_xattr_header head;
		struct posix_acl_xattr_entry e[ENTRIES];
	} list;
	struct ns_xattr x = fx_xattr("d", "system.posix_acl_access");

	list.head.a_version = htole32(POSIX_ACL_XATTR_VERSION);
	for (uint32_t i = 0; i < ENTRIES; i++)
		list.e[i] = (struct posix_acl_xattr_entry){
			.e_tag = htole16(ACL_GROUP),
			.e_perm = htole16(5),
			.e_id = htole32(i + 100),
		};
	list.e[0].e_tag = htole16(ACL_USER_OBJ);
	list.e[1].e_tag = htole16(ACL_GROUP_OBJ);
	list.e[ENTRIES - 2].e_tag = htole16(ACL_MASK);
	list.e[ENTRIES - 1].e_tag = htole16(ACL_OTHER);
	list.e[0].e_id = list.e[1].e_id = list.e[ENTRIES - 2].e_id =
		list.e[ENTRIES - 1].e_id = htole32(UINT32_MAX);
	x.value = &list;
	x.len = sizeof(list);
	ck_assert_int_eq(FX_DO(&fx, ns_setxattr(&op, &x)), 0);
}

/* A long access list counts like several components. */
START_TEST(test_turns_of_long_lists)
{
	const unsigned int lists = TEXT / 5, each = ENTRIES / 16;
	struct ns_pause pause = { 0 };
	unsigned int turns = 1;
	char path[TEXT + 1];
	struct inode ino;
	int rc;

	ck_assert_int_eq(fx_mkdir(&fx, "d", 0755), 0);
	ck_assert_int_eq(fx_creat(&fx, "f", 0644), 0);
	put_long_list();
	long_text(path, "f");
	fx_become(&fx, 7, 7);
	while ((rc = stat_turn(&pause, path, &ino)) == NS_PAUSED)
		turns++;
	ck_assert_int_eq(rc, 0);
	ck_assert_uint_ge(turns, (lists - 1) * each / (NS_TURN_STEPS + each));
	ns_pause_end(&fx.ns, &pause);
}
END_TEST

static int rename_turn(struct ns_pause *pause, const char *a, const char *b)
{
	struct ns_path from = fx_path(a), to = fx_path(b);
	uint64_t before = ns_work(&fx.ns);
	struct ns_op op = fx_begin(&fx);
	int rc;

	op.pause = pause;
	rc = fx_end(&fx, &op, ns_rename(&op, &from, &to, 0));
	ck_assert_uint_le(ns_work(&fx.ns) - before, 2 * WORK_MAX);
	return rc;
}

START_TEST(test_turns_of_two_paths)
{
	char from[TEXT + 1], to[TEXT + 1];
	struct ns_pause pause = { 0 };
	struct inode ino, moved;
	unsigned int turns = 1;
	int rc;

	ck_assert_int_eq(fx_mkdir(&fx, "d", 0755), 0);
	ck_assert_int_eq(fx_creat(&fx, "f", 0644), 0);
	ck_assert_int_eq(fx_stat(&fx, "f", &ino), 0);
	long_text(from, "f");
	long_text(to, "d/moved");
	while ((rc = rename_turn(&pause, from, to)) == NS_PAUSED)
		turns++;
	ck_assert_int_eq(rc, 0);
	/* the path has 1,559 components: the second part begins in the 13th turn, and takes 13 */
	ck_assert_uint_eq(turns, 12 + 13);
	ck_assert_int_eq(fx_stat(&fx, "f", &moved), -ENOENT);
	ck_assert_int_eq(fx_stat(&fx, "d/moved", &moved), 0);
	ck_assert_uint_eq(moved.handle, ino.handle);
	ns_pause_end(&fx.ns, &pause);
}
END_TEST

/* ---- the way up to the root ---- */

#define DEPTH 1000u

/* Makes "top/d/d/d ..."; returns the directory at the bottom. */
static uint64_t make_deep(void)
{
	struct ns_path p = fx_path("top");
	struct inode ino;

	ck_assert_int_eq(FX_DO(&fx, ns_mkdir(&op, &p, 0755, &ino)), 0);
	for (unsigned int i = 1; i < DEPTH; i++) {
		p = fx_path("d");
		p.dir = ino.handle;
		ck_assert_int_eq(FX_DO(&fx, ns_mkdir(&op, &p, 0755, &ino)), 0);
	}
	return ino.handle;
}

/* One turn of mv from bottom/from. */
static int move_down(struct ns_pause *pause, const char *from, uint64_t bottom,
		     uint32_t flags)
{
	struct ns_path a = fx_path(from), b = fx_path(from);
	uint64_t before = ns_work(&fx.ns);
	struct ns_op op = fx_begin(&fx);
	int rc;

	b.dir = bottom;
	op.pause = pause;
	rc = ns_rename(&op, &a, &b, flags);
	if (rc != NS_PAUSED)
		ns_pause_end(&fx.ns, pause);
	ck_assert_uint_le(ns_work(&fx.ns) - before, WORK_MAX);
	return fx_end(&fx, &op, rc);
}

START_TEST(test_turns_of_a_deep_move)
{
	uint64_t bottom = make_deep();
	struct ns_pause pause = { 0 };
	unsigned int turns = 1;
	struct inode ino;
	int rc;

	ck_assert_int_eq(fx_mkdir(&fx, "a", 0755), 0);
	ck_assert_int_eq(fx_mkdir(&fx, "b", 0755), 0);
	/* a file needs no check of the way up, nor a move inside its directory */
	ck_assert_int_eq(fx_creat(&fx, "f", 0644), 0);
	ck_assert_int_eq(move_down(&pause, "f", bottom, 0), 0);
	while ((rc = move_down(&pause, "a", bottom, 0)) == NS_PAUSED)
		turns++;
	ck_assert_int_eq(rc, 0);
	ck_assert_uint_eq(turns, DEPTH / NS_TURN_STEPS + 1);
	ck_assert_int_eq(fx_stat(&fx, "a", &ino), -ENOENT);
	while ((rc = move_down(&pause, "top", bottom, 0)) == NS_PAUSED)
		;
	ck_assert_int_eq(rc, -EINVAL);
}
END_TEST

/* The way up changes meanwhile, so that the move would make a loop. */
START_TEST(test_moves_between_turns)
{
	uint64_t bottom = make_deep();
	struct ns_pause pause = { 0 };
	int rc;

	ck_assert_int_eq(fx_mkdir(&fx, "a", 0755), 0);
	ck_assert_int_eq(move_down(&pause, "a", bottom, 0), NS_PAUSED);
	ck_assert_int_eq(fx_rename(&fx, "top", "a/top"), 0);
	while ((rc = move_down(&pause, "a", bottom, 0)) == NS_PAUSED)
		;
	ck_assert_int_eq(rc, -EINVAL);
}
END_TEST

/* Other users that permanently move directories do not prevent its end. */
START_TEST(test_many_moves_between_turns)
{
	uint64_t bottom = make_deep();
	struct ns_pause pause = { 0 };
	unsigned int turns = 0;
	int rc;

	ck_assert_int_eq(fx_mkdir(&fx, "a", 0755), 0);
	ck_assert_int_eq(fx_mkdir(&fx, "b", 0755), 0);
	ck_assert_int_eq(fx_mkdir(&fx, "b/c", 0755), 0);
	do {
		struct ns_path from = fx_path("a"), to = fx_path("a");
		struct ns_op op = fx_begin(&fx);

		to.dir = bottom;
		op.pause = &pause;
		rc = fx_end(&fx, &op, ns_rename(&op, &from, &to, 0));
		if (rc == NS_PAUSED)
			ck_assert_int_eq(turns % 2 ? fx_rename(&fx, "c", "b/c")
						   : fx_rename(&fx, "b/c", "c"),
					 0);
		ck_assert_uint_lt(++turns, 6);
	} while (rc == NS_PAUSED);
	ck_assert_int_eq(rc, 0);
	ns_pause_end(&fx.ns, &pause);
}
END_TEST

/* ---- the queue ---- */

#define JOBS 40u

struct file_job {
	struct run_item item;
	struct run_owner owner;
	struct ns_pause pause;
	const char *path;
	unsigned int work; /* of each of its turns, if path is NULL */
	unsigned int turns, left;
	char name;
};

static struct run_queue *queue;
static struct file_job jobs[JOBS];
static char order[4096];

static void note(char name)
{
	size_t at = strlen(order);

	ck_assert_uint_lt(at + 1, sizeof(order));
	order[at] = name;
}

/* A turn records the letter of the job, and its end the capital letter. */
static uint64_t run_job(struct run_item *item)
{
	struct file_job *job = container_of(item, struct file_job, item);
	uint64_t before = ns_work(&fx.ns);
	struct inode ino;
	bool more;

	job->turns++;
	more = job->path ? stat_turn(&job->pause, job->path, &ino) == NS_PAUSED
			 : --job->left > 0;
	note(more ? job->name : (char)(job->name - 'a' + 'A'));
	if (more)
		ck_assert_int_eq(run_queue_put(queue, item, &job->owner), 0);
	else
		ns_pause_end(&fx.ns, &job->pause);
	return job->path ? ns_work(&fx.ns) - before : job->work;
}

static void queue_setup(void)
{
	setup();
	memset(jobs, 0, sizeof(jobs));
	memset(order, 0, sizeof(order));
	ck_assert_int_eq(run_queue_open(run_job, &queue), 0);
}

static void queue_teardown(void)
{
	run_queue_close(queue);
	teardown();
}

/* work is that of each turn. */
static void admit(unsigned int i, char name, uint32_t uid, uint64_t session,
		  unsigned int work, unsigned int turns)
{
	jobs[i] = (struct file_job){ .owner = { uid, session },
				     .work = work,
				     .left = turns,
				     .name = name };
	run_queue_admit(queue, &jobs[i].item, &jobs[i].owner);
}

static void admit_path(unsigned int i, char name, uint32_t uid,
		       uint64_t session, const char *path)
{
	jobs[i] = (struct file_job){ .owner = { uid, session },
				     .path = path,
				     .name = name };
	run_queue_admit(queue, &jobs[i].item, &jobs[i].owner);
}

START_TEST(test_light_requests_run_at_once)
{
	for (unsigned int i = 0; i < JOBS; i++)
		admit(i, 'a', i % 3, i % 2, 3, 1);
	ck_assert_uint_eq(strlen(order), JOBS);
	ck_assert(!run_queue_waits(queue));
}
END_TEST

/* One user has 16 threads with long paths.  The stat of another user waits for one turn of them. */
START_TEST(test_other_user_goes_first)
{
	make_long_path();
	for (unsigned int i = 0; i < 16; i++)
		admit_path(i, 'a', 1000, 1 + i % 2, "l38");
	ck_assert_str_eq(order, "a");
	admit_path(16, 'b', 1001, 3, "f");
	ck_assert_str_eq(order, "aB");
	for (unsigned int i = 0; i < 16; i++)
		ck_assert_uint_eq(jobs[i].turns, i == 0);
	/* also if the other user has to wait after much work of its own */
	admit(17, 'c', 1001, 3, RUN_BUDGET, 1);
	admit_path(18, 'b', 1001, 3, "f");
	ck_assert_str_eq(order, "aBC");
	run_queue_round(queue);
	/* the turn of the first user took more than a round */
	ck_assert_str_eq(order, "aBCB");
	while (run_queue_waits(queue) && strlen(order) < 200)
		run_queue_round(queue);
	/* each of the 16 gets the same share */
	for (unsigned int i = 0; i < 16; i++)
		ck_assert(jobs[i].turns >= 195 / 16 - 1 &&
			  jobs[i].turns <= 195 / 16 + 2);
	for (unsigned int i = 0; i < 16; i++) {
		run_queue_leave(queue, &jobs[i].item);
		ns_pause_end(&fx.ns, &jobs[i].pause);
	}
	ck_assert(!run_queue_waits(queue));
}
END_TEST

/* The sessions of a user take turns, whatever they request; each in its own order. */
START_TEST(test_sessions_take_turns)
{
	for (unsigned int i = 0; i < 4; i++)
		admit(i, (char)('a' + i), 1, 1, RUN_BUDGET, 1);
	for (unsigned int i = 4; i < 6; i++)
		admit(i, (char)('a' + i), 1, 2, RUN_BUDGET, 1);
	while (run_queue_waits(queue))
		run_queue_round(queue);
	ck_assert_str_eq(order, "ABECFD");
}
END_TEST

/* In one round a user may use one budget, in many light requests or in one heavy turn. */
START_TEST(test_round_is_a_budget_each)
{
	admit(0, 'a', 1, 1, RUN_BUDGET, 3);
	for (unsigned int i = 1; i < 9; i++)
		admit(i, 'b', 2, 2, RUN_BUDGET / 4, 1);
	ck_assert_str_eq(order, "aBBBB");
	run_queue_round(queue);
	ck_assert_str_eq(order, "aBBBBaBBBB");
	run_queue_round(queue);
	ck_assert_str_eq(order, "aBBBBaBBBBA");
	ck_assert(!run_queue_waits(queue));
}
END_TEST

/* A turn with much work counts for the following rounds. */
START_TEST(test_debt)
{
	admit(0, 'a', 1, 1, 3 * RUN_BUDGET, 2);
	for (unsigned int i = 1; i < 6; i++)
		admit(i, 'b', 2, 2, RUN_BUDGET, 1);
	ck_assert_str_eq(order, "aB");
	for (int i = 0; i < 2; i++)
		run_queue_round(queue);
	ck_assert_str_eq(order, "aBBB");
	run_queue_round(queue);
	ck_assert_str_eq(order, "aBBBAB");
	while (run_queue_waits(queue))
		run_queue_round(queue);
	ck_assert_str_eq(order, "aBBBABB");
	/* in the end all work is accounted for */
	for (int i = 0; i < 4; i++)
		run_queue_round(queue);
	admit(6, 'a', 1, 1, 1, 1);
	ck_assert_str_eq(order, "aBBBABBA");
}
END_TEST

/* A dropped request leaves; the others keep their order. */
START_TEST(test_leave)
{
	for (unsigned int i = 0; i < 5; i++)
		admit(i, (char)('a' + i), 1, 1, RUN_BUDGET, 1);
	run_queue_leave(queue, &jobs[2].item);
	ck_assert_ptr_null(jobs[2].item.session);
	while (run_queue_waits(queue))
		run_queue_round(queue);
	ck_assert_str_eq(order, "ABDE");
}
END_TEST

int main(void)
{
	TCase *walks = tcase_create("walks"), *turns = tcase_create("queue");
	TCase *cases[] = { walks, turns, NULL };

	tcase_add_checked_fixture(walks, setup, teardown);
	tcase_set_timeout(walks, 60);
	tcase_add_test(walks, test_turns_of_a_path);
	tcase_add_test(walks, test_turns_end_the_same);
	tcase_add_test(walks, test_turns_of_long_lists);
	tcase_add_test(walks, test_changes_between_turns);
	tcase_add_test(walks, test_turns_of_two_paths);
	tcase_add_test(walks, test_turns_of_a_deep_move);
	tcase_add_test(walks, test_moves_between_turns);
	tcase_add_test(walks, test_many_moves_between_turns);
	tcase_add_checked_fixture(turns, queue_setup, queue_teardown);
	tcase_set_timeout(turns, 60);
	tcase_add_test(turns, test_light_requests_run_at_once);
	tcase_add_test(turns, test_other_user_goes_first);
	tcase_add_test(turns, test_sessions_take_turns);
	tcase_add_test(turns, test_round_is_a_budget_each);
	tcase_add_test(turns, test_debt);
	tcase_add_test(turns, test_leave);
	return fx_main("mgr_turns", cases);
}
