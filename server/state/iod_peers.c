/* SPDX-License-Identifier: BSD-2-Clause */
/* iod_peers.c - see iod_peers.h. */
#include "server/state/iod_peers.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>

#include "common/util/random_id.h"

static int open_peer(struct worker *w, uint32_t index, struct rpc_peer **peer)
{
	const struct iod_conf *conf = &w->iod->conf;
	struct rpc_cred cred = { 0 };
	char name[24];
	struct rpc_peer_attr attr = {
		.addr = conf->iods[index],
		.name = name,
		.fix = "copies between the two go through their clients",
		.role = WIRE_ROLE_IOD,
		.fsid = conf->fsid,
		.cred = &cred,
		.prover = keyring_prover(w->iod->ring),
		.seal = conf->auth.seal,
		.server = WIRE_ROLE_IOD,
		.index = index,
		.features = WIRE_FT_COPIES,
		.impatient = true
	};
	int rc = random_id(&attr.session);

	snprintf(name, sizeof(name), "iod %u", index);
	snprintf(cred.name, sizeof(cred.name), "pvfs-iod %u", conf->index);
	return rc ? rc : rpc_peer_open(w->ctx, &attr, peer);
}

int iod_peer_get(struct worker *w, uint32_t index, struct rpc_peer **peer)
{
	const struct iod_conf *conf = &w->iod->conf;
	int rc = 0;

	if (index >= conf->niods)
		return -EOPNOTSUPP;
	if (!w->peers)
		w->peers = calloc(conf->niods, sizeof(w->peers[0]));
	if (!w->peers)
		return -ENOMEM;
	if (!w->peers[index])
		rc = open_peer(w, index, &w->peers[index]);
	if (!rc)
		*peer = w->peers[index];
	return rc;
}

void iod_peers_close(struct worker *w)
{
	for (uint32_t k = 0; w->peers && k < w->iod->conf.niods; k++)
		if (w->peers[k])
			rpc_peer_close(w->peers[k], true);
	free(w->peers);
	w->peers = NULL;
}
