/* SPDX-License-Identifier: BSD-2-Clause */
/* test_raft_member.c - members with real folders and log threads. */
#include <check.h>
#include <errno.h>
#include <pthread.h>
#include <semaphore.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "common/util/clock.h"
#include "mgr/raft/member_int.h"
#include "tests/raft_sim/sim.h"
#include "tests/run_suite.h"

#define NODES 4u
#define ENTRIES_MAX 5000u

struct packet {
	STAILQ_ENTRY(packet) link;
	size_t len;
	uint8_t data[];
};

struct node {
	char path[64];
	struct disk_folder disk;
	struct raft_member *member;
	STAILQ_HEAD(, packet) inbox;
	uint64_t ids[ENTRIES_MAX]; /* ids of applied entries, in order */
	uint64_t terms[ENTRIES_MAX];
	unsigned int n;
	uint64_t last; /* index */
	uint64_t leads;
	bool lost, again, failed;
	unsigned int storing; /* messages whose results were to follow */
	unsigned int results; /* that were sent */
	uint64_t checkpoint; /* a checkpoint at this index is requested */
	bool holds_checkpoints, fails_once, never_filled;
	struct {
		uint64_t from, index;
	} fill;
	bool deaf; /* it gets no message */
};

static struct node nodes[NODES];
static sem_t woken;
static unsigned int done_n;
static int done_rc;

/* ---- a folder with faults ---- */

static struct {
	const struct disk_folder_ops *real;
	struct disk_folder_ops ops;
	pthread_t loop;
	void *_Atomic blocked; /* writes of the log thread of this disk wait */
	sem_t arrived, opened;
	void *full; /* this disk has no space for a segment */
	void *broken; /* writes of term and vote to this disk fail */
	pthread_t opener;
} faults;

static int faulty_write(void *arg, int fd, const void *buf, size_t len,
			uint64_t offset)
{
	if (arg == faults.blocked &&
	    !pthread_equal(pthread_self(), faults.loop)) {
		sem_post(&faults.arrived);
		while (sem_wait(&faults.opened))
			;
	}
	if (arg == faults.broken && pthread_equal(pthread_self(), faults.loop))
		return -EIO;
	return faults.real->write(arg, fd, buf, len, offset);
}

static int faulty_reserve(void *arg, int fd, uint64_t len)
{
	return arg == faults.full ? -ENOSPC
				  : faults.real->reserve(arg, fd, len);
}

static void make_faulty(struct disk_folder *disk)
{
	faults.real = disk->ops;
	faults.ops = *disk->ops;
	faults.ops.write = faulty_write;
	faults.ops.reserve = faulty_reserve;
	faults.full = NULL;
	faults.broken = NULL;
	faults.loop = pthread_self();
	disk->ops = &faults.ops;
}

static void *open_later(void *arg)
{
	usleep(200000);
	faults.blocked = NULL;
	sem_post(&faults.opened);
	return NULL;
}

/* ---- what the member uses ---- */

/* 0: real time.  Otherwise each turn takes a simulated millisecond, however busy the machine is. */
static uint64_t slow_clock;
static uint64_t log_limit; /* of each member */

static uint64_t now(void *arg)
{
	return slow_clock ? slow_clock : clock_boot();
}

static int random_int(void *arg, int min, int max)
{
	return min + rand() % (max - min + 1);
}

static int node_send(void *arg, uint64_t to, const void *data, size_t len)
{
	struct packet *packet = malloc(sizeof(*packet) + len);
	struct node *from = arg;

	from->results += peer_message_is_result(data, len);
	packet->len = len;
	memcpy(packet->data, data, len);
	STAILQ_INSERT_TAIL(&nodes[to - 1].inbox, packet, link);
	return 0;
}

static void node_wake(void *arg)
{
	sem_post(&woken);
}

static int node_apply(void *arg, const struct member_entry *entry)
{
	struct node *node = arg;

	ck_assert_uint_gt(entry->index, node->last);
	ck_assert_uint_lt(node->n, ENTRIES_MAX);
	memcpy(&node->ids[node->n], entry->data, 8);
	node->terms[node->n++] = entry->term;
	node->last = entry->index;
	return 0;
}

static void node_gained(void *arg, uint64_t term)
{
	((struct node *)arg)->leads = term;
}

static void node_lost(void *arg, const char *why)
{
	((struct node *)arg)->lost = true;
}

static void node_again(void *arg, const char *why)
{
	((struct node *)arg)->again = true;
}

static void node_failed(void *arg, const char *why)
{
	((struct node *)arg)->failed = true;
}

static void node_checkpoint(void *arg, uint64_t index, uint64_t term)
{
	((struct node *)arg)->checkpoint = index;
}

static void node_fill(void *arg, uint64_t from, uint64_t index, uint64_t term)
{
	struct node *node = arg;

	node->fill.from = from;
	node->fill.index = index;
}

static unsigned int
	dropped; /* answers to a leader that it does not take for its own */

static void read_log(void *arg, enum log_level level, const char *msg)
{
	dropped += strstr(msg, "it answers no message of this leader") != NULL;
}

static const struct log member_log = { LOG_LV_DEBUG, read_log, NULL };

static const struct member_address addresses[NODES] = {
	{ 1, "one" }, { 2, "two" }, { 3, "three" }, { 4, "four" }
};

static struct member_attr attr_of(unsigned int i)
{
	struct node *node = &nodes[i];

	return (struct member_attr){
		.id = i + 1,
		.group = 5,
		.disk = node->disk,
		.clock = { NULL, now, random_int },
		.peers = { node, node_send },
		.log_thread = { .wake = node_wake },
		.callbacks = { .arg = node,
			       .apply = node_apply,
			       .leader_gained = node_gained,
			       .leader_lost = node_lost,
			       .restart = node_again,
			       .failed = node_failed,
			       .checkpoint = node_checkpoint,
			       .fill = node_fill },
		.applied = node->last,
		.election_ms = 150,
		.heartbeat_ms = 30,
		.segment_size = 256u << 10,
		.log_limit = log_limit,
		.checkpoint_bytes = 512u << 10,
		.trailing_bytes = 256u << 10,
		.log = &member_log,
	};
}

/* ---- a loop ---- */

static void start(unsigned int i)
{
	struct member_attr attr = attr_of(i);

	nodes[i].lost = nodes[i].again = nodes[i].failed = false;
	nodes[i].leads = 0;
	ck_assert_int_eq(member_start(&attr, &nodes[i].member), 0);
}

static void drop_packets(struct node *node)
{
	struct packet *packet;

	while ((packet = STAILQ_FIRST(&node->inbox))) {
		STAILQ_REMOVE_HEAD(&node->inbox, link);
		free(packet);
	}
}

static void stop(unsigned int i)
{
	member_stop(nodes[i].member);
	nodes[i].member = NULL;
	nodes[i].checkpoint = 0;
	drop_packets(&nodes[i]);
}

static void receive_all(struct node *node)
{
	struct packet *packet;

	while ((packet = STAILQ_FIRST(&node->inbox))) {
		STAILQ_REMOVE_HEAD(&node->inbox, link);
		if (node->member && !node->deaf)
			node->storing += member_receive(node->member,
							packet->data,
							packet->len);
		free(packet);
	}
}

static void fill(struct node *node)
{
	const struct node *from = &nodes[node->fill.from - 1];

	memcpy(node->ids, from->ids, sizeof(node->ids));
	memcpy(node->terms, from->terms, sizeof(node->terms));
	node->n = from->n;
	node->last = from->last;
	node->fill.index = 0;
	member_filled(node->member, 0, node->last);
}

static void turn(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_REALTIME, &ts);
	ts.tv_nsec += 5000000;
	ts.tv_sec += ts.tv_nsec / 1000000000;
	ts.tv_nsec %= 1000000000;
	(void)sem_timedwait(&woken, &ts);
	if (slow_clock)
		slow_clock += CLOCK_NS_PER_MS;
	for (unsigned int i = 0; i < NODES; i++) {
		struct node *node = &nodes[i];

		receive_all(node);
		if (!node->member)
			continue;
		member_collect(node->member);
		member_tick(node->member);
		if (node->fill.index && !node->never_filled)
			fill(node);
		if (node->checkpoint && !node->holds_checkpoints) {
			node->checkpoint = 0;
			member_checkpointed(node->member,
					    node->fails_once ? -EIO : 0);
			node->fails_once = false;
		}
	}
}

static struct node *leader(void)
{
	for (unsigned int i = 0; i < NODES; i++)
		if (nodes[i].member && nodes[i].leads && !nodes[i].lost &&
		    member_lease_valid(nodes[i].member))
			return &nodes[i];
	return NULL;
}

static struct node *wait_leader(void)
{
	while (!leader())
		turn();
	return leader();
}

static void done(void *arg, int rc)
{
	done_n++;
	done_rc = rc;
}

/* Proposes an entry of len bytes, and waits until it is committed. */
static int propose(struct node *node, uint64_t id, size_t len)
{
	static uint8_t data[MEMBER_ENTRY_MAX];
	unsigned int before = done_n;
	int rc;

	memcpy(data, &id, 8);
	while ((rc = member_propose(node->member, data, len, done, NULL)) ==
	       -EAGAIN)
		turn();
	while (!rc && done_n == before)
		turn();
	return rc;
}

/* ---- fixtures ---- */

static void setup(void)
{
	sem_init(&woken, 0, 0);
	for (unsigned int i = 0; i < NODES; i++) {
		struct node *node = &nodes[i];

		memset(node, 0, sizeof(*node));
		STAILQ_INIT(&node->inbox);
		snprintf(node->path, sizeof(node->path),
			 "/tmp/pvfs-raft.XXXXXX");
		ck_assert_ptr_nonnull(mkdtemp(node->path));
		ck_assert_int_eq(disk_folder_open(node->path, &node->disk), 0);
		make_faulty(&node->disk);
	}
	done_n = 0;
	dropped = 0;
	slow_clock = 0;
	log_limit = 2u << 20;
}

static void remove_file(void *ctx, const char *name)
{
	struct node *node = ctx;

	if (name[0] != '.')
		(void)disk_folder_remove(&node->disk, name);
}

static void teardown(void)
{
	/* a member that stops may still send messages to the others */
	for (unsigned int i = 0; i < NODES; i++)
		if (nodes[i].member)
			stop(i);
	for (unsigned int i = 0; i < NODES; i++) {
		struct node *node = &nodes[i];

		drop_packets(node);
		disk_folder_list(&node->disk, remove_file, node);
		disk_folder_close(&node->disk);
		ck_assert_int_eq(rmdir(node->path), 0);
	}
	sem_destroy(&woken);
}

static void create(unsigned int i, unsigned int n)
{
	struct member_attr attr = attr_of(i);

	ck_assert_int_eq(member_create(&attr, addresses, n), 0);
	start(i);
}

/* ---- tests ---- */

START_TEST(test_alone)
{
	struct member_status status;
	struct node *node = &nodes[0];

	create(0, 1);
	wait_leader();
	for (uint64_t id = 1; id <= 50; id++)
		ck_assert_int_eq(propose(node, id, 8 + id * 100), 0);
	stop(0);
	ck_assert_uint_eq(node->n, 50);
	start(0);
	wait_leader();
	ck_assert_int_eq(propose(node, 51, 8), 0);
	for (uint64_t id = 1; id <= 51; id++)
		ck_assert_uint_eq(node->ids[id - 1], id);
	member_get_status(node->member, &status);
	ck_assert(status.role == MEMBER_LEADER && status.lease);
	ck_assert_uint_eq(status.leader, 1);
	ck_assert_uint_eq(status.applied, status.last);
	ck_assert_uint_gt(node->terms[50], node->terms[0]);
}
END_TEST

/* A result follows each message with new entries. */
START_TEST(test_results_follow)
{
	unsigned int storing = 0;

	for (unsigned int i = 0; i < 3; i++)
		create(i, 3);
	for (uint64_t id = 1; id <= 5; id++)
		ck_assert_int_eq(propose(wait_leader(), id, 8), 0);
	while (nodes[0].n < 5 || nodes[1].n < 5 || nodes[2].n < 5)
		turn();
	for (unsigned int i = 0; i < 3; i++) {
		ck_assert_uint_ge(nodes[i].results, nodes[i].storing);
		storing += nodes[i].storing;
	}
	ck_assert_uint_ge(storing, 5);
}
END_TEST

/* A leader accepts the answers to its first heartbeats, which libraft sends before the term begins. */
START_TEST(test_first_heartbeat)
{
	for (unsigned int i = 0; i < 3; i++)
		create(i, 3);
	ck_assert_int_eq(propose(wait_leader(), 1, 8), 0);
	ck_assert_uint_eq(dropped, 0);
}
END_TEST

/* A state machine that lost everything gets all entries again. */
START_TEST(test_replay)
{
	struct node *node = &nodes[0];

	create(0, 1);
	wait_leader();
	for (uint64_t id = 1; id <= 20; id++)
		ck_assert_int_eq(propose(node, id, 8), 0);
	stop(0);
	node->n = 0;
	node->last = 0;
	start(0);
	wait_leader();
	ck_assert_uint_eq(node->n, 20);
	ck_assert_uint_eq(node->ids[19], 20);
}
END_TEST

START_TEST(test_limits)
{
	static uint8_t data[MEMBER_ENTRY_MAX + 1];
	struct node *node = &nodes[0];
	uint64_t id = 1;
	int rc;

	create(0, 1);
	ck_assert_int_eq(member_propose(node->member, data, 8, done, NULL),
			 -ENOTCONN);
	wait_leader();
	ck_assert_int_eq(member_propose(node->member, data, sizeof(data), done,
					NULL),
			 -EMSGSIZE);
	/* the entry does not fit into these segments */
	ck_assert_int_eq(member_propose(node->member, data, 200000, done, NULL),
			 -EMSGSIZE);
	node->holds_checkpoints = true;
	do
		rc = propose(node, id++, 60000);
	while (!rc && id < 1000);
	ck_assert_int_eq(rc, -ENOSPC);
	node->holds_checkpoints = false;
	node->fails_once = true;
	while (propose(node, id, 60000))
		turn();
	ck_assert(!node->fails_once && !node->failed);
}
END_TEST

static uint64_t test_now(void *arg)
{
	return *(uint64_t *)arg;
}

static void count_submitted(void *arg)
{
	++*(unsigned int *)arg;
}

/* If the disk is full, the member tries to create a segment once a second, not at each tick. */
START_TEST(test_full_disk)
{
	struct member_attr attr = attr_of(0);
	uint64_t clock = 1000 * CLOCK_NS_PER_MS;
	unsigned int submitted = 0;
	struct raft_member *m;

	ck_assert_int_eq(member_create(&attr, addresses, 3), 0);
	faults.full = nodes[0].disk.arg;
	attr.clock.arg = &clock;
	attr.clock.now = test_now;
	attr.log_thread =
		(struct member_log_thread){ .arg = &submitted,
					    .wake = count_submitted,
					    .submitted = count_submitted };
	ck_assert_int_eq(member_start(&attr, &m), 0);
	for (int i = 0; i < 300; i++) {
		clock += 10 * CLOCK_NS_PER_MS;
		member_tick(m);
	}
	ck_assert_uint_ge(submitted, 2);
	ck_assert_uint_le(submitted, 4);
	member_stop(m);
}
END_TEST

static uint64_t log_room(unsigned int i)
{
	uint64_t room;

	start(i);
	room = log_writer_room(nodes[i].member->writer);
	stop(i);
	return room;
}

static enum member_role role_of(unsigned int i)
{
	struct member_status status;

	member_get_status(nodes[i].member, &status);
	return status.role;
}

/* A new leader writes an entry, so a member without space for its log is no candidate. */
START_TEST(test_full_log)
{
	struct member_attr attr = attr_of(0);

	ck_assert_int_eq(member_create(&attr, addresses, 1), 0);
	faults.full = nodes[0].disk.arg;
	while (log_room(0) >= 4 * entry_log_space(0))
		;
	ck_assert_int_eq(member_force(&attr, attr.group, addresses, 3), 0);
	start(0);
	for (int i = 0; i < 200; i++) {
		turn();
		ck_assert_int_eq(role_of(0), MEMBER_FOLLOWER);
	}
	faults.full = NULL;
	while (role_of(0) != MEMBER_CANDIDATE)
		turn();
	ck_assert(!nodes[0].failed);
}
END_TEST

/* Adds node i, and waits until it has a vote. */
/* Adds nodes[i], and asks for its promotion until that begins. */
static void begin_promotion(struct node *node, unsigned int i)
{
	unsigned int before = done_n;
	int rc;

	ck_assert_int_eq(member_add(node->member, &addresses[i], done, NULL),
			 0);
	ck_assert_int_eq(member_add(node->member, &addresses[i], done, NULL),
			 -EBUSY);
	while (done_n == before)
		turn();
	ck_assert_int_eq(done_rc, 0);
	do {
		turn();
		rc = member_promote(node->member, i + 1, done, NULL);
	} while (rc == -EAGAIN || rc == -EBUSY);
	ck_assert_int_eq(rc, 0);
}

static void end_promotion(void)
{
	unsigned int before = done_n;

	while (done_n == before)
		turn();
	ck_assert_int_eq(done_rc, 0);
}

static void add_voter(struct node *node, unsigned int i)
{
	begin_promotion(node, i);
	end_promotion();
}

static void begin_three(void)
{
	for (unsigned int i = 0; i < 3; i++)
		create(i, 3);
	wait_leader();
}

/*
 * The leader loses its term while its log thread is inside a write, and another entry waits.  The
 * write completes while the member is being stopped.  Returns the index of the entry that is being
 * written.
 */
static uint64_t lose_while_writing(struct node **lost)
{
	struct member_status status;
	struct node *node;

	sem_init(&faults.arrived, 0, 0);
	sem_init(&faults.opened, 0, 0);
	begin_three();
	*lost = node = leader();
	ck_assert_int_eq(propose(node, 1, 8), 0);
	faults.blocked = node->disk.arg;
	ck_assert_int_eq(
		member_propose(node->member, "12345678", 8, done, NULL), 0);
	member_get_status(node->member, &status);
	sem_wait(&faults.arrived);
	ck_assert_int_eq(member_add(node->member, &addresses[3], done, NULL),
			 0);
	for (unsigned int i = 0; i < 3; i++)
		if (&nodes[i] != node)
			stop(i);
	while (!node->lost)
		turn();
	ck_assert_int_eq(pthread_create(&faults.opener, NULL, open_later, NULL),
			 0);
	return status.last;
}

/* Returns the last index in the log of a stopped member. */
static uint64_t last_on_disk(struct node *node)
{
	struct member_status status;

	ck_assert_int_eq(pthread_join(faults.opener, NULL), 0);
	sem_destroy(&faults.arrived);
	sem_destroy(&faults.opened);
	start((unsigned int)(node - nodes));
	member_get_status(node->member, &status);
	return status.last;
}

START_TEST(test_stop_after_loss)
{
	struct node *node;
	uint64_t index = lose_while_writing(&node);

	stop((unsigned int)(node - nodes));
	ck_assert_uint_eq(last_on_disk(node), index + 1);
}
END_TEST

START_TEST(test_abandon_stores_nothing)
{
	static struct sim_heap heap;
	struct node *node;
	uint64_t index;

	sim_heap_init();
	sim_heap_use(&heap);
	index = lose_while_writing(&node);
	member_abandon(node->member);
	node->member = NULL;
	ck_assert_uint_eq(last_on_disk(node), index);
	stop((unsigned int)(node - nodes));
	sim_heap_free(&heap);
	raft_heap_set_default();
}
END_TEST

START_TEST(test_transfer)
{
	struct node *first, *second;

	begin_three();
	first = leader();
	ck_assert_int_eq(propose(first, 1, 8), 0);
	ck_assert_int_eq(member_transfer(first->member, 0), 0);
	ck_assert(!member_lease_valid(first->member));
	ck_assert_int_eq(member_propose(first->member, "12345678", 8, done,
					NULL),
			 -ENOTCONN);
	while (!first->lost)
		turn();
	stop((unsigned int)(first - nodes));
	second = wait_leader();
	ck_assert(second != first);
	ck_assert_int_eq(propose(second, 2, 8), 0);
	ck_assert_uint_gt(second->terms[1], second->terms[0]);
}
END_TEST

/* The target of the transfer has just started, and may not be a candidate yet. */
START_TEST(test_transfer_to_started)
{
	struct member_status status;
	unsigned int second;
	struct node *first;
	uint64_t term;

	slow_clock = clock_boot();
	begin_three();
	first = leader();
	term = first->leads;
	second = (unsigned int)(first - nodes + 1) % 3;
	ck_assert_int_eq(propose(first, 1, 8), 0);
	while (!nodes[second].n)
		turn();
	stop(second);
	start(second);
	for (unsigned int i = 0; i < attr_of(second).election_ms / 3; i++)
		turn();
	ck_assert_int_eq(member_transfer(first->member, second + 1), 0);
	while (!first->lost)
		turn();
	member_get_status(nodes[second].member, &status);
	ck_assert_uint_gt(status.term, term);
}
END_TEST

/* The target of the transfer cannot store its new term. */
START_TEST(test_transfer_to_broken_disk)
{
	static struct sim_heap heap;
	unsigned int first, second;

	sim_heap_init();
	sim_heap_use(&heap);
	begin_three();
	first = (unsigned int)(leader() - nodes);
	second = (first + 1) % 3;
	ck_assert_int_eq(propose(&nodes[first], 1, 8), 0);
	while (!nodes[second].n)
		turn();
	faults.broken = nodes[second].disk.arg;
	ck_assert_int_eq(member_transfer(nodes[first].member, second + 1), 0);
	while (!nodes[second].failed)
		turn();
	member_abandon(nodes[second].member);
	nodes[second].member = NULL;
	for (unsigned int i = 0; i < 3; i++)
		if (i != second)
			stop(i);
	sim_heap_free(&heap);
	raft_heap_set_default();
}
END_TEST

static void raise_term(unsigned int i, uint64_t by)
{
	struct vote_file file;

	ck_assert_int_eq(vote_file_open(&nodes[i].disk, &file), 0);
	ck_assert_int_eq(vote_file_store(&file, file.vote.term + by, 0), 0);
	vote_file_close(&file);
}

/* The more entries a member has, the lower its term is: a candidate must learn the higher terms. */
START_TEST(test_terms_against_entries)
{
	struct node *node;
	unsigned int first, second, third;

	begin_three();
	node = leader();
	first = (unsigned int)(node - nodes);
	second = (first + 1) % 3;
	third = (first + 2) % 3;
	stop(third);
	ck_assert_int_eq(propose(node, 1, 8), 0);
	stop(second);
	ck_assert_int_eq(
		member_propose(node->member, "12345678", 8, done, NULL), 0);
	stop(first);
	raise_term(second, 3);
	raise_term(third, 9);
	for (unsigned int i = 0; i < 3; i++)
		start(i);
	ck_assert_ptr_ne(wait_leader(), &nodes[third]);
}
END_TEST

/* A late message has the first entry, which this member has already got in a snapshot. */
static void receive_first_entry(unsigned int from, unsigned int to)
{
	struct peer_envelope env = { .group = 5, .from = from, .to = to + 1 };
	struct raft_entry entry = { .term = 1, .type = RAFT_CHANGE };
	struct raft_message msg = { .type = RAFT_IO_APPEND_ENTRIES };
	struct raft_configuration conf;
	struct member_status before, after;
	void *data;
	size_t len;

	raft_configuration_init(&conf);
	ck_assert_int_eq(raft_configuration_add(&conf, 1, "one", RAFT_VOTER),
			 0);
	ck_assert_int_eq(member_list_encode(&conf, &entry.buf), 0);
	member_get_status(nodes[to].member, &before);
	msg.append_entries.term = before.term;
	msg.append_entries.entries = &entry;
	msg.append_entries.n_entries = 1;
	ck_assert_int_eq(peer_message_encode(&env, &msg, &data, &len), 0);
	ck_assert(!member_receive(nodes[to].member, data, len));
	member_get_status(nodes[to].member, &after);
	ck_assert(!nodes[to].failed);
	ck_assert_uint_eq(after.last, before.last);
	free(data);
	raft_free(entry.buf.base);
	raft_configuration_close(&conf);
}

/* A member is added after the log was cut, so it is filled; then another one is removed. */
START_TEST(test_replace)
{
	struct member_status status;
	struct node *node;
	uint64_t id = 0, gone;

	slow_clock = clock_boot();
	begin_three();
	node = leader();
	for (unsigned int before = 0; before < 40; before++)
		ck_assert_int_eq(propose(node, ++id, 60000), 0);
	do {
		ck_assert_int_eq(propose(node, ++id, 8), 0);
		member_get_status(node->member, &status);
	} while (status.first < 10);
	create(3, 0);
	add_voter(node, 3);
	gone = node == &nodes[0] ? 2 : 1;
	done_n = 0;
	ck_assert_int_eq(member_remove(node->member, gone, done, NULL), 0);
	while (!done_n)
		turn();
	ck_assert_int_eq(done_rc, 0);
	member_get_status(node->member, &status);
	ck_assert_uint_eq(status.n, 3);
	ck_assert_int_eq(propose(node, ++id, 8), 0);
	while (nodes[3].n < id)
		turn();
	ck_assert(!memcmp(nodes[3].ids, node->ids, id * 8));
	receive_first_entry((unsigned int)(node - nodes) + 1, 3);
	ck_assert_int_eq(member_remove(node->member, 77, done, NULL), -ENOENT);
	ck_assert_int_eq(member_remove(node->member,
				       (uint64_t)(node - nodes) + 1, done,
				       NULL),
			 -EINVAL);
}
END_TEST

/*
 * A member gets a vote while it is cut off, and the leader dies.  The other two need its vote,
 * although its log does not say that it has one.
 */
START_TEST(test_unaware_voter)
{
	struct node *node;

	begin_three();
	node = leader();
	create(3, 0);
	begin_promotion(node, 3);
	nodes[3].deaf = true;
	end_promotion();
	stop((unsigned int)(node - nodes));
	nodes[3].deaf = false;
	wait_leader();
}
END_TEST

/* A new member that never replies gets no vote, and can be removed at once. */
START_TEST(test_dead_joiner)
{
	struct member_status status;
	struct node *node;

	slow_clock = clock_boot();
	begin_three();
	node = leader();
	done_n = 0;
	ck_assert_int_eq(member_add(node->member, &addresses[3], done, NULL),
			 0);
	while (!done_n)
		turn();
	ck_assert_int_eq(done_rc, 0);
	for (int i = 0; i < 50; i++) {
		int rc = member_promote(node->member, 4, done, NULL);

		ck_assert(rc == -EAGAIN || rc == -EBUSY);
		turn();
	}
	ck_assert_int_eq(member_remove(node->member, 4, done, NULL), 0);
	while (done_n == 1)
		turn();
	ck_assert_int_eq(done_rc, 0);
	member_get_status(node->member, &status);
	ck_assert_uint_eq(status.n, 3);
}
END_TEST

/*
 * While a new member is being filled, the leader keeps a quarter of the log's limit for it.  The
 * log stays below half of the limit, above which managers delay changes.
 */
START_TEST(test_never_filled)
{
	struct member_attr attr;
	struct member_status status;
	struct node *node = &nodes[0];

	log_limit = 8u << 20;
	node->last = 1;
	attr = attr_of(0);
	ck_assert_int_eq(member_found(&attr, &addresses[0]), 0);
	start(0);
	wait_leader();
	create(1, 0);
	nodes[1].never_filled = true;
	ck_assert_int_eq(member_add(node->member, &addresses[1], done, NULL),
			 0);
	while (!nodes[1].fill.index) {
		turn();
		(void)member_promote(node->member, 2, done, NULL);
	}
	for (uint64_t id = 1; id <= 200; id++) {
		ck_assert_int_eq(propose(node, id, 60000), 0);
		member_get_status(node->member, &status);
		ck_assert_uint_lt(status.log_bytes, log_limit / 2);
		if (id > 40)
			ck_assert_uint_gt((status.last - status.first) * 60000,
					  log_limit / 5);
	}
}
END_TEST

/* Only one member has a change of the group when another one is elected. */
START_TEST(test_change_taken_back)
{
	struct member_status status;
	struct node *node;
	unsigned int first;

	begin_three();
	node = leader();
	first = (unsigned int)(node - nodes);
	ck_assert_int_eq(propose(node, 1, 8), 0);
	for (unsigned int i = 0; i < 3; i++)
		if (i != first)
			stop(i);
	ck_assert_int_eq(member_add(node->member, &addresses[3], done, NULL),
			 0);
	stop(first);
	for (unsigned int i = 0; i < NODES; i++)
		drop_packets(&nodes[i]);
	for (unsigned int i = 0; i < 3; i++)
		if (i != first)
			start(i);
	ck_assert_int_eq(propose(wait_leader(), 2, 8), 0);
	start(first);
	while (!node->again)
		turn();
	ck_assert(!node->failed && !node->lost);
	stop(first);
	start(first);
	while (node->n < 2)
		turn();
	member_get_status(node->member, &status);
	ck_assert_uint_eq(status.n, 3);
	ck_assert(!node->again);
}
END_TEST

START_TEST(test_force)
{
	uint64_t last, term, index, forced;
	struct member_attr attr;

	begin_three();
	ck_assert_int_eq(propose(leader(), 1, 8), 0);
	while (!nodes[0].n)
		turn();
	for (unsigned int i = 0; i < 3; i++)
		stop(i);
	attr = attr_of(0);
	ck_assert_int_eq(member_last_entry(&attr, &last, &term), 0);
	ck_assert_int_eq(member_force(&attr, attr.group, addresses, 1), 0);
	ck_assert_int_eq(member_last_entry(&attr, &index, &forced), 0);
	ck_assert_uint_eq(index, last + 1);
	ck_assert_uint_gt(forced, term);
	start(0);
	ck_assert_ptr_eq(wait_leader(), &nodes[0]);
	ck_assert_int_eq(propose(&nodes[0], 2, 8), 0);
	ck_assert_uint_eq(nodes[0].ids[1], 2);
}
END_TEST

/* The other members of the old group do not know the new one. */
START_TEST(test_force_another_group)
{
	struct raft_member *member;
	struct member_attr attr;
	uint64_t group, id;

	begin_three();
	for (unsigned int i = 0; i < 3; i++)
		stop(i);
	attr = attr_of(0);
	ck_assert_int_eq(member_force(&attr, 6, addresses, 1), 0);
	ck_assert_int_eq(member_identity(&attr.disk, &group, &id), 0);
	ck_assert_uint_eq(group, 6);
	ck_assert_uint_eq(id, 1);
	ck_assert_int_eq(member_start(&attr, &member), -ESTALE);
	attr.group = 6;
	ck_assert_int_eq(member_start(&attr, &nodes[0].member), 0);
	ck_assert_ptr_eq(wait_leader(), &nodes[0]);
}
END_TEST

/* The state machine of the founder counts as entry 1, so other members must be filled with it. */
START_TEST(test_found)
{
	struct member_attr attr, other;
	uint64_t group, id, index;

	nodes[0].last = 1;
	attr = attr_of(0);
	ck_assert_int_eq(member_identity(&attr.disk, &group, &id), -ENOENT);
	ck_assert_int_eq(member_found(&attr, &addresses[0]), 0);
	ck_assert_int_eq(member_found(&attr, &addresses[0]), -EEXIST);
	/* an interrupted run */
	ck_assert_int_eq(disk_folder_remove(&attr.disk, "vote"), 0);
	other = attr;
	other.id = addresses[1].id;
	other.group = attr.group + 1;
	ck_assert_int_eq(member_found(&other, &addresses[1]), 0);
	ck_assert_int_eq(disk_folder_remove(&attr.disk, "vote"), 0);
	ck_assert_int_eq(member_found(&attr, &addresses[0]), 0);
	ck_assert_int_eq(member_snapshot_index(&attr, &index), 0);
	ck_assert_uint_eq(index, 1);
	start(0);
	ck_assert_ptr_eq(wait_leader(), &nodes[0]);
	ck_assert_int_eq(propose(&nodes[0], 1, 8), 0);
	create(1, 0);
	ck_assert_int_eq(member_promote(nodes[0].member, 2, done, NULL),
			 -ENOENT);
	add_voter(&nodes[0], 1);
	ck_assert_uint_ge(nodes[1].last, 2);
	ck_assert_int_eq(propose(&nodes[0], 2, 8), 0);
	while (nodes[1].n < 2)
		turn();
	ck_assert(!memcmp(nodes[1].ids, nodes[0].ids, 16));
}
END_TEST

START_TEST(test_wrong_files)
{
	struct member_attr attr;
	struct raft_member *member;

	attr = attr_of(0);
	ck_assert_int_eq(member_start(&attr, &member), -ENOENT);
	create(0, 1);
	stop(0);
	ck_assert_int_eq(member_create(&attr, addresses, 1), -EEXIST);
	attr.id = 2;
	ck_assert_int_eq(member_start(&attr, &member), -ESTALE);
	attr.id = 1;
	ck_assert_int_eq(disk_folder_remove(&attr.disk, "vote"), 0);
	ck_assert_int_eq(member_start(&attr, &member), -ENOENT);
	ck_assert_int_eq(member_create(&attr, addresses, 1), -EEXIST);
}
END_TEST

/* Two processes must not use one log. */
START_TEST(test_folder_in_use)
{
	struct disk_folder second;

	ck_assert_int_eq(disk_folder_open(nodes[0].path, &second), -EBUSY);
	disk_folder_close(&nodes[0].disk);
	ck_assert_int_eq(disk_folder_open(nodes[0].path, &second), 0);
	disk_folder_close(&second);
	ck_assert_int_eq(disk_folder_open(nodes[0].path, &nodes[0].disk), 0);
}
END_TEST

/* ---- messages that must not reach libraft ---- */

static void send_to(struct node *node, const struct raft_message *msg,
		    const struct peer_envelope *env)
{
	void *data;
	size_t len;

	ck_assert_int_eq(peer_message_encode(env, msg, &data, &len), 0);
	ck_assert(!member_receive(node->member, data, len));
	free(data);
	turn();
	ck_assert(!node->failed && !node->lost && node->leads);
}

START_TEST(test_bad_messages)
{
	struct peer_envelope env = { .group = 5, .from = 2, .to = 1 };
	struct node *node = &nodes[0];
	char data[24] = { 0 };
	struct raft_entry entry = { .term = 2,
				    .type = RAFT_COMMAND,
				    .buf = { data, sizeof(data) } };
	struct raft_message ae = { .type = RAFT_IO_APPEND_ENTRIES };
	struct raft_message result = { .type = RAFT_IO_APPEND_ENTRIES_RESULT };
	struct raft_message vote = { .type = RAFT_IO_REQUEST_VOTE };
	struct raft_message snapshot = { .type = RAFT_IO_INSTALL_SNAPSHOT };
	uint64_t term;

	create(0, 1);
	wait_leader();
	term = node->leads;
	/* from another leader of this term */
	ae.append_entries = (struct raft_append_entries){ .term = term };
	send_to(node, &ae, &env);
	/* an entry of a later term, with a wrong index, without a type */
	ae.append_entries = (struct raft_append_entries){ term + 1, 2, term, 2,
							  &entry,   1 };
	entry.term = term + 2;
	send_to(node, &ae, &env);
	entry.term = term + 1;
	send_to(node, &ae, &env);
	entry.type = 9;
	send_to(node, &ae, &env);
	entry.type = RAFT_CHANGE;
	send_to(node, &ae, &env);
	/* impossible numbers */
	ae.append_entries = (struct raft_append_entries){ .term = term + 1,
							  .prev_log_index = 5 };
	send_to(node, &ae, &env);
	ae.append_entries.term = UINT64_MAX;
	send_to(node, &ae, &env);
	/* a result of a member outside the group */
	result.append_entries_result.term = term + 5;
	send_to(node, &result, &env);
	/* a vote for another candidate, and in the wrong group */
	vote.request_vote.term = term + 1;
	vote.request_vote.candidate_id = 3;
	vote.request_vote.disrupt_leader = true;
	send_to(node, &vote, &env);
	vote.request_vote.candidate_id = 2;
	env.group = 6;
	send_to(node, &vote, &env);
	env.group = 5;
	env.to = 2;
	send_to(node, &vote, &env);
	env.to = 1;
	snapshot.install_snapshot = (struct raft_install_snapshot){
		.term = term, .last_index = 99, .last_term = 1, .conf_index = 1
	};
	raft_configuration_init(&snapshot.install_snapshot.conf);
	ck_assert_int_eq(raft_configuration_add(&snapshot.install_snapshot.conf,
						1, "one", RAFT_VOTER),
			 0);
	send_to(node, &snapshot, &env);
	raft_configuration_close(&snapshot.install_snapshot.conf);
	ck_assert(!member_receive(node->member, data, sizeof(data)));
	ck_assert_int_eq(propose(node, 1, 8), 0);
}
END_TEST

/* ---- leases ---- */

START_TEST(test_lease)
{
	struct raft_configuration conf;
	struct leader_lease lease;

	raft_configuration_init(&conf);
	for (unsigned int i = 0; i < 3; i++)
		ck_assert_int_eq(raft_configuration_add(&conf, addresses[i].id,
							addresses[i].address,
							RAFT_VOTER),
				 0);
	lease_begin(&lease, 1000, 5000);
	ck_assert_uint_eq(lease_end(&lease, &conf, 1, 6000), 0);
	lease_ack(&lease, 2, 4999, 6000); /* before the term */
	lease_ack(&lease, 2, 6001, 6000); /* in the future */
	ck_assert_uint_eq(lease_end(&lease, &conf, 1, 6000), 0);
	lease_ack(&lease, 2, 5500, 6000);
	ck_assert_uint_eq(lease_end(&lease, &conf, 1, 6000), 750005500);
	lease_ack(&lease, 2, 5400, 6000); /* late */
	lease_ack(&lease, 3, 5700, 6000);
	ck_assert_uint_eq(lease_end(&lease, &conf, 1, 6000), 750005700);
	ck_assert_uint_eq(lease_end(&lease, &conf, 7, 6000), 0);
	raft_configuration_close(&conf);
}
END_TEST

/* Members are replaced repeatedly in one term. */
START_TEST(test_lease_of_many)
{
	struct leader_lease lease;

	lease_begin(&lease, 1000, 5000);
	for (uint64_t id = 2; id < 4 * MEMBERS_MAX; id++) {
		lease_ack(&lease, 1000, 5500 + id, 6000);
		lease_ack(&lease, id, 5000 + id, 6000);
		ck_assert_uint_eq(lease_acked(&lease, id), 5000 + id);
		ck_assert_uint_eq(lease_acked(&lease, 1000), 5500 + id);
	}
	lease_ack(&lease, 2, 5001, 6000); /* late */
	ck_assert_uint_eq(lease_acked(&lease, 2), 0);
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("raft_member");
	TCase *tc = tcase_create("raft_member");

	tcase_add_checked_fixture(tc, setup, teardown);
	tcase_set_timeout(tc, 200);
	tcase_add_test(tc, test_alone);
	tcase_add_test(tc, test_results_follow);
	tcase_add_test(tc, test_first_heartbeat);
	tcase_add_test(tc, test_replay);
	tcase_add_test(tc, test_limits);
	tcase_add_test(tc, test_full_disk);
	tcase_add_test(tc, test_full_log);
	tcase_add_test(tc, test_stop_after_loss);
	tcase_add_test(tc, test_abandon_stores_nothing);
	tcase_add_test(tc, test_transfer);
	tcase_add_test(tc, test_transfer_to_started);
	tcase_add_test(tc, test_transfer_to_broken_disk);
	tcase_add_test(tc, test_terms_against_entries);
	tcase_add_test(tc, test_replace);
	tcase_add_test(tc, test_unaware_voter);
	tcase_add_test(tc, test_dead_joiner);
	tcase_add_test(tc, test_never_filled);
	tcase_add_test(tc, test_change_taken_back);
	tcase_add_test(tc, test_force);
	tcase_add_test(tc, test_force_another_group);
	tcase_add_test(tc, test_found);
	tcase_add_test(tc, test_wrong_files);
	tcase_add_test(tc, test_folder_in_use);
	tcase_add_test(tc, test_bad_messages);
	tcase_add_test(tc, test_lease);
	tcase_add_test(tc, test_lease_of_many);
	suite_add_tcase(suite, tc);
	return run_suite(suite);
}
