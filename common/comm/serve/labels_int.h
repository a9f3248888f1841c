/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * labels_int.h - what users and jobs have asked for.  A label is a user and a job; each
 * lane counts in its own part of it, without a lock.  The lock is taken where a session
 * gets its label, or gives it back, and where all are read.
 *
 *	in use (sessions have it) <---> idle, oldest first ---> folded into the others
 *
 * An idle one is folded when a new one finds no room; when there is none that is idle,
 * the new one is counted among the others from the beginning.  A user who has LABELS_OF_ONE
 * loses one of his own for another one, so that nobody's jobs take the others' places.
 */
#ifndef LABELS_INT_H
#define LABELS_INT_H

#include <pthread.h>
#include <stdatomic.h>
#include <sys/queue.h>

#include "common/util/hash_table.h"
#include "common/comm/serve/rpc_serve.h"
#include "common/wire/wire.h"

#define LABELS_MAX 256u /* beside the others */
#define LABELS_OF_ONE 128u /* of these */
#define LABELS_AS 4u /* whom a session that speaks for others keeps at hand */

struct rpc_session;
struct rx;

struct label_key {
	uint32_t uid;
	char job[WIRE_JOB_MAX]; /* then zeros */
};

/* Written by one thread: a cache line of its own. */
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
	unsigned int users; /* sessions that have it; several times counts so */
	UT_hash_handle hh;
	TAILQ_ENTRY(label) idle_link;
	struct label_count *lane; /* one each */
	struct label_sum
		told; /* what its clients say that they did without requests */
};

struct labels {
	pthread_mutex_t lock; /* of all but what lanes count */
	unsigned int lanes;
	struct label *by_key;
	struct label *table[LABELS_MAX];
	TAILQ_HEAD(, label) idle;
	struct label *others;
	struct label_sum folded;
	struct rpc_told told[2]; /* of all: read, written */
};

/* Of a session: its job, its own label, and those of whom it spoke for lately.  Zero it. */
struct label_hold {
	char job[WIRE_JOB_MAX]; /* then zeros */
	struct label *own;
	struct label *as[LABELS_AS]; /* by uid: */
	uint32_t as_uid[LABELS_AS]; /* whose they are, also of the others */
};

/* 0, or -ENOMEM. */
int labels_init(struct labels *all, unsigned int lanes);
void labels_fini(struct labels *all);
/* Never NULL; to be given back.  labels_put(): what was counted stays; NULL: nothing. */
struct label *labels_get(struct labels *all, const struct label_key *key);
void labels_put(struct labels *all, struct label *label);
/* So much was done without requests. */
void labels_told(struct labels *all, const struct label_key *key,
		 const struct rpc_told told[2]);
/* Under the lock: what was counted of it is added to sum. */
void label_total(const struct labels *all, const struct label *label,
		 struct label_sum *sum);

/* session's credentials are those that hold from now on; its job stays. */
void labels_own(struct rpc_session *session);
/* It is over. */
void labels_leave(struct rpc_session *session);
/* rx is about to be answered: as tally_add(), after so many ns. */
void labels_add(struct rx *rx, uint64_t took, uint32_t status);
/* Who is shown all: root, and the user that the server runs as. */
bool labels_sees_all(struct rpc_session *session);

#endif
