/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * usage_labels_int.h - what users and jobs requested.  A label is a user and a job.  Each thread
 * counts in its own part of the label, without a lock.  The lock is taken when a session gets a
 * label or gives it back, and when all labels are read.
 *
 *	in use (sessions have it) <---> idle, oldest first ---> folded into the others
 *
 * An idle label is folded when there is no room for a new one.  If none is idle, the new one is
 * counted among the others from the start.  A user with LABELS_OF_ONE labels loses one of his own
 * for a new one.  So the jobs of one user do not take the places of other users.
 */
#ifndef USAGE_LABELS_INT_H
#define USAGE_LABELS_INT_H

#include <pthread.h>
#include <stdatomic.h>
#include <sys/queue.h>

#include "common/util/hash_table.h"
#include "common/comm/serve/rpc_serve.h"
#include "common/wire/wire.h"

#define LABELS_MAX 256u /* without the label of the others */
#define LABELS_OF_ONE 128u /* of one user */
/* users for whom a session that speaks for others keeps labels */
#define LABELS_AS 4u

struct rpc_session;
struct rx;

struct label_key {
	uint32_t uid;
	char job[WIRE_JOB_MAX]; /* padded with zeros */
};

/* Written by one thread, so it has a cache line of its own. */
struct label_count {
	_Alignas(64) atomic_uint_least64_t requests;
	atomic_uint_least64_t errors, bytes_in, bytes_out, ns;
};

struct label_sum {
	uint64_t requests, errors, bytes_in, bytes_out, ns;
};

struct label {
	struct label_key key;
	unsigned int place; /* in the table */
	/* references by sessions; one session may have several */
	unsigned int users;
	UT_hash_handle hh;
	TAILQ_ENTRY(label) idle_link;
	struct label_count *counts; /* one per thread */
	struct label_sum
		direct; /* reported by its clients: done without requests */
};

struct labels {
	pthread_mutex_t lock; /* protects all except the counts of threads */
	unsigned int threads;
	struct label *by_key;
	struct label *table[LABELS_MAX];
	TAILQ_HEAD(, label) idle;
	struct label *others;
	struct label_sum folded;
	struct rpc_direct_io
		direct_io[2]; /* sums over all labels: read, written */
};

/*
 * Part of a session: its job, its own label, and labels of users for whom it spoke recently.
 * Initialize it with zeros.
 */
struct label_hold {
	char job[WIRE_JOB_MAX]; /* padded with zeros */
	struct label *own;
	struct label *as[LABELS_AS]; /* by uid: */
	/* their users, also if the label is that of the others */
	uint32_t as_uid[LABELS_AS];
};

/* Returns 0 or -ENOMEM. */
int labels_init(struct labels *all, unsigned int threads);
void labels_fini(struct labels *all);
/*
 * labels_get() never returns NULL; give the label back with labels_put().  Its counts stay.
 * NULL: nothing happens.
 */
struct label *labels_get(struct labels *all, const struct label_key *key);
void labels_put(struct labels *all, struct label *label);
/* Counts what was done without requests. */
void labels_add_direct_io(struct labels *all, const struct label_key *key,
			  const struct rpc_direct_io io[2]);
/* Under the lock: adds the counts of label to sum. */
void label_total(const struct labels *all, const struct label *label,
		 struct label_sum *sum);

/* The session has new credentials.  Its job stays. */
void labels_set_own(struct rpc_session *session);
/* The session ends. */
void labels_release(struct rpc_session *session);
/* rx is about to be answered after took ns.  Called with tally_count_request(). */
void labels_count_request(struct rx *rx, uint64_t took, uint32_t status);
/*
 * Whether the session sees all labels.  Default: root, and the user of the server process.
 */
bool session_sees_all_labels(struct rpc_session *session);

#endif
