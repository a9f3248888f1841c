/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * usage_labels_int.h - counts the requests of each user and job.  A label is a pair of a user and a
 * job.  Each thread counts in its own part of the label, without a lock.  The lock is taken when a
 * session gets or releases a label, and when all labels are read.
 *
 *	in use (sessions have it) <---> idle, oldest first ---> added to the label "others"
 *
 * If there is no room for a new label, the counts of the oldest idle label are added to the label
 * "others".  If no label is idle, the new user and job count as "others" from the start.  If a user
 * has LABELS_OF_ONE labels, a new one replaces one of his own.  So the jobs of one user do not
 * displace other users.
 */
#ifndef USAGE_LABELS_INT_H
#define USAGE_LABELS_INT_H

#include <pthread.h>
#include <stdatomic.h>
#include <sys/queue.h>

#include "common/util/hash_table.h"
#include "common/comm/serve/rpc_serve.h"
#include "common/wire/wire.h"

#define LABELS_MAX 256u /* maximum of labels, without the label "others" */
#define LABELS_OF_ONE 128u /* maximum of labels of one user */
/* labels that a session keeps for the users in whose name it sends requests (WIRE_F_AS) */
#define LABELS_AS 4u

struct rpc_session;
struct rx;

struct label_key {
	uint32_t uid;
	char job[WIRE_JOB_MAX]; /* padded with zeros */
};

/*
 * The counts of one thread, which has a cache line of its own, because it is the only one that
 * writes them.
 */
struct label_count {
	_Alignas(64) atomic_uint_least64_t requests;
	atomic_uint_least64_t errors, bytes_in, bytes_out, ns;
};

struct label_sum {
	uint64_t requests, errors, bytes_in, bytes_out, ns;
};

struct label {
	struct label_key key;
	unsigned int place; /* index in the table */
	/* references by sessions; one session may have several */
	unsigned int users;
	UT_hash_handle hh;
	TAILQ_ENTRY(label) idle_link;
	struct label_count *counts; /* one for each thread */
	/* what its clients report: reads and writes without requests */
	struct label_sum direct;
};

struct labels {
	/* protects everything except the counts of threads */
	pthread_mutex_t lock;
	unsigned int threads;
	struct label *by_key;
	struct label *table[LABELS_MAX];
	TAILQ_HEAD(, label) idle;
	struct label *others;
	struct label_sum folded;
	struct rpc_direct_io
		/* sums over all labels: of reads, and of writes */
		direct_io[2];
};

/*
 * Part of a session: its job, its own label, and the labels of users in whose name it has recently
 * sent requests.  Initialised with zeros.
 */
struct label_hold {
	char job[WIRE_JOB_MAX]; /* padded with zeros */
	struct label *own;
	struct label *as[LABELS_AS]; /* labels of the users in as_uid[] */
	/* as_uid[i] is the user of as[i], also if as[i] is the label "others" */
	uint32_t as_uid[LABELS_AS];
};

/* Returns 0 or -ENOMEM. */
int labels_init(struct labels *all, unsigned int threads);
void labels_fini(struct labels *all);
/*
 * labels_get() returns the label of key, never NULL. The caller releases it with labels_put(),
 * which keeps its counts. labels_put() of NULL does nothing.
 */
struct label *labels_get(struct labels *all, const struct label_key *key);
void labels_put(struct labels *all, struct label *label);
/* Counts reads (io[0]) and writes (io[1]) that a client made without requests. */
void labels_add_direct_io(struct labels *all, const struct label_key *key,
			  const struct rpc_direct_io io[2]);
/* Adds the counts of label to sum.  The caller holds the lock. */
void label_total(const struct labels *all, const struct label *label,
		 struct label_sum *sum);

/* Called when the session has got other credentials: changes its own label. */
void labels_set_own(struct rpc_session *session);
/* Called when the session ends. */
void labels_release(struct rpc_session *session);
/* Counts the request rx, which is about to be answered with status, took ns after its arrival. */
void labels_count_request(struct rx *rx, uint64_t took, uint32_t status);
/*
 * Returns whether the session may read the labels of all users: rpc_service.sees_all(), or else
 * root and the user of the server process.
 */
bool session_sees_all_labels(struct rpc_session *session);

#endif
