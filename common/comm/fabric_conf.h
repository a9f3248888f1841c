/* SPDX-License-Identifier: BSD-2-Clause */
/* fabric_conf.h - the transports of a daemon, out of its section. */
#ifndef FABRIC_CONF_H
#define FABRIC_CONF_H

#include "conf.h"
#include "fabric.h"

struct fabric_conf {
	char option[FABRIC_TEXT_MAX]; /* "": auto */
	struct rdma_opt rdma;
};

/*
 * Reads CONF_KEYS_FABRIC (conf_keys.h); what the section does not say is left
 * alone.  -EINVAL, and a line with the file, the cause and the fix in err.
 */
int fabric_conf_read(const struct conf *conf, const char *section,
		     struct fabric_conf *fc, char *err, size_t errlen);

#endif
