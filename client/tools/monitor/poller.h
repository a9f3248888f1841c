/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * poller.h - asks several servers for their metrics repeatedly and concurrently.  Each
 * server has a thread, so a server that does not answer delays only its own answer.
 *
 *	idle --poller_ask()--> asks --> answered, idle
 */
#ifndef POLLER_H
#define POLLER_H

#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>

#include <pvfs.h>

/* The answer of a server. */
struct poller_answer {
	uint64_t at; /* clock_now(); 0: no answer yet */
	struct pvfs_metric *rows; /* metrics of the server itself */
	struct pvfs_metric
		*names; /* rows of the files whose names were requested */
	struct pvfs_ping ping; /* if poller.whole */
	struct statfs space; /* if poller.whole */
};

struct poller_server;

struct poller {
	/* set before poller_init() */
	int timeout_ms; /* per question */
	unsigned int groups; /* PVFS_METRICS_* */
	bool whole; /* also pings, and asks for the space */
	/* files whose names the poller requests from managers; set between two poller_ask() */
	unsigned int nwanted;
	uint64_t wanted[PVFS_METRIC_FILES];
	/* private */
	pthread_mutex_t lock;
	pthread_cond_t changed;
	bool stop;
	unsigned int servers;
	struct poller_server **server;
};

/* p must stay at its address. */
void poller_init(struct poller *p);
/*
 * Adds a server, which gets the next number.  path: of its mount, or NULL.  Copies path
 * and uri.  False: no memory.
 */
bool poller_add(struct poller *p, const char *path, const char *uri,
		bool is_mgr);
/*
 * Asks each server that has no question in progress.  Waits for answers until deadline
 * (clock_now()) at most; for servers that did not answer the last time, only SILENT_MS.
 */
void poller_ask(struct poller *p, uint64_t deadline);
/*
 * Takes the latest answer of server i.  0: it is in *answer, whose previous content the poller
 * takes over.  Otherwise a positive errno; ETIMEDOUT also if the question is still in progress.
 * Before the first call, set *answer to zero; free it with poller_answer_free().
 */
int poller_take(struct poller *p, unsigned int i, struct poller_answer *answer);
void poller_answer_free(struct poller_answer *answer);
/* Ends the wait of poller_ask().  Any thread. */
void poller_stop(struct poller *p);
/* Waits for questions in progress, at most until they time out. */
void poller_fini(struct poller *p);

#endif
