/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * stranger.h - who comes to a test's listener by chance: ports are chosen at
 * random, and clients of another test may still look for a server that was there.
 */
#ifndef STRANGER_H
#define STRANGER_H

#include <stdbool.h>
#include <unistd.h>

#include "common/transport/transport.h"

/* A test and its children are one process group.  Over TCP nobody can tell. */
static inline bool is_stranger(const struct tp_conn_req *req)
{
	struct tp_identity id;
	pid_t group;

	if (tp_req_identity(req, &id))
		return false;
	group = getpgid(id.pid);
	return group > 0 && group != getpgrp();
}

#endif
