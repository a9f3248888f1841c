/* SPDX-License-Identifier: BSD-2-Clause */
/* random_memory.c - see random_memory.h. */
#include <stdlib.h>
#include <string.h>

#include "tests/mpi/random_memory.h"

#define SPAN 4096 /* maximum span of a type */
#define COPIES 3 /* maximum number of copies of the type */
/* bytes before and after the memory in use, which must not change */
#define GUARD 64
#define AREA (SPAN * 2 * (COPIES + 1) + 2 * GUARD)

static char *place(const struct memory *m, int k)
{
	const struct rtype *t = m->type;

	return (char *)((intptr_t)m->buf + t->at[k % t->n] +
			k / t->n * t->extent);
}

static int area_of(const struct memory *m, const char *at)
{
	int i = 0;

	while (at < m->area[i] || at >= m->area[i] + AREA)
		i++;
	return i;
}

char *memory_byte(const struct memory *m, int k)
{
	return place(m, k);
}

char *memory_want(const struct memory *m, int k)
{
	const char *at = place(m, k);
	const int i = area_of(m, at);

	return m->want[i] + (at - m->area[i]);
}

bool memory_right(const struct memory *m)
{
	for (int i = 0; i < m->areas; i++)
		if (memcmp(m->area[i], m->want[i], AREA))
			return false;
	return true;
}

static void new_area(struct memory *m)
{
	m->area[m->areas] = calloc(1, AREA);
	m->want[m->areas++] = calloc(1, AREA);
}

/* Returns the address at which a type must begin so that its first byte is in area i. */
static int64_t origin(const struct memory *m, int i, int64_t first)
{
	return (int64_t)(intptr_t)m->area[i] + GUARD - first;
}

static void draw_absolute(struct memory *m, struct rnd *r)
{
	const int parts = 1 + rnd(r, AREAS);
	const bool same = rnd(r, 2);
	struct rtype *part[AREAS];
	int64_t at[AREAS], first, end;
	int i;

	for (i = 0; i < parts; i++) {
		part[i] = i && same ? part[0] : rtype_memory(r, SPAN);
		/* all parts together have as many bytes as are permitted */
		if (part[i]->n > TYPE_BYTES / AREAS && part[i] != part[0])
			break;
		rtype_bounds(part[i], &first, &end);
		new_area(m);
		at[i] = origin(m, i, first);
		if (part[i]->n > TYPE_BYTES / AREAS) {
			i++;
			break;
		}
	}
	if (i < parts && i && part[i - 1]->n <= TYPE_BYTES / AREAS)
		rtype_free(part[i]);
	m->type = rtype_absolute(r, part, at, i);
	m->buf = MPI_BOTTOM;
	m->count = 1;
}

static int divisor(int a, int b)
{
	return b ? divisor(b, a % b) : a;
}

static void draw_relative(struct memory *m, struct rnd *r, int multiple)
{
	int64_t first, end;

	m->type = rtype_memory(r, SPAN);
	m->count = rnd(r, COPIES + 1);
	if (m->type->n)
		multiple /= divisor(multiple, m->type->n);
	else
		multiple = 1;
	m->count = (m->count + multiple - 1) / multiple * multiple;
	if (m->count > COPIES)
		m->count = 0;
	rtype_bounds(m->type, &first, &end);
	new_area(m);
	m->buf = (void *)(intptr_t)origin(m, 0, first);
	if (m->type->extent < 0)
		m->count = m->count ? 1 : 0;
}

/* Whether a byte of the memory is accessed twice. */
static bool overlaps(const struct memory *m)
{
	bool twice = false;
	int k;

	for (k = 0; k < m->total && !twice; k++) {
		twice = *memory_want(m, k);
		*memory_want(m, k) = 1;
	}
	for (k = 0; k < m->total; k++)
		*memory_want(m, k) = 0;
	return twice;
}

static void fill(struct memory *m, struct rnd *r)
{
	const int seed = rnd(r, 1 << 30);

	for (int i = 0; i < m->areas; i++) {
		for (int k = 0; k < AREA; k++)
			m->area[i][k] = (char)((seed + k * 31 + i) % 251);
		memcpy(m->want[i], m->area[i], AREA);
	}
}

void memory_draw(struct memory *m, struct rnd *r, bool absolute, bool read,
		 int multiple)
{
	bool again = true;

	while (again) {
		memset(m, 0, sizeof(*m));
		if (absolute)
			draw_absolute(m, r);
		else
			draw_relative(m, r, multiple);
		m->total = m->count * m->type->n;
		again = read && overlaps(m);
		if (again)
			memory_free(m);
	}
	MPI_Type_commit(&m->type->type);
	fill(m, r);
}

void memory_free(struct memory *m)
{
	for (int i = 0; i < m->areas; i++) {
		free(m->area[i]);
		free(m->want[i]);
	}
	rtype_free(m->type);
}
