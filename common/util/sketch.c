/* SPDX-License-Identifier: BSD-2-Clause */
/* sketch.c - see sketch.h. */
#include "common/util/sketch.h"

#include <stdlib.h>

/* Avoids a division, which would delay requests, when there are no halvings. */
static unsigned int count_halvings(const struct sketch *s, uint64_t now)
{
	uint64_t since = now > s->halved ? now - s->halved : 0, n;

	if (since < SKETCH_HALF_NS)
		return 0;
	n = since / SKETCH_HALF_NS;
	return n < 63 ? (unsigned int)n : 63;
}

static void halve_weights(struct sketch *s, uint64_t now)
{
	unsigned int by = count_halvings(s, now);

	if (!by)
		return;
	for (unsigned int i = 0; i < s->n; i++) {
		s->row[i].weight >>= by;
		s->row[i].slack >>= by;
	}
	s->halved = now;
}

static unsigned int find_lightest(const struct sketch *s)
{
	unsigned int least = 0;

	for (unsigned int i = 1; i < SKETCH_MAX; i++)
		if (s->row[i].weight < s->row[least].weight)
			least = i;
	return least;
}

static unsigned int take_place(struct sketch *s, uint64_t key)
{
	unsigned int i = s->n < SKETCH_MAX ? s->n++ : find_lightest(s);
	uint64_t weight = s->row[i].weight;

	s->row[i] = (struct sketch_row){ .key = key,
					 .weight = weight,
					 .slack = weight };
	s->key[i] = key;
	return i;
}

static unsigned int place_of(struct sketch *s, uint64_t key)
{
	if (s->key[s->last] == key && s->last < s->n)
		return s->last;
	for (unsigned int i = 0; i < s->n; i++)
		if (s->key[i] == key)
			return i;
	return take_place(s, key);
}

void sketch_add(struct sketch *s, uint64_t key, uint64_t in, uint64_t out,
		uint64_t now)
{
	struct sketch_row *row;

	halve_weights(s, now);
	s->last = place_of(s, key);
	row = &s->row[s->last];
	row->weight += in + out + SKETCH_REQUEST;
	row->requests++;
	row->in += in;
	row->out += out;
}

static int compare_rows(const void *a, const void *b)
{
	const struct sketch_row *x = a, *y = b;

	if (x->weight != y->weight)
		return x->weight > y->weight ? -1 : 1;
	return x->key < y->key ? -1 : x->key > y->key;
}

static struct sketch_row *find_row(struct sketch_row *rows, unsigned int n,
				   uint64_t key)
{
	for (unsigned int i = 0; i < n; i++)
		if (rows[i].key == key)
			return &rows[i];
	return NULL;
}

unsigned int sketch_join(const struct sketch *s, uint64_t now,
			 struct sketch_row rows[2 * SKETCH_MAX], unsigned int n)
{
	unsigned int by = count_halvings(s, now), had = n;

	for (unsigned int i = 0; i < s->n; i++) {
		const struct sketch_row *from = &s->row[i];
		struct sketch_row *to = find_row(rows, had, from->key);

		if (!to) {
			to = &rows[n++];
			*to = (struct sketch_row){ .key = from->key };
		}
		to->weight += from->weight >> by;
		to->slack += from->slack >> by;
		to->requests += from->requests;
		to->in += from->in;
		to->out += from->out;
	}
	qsort(rows, n, sizeof(*rows), compare_rows);
	return n < SKETCH_MAX ? n : SKETCH_MAX;
}
