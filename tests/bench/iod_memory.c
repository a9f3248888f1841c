/* SPDX-License-Identifier: BSD-2-Clause */
/* iod_memory.c - gets the memory of an iod from /proc and from its own statistics. */
#include <stdio.h>
#include <string.h>

#include <pvfs.h>

#include "tests/bench/iod_memory.h"

#define ANSWER_MS 3000 /* time limit in ms for the answer of an iod */

static double resident(pid_t pid)
{
	char path[64], line[256];
	unsigned long kib = 0;
	FILE *f;

	snprintf(path, sizeof(path), "/proc/%d/status", (int)pid);
	f = fopen(path, "r");
	while (f && fgets(line, sizeof(line), f))
		if (sscanf(line, "VmRSS: %lu", &kib) == 1)
			break;
	if (f)
		fclose(f);
	return (double)kib / 1024;
}

static double sum_registered(const struct pvfs_metric *m)
{
	double sum = 0;

	for (; m; m = m->next)
		if (!strcmp(m->name, "registered_bytes"))
			sum += (double)m->n;
	return sum / (1 << 20);
}

static double registered(const char *dir)
{
	struct pvfs_server server[2];
	struct pvfs_metric *list;
	struct pvfs_watch *watch;
	double mib = -1;

	if (pvfs_servers(dir, server, 2) < 2 ||
	    pvfs_watch_open(dir, server[1].uri, ANSWER_MS, &watch))
		return -1;
	if (pvfs_watch_metrics(watch, PVFS_METRICS_INSIDE, NULL, 0, &list) >=
	    0) {
		mib = sum_registered(list);
		pvfs_metrics_free(list);
	}
	pvfs_watch_close(watch);
	return mib;
}

struct iod_memory iod_memory(const struct bench *b)
{
	return (struct iod_memory){ resident(b->servers[1]),
				    registered(b->dir) };
}
