/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * test_promises.c - three iods, and a manager that changes the rows of their copysets, in one
 * process.  All that happens follows from the seed: messages, clocks, stops and restarts.  Never two
 * iods may serve a copyset at the same time.  After a calm time, one does.
 *
 *	test_promises [SEEDS [FIRST]]
 *	test_promises 1 SEED		runs a seed again, and prints what happens
 */
#include <stdarg.h>
#include <stdbool.h>
#include <string.h>

#include "common/util/clock.h"
#include "server/copyset/promises.h"
#include "tests/unit/rnd.h"

#define IODS 3u
#define MANAGER IODS
#define SETS 3u
#define LEASE_MS 1000u
#define LEASE (LEASE_MS * CLOCK_NS_PER_MS)
#define STEPS 600u
#define STEP_MS 30u /* at most; 9 leases in all */
#define MESSAGES 256u

/* ---- the simulation ---- */

struct host {
	struct promises *promises; /* NULL: the process does not run */
	bool stopped; /* by SIGSTOP */
	uint64_t process;
	uint64_t clock, speed; /* ns; us per ms */
	uint64_t next_ask;
	struct copyset disk[SETS];
	/* Borrowers on the host read until then, also if the process has ended. */
	uint64_t loan_until[SETS];
};

struct message {
	enum { ASK, ANSWER, ASSIGN } kind;
	unsigned int from, to;
	uint64_t at; /* ms */
	struct promise_head head;
	uint32_t n;
	struct promise list[SETS];
	struct copyset row;
	struct {
		uint32_t iod;
		uint64_t process; /* 0: none */
	} ended;
};

static struct {
	struct rnd rnd;
	bool trace, calm;
	uint64_t now; /* ms */
	uint64_t processes;
	unsigned int loss, lateness; /* per mille */
	uint64_t late_ms;
	bool cut[IODS + 1][IODS + 1];
	struct host host[IODS];
	struct copyset row[SETS]; /* at the manager */
	unsigned int n;
	struct message message[MESSAGES];
} sim;

static bool chance(unsigned int per_mille)
{
	return rnd_in(&sim.rnd, 1, 1000) <= per_mille;
}

static void trace(const char *format, ...)
	__attribute__((format(printf, 1, 2)));
static void trace(const char *format, ...)
{
	va_list ap;

	if (!sim.trace)
		return;
	printf("%6" PRIu64 " ", sim.now);
	va_start(ap, format);
	vprintf(format, ap);
	va_end(ap);
	printf("\n");
}

static void trace_row(const char *what, const struct copyset *row)
{
	trace("%s copyset %u version %u: %u%c %u%c %u%c", what, row->id,
	      row->version, row->member[0].iod, "+~-"[row->member[0].state],
	      row -> member[1].iod, "+~-"[row->member[1].state],
	      row -> member[2].iod, "+~-"[row->member[2].state]);
}

/* Loses, repeats or delays it. */
static void send_message(const struct message *message)
{
	unsigned int copies = sim.calm ? 1 : !chance(sim.loss) + chance(50);

	for (; copies && sim.n < MESSAGES; copies--) {
		struct message *m = &sim.message[sim.n++];

		*m = *message;
		m->at = sim.now + rnd_in(&sim.rnd, 1, LEASE_MS / 50);
		if (!sim.calm && chance(sim.lateness))
			m->at += rnd_in(&sim.rnd, 1, sim.late_ms);
	}
}

static void start_process(unsigned int iod, bool reboot)
{
	struct host *host = &sim.host[iod];
	struct promises_attr attr = { .iod = iod,
				      .process = ++sim.processes,
				      .lease = LEASE,
				      .copysets_max = SETS };

	if (reboot)
		host->clock -= rnd_in(&sim.rnd, 0, host->clock - 1);
	host->process = attr.process;
	host->stopped = false;
	host->next_ask = 0;
	memset(host->loan_until, 0, sizeof(host->loan_until));
	if (promises_open(&attr, host->clock, &host->promises) != 0)
		abort();
	for (unsigned int i = 0; i < SETS; i++)
		if (promises_set_row(host->promises,
				     &host->disk[(i + iod) % SETS]) != 0)
			abort();
	trace("iod %u starts%s", iod, reboot ? " after a reboot" : "");
}

static void end_process(unsigned int iod)
{
	promises_close(sim.host[iod].promises);
	sim.host[iod].promises = NULL;
	trace("iod %u ends", iod);
}

static bool runs(unsigned int iod)
{
	return sim.host[iod].promises && !sim.host[iod].stopped;
}

static bool serves(unsigned int iod, unsigned int set)
{
	const struct host *host = &sim.host[iod];
	struct promises_span span;

	if (!runs(iod))
		return false;
	span = promises_serve_span(host->promises, sim.row[set].id);
	return promises_span_has(&span, host->clock);
}

static void send_asks(unsigned int iod)
{
	struct host *host = &sim.host[iod];
	struct message m = { .kind = ASK, .from = iod };

	host->next_ask = host->clock + LEASE / 4;
	for (m.to = 0; m.to < IODS; m.to++) {
		m.n = promises_ask(host->promises, m.to, 0, host->clock,
				   &m.head, m.list, SETS);
		if (m.n)
			send_message(&m);
	}
}

static void receive_row(struct host *host, const struct message *m)
{
	struct copyset *disk = &host->disk[m->row.id % SETS];

	if (promises_set_row(host->promises, &m->row) == 0) {
		*disk = m->row;
		host->next_ask = 0;
	}
	if (m->ended.process)
		promises_end_process(host->promises, m->ended.iod,
				     m->ended.process);
}

static void receive_message(struct message *m)
{
	struct host *host = &sim.host[m->to];

	if (!host->promises || sim.cut[m->from][m->to])
		return;
	switch (m->kind) {
	case ASK:
		m->n = promises_answer(host->promises, m->from, &m->head,
				       m->list, m->n, host->clock);
		trace("iod %u promises %u of iod %u", m->to, m->n, m->from);
		m->kind = ANSWER;
		m->to = m->from;
		m->from = (unsigned int)(host - sim.host);
		send_message(m);
		break;
	case ANSWER:
		trace("iod %u has %u promises of iod %u", m->to, m->n, m->from);
		promises_accept(host->promises, m->from, &m->head, m->list,
				m->n, host->clock);
		break;
	case ASSIGN:
		receive_row(host, m);
		break;
	}
}

static void deliver_messages(void)
{
	for (unsigned int i = 0; i < sim.n;) {
		struct message m = sim.message[i];

		if (m.at > sim.now || sim.host[m.to].stopped) {
			i++;
			continue;
		}
		sim.message[i] = sim.message[--sim.n];
		receive_message(&m);
	}
}

/* ---- the manager ---- */

/* ended: an iod that it has found without a process; IODS: none. */
static void send_row(unsigned int set, unsigned int to, unsigned int ended)
{
	struct message m = {
		.kind = ASSIGN, .from = MANAGER, .to = to, .row = sim.row[set]
	};

	if (ended < IODS) {
		m.ended.iod = ended;
		m.ended.process = sim.host[ended].process;
	}
	send_message(&m);
}

static unsigned int count_serving(const struct copyset *row)
{
	unsigned int n = 0;

	for (uint32_t i = 0; i < row->n; i++)
		n += row->member[i].state == COPYSET_SERVING;
	return n;
}

/* COMPLETE of a primary, which serves under this row. */
static bool is_completed(unsigned int set)
{
	for (unsigned int i = 0; i < IODS; i++)
		if (serves(i, set) && !sim.cut[i][MANAGER] &&
		    sim.host[i].disk[set].version == sim.row[set].version)
			return true;
	return false;
}

static void change_row(unsigned int set)
{
	struct copyset *row = &sim.row[set];
	struct copyset_member *member =
		&row->member[rnd_in(&sim.rnd, 0, row->n - 1)];
	unsigned int ended = IODS;

	switch (member->state) {
	case COPYSET_SERVING:
		if (count_serving(row) == 1)
			return;
		member->state = chance(700) ? COPYSET_OFFLINE : COPYSET_SYNCING;
		break;
	case COPYSET_SYNCING:
		if (!is_completed(set) && !chance(50))
			return;
		member->state = is_completed(set) ? COPYSET_SERVING
						  : COPYSET_OFFLINE;
		break;
	default:
		member->state = COPYSET_SYNCING;
		break;
	}
	if (!sim.host[member->iod].promises)
		ended = member->iod;
	row->version++;
	trace_row("manager:", row);
	for (unsigned int i = 0; i < IODS; i++)
		send_row(set, i, ended);
}

/* ---- what goes wrong ---- */

static void disturb_host(unsigned int iod)
{
	struct host *host = &sim.host[iod];

	if (!host->promises) {
		if (chance(30))
			start_process(iod, chance(250));
	} else if (chance(host->stopped ? 30 : 8)) {
		host->stopped = !host->stopped;
		trace("iod %u %s", iod, host->stopped ? "stops" : "continues");
	} else if (chance(5)) {
		end_process(iod);
	}
	if (chance(5))
		host->speed = rnd_in(&sim.rnd, 3, 4) * 250;
	if (runs(iod) && chance(50))
		promises_set_lent(host->promises,
				  sim.row[rnd_in(&sim.rnd, 0, SETS - 1)].id,
				  chance(500));
}

/* Cuts a link, or an iod from all others. */
static void disturb_links(void)
{
	unsigned int a = (unsigned int)rnd_in(&sim.rnd, 0, IODS - 1);
	unsigned int b = (unsigned int)rnd_in(&sim.rnd, 0, IODS);
	bool all = chance(500), cut = chance(200);

	for (unsigned int i = 0; i <= IODS; i++)
		if (all || i == b)
			sim.cut[a][i] = sim.cut[i][a] = cut;
	trace("iod %u: %s %u%s", a, cut ? "cut from" : "reaches", b,
	      all ? " and all others" : "");
}

static void disturb(void)
{
	for (unsigned int i = 0; i < IODS; i++)
		disturb_host(i);
	if (chance(50))
		disturb_links();
	if (chance(300))
		change_row((unsigned int)rnd_in(&sim.rnd, 0, SETS - 1));
	if (chance(100))
		send_row((unsigned int)rnd_in(&sim.rnd, 0, SETS - 1),
			 (unsigned int)rnd_in(&sim.rnd, 0, IODS - 1), IODS);
}

/* Everything runs.  The clocks keep their speeds, and late messages still arrive. */
static void calm_down(void)
{
	trace("calm");
	sim.calm = true;
	memset(sim.cut, 0, sizeof(sim.cut));
	for (unsigned int i = 0; i < IODS; i++) {
		sim.host[i].stopped = false;
		if (!sim.host[i].promises)
			start_process(i, false);
		for (unsigned int j = 0; j < SETS; j++)
			send_row(j, i, IODS);
	}
}

/* ---- a seed ---- */

static uint64_t lend_until(const struct host *host, unsigned int set)
{
	struct promises_span span = promises_lend_span(host->promises,
						       sim.row[set].id);

	return promises_span_has(&span, host->clock) ? span.until : 0;
}

static void step(uint64_t ms)
{
	sim.now += ms;
	for (unsigned int i = 0; i < IODS; i++)
		sim.host[i].clock += ms * sim.host[i].speed * 1000;
	deliver_messages();
	for (unsigned int i = 0; i < IODS; i++) {
		struct host *host = &sim.host[i];

		if (!runs(i))
			continue;
		if (host->clock >= host->next_ask)
			send_asks(i);
		for (unsigned int j = 0; j < SETS; j++)
			host->loan_until[j] = lend_until(host, j);
	}
}

/* Returns the number of iods that serve; IODS + 1: one does while another serves or lends. */
static unsigned int count_servers(unsigned int set)
{
	unsigned int servers = 0, users = 0;

	for (unsigned int i = 0; i < IODS; i++) {
		bool lends = sim.host[i].loan_until[set] > sim.host[i].clock;

		servers += serves(i, set);
		users += serves(i, set) || lends;
	}
	return servers && users > 1 ? IODS + 1 : servers;
}

static const char *check_servers(void)
{
	for (unsigned int i = 0; i < SETS; i++) {
		unsigned int n = count_servers(i);

		if (n > 1) {
			trace_row("two use", &sim.row[i]);
			return "two iods serve a copyset";
		}
		if (sim.calm && sim.now > (STEPS * STEP_MS + 4 * LEASE_MS) &&
		    !n) {
			trace_row("none serves", &sim.row[i]);
			return "no iod serves a copyset";
		}
	}
	return NULL;
}

static void begin_seed(uint64_t seed, bool verbose)
{
	memset(&sim, 0, sizeof(sim));
	sim.rnd.state = seed;
	sim.trace = verbose;
	sim.loss = chance(500) ? 20 : 200;
	sim.lateness = chance(500) ? 20 : 300;
	sim.late_ms = rnd_in(&sim.rnd, 1, 3) * LEASE_MS;
	for (unsigned int i = 0; i < SETS; i++) {
		struct copyset *row = &sim.row[i];

		row->id = COPYSET_FIRST / SETS * SETS + SETS + i;
		row->version = 1;
		row->n = i ? 3 : 2;
		for (unsigned int j = 0; j < 3; j++)
			row->member[j].iod = (i + j) % IODS;
	}
	for (unsigned int i = 0; i < IODS; i++) {
		memcpy(sim.host[i].disk, sim.row, sizeof(sim.row));
		sim.host[i].speed = rnd_in(&sim.rnd, 3, 4) * 250;
		sim.host[i].clock = rnd_in(&sim.rnd, 1, 10 * LEASE);
		start_process(i, false);
	}
}

/* NULL: it has passed. */
static const char *run_seed(uint64_t seed, bool verbose)
{
	const char *failure = NULL;

	begin_seed(seed, verbose);
	for (unsigned int i = 0; i < STEPS && !failure; i++) {
		step(rnd_in(&sim.rnd, 1, STEP_MS));
		disturb();
		failure = check_servers();
	}
	if (!failure) {
		calm_down();
		sim.now = STEPS * STEP_MS;
	}
	while (!failure && sim.now < STEPS * STEP_MS + 5 * LEASE_MS) {
		step(STEP_MS);
		failure = check_servers();
	}
	for (unsigned int i = 0; i < IODS; i++)
		if (sim.host[i].promises)
			end_process(i);
	return failure;
}

int main(int argc, char **argv)
{
	uint64_t seeds = argc > 1 ? strtoull(argv[1], NULL, 0) : 1500;
	uint64_t first = argc > 2 ? strtoull(argv[2], NULL, 0) : 1;

	for (uint64_t seed = first; seed < first + seeds; seed++) {
		const char *failure = run_seed(seed, seeds == 1);

		if (failure) {
			printf("seed %" PRIu64
			       ": %s; run again: test_promises 1 %" PRIu64 "\n",
			       seed, failure, seed);
			return EXIT_FAILURE;
		}
	}
	printf("%" PRIu64 " seeds passed\n", seeds);
	return EXIT_SUCCESS;
}
