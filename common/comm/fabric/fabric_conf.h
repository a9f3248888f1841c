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

/* How long bulk data may make no progress, in ms: struct rpc_server_attr. */
unsigned int fabric_stall_ms(const struct fabric_conf *fc);

/*
 * Settings that the section does not contain stay unchanged.  Returns -EINVAL and puts a line
 * with the file, the cause and the fix into err.
 */
int fabric_conf_read(const struct conf_section *in, struct fabric_conf *fc);

#endif
