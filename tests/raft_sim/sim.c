/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * sim.c - runs the events of the simulation, in order of time.
 *
 *   raft_sim [-v] [-f] [SEEDS [FIRST]]
 *
 * Runs 200 seeds, from 1 on.  -v: prints all events.  -f: ends with the first seed that fails.
 * With each second seed, the group changes: an operator adds empty managers and removes others.
 *
 * Exit status 1: a seed failed.  The program prints it, and `raft_sim -v 1 SEED` runs it again.
 */
#include <errno.h>
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "tests/raft_sim/sim.h"

#define FAULTS_END (25000 * SIM_MS)
#define TRANSFER (32000 * SIM_MS)
#define CALLS_END (36000 * SIM_MS)
#define RUN_END (39000 * SIM_MS)

uint64_t sim_random(struct sim *sim, uint64_t lo, uint64_t hi)
{
	return rnd_in(&sim->rnd, lo, hi);
}

bool sim_chance(struct sim *sim, unsigned int n)
{
	return sim_random(sim, 0, 999) < n;
}

void sim_note(struct sim *sim, const char *fmt, ...)
{
	va_list args;

	if (!sim->verbose)
		return;
	printf("%6" PRIu64 ".%03" PRIu64 " ", sim->now / SIM_MS,
	       sim->now / 1000 % 1000);
	va_start(args, fmt);
	vprintf(fmt, args);
	va_end(args);
	printf("\n");
}

/* ---- events ---- */

static bool is_before(const struct sim_event *a, const struct sim_event *b)
{
	return a->at < b->at || (a->at == b->at && a->order < b->order);
}

static void swap_events(struct sim *sim, size_t a, size_t b)
{
	struct sim_event event = sim->events[a];

	sim->events[a] = sim->events[b];
	sim->events[b] = event;
}

void sim_add(struct sim *sim, uint64_t after, const struct sim_event *event)
{
	size_t i = sim->n;

	if (sim->n == sim->room) {
		sim->room = sim->room ? 2 * sim->room : 256;
		sim->events = reallocarray(sim->events, sim->room,
					   sizeof(*sim->events));
	}
	sim->events[sim->n++] = *event;
	sim->events[i].at = sim->now + after;
	sim->events[i].order = sim->order++;
	for (; i && is_before(&sim->events[i], &sim->events[(i - 1) / 2]);
	     i = (i - 1) / 2)
		swap_events(sim, i, (i - 1) / 2);
}

static struct sim_event take_event(struct sim *sim)
{
	struct sim_event first = sim->events[0];
	size_t i = 0;

	sim->events[0] = sim->events[--sim->n];
	for (;;) {
		size_t child = 2 * i + 1;

		if (child >= sim->n)
			return first;
		if (child + 1 < sim->n &&
		    is_before(&sim->events[child + 1], &sim->events[child]))
			child++;
		if (!is_before(&sim->events[child], &sim->events[i]))
			return first;
		swap_events(sim, i, child);
		i = child;
	}
}

/* ---- the effects of events ---- */

static void again(struct sim *sim, const struct sim_event *event,
		  uint64_t after)
{
	sim_add(sim, after, event);
}

static void checkpoint_node(struct sim *sim, struct sim_node *node)
{
	if (!sim->calm && sim_chance(sim, 100)) {
		member_checkpointed(node->member, -EIO);
		return;
	}
	if (node->applied_to > node->durable_to)
		node->durable_to = node->applied_to;
	member_checkpointed(node->member, 0);
}

static void fill_node(struct sim_node *node)
{
	if (sim_node_fill(node))
		member_filled(node->member, 0, node->applied_to);
	else
		member_filled(node->member, -EHOSTUNREACH, 0);
}

static void member_event(struct sim *sim, struct sim_node *node,
			 const struct sim_event *event)
{
	switch (event->kind) {
	case SIM_TICK:
		member_tick(node->member);
		again(sim, event, 20 * SIM_MS);
		break;
	case SIM_MESSAGE:
		member_receive(node->member, event->data, event->len);
		break;
	case SIM_WRITE:
		node->writing = false;
		member_write_log(node->member);
		break;
	case SIM_COLLECT:
		member_collect(node->member);
		break;
	case SIM_CHECKPOINT:
		checkpoint_node(sim, node);
		break;
	case SIM_FILL:
		fill_node(node);
		break;
	default:
		break;
	}
}

static void node_event(struct sim *sim, const struct sim_event *event)
{
	struct sim_node *node = &sim->nodes[event->node];

	if (event->kind == SIM_START) {
		if (!node->member && !node->retired)
			sim_node_start(node);
		return;
	}
	if (event->kind == SIM_RETIRE) {
		sim_node_retire(node);
		return;
	}
	if (event->kind == SIM_RESUME) {
		node->paused = false;
		return;
	}
	if (event->kind == SIM_DISK) {
		node->disk_ns = 2 * SIM_MS;
		*sim_disk_faults(node->disk) = (struct sim_disk_faults){ 0 };
		return;
	}
	if (!node->member || (event->life && event->life != node->life))
		return;
	if (event->kind == SIM_AMBUSH || event->kind == SIM_CRASH) {
		if (event->kind == SIM_AMBUSH)
			sim_ambush(sim, node);
		else
			sim_crash(sim, node, sim_chance(sim, 300));
		return;
	}
	if (node->paused) {
		/* the kernel of a stopped process stores the messages that arrive */
		struct sim_event later = *event;

		if (event->kind == SIM_MESSAGE) {
			later.data = malloc(event->len);
			memcpy(later.data, event->data, event->len);
		}
		again(sim, &later, 5 * SIM_MS);
		return;
	}
	sim_heap_use(&node->heap);
	member_event(sim, node, event);
}

static void clients_call(struct sim *sim)
{
	struct sim_event next = { .kind = SIM_CLIENT, .node = SIM_NODES };

	for (unsigned int i = 0; i < sim->n_nodes; i++) {
		struct sim_node *node = &sim->nodes[i];

		if (!node->member || node->paused)
			continue;
		sim_heap_use(&node->heap);
		sim_node_read(node);
		if (node->leads && sim_chance(sim, 600))
			sim_node_propose(node);
	}
	if (sim->now < CALLS_END)
		sim_add(sim, sim_random(sim, 1, 20) * SIM_MS, &next);
}

static void strike(struct sim *sim)
{
	struct sim_event next = { .kind = SIM_NEMESIS, .node = SIM_NODES };

	if (sim->calm) {
		sim_calm_transfer(sim);
		return;
	}
	if (sim->now >= FAULTS_END) {
		sim_nemesis_end(sim);
		sim_add(sim, TRANSFER - sim->now, &next);
		return;
	}
	sim_nemesis(sim);
	sim_add(sim, sim_random(sim, 50, 1500) * SIM_MS, &next);
}

static void operate(struct sim *sim)
{
	struct sim_event next = { .kind = SIM_OPERATOR, .node = SIM_NODES };

	if (sim->now >= FAULTS_END)
		return;
	sim_change_group(sim);
	sim_add(sim, sim_random(sim, 50, 1500) * SIM_MS, &next);
}

/* Ends the processes whose member has reported that they must end. */
static void end_processes(struct sim *sim)
{
	for (unsigned int i = 0; i < sim->n_nodes; i++) {
		struct sim_node *node = &sim->nodes[i];
		struct sim_event start = { .kind = SIM_START, .node = i };

		if (!node->member || !node->ending)
			continue;
		sim_node_crash(node, false);
		sim_add(sim, sim_random(sim, 10, 200) * SIM_MS, &start);
	}
}

static void judge_members(struct sim *sim)
{
	for (unsigned int i = 0; i < sim->n_nodes; i++) {
		struct sim_node *node = &sim->nodes[i];
		struct sim_event crash = { .kind = SIM_CRASH,
					   .node = i,
					   .life = node->life };

		if (node->member && judge_member(node) &&
		    sim_chance(sim, sim->kill_new))
			sim_add(sim, sim_random(sim, 0, 30) * SIM_MS, &crash);
	}
	judge_leases(sim);
}

static void handle(struct sim *sim, const struct sim_event *event)
{
	sim->now = event->at;
	if (event->kind == SIM_CLIENT)
		clients_call(sim);
	else if (event->kind == SIM_NEMESIS)
		strike(sim);
	else if (event->kind == SIM_OPERATOR)
		operate(sim);
	else
		node_event(sim, event);
	free(event->data);
	end_processes(sim);
	judge_members(sim);
}

/* ---- a run ---- */

static void begin(struct sim *sim)
{
	struct sim_event clients = { .kind = SIM_CLIENT, .node = SIM_NODES };
	struct sim_event nemesis = { .kind = SIM_NEMESIS, .node = SIM_NODES };
	struct sim_event changes = { .kind = SIM_OPERATOR, .node = SIM_NODES };

	sim->delay = 5 * SIM_MS;
	sim->late = 1000 * SIM_MS;
	for (unsigned int i = 0; i < SIM_FIRST; i++)
		sim_node_start(sim_node_new(sim, false));
	sim_add(sim, SIM_MS, &clients);
	sim_add(sim, 2000 * SIM_MS, &nemesis);
	if (sim->seed % 2 == 0)
		sim_add(sim, 1500 * SIM_MS, &changes);
}

static void end(struct sim *sim)
{
	while (sim->n)
		free(take_event(sim).data);
	for (unsigned int i = 0; i < sim->n_nodes; i++)
		sim_node_free(&sim->nodes[i]);
	free(sim->events);
	free(sim->history);
	free(sim->terms);
	free(sim->leaders);
}

static bool run_seed(uint64_t seed, bool verbose)
{
	static struct sim sim;

	memset(&sim, 0, sizeof(sim));
	sim.seed = seed;
	sim.rnd.state = seed * 7919;
	sim.verbose = verbose;
	begin(&sim);
	while (!sim.failed && sim.n && sim.events[0].at < RUN_END) {
		struct sim_event event = take_event(&sim);

		handle(&sim, &event);
	}
	if (!sim.failed)
		judge_end(&sim);
	if (verbose)
		printf("%" PRIu64 " entries acknowledged, %" PRIu64
		       " reads, %" PRIu64 " leaders, %u members added, "
		       "%u removed\n",
		       sim.acknowledged, sim.reads, sim.leaders_n, sim.joined,
		       sim.left);
	end(&sim);
	return !sim.failed;
}

int main(int argc, char **argv)
{
	bool verbose = false, first_only = false;
	uint64_t seeds, first, bad = 0;
	int option;

	while ((option = getopt(argc, argv, "vf")) != -1) {
		if (option == '?')
			return EXIT_FAILURE;
		verbose |= option == 'v';
		first_only |= option == 'f';
	}
	seeds = optind < argc ? strtoull(argv[optind], NULL, 0) : 200;
	first = optind + 1 < argc ? strtoull(argv[optind + 1], NULL, 0) : 1;
	sim_heap_init();
	for (uint64_t i = 0; i < seeds && !(bad && first_only); i++)
		bad += !run_seed(first + i, verbose);
	printf("%" PRIu64 " of %" PRIu64 " seeds failed\n", bad, seeds);
	return bad ? EXIT_FAILURE : EXIT_SUCCESS;
}
