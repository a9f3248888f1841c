/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * test_fair_queue.c - random puts, takes and ends, compared with a model that inspects all clients
 * each time; and the promised fairness, independent of the model.
 */
#include <check.h>
#include <stdlib.h>
#include <string.h>

#include "common/util/container.h"
#include "server/store/fair_queue.h"
#include "tests/unit/rnd.h"
#include "tests/run_suite.h"

#define CLIENTS 9u
#define STEPS 200000u

enum state { NOTHING, FIRST, MORE };

struct item {
	struct fair_queue_item item;
	unsigned int client;
	uint64_t nr;
};

static struct model {
	struct fair_queue_client real;
	uint64_t put, taken; /* number of its items */
	unsigned int running;
	enum state state;
	uint64_t since; /* since when it is in this state */
	/* turns of each other client since its state is FIRST */
	unsigned int passed[CLIENTS];
} model[CLIENTS];

static struct fair_queue queue;
static uint64_t now;
static unsigned int share;

static enum state state_of(const struct model *m)
{
	if (m->put == m->taken || m->running >= share)
		return NOTHING;
	return m->running ? MORE : FIRST;
}

static void settle(struct model *m, bool took)
{
	enum state state = state_of(m);

	if (state != m->state || took)
		m->since = ++now;
	if (state == FIRST && (m->state != FIRST || took))
		memset(m->passed, 0, sizeof(m->passed));
	m->state = state;
}

static struct model *choose(bool more)
{
	struct model *best = NULL, *m;
	enum state state;

	for (state = FIRST; !best && state <= (more ? MORE : FIRST); state++)
		for (m = model; m < model + CLIENTS; m++)
			if (m->state == state &&
			    (!best || m->since < best->since))
				best = m;
	return best;
}

static void put(unsigned int client)
{
	struct item *it = calloc(1, sizeof(*it));
	struct model *m = &model[client];

	ck_assert_ptr_nonnull(it);
	it->client = client;
	it->nr = m->put++;
	fair_queue_put(&queue, &m->real, &it->item);
	settle(m, false);
}

/* A client that has nothing running is not overtaken twice by the same other client. */
static void note_pass(unsigned int client)
{
	for (unsigned int i = 0; i < CLIENTS; i++)
		if (i != client && model[i].state == FIRST)
			ck_assert_uint_lt(model[i].passed[client]++, 1);
}

static bool take(bool more)
{
	struct model *m = choose(more);
	struct fair_queue_item *got;
	struct item *it;

	ck_assert(fair_queue_has_item(&queue, more) == !!m);
	got = fair_queue_take(&queue, more);
	ck_assert(!!got == !!m);
	if (!got)
		return false;
	it = container_of(got, struct item, item);
	ck_assert_ptr_eq(got->client, &m->real);
	ck_assert_uint_eq(it->client, m - model);
	ck_assert_uint_eq(it->nr, m->taken++);
	note_pass(it->client);
	ck_assert_uint_le(++m->running, share);
	settle(m, true);
	free(it);
	return true;
}

static void end(unsigned int client)
{
	if (!model[client].running)
		return;
	model[client].running--;
	fair_queue_item_done(&queue, &model[client].real);
	settle(&model[client], false);
}

static void finish_all(void)
{
	bool any = true;
	unsigned int i;

	while (any) {
		for (i = 0; i < CLIENTS; i++)
			while (model[i].running)
				end(i);
		any = take(true);
	}
	for (i = 0; i < CLIENTS; i++)
		ck_assert_uint_eq(model[i].put, model[i].taken);
}

START_TEST(like_the_model)
{
	struct rnd r;

	rnd_init(&r, 11);
	share = 1 + (unsigned int)_i;
	memset(model, 0, sizeof(model));
	fair_queue_init(&queue, share);
	for (unsigned int i = 0; i < CLIENTS; i++)
		fair_queue_client_init(&model[i].real);
	for (unsigned int i = 0; i < STEPS; i++) {
		unsigned int client = (unsigned int)rnd_in(&r, 0, CLIENTS - 1);
		uint64_t what = rnd_in(&r, 0, 9);

		if (what < 4)
			/* some clients have many items */
			put(client * client / CLIENTS);
		else if (what < 8)
			take(what < 6);
		else
			end(client);
	}
	finish_all();
}
END_TEST

int main(void)
{
	Suite *s = suite_create("fair_queue");
	TCase *tc = tcase_create("turns");

	tcase_set_timeout(tc, 60);
	tcase_add_loop_test(tc, like_the_model, 0, 5);
	suite_add_tcase(s, tc);
	return run_suite(s);
}
