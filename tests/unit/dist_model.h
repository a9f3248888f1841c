/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * dist_model.h - a model of striping: it assigns one byte after the other, without division or
 * formula.  It may begin at any round (a round is one stripe on each of the pcount servers); at the
 * beginning of a round, every server has round * ssize bytes.
 */
#ifndef DIST_MODEL_H
#define DIST_MODEL_H

#include "common/dist/dist.h"

#define DIST_MODEL_SERVERS 64u

struct dist_model {
	const struct dist *d;
	uint64_t off; /* offset of the next byte to assign */
	uint32_t server; /* the server that gets it */
	uint32_t in_stripe;
	uint64_t local[DIST_MODEL_SERVERS]; /* bytes that each server has got */
};

static inline void dist_model_init(struct dist_model *m, const struct dist *d,
				   uint64_t round)
{
	m->d = d;
	m->off = round * d->pcount * d->ssize;
	m->server = 0;
	m->in_stripe = 0;
	for (uint32_t k = 0; k < d->pcount; k++)
		m->local[k] = round * d->ssize;
}

/* Returns the last round that begins before a file offset. */
static inline uint64_t dist_model_round(const struct dist *d, uint64_t off)
{
	return off / ((uint64_t)d->pcount * d->ssize);
}

static inline void dist_model_step(struct dist_model *m)
{
	m->off++;
	m->local[m->server]++;
	if (++m->in_stripe < m->d->ssize)
		return;
	m->in_stripe = 0;
	if (++m->server == m->d->pcount)
		m->server = 0;
}

#endif
