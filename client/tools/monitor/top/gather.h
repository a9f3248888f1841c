/* SPDX-License-Identifier: BSD-2-Clause */
/* gather.h - request rates of each server, user and file since the previous query. */
#ifndef TOP_GATHER_H
#define TOP_GATHER_H

#include <stdbool.h>

#include "client/tools/monitor/poller.h"

/* Per second, except the times. */
struct top_rates {
	double requests, errors, in, out;
	uint64_t mean_ns, p99_ns; /* 0: no request */
};

struct top_server {
	char name[16];
	int err; /* errno of the last query; 0: it was answered */
	struct poller_answer last; /* owned */
	struct top_rates rates;
};

/* A user and a job, over all servers. */
struct top_user {
	char uid[16], job[72], way[16]; /* labels of "user" */
	struct top_rates rates;
};

/* A file, over all servers. */
struct top_file {
	char handle[20];
	const char *name; /* points into an answer; or "" */
	struct top_rates rates; /* without errors and times */
};

struct top {
	int timeout_ms; /* a server that does not answer in this time counts as down */
	unsigned int servers, users, files;
	struct top_file *file; /* owned; the busiest first */
	struct top_server *server; /* owned */
	struct top_user *user; /* owned; the busiest first */
	struct poller poller;
};

/* top must stay at its address, because of the poller. */
void top_init(struct top *top);
/* Adds a server; false: no memory. */
bool top_add(struct top *top, const char *path, const char *name,
	     const char *uri);
/* Asks all servers concurrently, and waits no longer than the timeout. */
void top_gather(struct top *top);
void top_free(struct top *top);

#endif
