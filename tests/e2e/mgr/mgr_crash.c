/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * mgr_crash.c - SIGKILL at random moments while clients create, write, rename, link and delete.
 * Each client knows the expected content of its directory. Every reply must be the one of a single
 * execution. Every acknowledged change must be there, and every other change must have happened as
 * a whole or not at all. At the end, the iods have exactly the objects of the existing files.
 */
#include <check.h>
#include <errno.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "tests/e2e/mgr/mgrrig.h"
#include "tests/run_suite.h"

#define CLIENTS 3
#define NAMES 12

static struct mgrrig rig;

struct client {
	struct mgrc c;
	pthread_t thread;
	unsigned int id, seed;
	struct name {
		bool file;
		uint64_t handle, size;
	} name[NAMES];
};
static atomic_bool over;
static atomic_uint done; /* operations of all clients */

static unsigned int rnd(struct client *cl, unsigned int n)
{
	return (unsigned int)rand_r(&cl->seed) / 7 % n;
}

static const char *path(const struct client *cl, unsigned int i, char buf[32])
{
	sprintf(buf, "c%u/n%u", cl->id, i);
	return buf;
}

static int stat_of(struct client *cl, unsigned int i, struct wire_attr *attr)
{
	char a[32];

	return mgrc_stat(&cl->c, path(cl, i, a), attr);
}

static void do_create(struct client *cl, unsigned int i)
{
	struct name *n = &cl->name[i];
	struct mgrc_file f;
	char a[32];
	int rc;

	rc = mgrc_open_file(&cl->c, path(cl, i, a),
			    WIRE_O_CREAT | WIRE_O_EXCL | WIRE_O_WRITE, &f);
	must(rc == (n->file ? -EEXIST : 0));
	if (rc)
		return;
	*n = (struct name){ true, f.handle, 1 + rnd(cl, 65536) };
	fakeiod_set(&rig.iod[le32toh(f.attr.dist.base)], f.handle, n->size);
	must(!mgrc_release(&cl->c, &f, WIRE_R_WROTE, n->size));
}

static void do_unlink(struct client *cl, unsigned int i)
{
	struct name *n = &cl->name[i];
	char a[32];

	must(mgrc_unlink(&cl->c, path(cl, i, a)) == (n->file ? 0 : -ENOENT));
	n->file = false;
}

static void do_rename(struct client *cl, unsigned int i, unsigned int j)
{
	struct name *n = &cl->name[i];
	char a[32], b[32];

	must(mgrc_rename(&cl->c, path(cl, i, a), path(cl, j, b)) ==
	     (n->file ? 0 : -ENOENT));
	if (!n->file || i == j)
		return;
	cl->name[j] = *n;
	n->file = false;
}

static void do_truncate(struct client *cl, unsigned int i)
{
	struct name *n = &cl->name[i];
	uint64_t size = rnd(cl, 200000);
	char a[32];

	must(mgrc_truncate(&cl->c, path(cl, i, a), size) ==
	     (n->file ? 0 : -ENOENT));
	n->size = size;
}

static void do_stat(struct client *cl, unsigned int i)
{
	struct name *n = &cl->name[i];
	struct wire_attr attr;

	must(stat_of(cl, i, &attr) == (n->file ? 0 : -ENOENT));
	if (!n->file)
		return;
	must(le64toh(attr.handle) == n->handle);
	must(le32toh(attr.flags) & WIRE_A_SIZE);
	must(le64toh(attr.size) == n->size);
	must(le32toh(attr.nlink) == 1);
}

static void ignore(struct rpc_call *call)
{
}

/*
 * The client sends a rename and dies before the reply. Its successor finds that the rename happened
 * as a whole, or not at all.
 */
static void do_die(struct client *cl, unsigned int i, unsigned int j)
{
	struct name *n = &cl->name[i], *m = &cl->name[j];
	char a[32], b[32];
	struct wire_two body = { .path1_len = htole32(strlen(path(cl, i, a))),
				 .path2_len = htole32(strlen(path(cl, j, b))) };
	struct mgrc_item item[] = { { a, strlen(a) }, { b, strlen(b) } };
	uint64_t msg[64];
	struct rpc_call call = { .msg = msg,
				 .deadline = clock_after_ms(20000),
				 .done = ignore };
	struct wire_attr attr;

	if (i == j || !n->file)
		return;
	call.msg_len = mgrc_build(msg, WIRE_RENAME, &body, sizeof(body), item,
				  2);
	rpc_call_start(cl->c.peer, &call);
	rpc_ctx_progress(cl->c.ctx, clock_after_ms(rnd(cl, 3)));
	mgrc_close(&cl->c, false);
	mgrc_open(&cl->c, &rig.addr, 0);
	usleep(20000); /* the rename may still be in flight */
	if (stat_of(cl, i, &attr) == -ENOENT) {
		*m = *n;
		n->file = false;
	}
	do_stat(cl, i);
	do_stat(cl, j);
}

static void *storm(void *arg)
{
	struct client *cl = arg;

	while (!atomic_load(&over)) {
		unsigned int i = rnd(cl, NAMES), j = rnd(cl, NAMES);
		unsigned int what = rnd(cl, 100);

		if (what < 40)
			do_create(cl, i);
		else if (what < 60)
			do_unlink(cl, i);
		else if (what < 80)
			do_rename(cl, i, j);
		else if (what < 88)
			do_truncate(cl, i);
		else if (what < 98)
			do_stat(cl, i);
		else
			do_die(cl, i, j);
		atomic_fetch_add(&done, 1);
	}
	return NULL;
}

static unsigned int check_all(struct client *cl)
{
	unsigned int files = 0;

	for (unsigned int i = 0; i < NAMES; i++) {
		do_stat(cl, i);
		files += cl->name[i].file;
	}
	return files;
}

static unsigned int objects(void)
{
	unsigned int n = 0;

	/* a file that was written at its start has one object, a truncated one has three */
	for (int i = 0; i < RIG_IODS; i++)
		n += fakeiod_count(&rig.iod[i]);
	return n;
}

static bool alive(const struct client *cl, uint64_t handle)
{
	for (int k = 0; k < CLIENTS; k++)
		for (int i = 0; i < NAMES; i++)
			if (cl[k].name[i].file &&
			    cl[k].name[i].handle == handle)
				return true;
	return false;
}

static void check_objects(const struct client *cl)
{
	uint64_t handle[RIG_IODS * CLIENTS * NAMES + 1];
	unsigned int n = 0, last;

	do { /* until all removals are complete */
		last = objects();
		usleep(300000);
	} while (objects() != last);
	for (int i = 0; i < RIG_IODS; i++) {
		n = fakeiod_list(&rig.iod[i], handle,
				 sizeof(handle) / sizeof(handle[0]));
		for (unsigned int k = 0; k < n; k++)
			must(alive(cl, handle[k]));
	}
}

static unsigned int rounds(void)
{
	const char *s = getenv("CRASH_ROUNDS");

	return s ? (unsigned int)atoi(s) : 25;
}

START_TEST(test_storm)
{
	static struct client cl[CLIENTS];
	unsigned int seed = (unsigned int)getpid(), files = 0;
	char name[8];

	rig_open(&rig);
	rig_start(&rig);
	atomic_store(&over, false);
	for (unsigned int i = 0; i < CLIENTS; i++) {
		cl[i].id = i;
		cl[i].seed = seed + i;
		mgrc_open(&cl[i].c, &rig.addr, 0);
		sprintf(name, "c%u", i);
		must(!mgrc_mkdir(&cl[i].c, name));
		must(!pthread_create(&cl[i].thread, NULL, storm, &cl[i]));
	}
	for (unsigned int i = 0; i < rounds(); i++) {
		unsigned int before = atomic_load(&done);

		rig_until(atomic_load(&done) >= before + 10);
		usleep((unsigned int)rand_r(&seed) % 100000);
		rig_kill(&rig);
		rig_start(&rig);
	}
	atomic_store(&over, true);
	for (unsigned int i = 0; i < CLIENTS; i++)
		pthread_join(cl[i].thread, NULL);
	for (unsigned int i = 0; i < CLIENTS; i++)
		files += check_all(&cl[i]);
	rig_stop(&rig);
	rig_start(&rig);
	for (unsigned int i = 0; i < CLIENTS; i++)
		check_all(&cl[i]);
	check_objects(cl);
	printf("%u operations, %u files, %u kills\n", atomic_load(&done), files,
	       rounds());
	for (unsigned int i = 0; i < CLIENTS; i++)
		mgrc_close(&cl[i].c, true);
	rig_close(&rig);
}
END_TEST

int main(void)
{
	Suite *s = suite_create("mgr_crash");
	TCase *tc = tcase_create("crash");

	tcase_set_timeout(tc, 280);
	tcase_add_test(tc, test_storm);
	suite_add_tcase(s, tc);
	return run_suite(s);
}
