/* SPDX-License-Identifier: BSD-2-Clause */
/* metric.c - see metric.h. */
#include "client/tools/common/metric.h"

#include <string.h>

bool metric_is(const struct pvfs_metric *m, const char *name)
{
	return !strcmp(m->name, name);
}

const char *metric_what(const struct pvfs_metric *m)
{
	const char *op = pvfs_metric_label(m, "op"),
		   *of = pvfs_metric_label(m, "of");

	if (*op)
		return op;
	return *of && strcmp(of, "object") ? of : m->name;
}

int metric_compare(const struct pvfs_metric *a, const struct pvfs_metric *b)
{
	int order = strcmp(a->name, b->name);

	if (!order && a->labels != b->labels)
		order = a->labels < b->labels ? -1 : 1;
	for (unsigned int i = 0; !order && i < a->labels; i++) {
		order = strcmp(a->label[i].key, b->label[i].key);
		if (!order)
			order = strcmp(a->label[i].value, b->label[i].value);
	}
	return order;
}

static const struct pvfs_metric *find_before(const struct pvfs_metric *list,
					     const struct pvfs_metric *m)
{
	for (; list; list = list->next)
		if (!metric_compare(list, m))
			return list->n <= m->n &&
					       list->bytes_in <= m->bytes_in &&
					       list->bytes_out <= m->bytes_out
				       ? list
				       : NULL;
	return NULL;
}

struct pvfs_metric metric_since(const struct pvfs_metric *m,
				const struct pvfs_metric *before,
				uint64_t latency[PVFS_LATENCIES])
{
	const struct pvfs_metric *old = m->kind == PVFS_NOW
						? NULL
						: find_before(before, m);
	struct pvfs_metric s = *m;

	if (m->latency) {
		memcpy(latency, m->latency, PVFS_LATENCIES * sizeof(*latency));
		s.latency = latency;
	}
	if (!old)
		return s;
	s.n -= old->n;
	s.errors -= old->errors;
	s.bytes_in -= old->bytes_in;
	s.bytes_out -= old->bytes_out;
	s.ns -= old->ns;
	for (unsigned int i = 0;
	     s.latency && old->latency && i < PVFS_LATENCIES; i++)
		s.latency[i] -= old->latency[i];
	return s;
}

void metric_add(struct pvfs_metric *to, const struct pvfs_metric *m)
{
	to->n += m->n;
	to->errors += m->errors;
	to->bytes_in += m->bytes_in;
	to->bytes_out += m->bytes_out;
	to->ns += m->ns;
	if (m->most_ns > to->most_ns)
		to->most_ns = m->most_ns;
	for (unsigned int i = 0;
	     to->latency && m->latency && i < PVFS_LATENCIES; i++)
		to->latency[i] += m->latency[i];
}

uint64_t metric_mean(const struct pvfs_metric *m)
{
	return m->n ? m->ns / m->n : 0;
}

/*
 * Counts the requests with a time.  Direct accesses have none until a client has timed one.
 */
static uint64_t count_timed(const struct pvfs_metric *m)
{
	uint64_t n = 0;

	for (unsigned int i = 0; i < PVFS_LATENCIES; i++)
		n += m->latency[i];
	return n;
}

/* Returns the middle of the bucket in which this share of the requests is reached. */
uint64_t metric_percentile(const struct pvfs_metric *m, double share)
{
	uint64_t want, sum = 0, low, high;
	unsigned int i;

	if (!m->latency)
		return 0;
	want = (uint64_t)(share * (double)count_timed(m));
	for (i = 0; i < PVFS_LATENCIES - 1; i++) {
		sum += m->latency[i];
		if (sum > want)
			break;
	}
	low = pvfs_latency_ns(i);
	high = pvfs_latency_ns(i + 1);
	if (high > m->most_ns)
		high = m->most_ns;
	return high > low ? low + (high - low) / 2 : high;
}
