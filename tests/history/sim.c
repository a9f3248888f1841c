/* SPDX-License-Identifier: BSD-2-Clause */
/* sim.c - see sim.h. */
#include "tests/history/sim.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define BOUND 1000u /* the maximum duration of a call */

static uint32_t roll(struct sim *sim, uint32_t below)
{
	sim->rng = sim->rng * 6364136223846793005ull + 1442695040888963407ull;
	return (uint32_t)((sim->rng >> 33) % below);
}

static struct op *op_new(struct sim *sim, uint16_t writer, enum op_kind kind,
			 enum object_kind okind, uint32_t nval)
{
	struct op *op = calloc(1, sizeof(*op) + nval * sizeof(op->val[0]));

	if (!op)
		abort();
	op->writer = writer;
	op->no = ++sim->no[writer];
	op->kind = (uint8_t)kind;
	op->object_kind = (uint8_t)okind;
	op->nval = nval;
	op->state = OP_BEGUN;
	op->begin = ++sim->now;
	return op;
}

struct sim *sim_new(uint64_t seed)
{
	struct sim *sim = calloc(1, sizeof(*sim));
	unsigned int i;

	if (!sim)
		abort();
	sim->rng = seed * 2654435761u + 1;
	sim->h.bound = BOUND;
	for (i = 0; i < SIM_CLIENTS; i++)
		sim->writer[i] = ++sim->writers;
	return sim;
}

void sim_free(struct sim *sim)
{
	size_t i;

	for (i = 0; i < sim->h.n; i++)
		free((void *)sim->h.call[i].op);
	history_free(&sim->h);
	free(sim);
}

/* ---- the effects of calls ---- */

static void do_write(struct sim *sim, const struct op *op)
{
	uint32_t k;

	for (k = 0; k < op->count; k++)
		sim->block[op->object_kind][op->block + k] =
			value_of(op->writer, op->no, k);
	if (op->object_kind == OBJ_CUT && op->block + op->count > sim->size)
		sim->size = op->block + op->count;
}

static void do_read(const struct sim *sim, struct op *op)
{
	uint32_t k;

	for (k = 0; k < op->count; k++)
		op->val[k] =
			op->object_kind == OBJ_TAIL
				? sim->tail[op->block + k]
				: sim->block[op->object_kind][op->block + k];
	op->result = (int32_t)op->count;
}

static void do_append(struct sim *sim, const struct op *op)
{
	uint32_t k;

	for (k = 0; k < op->count; k++)
		sim->tail[sim->tail_end++] = value_of(op->writer, op->no, k);
}

static void do_truncate(struct sim *sim, const struct op *op)
{
	uint32_t k;

	for (k = op->block; k < SIM_BLOCKS; k++)
		sim->block[OBJ_CUT][k] = 0;
	sim->size = op->block;
}

static int do_lock(struct sim *sim, const struct op *op)
{
	if (sim->holder || (sim->shared && op->arg == LOCK_EXCLUSIVE))
		return -EAGAIN;
	if (op->arg == LOCK_EXCLUSIVE)
		sim->holder = op->writer;
	else
		sim->shared++;
	return 0;
}

static void do_unlock(struct sim *sim, const struct op *op)
{
	if (sim->holder == op->writer)
		sim->holder = 0;
	else
		sim->shared--;
}

static int do_name(struct sim *sim, struct op *op)
{
	uint64_t *name = &sim->name[op->block], *to = &sim->name[op->count];

	if (op->kind == OP_CREATE) {
		if (*name)
			return -EEXIST;
		*name = op->arg;
		return 0;
	}
	if (!*name)
		return -ENOENT;
	if (op->kind == OP_LOOKUP) {
		op->arg = *name;
	} else if (op->kind == OP_UNLINK) {
		*name = 0;
	} else if (op->kind == OP_LINK) {
		if (*to)
			return -EEXIST;
		*to = *name;
	} else if (*name != *to) {
		*to = *name;
		*name = 0;
	}
	return 0;
}

static void carry_out(struct sim *sim, struct op *op)
{
	op->result = (int32_t)op->count;
	switch (op->kind) {
	case OP_WRITE:
		do_write(sim, op);
		break;
	case OP_READ:
		do_read(sim, op);
		break;
	case OP_APPEND:
		do_append(sim, op);
		break;
	case OP_TRUNCATE:
		do_truncate(sim, op);
		op->result = 0;
		break;
	case OP_SIZE:
		op->result = (int32_t)sim->size;
		break;
	case OP_LOCK:
		op->result = do_lock(sim, op);
		break;
	case OP_UNLOCK:
		do_unlock(sim, op);
		op->result = 0;
		break;
	default:
		op->result = do_name(sim, op);
	}
}

/* ---- random calls ---- */

static struct op *data_op(struct sim *sim, uint16_t writer,
			  enum object_kind okind)
{
	uint32_t n = 1 + roll(sim, 3), what = roll(sim, 10);
	struct op *op;

	if (okind == OBJ_CUT && what < 2) {
		op = op_new(sim, writer, OP_TRUNCATE, okind, 0);
		op->block = roll(sim, SIM_BLOCKS);
		return op;
	}
	if (okind == OBJ_CUT && what == 9)
		return op_new(sim, writer, OP_SIZE, okind, 0);
	op = op_new(sim, writer, what < 5 ? OP_WRITE : OP_READ, okind, n);
	op->count = n;
	op->block = roll(sim, SIM_BLOCKS - n);
	return op;
}

static struct op *tail_op(struct sim *sim, uint16_t writer)
{
	uint32_t n = 1 + roll(sim, 3);
	struct op *op;

	op = op_new(sim, writer, roll(sim, 2) ? OP_APPEND : OP_READ, OBJ_TAIL,
		    n);
	op->count = n;
	if (op->kind == OP_READ)
		op->block = sim->tail_end > 5 ? sim->tail_end - 5 : 0;
	return op;
}

static struct op *guard_op(struct sim *sim, unsigned int client)
{
	uint16_t writer = sim->writer[client];
	uint64_t hold = sim->holding[client];
	struct op *op;

	if (!hold) {
		op = op_new(sim, writer, OP_LOCK, OBJ_GUARD, 0);
		op->arg = roll(sim, 3) ? LOCK_EXCLUSIVE : LOCK_SHARED;
		return op;
	}
	if (roll(sim, 4) || sim->holder != writer) {
		op = op_new(sim, writer, OP_UNLOCK, OBJ_GUARD, 0);
		sim->holding[client] = 0;
	} else {
		op = op_new(sim, writer, OP_WRITE, OBJ_GUARD, 0);
		op->block = roll(sim, SIM_BLOCKS);
		op->count = 1;
	}
	op->arg = hold;
	return op;
}

static struct op *name_op(struct sim *sim, uint16_t writer)
{
	static const enum op_kind kind[] = { OP_CREATE, OP_LOOKUP, OP_LOOKUP,
					     OP_UNLINK, OP_RENAME, OP_LINK };
	struct op *op;

	op = op_new(sim, writer, kind[roll(sim, 6)], OBJ_NAMES, 0);
	op->block = roll(sim, 4);
	op->count = op->kind == OP_RENAME || op->kind == OP_LINK
			    ? (op->block + 1 + roll(sim, 3)) % 4
			    : 0;
	op->arg = op->kind == OP_CREATE ? ++sim->ids : 0;
	return op;
}

static struct op *any_op(struct sim *sim, unsigned int client)
{
	uint16_t writer = sim->writer[client];
	enum object_kind okind = (enum object_kind)roll(sim, OBJ_KINDS);

	switch (okind) {
	case OBJ_TAIL:
		return tail_op(sim, writer);
	case OBJ_GUARD:
		return guard_op(sim, client);
	case OBJ_NAMES:
		return name_op(sim, writer);
	default:
		return data_op(sim, writer, okind);
	}
}

static void start(struct sim *sim, unsigned int client)
{
	struct sim_call *c = &sim->call[client];

	*c = (struct sim_call){ .op = any_op(sim, client) };
	c->effect = c->op->begin + 1 + roll(sim, 40);
	c->end = c->effect + 1 + roll(sim, 40);
	c->fails = !roll(sim, 12) && c->op->object_kind != OBJ_GUARD;
	c->effective = !c->fails || roll(sim, 2);
	c->killed = !roll(sim, 200) && c->op->object_kind != OBJ_GUARD &&
		    !sim->call[SIM_CLIENTS + client].op &&
		    !sim->holding[client];
}

static void finish(struct sim *sim, unsigned int client, struct sim_call *c)
{
	if (c->fails)
		c->op->result = -ETIMEDOUT;
	c->op->end = sim->now;
	c->op->state = OP_DONE;
	if (c->op->kind == OP_LOCK && !c->op->result)
		sim->holding[client] = c->op->no;
	history_add(&sim->h, c->op);
	c->op = NULL;
}

/* The client dies.  Its call is executed later, within the bound, or never. */
static void die(struct sim *sim, unsigned int client)
{
	struct sim_call *c = &sim->call[client],
			*dead = &sim->call[SIM_CLIENTS + client];

	if (!c->done) {
		*dead = *c;
		dead->effect = sim->now + roll(sim, BOUND / 2);
		dead->effective = roll(sim, 2);
	}
	sim->writer[client] = ++sim->writers;
	history_add(&sim->h, c->op);
	c->op = NULL;
}

static void step(struct sim *sim, unsigned int i, bool more)
{
	struct sim_call *c = &sim->call[i];

	if (!c->op) {
		if (more && i < SIM_CLIENTS && !roll(sim, 10))
			start(sim, i);
		return;
	}
	if (!c->done && c->effect <= sim->now) {
		c->done = true;
		if (c->effective)
			carry_out(sim, c->op);
		if (i >= SIM_CLIENTS)
			c->op = NULL;
	} else if (i < SIM_CLIENTS && c->end <= sim->now) {
		if (c->killed)
			die(sim, i);
		else
			finish(sim, i, c);
	}
}

static bool idle(const struct sim *sim)
{
	unsigned int i;

	for (i = 0; i < 2 * SIM_CLIENTS; i++)
		if (sim->call[i].op)
			return false;
	return true;
}

void sim_run(struct sim *sim, unsigned int n)
{
	unsigned int i;

	while (sim->h.n < n || !idle(sim)) {
		sim->now++;
		for (i = 0; i < 2 * SIM_CLIENTS; i++)
			step(sim, i, sim->h.n < n);
	}
	sim->now += 2 * BOUND;
}

/* ---- chosen calls ---- */

struct op *sim_call(struct sim *sim, uint16_t writer, enum op_kind kind,
		    enum object_kind okind, uint32_t block, uint32_t count,
		    int32_t result)
{
	struct op *op = op_new(sim, writer, kind, okind,
			       kind == OP_READ ? count : 0);

	op->block = block;
	op->count = count;
	op->result = result;
	sim->now += 10;
	op->end = sim->now;
	op->state = OP_DONE;
	history_add(&sim->h, op);
	return op;
}

struct op *sim_read(struct sim *sim, uint16_t writer, enum object_kind okind,
		    uint32_t block, uint32_t count)
{
	struct op *op = sim_call(sim, writer, OP_READ, okind, block, count, 0);

	do_read(sim, op);
	return op;
}

unsigned int sim_judge(struct sim *sim)
{
	history_sort(&sim->h);
	return history_check(&sim->h);
}
