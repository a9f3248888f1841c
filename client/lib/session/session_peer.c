/* SPDX-License-Identifier: BSD-2-Clause */
/* session_peer.c - opening a server, with the credentials of this process. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "client/lib/session/client_session_int.h"

/* Sets host:pid:program, for the servers' logs. */
static void cred_name(struct rpc_cred *cred)
{
	char host[32] = "?";

	gethostname(host, sizeof(host) - 1);
	snprintf(cred->name, sizeof(cred->name), "%.20s:%ld:%.20s", host,
		 (long)getpid(), program_invocation_short_name);
}

/* *own: see gid_list_make(). */
static int cred_get(struct rpc_cred *cred, struct numbered_gids **own)
{
	int n = getgroups(0, NULL);
	gid_t *groups;

	_Static_assert(sizeof(gid_t) == sizeof(uint32_t), "a group");
	if (n < 0)
		return -errno;
	groups = calloc((size_t)n + 1, sizeof(*groups));
	if (!groups)
		return -ENOMEM;
	n = getgroups(n, groups); /* another thread may have set more groups */
	*cred = (struct rpc_cred){ .uid = geteuid(), .gid = getegid() };
	n = n < 0 ? -errno
		  : gid_list_make(groups, (uint32_t)n, cred->groups, own);
	free(groups);
	if (n < 0)
		return n;
	cred->ngroups = (uint32_t)n;
	cred_name(cred);
	return 0;
}

/*
 * Returns the value of PVFS_JOB_ID, or else SLURM_JOB_ID.  NULL: not set, or no valid
 * label: longer than WIRE_JOB_MAX, or with unprintable characters.  The environment owns
 * the text.
 */
static const char *job_id(void)
{
	const char *text = secure_getenv("PVFS_JOB_ID");
	size_t len;

	if (!text)
		text = secure_getenv("SLURM_JOB_ID");
	len = text ? strnlen(text, WIRE_JOB_MAX + 1) : 0;
	return len && wire_job_ok(text, len) ? text : NULL;
}

int session_peer_open(struct session *s, struct rpc_peer_attr *attr,
		      struct rpc_peer **peer)
{
	struct numbered_gids *own = NULL;
	struct rpc_cred cred;
	int rc = cred_get(&cred, &own);

	if (rc)
		return rc;
	if (s->own) /* keep the list that the manager has */
		free(own);
	else
		s->own = own;
	attr->role = WIRE_ROLE_CLIENT;
	attr->fsid = s->fsid;
	attr->session = s->id;
	attr->cred = &cred;
	attr->job = job_id();
	attr->features |= s->tool ? WIRE_FT_TOOL : 0;
	attr->prover = s->auth ? s->auth_ops->prover(s->auth) : NULL;
	attr->seal = s->seal;
	attr->impatient = s->probe;
	attr->patience_ms = s->together ? s->timeout_ms : 0;
	return rpc_peer_open(s->drive.ctx, attr, peer);
}
