/* SPDX-License-Identifier: BSD-2-Clause */
/* ready.c - tells the log and the service manager that the manager serves. */
#include "common/util/daemon.h"
#include "mgr/state/mgr_state.h"

void mgr_say_ready(struct mgr *mgr)
{
	char uri[ADDR_STRLEN], fabric[FABRIC_LINE];
	struct addr addr;

	rpc_server_addr(mgr->server, &addr);
	log_info(mgr->log, "listens on: %s",
		 fabric_text(&mgr->fabric, fabric, sizeof(fabric)));
	log_always(mgr->log,
		   "ready: mgr at %s, storage %s, version %s, %u iods, %llu "
		   "inodes, cache %llu MiB",
		   addr_format(&addr, uri, sizeof(uri)), mgr->conf.storage,
		   PVFS_VERSION, mgr->conf.niods,
		   (unsigned long long)mgr->ns.inodes,
		   (unsigned long long)(mgr->conf.cache_size >> 20));
	daemon_ready(mgr->daemon);
}
