/* SPDX-License-Identifier: BSD-2-Clause */
/* fabric_conf.c - the transports of a daemon, out of its section. */
#include "fabric_conf.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

static int complain(const struct conf *conf, const char *section,
		    const char *key, const char *want, char *err, size_t errlen)
{
	char what[128];

	snprintf(what, sizeof(what), "write %s", want);
	return conf_complain(conf, section, key, what, err, errlen);
}

static int read_dead_peer(const struct conf *conf, const char *section,
			  struct fabric_conf *fc, char *err, size_t errlen)
{
	uint64_t s = fc->dead_peer_s;
	int rc = conf_size(conf, section, "dead_peer", 1, FABRIC_DEAD_MAX_S, &s,
			   err, errlen);

	fc->dead_peer_s = (unsigned int)s;
	return rc;
}

int fabric_conf_read(const struct conf *conf, const char *section,
		     struct fabric_conf *fc, char *err, size_t errlen)
{
	static const char *const keys[] = { "rdma_device", "rdma_gid",
					    "rdma_sl", "rdma_tc" };
	const char *text = conf_get(conf, section, "fabric");
	unsigned int i;

	if (text && !fabric_option_ok(text))
		return complain(conf, section, "fabric",
				"auto, strict:NAME or NAME:NAME...", err,
				errlen);
	if (text)
		strcpy(fc->option, text);
	for (i = 0; i < sizeof(keys) / sizeof(keys[0]); i++) {
		const char *name = keys[i] + strlen(RDMA_KEY);

		text = conf_get(conf, section, keys[i]);
		if (text && rdma_opt_set(&fc->rdma, name, text))
			return complain(conf, section, keys[i],
					rdma_opt_want(name), err, errlen);
	}
	return read_dead_peer(conf, section, fc, err, errlen);
}

unsigned int fabric_stall_ms(const struct fabric_conf *fc)
{
	unsigned int ms = fc->dead_peer_s * 1000;

	return ms && ms < FABRIC_STALL_MS ? ms : FABRIC_STALL_MS;
}
