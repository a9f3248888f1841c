/* SPDX-License-Identifier: BSD-2-Clause */
/* iod_here.c - see iod_here.h. */
#include "tests/e2e/iod/iod_here.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tests/e2e/iod/iodc.h"

void iod_here_conf(struct iod_conf *conf, const char *dir)
{
	const char *scheme = getenv("IODC_SCHEME") ?: "tcp";
	char at[64];

	iod_conf_defaults(conf);
	conf->fsid = IODC_FSID;
	snprintf(at, sizeof(at), "%s://127.0.0.1:0", scheme);
	must(!addr_parse(at, 0, &conf->addr));
	strcpy(conf->storage, dir);
	strcpy(conf->mgr_from, "127.0.0.1");
}

void iod_here_start(const struct iod_conf *conf, const struct log *log,
		    struct iod **iod, struct addr *addr)
{
	must(!iod_start(conf, log, NULL, iod));
	iod_addr(*iod, addr);
}
