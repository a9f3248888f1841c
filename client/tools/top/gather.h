/* SPDX-License-Identifier: BSD-2-Clause */
/* gather.h - what came to each server since it was asked before. */
#ifndef TOP_GATHER_H
#define TOP_GATHER_H

#include <pthread.h>
#include <stdbool.h>

#include <pvfs.h>

#define TOP_OPS 96

/* In a second, but for the times. */
struct top_rates {
	double requests, errors, in, out;
	uint64_t mean_ns, p99_ns; /* 0: there was no request */
};

/* What a server has said. */
struct top_answer {
	uint64_t at; /* ns; 0: nothing, or of a server that was lost meanwhile */
	int ops, labels;
	struct pvfs_op_stats op[TOP_OPS];
	struct pvfs_label label[PVFS_LABELS];
	int files, names;
	struct pvfs_hot file[PVFS_HOT];
	struct pvfs_hot
		name[PVFS_HOT]; /* of those that were wanted; a manager's */
};

struct top_asker;

struct top_server {
	char name[16], uri[288];
	struct top_asker *asker;
	int err; /* of the last time that it was asked: errno */
	struct top_answer *last; /* its own */
	struct top_rates rates;
};

/* Of a user and a job, at all servers together. */
struct top_user {
	struct pvfs_label key; /* uid, job, flags alone count */
	struct top_rates rates;
};

/* At all servers together. */
struct top_file {
	uint64_t handle;
	const char *name; /* of an answer, or "" */
	struct top_rates rates; /* but for errors and times */
};

struct top {
	int timeout_ms; /* within which a server is up */
	unsigned int servers, users, files;
	struct top_file *file; /* its own, the busiest first */
	struct top_server *server; /* its own */
	struct top_user *user; /* its own, the busiest first */
	/* asker.c: */
	pthread_mutex_t lock; /* of what askers say */
	pthread_cond_t changed;
	struct pvfs_hot wanted[PVFS_HOT]; /* files whose names are asked for */
	int nwanted;
};

/* It stays where it is, for the askers. */
void top_init(struct top *top);
/* A server more; false: no memory. */
bool top_add(struct top *top, const char *path, const char *name,
	     const char *uri);
/* Asks all at once, and waits no longer than the time-out; for those that did not answer
 * the last time, for a moment alone. */
void top_gather(struct top *top);
/* Waits for those that still ask: as long as a question may take. */
void top_free(struct top *top);

/* asker.c: a thread that asks one server, when it is told to.  path: of its mount, or NULL;
 * both are copied.  names: it may be a manager.  NULL: no memory. */
struct top_asker *top_asker_new(struct top *top, const char *path,
				const char *uri, bool names);
void top_asker_free(struct top_asker *a);
/* All begin, unless they still ask; within the time-out. */
void top_askers_ask(struct top *top);
/* 0, *answer is another one; or errno: ETIMEDOUT also of one that still asks. */
int top_asker_take(struct top_asker *a, struct top_answer **answer);

/* rates.c: for qsort(), who moves more bytes first, then who asks more; 0: as much. */
int top_rates_busiest(const struct top_rates *x, const struct top_rates *y);
/* Of at least one of them there were requests. */
void top_rates_add(struct top_rates *to, const struct top_rates *r);

/* users.c: adds what came of its labels since before, in so many seconds. */
void top_users_add(struct top *top, const struct top_answer *before,
		   const struct top_answer *now, double seconds);
/* Those of all servers are there: the same ones become one. */
void top_users_join(struct top *top);

/* files.c: the same of its files. */
void top_files_add(struct top *top, const struct top_answer *before,
		   const struct top_answer *now, double seconds);
/* The same ones become one, with its name; and which names are wanted the next time. */
void top_files_join(struct top *top);

#endif
