/* SPDX-License-Identifier: BSD-2-Clause */
/* test_mgr_group.c - members of a group with real folders, and real connections that break. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "mgr/raft/member.h"
#include "tests/run_suite.h"
#include "tests/unit/key_rig.h"
#include "tests/unit/peers_rig.h"

#define NODES PEERS_RIG_NODES
#define ENTRIES_MAX 4096u

struct node {
	char path[64];
	struct disk_folder disk;
	struct raft_member *member;
	struct peers_rig_node *rig;
	uint64_t ids[ENTRIES_MAX]; /* ids of applied entries, in order */
	unsigned int n;
	uint64_t last; /* index */
	bool leads, lost;
	uint64_t checkpoint; /* a checkpoint at this index is requested */
	uint64_t fill_from;
};

static struct peers_rig rig;
static struct key_rig file;
static struct node nodes[NODES];
static uint64_t checkpoint_bytes; /* half of it is kept */
static unsigned int fills;
static uint64_t done_id; /* the entry that was acknowledged last */

static const struct member_address addresses[NODES] = { { 1, "one" },
							{ 2, "two" },
							{ 3, "three" } };

/* ---- callbacks of the member ---- */

static uint64_t read_clock(void *arg)
{
	return clock_boot();
}

static int random_int(void *arg, int min, int max)
{
	return min + rand() % (max - min + 1);
}

/* A disconnected node has no peers. */
static int node_send(void *arg, uint64_t to, const void *data, size_t len)
{
	struct node *node = arg;

	return node->rig->peers ? peers_send(node->rig->peers, to, data, len)
				: -ENOTCONN;
}

static bool on_receive(void *arg, uint64_t from, const void *data, size_t len)
{
	struct node *node = arg;

	return node->member && member_receive(node->member, data, len);
}

static void node_wake(void *arg)
{
	struct node *node = arg;

	rpc_ctx_wake(node->rig->ctx);
}

static int node_apply(void *arg, const struct member_entry *entry)
{
	struct node *node = arg;
	uint64_t id;

	ck_assert_uint_gt(entry->index, node->last);
	ck_assert_uint_lt(node->n, ENTRIES_MAX);
	memcpy(&id, entry->data, 8);
	for (size_t i = 8; i < entry->len; i += 4096)
		ck_assert_uint_eq(((const uint8_t *)entry->data)[i],
				  (uint8_t)(id + i / 4096));
	node->ids[node->n++] = id;
	node->last = entry->index;
	return 0;
}

static void node_gained(void *arg, uint64_t term)
{
	((struct node *)arg)->leads = true;
}

static void node_lost(void *arg, const char *why)
{
	((struct node *)arg)->lost = true;
}

static void node_failed(void *arg, const char *why)
{
	ck_abort_msg("%s\n%s", why, peers_rig_log_end(&rig));
}

static void node_checkpoint(void *arg, uint64_t index, uint64_t term)
{
	((struct node *)arg)->checkpoint = index;
}

static void node_fill(void *arg, uint64_t from, uint64_t index, uint64_t term)
{
	((struct node *)arg)->fill_from = from;
}

static struct member_attr attr_of(unsigned int i)
{
	struct node *node = &nodes[i];

	return (struct member_attr){
		.id = i + 1,
		.group = 5,
		.disk = node->disk,
		.clock = { NULL, read_clock, random_int },
		.peers = { node, node_send },
		.log_thread = { .arg = node, .wake = node_wake },
		.callbacks = { .arg = node,
			       .apply = node_apply,
			       .leader_gained = node_gained,
			       .leader_lost = node_lost,
			       .restart = node_lost,
			       .failed = node_failed,
			       .checkpoint = node_checkpoint,
			       .fill = node_fill },
		.applied = node->last,
		.election_ms = 1000,
		.heartbeat_ms = 100,
		.log_limit = 128u << 20,
		.checkpoint_bytes = checkpoint_bytes,
		.trailing_bytes = checkpoint_bytes / 2,
		.log = &rig.log,
	};
}

/* ---- the event loop ---- */

static void member_begin(unsigned int i)
{
	struct member_attr attr = attr_of(i);

	nodes[i].lost = nodes[i].leads = false;
	nodes[i].checkpoint = nodes[i].fill_from = 0;
	ck_assert_int_eq(member_start(&attr, &nodes[i].member), 0);
}

static void member_end(unsigned int i)
{
	member_stop(nodes[i].member);
	nodes[i].member = NULL;
}

static void fill(struct node *node)
{
	const struct node *from = &nodes[node->fill_from - 1];

	memcpy(node->ids, from->ids, sizeof(node->ids));
	node->n = from->n;
	node->last = from->last;
	node->fill_from = 0;
	fills++;
	member_filled(node->member, 0, node->last);
}

static void member_turn(unsigned int i)
{
	struct node *node = &nodes[i];

	member_collect(node->member);
	member_tick(node->member);
	if (node->fill_from)
		fill(node);
	if (node->checkpoint) {
		node->checkpoint = 0;
		member_checkpointed(node->member, 0);
	}
	if (node->lost) {
		member_end(i);
		member_begin(i);
	}
}

static void turn(void)
{
	peers_rig_turn(&rig);
	for (unsigned int i = 0; i < NODES; i++)
		if (!nodes[i].rig->stopped)
			member_turn(i);
}

#define turn_until(cond)                                                       \
	do {                                                                   \
		uint64_t end_ = clock_after_ms(PEERS_RIG_PATIENCE_MS);         \
		while (!(cond)) {                                              \
			turn();                                                \
			ck_assert_msg(clock_now() < end_, "never: %s\n%s",     \
				      #cond, peers_rig_log_end(&rig));         \
		}                                                              \
	} while (0)

static struct node *leader(void)
{
	for (unsigned int i = 0; i < NODES; i++)
		if (!nodes[i].rig->stopped && nodes[i].leads &&
		    !nodes[i].lost && member_lease_valid(nodes[i].member))
			return &nodes[i];
	return NULL;
}

static void on_done(void *arg, int rc)
{
	ck_assert_int_eq(rc, 0);
	done_id = (uintptr_t)arg;
}

/* Returns after the entry is committed, perhaps twice. */
static void commit(uint64_t id, size_t len)
{
	static uint8_t data[MEMBER_ENTRY_MAX];
	uint64_t end = clock_after_ms(PEERS_RIG_PATIENCE_MS);
	struct node *node;

	memcpy(data, &id, 8);
	for (size_t i = 8; i < len; i += 4096)
		data[i] = (uint8_t)(id + i / 4096);
	while (done_id != id) {
		ck_assert_msg(clock_now() < end, "never: entry %u\n%s",
			      (unsigned int)id, peers_rig_log_end(&rig));
		node = leader();
		if (!node || member_propose(node->member, data, len, on_done,
					    (void *)(uintptr_t)id)) {
			turn();
			continue;
		}
		while (done_id != id && node == leader() && clock_now() < end)
			turn();
	}
}

/* Returns true if all members have the same number of entries, at least up to this one. */
static bool have_all(uint64_t last)
{
	for (unsigned int i = 0; i < NODES; i++)
		if (!nodes[i].n || nodes[i].ids[nodes[i].n - 1] != last ||
		    nodes[i].n != nodes[0].n)
			return false;
	return true;
}

/* Checks that all members have applied entries 1 to last in the same order, some twice. */
static void check_all(uint64_t last)
{
	turn_until(have_all(last));
	for (unsigned int i = 0; i < NODES; i++) {
		uint64_t id = 0;

		for (unsigned int k = 0; k < nodes[i].n; k++) {
			ck_assert_uint_eq(nodes[i].ids[k], nodes[0].ids[k]);
			ck_assert(nodes[i].ids[k] == id ||
				  nodes[i].ids[k] == id + 1);
			id = nodes[i].ids[k];
		}
		ck_assert_uint_eq(id, last);
	}
}

/* ---- fixtures ---- */

static void setup(void)
{
	memset(&rig, 0, sizeof(rig));
	done_id = 0;
	fills = 0;
	checkpoint_bytes = 32u << 20;
	rig.receive = on_receive;
	rig.timeout_ms = 1000;
	for (unsigned int i = 0; i < NODES; i++) {
		struct node *node = &nodes[i];

		memset(node, 0, sizeof(*node));
		node->rig = &rig.nodes[i];
		node->rig->arg = node;
		strcpy(node->path, "/tmp/pvfs-group.XXXXXX");
		ck_assert_ptr_nonnull(mkdtemp(node->path));
		ck_assert_int_eq(disk_folder_open(node->path, &node->disk), 0);
	}
}

static void remove_file(void *ctx, const char *name)
{
	struct node *node = ctx;

	if (name[0] != '.')
		(void)node->disk.ops->remove(node->disk.arg, name);
}

static void teardown(void)
{
	for (unsigned int i = 0; i < NODES; i++) {
		struct node *node = &nodes[i];

		member_end(i);
		node->disk.ops->list(node->disk.arg, remove_file, node);
		disk_folder_close(&node->disk);
		ck_assert_int_eq(rmdir(node->path), 0);
	}
	if (rig.ring[0])
		key_rig_close(&file);
	peers_rig_close(&rig);
}

static void begin(const char *scheme, bool keys)
{
	if (keys) {
		key_rig_open(&file);
		rig.ring[0] = key_rig_ring(&file, KEY_A "\n");
		rig.ring[1] = key_rig_ring(&file, KEY_A "\n");
	}
	peers_rig_open(&rig, scheme);
	for (unsigned int i = 0; i < NODES; i++) {
		struct member_attr attr = attr_of(i);

		ck_assert_int_eq(member_create(&attr, addresses, NODES), 0);
		member_begin(i);
	}
}

/* ---- tests ---- */

static const struct {
	const char *scheme;
	bool keys;
} kinds[] = { { "tcp", true }, { "local", false } };

/* All connections are cut repeatedly while entries of all sizes are committed. */
START_TEST(test_connections_are_cut)
{
	static const size_t sizes[] = { 8, 3000, 20000, 400000, 8, 1 << 20 };

	begin(kinds[_i].scheme, kinds[_i].keys);
	for (uint64_t id = 1; id <= 60; id++) {
		commit(id, sizes[id % 6]);
		if (id % 5 == 0)
			peers_rig_cut(&rig);
	}
	commit(61, MEMBER_ENTRY_MAX);
	check_all(61);
}
END_TEST

/* A disconnected leader is replaced, and gets what it missed. */
START_TEST(test_leader_is_cut_off)
{
	struct node *before;

	begin(kinds[_i].scheme, kinds[_i].keys);
	commit(1, 8);
	before = leader();
	ck_assert_ptr_nonnull(before);
	peers_rig_server_close(before->rig);
	for (uint64_t id = 2; id <= 10; id++)
		commit(id, 300000);
	ck_assert_uint_eq(before->n, 1);
	peers_rig_server_open(&rig, before->rig);
	commit(11, 8);
	check_all(11);
}
END_TEST

/* A leader that stops without closing its connections is replaced. */
START_TEST(test_leader_is_silent)
{
	struct node *before;

	begin(kinds[_i].scheme, kinds[_i].keys);
	commit(1, 8);
	before = leader();
	ck_assert_ptr_nonnull(before);
	before->rig->stopped = true;
	for (uint64_t id = 2; id <= 10; id++)
		commit(id, 300000);
	before->rig->stopped = false;
	ck_assert(!member_lease_valid(before->member));
	commit(11, 8);
	check_all(11);
}
END_TEST

/* A leader that was disconnected for a short time gets the missing entries, and no snapshot. */
START_TEST(test_leader_returns_soon)
{
	struct node *before;
	uint64_t id;

	checkpoint_bytes = 2u << 20;
	begin(kinds[_i].scheme, kinds[_i].keys);
	for (id = 1; id <= 60; id++)
		commit(id, 100000);
	turn_until(have_all(60));
	before = leader();
	ck_assert_ptr_nonnull(before);
	peers_rig_server_close(before->rig);
	for (; id <= 200; id++) { /* the new leader also tries to send to it */
		uint64_t end = clock_after_ms(20);

		commit(id, 8);
		while (clock_now() < end)
			turn();
	}
	peers_rig_server_open(&rig, before->rig);
	commit(id, 8);
	check_all(id);
	ck_assert_uint_eq(fills, 0);
}
END_TEST

int main(void)
{
	Suite *s = suite_create("mgr_group");
	TCase *tc = tcase_create("mgr_group");

	tcase_set_timeout(tc, 280);
	tcase_add_checked_fixture(tc, setup, teardown);
	tcase_add_loop_test(tc, test_connections_are_cut, 0, 2);
	tcase_add_loop_test(tc, test_leader_is_cut_off, 0, 2);
	tcase_add_loop_test(tc, test_leader_is_silent, 0, 2);
	tcase_add_loop_test(tc, test_leader_returns_soon, 0, 2);
	suite_add_tcase(s, tc);
	return run_suite(s);
}
