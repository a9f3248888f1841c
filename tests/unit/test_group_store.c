/* SPDX-License-Identifier: BSD-2-Clause */
/* test_group_store.c - managers of one group in this process, each with a store and real files. */
#include <check.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "common/util/clock.h"
#include "common/util/container.h"
#include "mgr/backup/backup_int.h"
#include "mgr/group/group.h"
#include "tests/run_suite.h"
#include "tests/unit/member_rig.h"

#define MANAGERS 3u
#define NET_MS 1

struct packet {
	STAILQ_ENTRY(packet) link;
	size_t len;
	uint8_t data[];
};

struct manager {
	struct rig_member m; /* folder and store */
	struct checkpointer *cp;
	struct mgr_group *group; /* NULL: the manager does not run */
	struct flusher *fl; /* of the leader */
	bool cut_off;
	STAILQ_HEAD(, packet) inbox;
	uint64_t lacks; /* it must be filled up to this entry; 0: no need */
	unsigned int asked; /* number of times that it had to be filled */
};

static struct manager managers[MANAGERS];
static uint64_t log_limit; /* 0 means the default */
static struct rig rig; /* opens the stores */
static struct tp_dev *dev;
static struct rpc_ctx *ctx;
static struct rpc_timer net;
static unsigned int durable;

/* ---- the network: a timer delivers messages, also while group_lead() waits ---- */

static int send_packet(void *arg, uint64_t to, const void *data, size_t len)
{
	const struct manager *from = arg;
	struct packet *packet;

	if (from->cut_off || managers[to - 1].cut_off)
		return 0;
	packet = malloc(sizeof(*packet) + len);
	ck_assert_ptr_nonnull(packet);
	packet->len = len;
	memcpy(packet->data, data, len);
	STAILQ_INSERT_TAIL(&managers[to - 1].inbox, packet, link);
	return 0;
}

static void deliver(struct manager *m)
{
	struct packet *packet;

	while ((packet = STAILQ_FIRST(&m->inbox))) {
		STAILQ_REMOVE_HEAD(&m->inbox, link);
		if (m->group)
			mgr_group_receive(m->group, packet->data, packet->len);
		free(packet);
	}
	if (m->group)
		mgr_group_collect(m->group);
}

static void on_net(struct rpc_timer *timer)
{
	for (unsigned int i = 0; i < MANAGERS; i++)
		deliver(&managers[i]);
	rpc_timer_set(ctx, timer, clock_after_ms(NET_MS));
}

/* ---- managers ---- */

static const struct member_address all[MANAGERS] = { { 1, "one" },
						     { 2, "two" },
						     { 3, "three" } };

static void on_fill(void *arg, uint64_t from, uint64_t index)
{
	struct manager *m = arg;

	m->lacks = index;
	m->asked++;
}

/*
 * Opens the store, and the group with these first voters.  Returns 0, or the error of
 * mgr_group_open().
 */
static int open_manager(unsigned int i, size_t voters, bool founds)
{
	struct manager *m = &managers[i];
	struct group_attr attr = { .storage = m->m.dir,
				   .fsid = 7,
				   .group = 7,
				   .ctx = ctx,
				   .id = i + 1,
				   .log_limit = log_limit,
				   .voters = all,
				   .n = voters,
				   .founds = founds,
				   .peers = { m, send_packet },
				   .fill = on_fill,
				   .arg = m,
				   .log = &rig.log };

	m->lacks = 0;
	ck_assert_int_eq(rig_open(&rig, &m->m), 0);
	ck_assert_int_eq(checkpointer_open(m->m.st, &m->cp), 0);
	attr.st = m->m.st;
	attr.cp = m->cp;
	return mgr_group_open(&attr, &m->group);
}

static void start(unsigned int i, size_t voters)
{
	ck_assert_int_eq(open_manager(i, voters, false), 0);
}

static void stop(unsigned int i)
{
	struct manager *m = &managers[i];

	flusher_close(m->fl);
	m->fl = NULL;
	mgr_group_close(m->group);
	m->group = NULL;
	deliver(m);
	checkpointer_close(m->cp);
	m->cp = NULL;
	rig_close(&m->m);
}

static void turn(void)
{
	rpc_ctx_progress(ctx, clock_after_ms(NET_MS));
	for (unsigned int i = 0; i < MANAGERS; i++)
		if (managers[i].fl)
			ck_assert_int_ge(flusher_collect(managers[i].fl), 0);
}

static struct manager *find_elected(void)
{
	for (unsigned int i = 0; i < MANAGERS; i++)
		if (managers[i].group &&
		    mgr_group_state(managers[i].group) == GROUP_ELECTED)
			return &managers[i];
	return NULL;
}

static struct manager *elect(void)
{
	struct manager *m;
	struct managers_log log;

	while (!(m = find_elected()))
		turn();
	ck_assert_uint_ne(mgr_group_term(m->group), 0);
	ck_assert_int_eq(mgr_group_lead(m->group), 0);
	ck_assert_int_eq(mgr_group_state(m->group), GROUP_LEADS);
	log = mgr_group_log(m->group);
	ck_assert_int_eq(flusher_open_replicated(m->m.st, &log, 8, &m->fl), 0);
	return m;
}

/* ---- changes ---- */

static void on_durable(struct flusher_item *item)
{
	durable++;
}

static void commit_change(struct manager *m, uint32_t seed)
{
	ck_assert_int_eq(store_begin(m->m.st), 0);
	ck_assert_int_eq(rig_put(m->m.st, 0, seed % RIG_KEYS, seed), 0);
	ck_assert_int_eq(store_commit(m->m.st), 0);
}

/* Commits a change and waits until it is acknowledged. */
static void change(struct manager *m, uint32_t seed)
{
	struct flusher_item item = { .durable = on_durable };
	unsigned int before = durable;

	commit_change(m, seed);
	flusher_add(m->fl, &item);
	flusher_submit(m->fl);
	while (durable == before)
		turn();
}

static void change_many(struct manager *m, uint32_t from, uint32_t n)
{
	for (uint32_t i = 0; i < n; i++)
		change(m, from + i);
}

/* Waits until all running managers have the same rows. */
static void wait_same_rows(struct manager *leader)
{
	uint32_t sum = rig_sum(leader->m.st);
	unsigned int same = 0;

	while (same < MANAGERS) {
		turn();
		same = 0;
		for (unsigned int i = 0; i < MANAGERS; i++)
			same += !managers[i].group ||
				rig_sum(managers[i].m.st) == sum;
	}
}

static unsigned int index_of(const struct manager *m)
{
	return (unsigned int)(m - managers);
}

/* ---- fixtures ---- */

static void setup(void)
{
	struct tp_dev_attr dev_attr = { 0 };
	struct rpc_ctx_attr attr = { 0 };

	durable = 0;
	log_limit = 0;
	rig_init(&rig);
	rig.takes_entries = true;
	ck_assert_int_eq(tp_dev_open("tcp", &dev_attr, &dev), 0);
	attr.dev = dev;
	ck_assert_int_eq(rpc_ctx_open(&attr, &ctx), 0);
	for (unsigned int i = 0; i < MANAGERS; i++) {
		memset(&managers[i], 0, sizeof(managers[i]));
		STAILQ_INIT(&managers[i].inbox);
		rig_member_make(&managers[i].m, "group");
	}
	net = (struct rpc_timer){ .fire = on_net };
	rpc_timer_set(ctx, &net, clock_after_ms(NET_MS));
}

static void teardown(void)
{
	for (unsigned int i = 0; i < MANAGERS; i++) {
		if (managers[i].group)
			stop(i);
		rig_member_remove(&managers[i].m);
	}
	rpc_timer_clear(ctx, &net);
	rpc_ctx_close(ctx);
	tp_dev_close(dev);
	rig_free(&rig);
}

/* ---- tests ---- */

START_TEST(test_alone)
{
	struct rig_model model = { 0 };
	uint64_t term;

	start(0, 1);
	change_many(elect(), 1, 100);
	for (uint32_t seed = 1; seed <= 100; seed++)
		model.seed[0][seed % RIG_KEYS] = seed;
	ck_assert(flusher_leads(managers[0].fl));
	term = mgr_group_term(managers[0].group);
	stop(0);
	start(0, 1);
	elect();
	ck_assert_uint_gt(mgr_group_term(managers[0].group), term);
	rig_check_rows(managers[0].m.st, &model);
}
END_TEST

START_TEST(test_three)
{
	struct manager *first, *second;

	for (unsigned int i = 0; i < MANAGERS; i++)
		start(i, MANAGERS);
	first = elect();
	change_many(first, 1, 50);
	wait_same_rows(first);
	stop(index_of(first));
	second = elect();
	ck_assert_ptr_ne(first, second);
	change_many(second, 100, 50);
	start(index_of(first), MANAGERS);
	change_many(second, 200, 10);
	wait_same_rows(second);
}
END_TEST

/* A leader that is disconnected undoes its later changes. */
START_TEST(test_cut_off)
{
	struct flusher_item item = { .durable = on_durable };
	struct flusher_item read = { .durable = on_durable };
	struct manager *first, *second;
	unsigned int before;

	for (unsigned int i = 0; i < MANAGERS; i++)
		start(i, MANAGERS);
	first = elect();
	change_many(first, 1, 10);
	wait_same_rows(first);
	first->cut_off = true;
	before = durable;
	commit_change(first, 77);
	flusher_add(first->fl, &item);
	flusher_submit(first->fl);
	second = elect();
	/* it has no lease any more, even if it does not know that */
	ck_assert(!flusher_leads(first->fl));
	ck_assert(!flusher_add_read(first->fl, &read));
	while (mgr_group_state(first->group) != GROUP_LOST)
		turn();
	ck_assert_uint_eq(durable, before);
	change_many(second, 100, 10);
	stop(index_of(first));
	first->cut_off = false;
	start(index_of(first), MANAGERS);
	wait_same_rows(second);
}
END_TEST

/* The log of the group does not grow without limit. */
START_TEST(test_checkpoint)
{
	struct member_status status = { 0 };
	struct manager *m;

	start(0, 1);
	m = elect();
	for (uint32_t i = 1; i < 4000 || !status.snapshot; i++) {
		commit_change(m, 16 * i); /* long values */
		if (i % 64 == 0)
			change(m, i);
		mgr_group_get_status(m->group, &status);
		ck_assert_uint_lt(i, 100000);
	}
	ck_assert_uint_ge(store_durable_index(m->m.st), status.snapshot);
	stop(0);
	start(0, 1);
	m = elect();
	change(m, 5);
}
END_TEST

/* The log is cut after the first entry of a leader, which has no changes. */
START_TEST(test_checkpoint_of_term)
{
	struct member_status status = { 0 };
	struct manager *m;

	start(0, 1);
	m = elect();
	/* in one burst, so that no checkpoint ends before the stop */
	for (uint32_t i = 1; i < 4500; i++)
		commit_change(m, 16 * i); /* long values */
	change(m, 1);
	stop(0);
	start(0, 1);
	while (!status.snapshot) {
		turn();
		mgr_group_get_status(m->group, &status);
	}
	ck_assert_uint_ge(store_durable_index(m->m.st), status.snapshot);
	stop(0);
	start(0, 1);
	change(elect(), 5);
}
END_TEST

/* Checks that manager 0 does not start without `lost`, a path in its folder. */
static void expect_refused(const char *lost)
{
	struct manager *m = &managers[0];
	char cmd[128];

	snprintf(cmd, sizeof(cmd), "rm -rf %s/%s", m->m.dir, lost);
	ck_assert_int_eq(system(cmd), 0);
	ck_assert_int_eq(open_manager(0, 0, false), -EIO);
	checkpointer_close(m->cp);
	m->cp = NULL;
}

/* The log begins after entries that only the database has. */
START_TEST(test_lost_database)
{
	struct member_status status = { 0 };
	struct manager *m;

	start(0, 1);
	m = elect();
	for (uint32_t i = 1; !status.snapshot; i++) {
		commit_change(m, 16 * i);
		if (i % 64 == 0)
			change(m, i);
		mgr_group_get_status(m->group, &status);
	}
	stop(0);
	expect_refused("db");
}
END_TEST

START_TEST(test_lost_log)
{
	start(0, 1);
	change_many(elect(), 1, 10);
	stop(0);
	expect_refused("raft/log.*");
}
END_TEST

/* ---- a manager joins ---- */

/* Copies the leader's database to the folder of another manager. */
static void copy_leader(const struct manager *leader, const struct manager *m)
{
	struct backup_folder folder = { .uid = (uid_t)-1 };
	const struct store_sink sink = { backup_folder_file, backup_folder_data,
					 &folder };
	char dir[96];

	snprintf(dir, sizeof(dir), "%s/filling", m->m.dir);
	ck_assert_int_eq(backup_folder_open(&folder, dir), 0);
	ck_assert_int_eq(store_copy(leader->m.st, &sink), 0);
	ck_assert_int_eq(backup_folder_publish(&folder), 0);
	backup_folder_close(&folder);
}

static void run_in(const struct manager *m, const char *what)
{
	char cmd[192];

	snprintf(cmd, sizeof(cmd), "cd %s && %s", m->m.dir, what);
	ck_assert_int_eq(system(cmd), 0);
}

static bool has_vote(struct manager *leader, uint64_t id)
{
	struct member_status status;
	const struct member_peer_status *peer;

	mgr_group_get_status(leader->group, &status);
	peer = member_status_find(&status, id);
	return peer && peer->voter;
}

/* Does the same as a JOIN of the member: it gets a vote only if it lacks few entries. */
static void promote(struct manager *leader, uint64_t id)
{
	int rc = mgr_group_promote(leader->group, id);

	ck_assert(!rc || rc == -EBUSY || rc == -EAGAIN);
}

/* Waits until manager i, which is no voter, must be filled. */
static void begin_joining(struct manager *leader, unsigned int i)
{
	start(i, 0);
	ck_assert_int_eq(mgr_group_add(leader->group, &all[i]), 0);
	while (!managers[i].lacks) {
		promote(leader, i + 1);
		turn();
	}
}

/* The process of manager i restarts, and must be filled again. */
static void interrupt_fill(struct manager *leader, unsigned int i)
{
	struct manager *m = &managers[i];
	unsigned int asked = m->asked;

	stop(i);
	run_in(m, "rm -rf filling");
	start(i, 0);
	while (m->asked == asked) {
		turn();
		ck_assert(!has_vote(leader, i + 1));
	}
}

static void finish_joining(struct manager *leader, unsigned int i)
{
	struct manager *m = &managers[i];

	copy_leader(leader, m);
	mgr_group_note_filled(m->group, m->lacks);
	while (mgr_group_state(m->group) != GROUP_LOST)
		turn();
	stop(i);
	run_in(m, "rm -rf db && mv filling/db . && rmdir filling");
	start(i, 0);
	while (!has_vote(leader, i + 1)) {
		promote(leader, i + 1);
		turn();
	}
}

/*
 * The copy of a joining manager is interrupted: the copy fails, or the process ends before the copy
 * is complete, or directly after that.  The manager gets no vote before it has everything, and
 * takes part afterwards.
 */
START_TEST(test_interrupted_fill)
{
	struct manager *leader, *m = &managers[1];

	ck_assert_int_eq(open_manager(0, 1, true), 0);
	leader = elect();
	change_many(leader, 1, 50);
	begin_joining(leader, 1);
	promote(leader, 2);
	mgr_group_give_up(m->group, "the copy failed");
	ck_assert_int_eq(mgr_group_state(m->group), GROUP_LOST);
	interrupt_fill(leader, 1);
	change_many(leader, 100, 50);
	interrupt_fill(leader, 1);
	copy_leader(leader, m);
	change_many(leader, 200, 50);
	interrupt_fill(leader, 1);
	finish_joining(leader, 1);
	change_many(leader, 300, 10);
	wait_same_rows(leader);
}
END_TEST

static uint64_t log_bytes(struct manager *m)
{
	struct member_status status;

	mgr_group_get_status(m->group, &status);
	return status.log_bytes;
}

/* Fills the log of the leader up to half of its limit. */
static void fill_half(struct manager *leader)
{
	for (uint32_t i = 1; log_bytes(leader) < log_limit / 2; i++) {
		commit_change(leader, 16 * i); /* long values */
		if (i % 64 == 0)
			change(leader, i);
	}
}

/* When the log has reached half of its limit, changes are slow, but do not stop. */
START_TEST(test_small_log)
{
	struct manager *leader;

	log_limit = UINT64_C(40) << 20;
	ck_assert_int_eq(open_manager(0, 1, true), 0);
	leader = elect();
	begin_joining(leader, 1);
	fill_half(leader);
	for (uint32_t i = 1; i <= 30; i++) {
		change(leader, 16 * i);
		ck_assert_uint_le(log_bytes(leader), log_limit);
	}
	finish_joining(leader, 1);
	change_many(leader, 1, 10);
	wait_same_rows(leader);
	ck_assert_uint_le(log_bytes(leader), log_limit);
}
END_TEST

int main(void)
{
	TCase *tc = tcase_create("group");
	Suite *s = suite_create("mgr_group");

	tcase_add_checked_fixture(tc, setup, teardown);
	tcase_set_timeout(tc, 120);
	tcase_add_test(tc, test_alone);
	tcase_add_test(tc, test_three);
	tcase_add_test(tc, test_cut_off);
	tcase_add_test(tc, test_checkpoint);
	tcase_add_test(tc, test_checkpoint_of_term);
	tcase_add_test(tc, test_lost_database);
	tcase_add_test(tc, test_lost_log);
	tcase_add_test(tc, test_interrupted_fill);
	tcase_add_test(tc, test_small_log);
	suite_add_tcase(s, tc);
	return run_suite(s);
}
