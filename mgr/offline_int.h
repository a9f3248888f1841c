/* SPDX-License-Identifier: BSD-2-Clause */
/* offline_int.h - what pvfs-mgr --restore and --recover share. */
#ifndef OFFLINE_INT_H
#define OFFLINE_INT_H

#include "common/comm/fabric/fabric.h"
#include "common/comm/rpc.h"
#include "common/trust/keyring.h"
#include "mgr/db/store.h"
#include "mgr/mgr.h"
#include "mgr/ns/ns.h"

struct restore_iod {
	struct rpc_peer *peer;
	uint64_t store; /* identity of its store */
};

/* Begins with conf, log and gap; all else zero. */
struct restore {
	const struct mgr_conf *conf;
	const struct log *log;
	uint64_t gap; /* what is added to the highest term */
	struct store *st;
	struct ns ns;
	struct keyring *ring;
	struct fabric fabric;
	struct rpc_ctx *ctx;
	struct restore_iod *iod; /* conf->niods */
	uint64_t identity; /* of the database */
	uint64_t term; /* the highest one that is known */
};

/*
 * Opens and locks the folder.  If root runs it, the process continues as the owner of the database
 * in that folder.
 * Returns the descriptor of the folder, or -errno, logged.
 */
int offline_open_folder(const struct mgr_conf *conf, const struct log *log);

/* Opens r->ring, fabric, ctx and iod.  After an error too: restore_close(). */
int restore_open_net(struct restore *r);
/*
 * Asks all iods for their stores and the highest term, with r->st and r->identity. -errno, logged:
 * one of them does not answer, or its store is not one of this database.
 */
int restore_ask_iods(struct restore *r);
/* All of a restore but the check whether the storage may be restored. */
int restore_database(struct restore *r);
void restore_close(struct restore *r);

#endif
