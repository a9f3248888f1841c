/* SPDX-License-Identifier: BSD-2-Clause */
/* ready.c - see ready.h. */
#include "server/wait/ready.h"

#include "common/util/daemon.h"
#include "server/wait/lease.h"

static void say_settings(struct iod *iod)
{
	const struct iod_conf *conf = &iod->conf;
	char uri[ADDR_STRLEN], zones[ZONES_TEXT], fabric[FABRIC_LINE];
	struct addr addr;

	rpc_server_addr(iod->server, &addr);
	log_info(iod->log, "listens on: %s",
		 fabric_text(&iod->fabric, fabric, sizeof(fabric)));
	if (conf->adaptive)
		log_info(iod->log,
			 "rendezvous adaptive: with more than %llu KiB under "
			 "way clients move their data themselves",
			 (unsigned long long)conf->rendezvous_above / 1024);
	log_always(iod->log,
		   "ready: iod %u at %s, storage %s, version %s, sync %s, "
		   "engine %s, %u threads with %zu KiB of buffers each (%s)",
		   conf->index, addr_format(&addr, uri, sizeof(uri)),
		   conf->storage, PVFS_VERSION, conf->sync ? "on" : "off",
		   iod->engine->name, conf->threads,
		   zones_bytes(&conf->zones) / 1024,
		   iod_zones_format(&conf->zones, zones, sizeof(zones)));
}

static void serves(struct iod *iod)
{
	say_settings(iod);
	daemon_ready(iod->daemon);
}

void ready_say(struct iod *iod)
{
	if (lease_had(iod) && !atomic_exchange(&iod->ready, true))
		serves(iod);
}
