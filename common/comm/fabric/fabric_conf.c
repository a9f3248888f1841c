/* SPDX-License-Identifier: BSD-2-Clause */
/* fabric_conf.c - the transports of a daemon, from its section of the configuration. */
#include "common/comm/fabric/fabric_conf.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

static int reject_value(const struct conf_section *in, const char *key,
			const char *want)
{
	char what[128];

	snprintf(what, sizeof(what), "write %s", want);
	return conf_complain(in, key, what);
}

int fabric_conf_read(const struct conf_section *in, struct fabric_conf *fc)
{
	static const char *const keys[] = { "rdma_device",  "rdma_gid",
					    "rdma_sl",	    "rdma_tc",
					    "rdma_bulk_sl", "rdma_bulk_tc" };
	const char *text = conf_get(in, "fabric");
	unsigned int i;

	if (text && !fabric_option_ok(text))
		return reject_value(in, "fabric",
				    "auto, strict:NAME or NAME:NAME...");
	if (text)
		strcpy(fc->option, text);
	if (text || (!fc->option[0] && conf_get(in, "address")))
		conf_where(in, text ? "fabric" : "address", fc->where,
			   sizeof(fc->where));
	for (i = 0; i < sizeof(keys) / sizeof(keys[0]); i++) {
		const char *name = keys[i] + strlen(RDMA_KEY);

		text = conf_get(in, keys[i]);
		if (text && rdma_opt_set(&fc->rdma, name, text))
			return reject_value(in, keys[i], rdma_opt_want(name));
	}
	return conf_uint(in, "dead_peer", 1, FABRIC_DEAD_MAX_S,
			 &fc->dead_peer_s);
}

unsigned int fabric_stall_ms(const struct fabric_conf *fc)
{
	unsigned int ms = fc->dead_peer_s * 1000;

	return ms && ms < FABRIC_STALL_MS ? ms : FABRIC_STALL_MS;
}
