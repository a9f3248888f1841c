/* SPDX-License-Identifier: BSD-2-Clause */
/* stats_seen.c - see stats_seen.h. */
#include "client/tools/stats_seen.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <pvfs.h>

void *stats_seen_of(struct stats_seen **all, const char *uri, size_t len)
{
	struct stats_seen *s;

	for (s = *all; s; s = s->next) {
		if (!strcmp(s->uri, uri))
			return s;
	}
	s = calloc(1, len);
	if (!s)
		return NULL;
	snprintf(s->uri, sizeof(s->uri), "%s", uri);
	s->next = *all;
	*all = s;
	return s;
}

void stats_seen_free(struct stats_seen *all)
{
	struct stats_seen *s;

	while ((s = all)) {
		all = s->next;
		free(s);
	}
}

void stats_subtract(struct pvfs_op_stats *s, const struct pvfs_op_stats *old)
{
	if (old->requests > s->requests)
		return;
	s->requests -= old->requests;
	s->errors -= old->errors;
	s->bytes_in -= old->bytes_in;
	s->bytes_out -= old->bytes_out;
	s->ns -= old->ns;
	for (unsigned int i = 0; i < PVFS_LATENCIES; i++)
		s->latency[i] -= old->latency[i];
}
