/* SPDX-License-Identifier: BSD-2-Clause */
/* gather.h - what came to each server since it was asked before. */
#ifndef TOP_GATHER_H
#define TOP_GATHER_H

#include <stdbool.h>

#include "client/tools/poller/poller.h"

/* In a second, but for the times. */
struct top_rates {
	double requests, errors, in, out;
	uint64_t mean_ns, p99_ns; /* 0: there was no request */
};

struct top_server {
	char name[16];
	int err; /* of the last time that it was asked: errno */
	struct poller_answer last; /* its own */
	struct top_rates rates;
};

/* Of a user and a job, at all servers together. */
struct top_user {
	char uid[16], job[72], way[16]; /* labels of "user" */
	struct top_rates rates;
};

/* At all servers together. */
struct top_file {
	char handle[20];
	const char *name; /* of an answer, or "" */
	struct top_rates rates; /* but for errors and times */
};

struct top {
	int timeout_ms; /* within which a server is up */
	unsigned int servers, users, files;
	struct top_file *file; /* its own, the busiest first */
	struct top_server *server; /* its own */
	struct top_user *user; /* its own, the busiest first */
	struct poller poller;
};

/* It stays where it is, for the poller. */
void top_init(struct top *top);
/* A server more; false: no memory. */
bool top_add(struct top *top, const char *path, const char *name,
	     const char *uri);
/* Asks all at once, and waits no longer than the time-out. */
void top_gather(struct top *top);
void top_free(struct top *top);

/* rates.c: for qsort(), who moves more bytes first, then who asks more; 0: as much. */
int top_rates_busiest(const struct top_rates *x, const struct top_rates *y);
/* Of at least one of them there were requests. */
void top_rates_add(struct top_rates *to, const struct top_rates *r);
/* Of what came in so many seconds. */
struct top_rates top_rates_of(const struct pvfs_metric *m, double seconds);

/* users.c: a row of a user more, what came in so many seconds. */
void top_users_add(struct top *top, const struct pvfs_metric *row,
		   double seconds);
/* Those of all servers are there: the same ones become one. */
void top_users_join(struct top *top);

/* files.c: the same of a file. */
void top_files_add(struct top *top, const struct pvfs_metric *row,
		   double seconds);
/* The same ones become one, with its name; and which names are wanted the next time. */
void top_files_join(struct top *top);

#endif
