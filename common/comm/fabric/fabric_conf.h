/* SPDX-License-Identifier: BSD-2-Clause */
/* fabric_conf.h - the transports of a daemon, from its section of the configuration. */
#ifndef FABRIC_CONF_H
#define FABRIC_CONF_H

#include "common/util/conf.h"
#include "common/comm/fabric/fabric.h"

struct fabric_conf {
	char option[FABRIC_TEXT_MAX]; /* "": auto */
	struct rdma_opt rdma;
	unsigned int dead_peer_s; /* 0: the default */
	char where[512]; /* "FILE:LINE: [section] fabric", or of the address */
};

#define FABRIC_DEAD_MAX_S 3600u
#define FABRIC_STALL_MS 10000u

/* Returns rpc_server_attr.stall_ms: the ms after which bulk data that does not move fails. */
unsigned int fabric_stall_ms(const struct fabric_conf *fc);

/*
 * Reads the settings of the section in into *fc; those that it does not contain stay unchanged.
 * Returns 0, or -EINVAL: then in->err has the file, the cause and the remedy.
 */
int fabric_conf_read(const struct conf_section *in, struct fabric_conf *fc);

#endif
