/* SPDX-License-Identifier: BSD-2-Clause */
/* gather.h - what came to each server since it was asked before. */
#ifndef TOP_GATHER_H
#define TOP_GATHER_H

#include <stdbool.h>

#include "pvfs.h"

#define TOP_OPS 96

/* In a second, but for the times. */
struct top_rates {
	double requests, errors, in, out;
	uint64_t mean_ns, p99_ns; /* 0: there was no request */
};

struct top_server {
	char name[16], uri[288];
	char *path; /* of its mount, its own; or NULL: by its address */
	struct pvfs_watch *watch; /* or NULL */
	int err; /* of the last time that it was asked: errno */
	uint64_t at; /* when it answered, ns; 0: never */
	int ops, labels;
	struct pvfs_op_stats op[TOP_OPS];
	struct pvfs_label label[PVFS_LABELS];
	struct top_rates rates;
};

/* Of a user and a job, at all servers together. */
struct top_user {
	struct pvfs_label key; /* uid, job, flags alone count */
	struct top_rates rates;
};

struct top {
	int timeout_ms;
	unsigned int servers, users;
	struct top_server *server; /* its own */
	struct top_user *user; /* its own, the busiest first */
};

/* A server more; false: no memory. */
bool top_add(struct top *top, const char *path, const char *name,
	     const char *uri);
/* Asks all, one after the other. */
void top_gather(struct top *top);
void top_free(struct top *top);

/* users.c: adds what came of its labels since before, in so many seconds. */
void top_users_add(struct top *top, const struct pvfs_label *before, int n,
		   const struct top_server *now, double seconds);
/* Those of all servers are there: the same ones become one. */
void top_users_join(struct top *top);

#endif
