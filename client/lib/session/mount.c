/* SPDX-License-Identifier: BSD-2-Clause */
/* mount.c - the first steps of a session: a ticket, MOUNT, and the list of iods. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "client/lib/session/ask.h"
#include "client/lib/session/declare.h"
#include "client/lib/session/prove_int.h"

/* ---- MOUNT ---- */

static int bad_mount(const struct session *s, const char *what)
{
	log_error(s->log, "%s: protocol error in the reply to MOUNT: %s",
		  rpc_peer_name(s->mgr), what);
	return -EPROTO;
}

static int take_uris(struct session *s, const struct wire_tail *uris)
{
	const char *uri = uris->ptr;
	size_t left = uris->len, len;
	uint32_t i;

	for (i = 0; i < s->niods; i++) {
		len = strnlen(uri, left);
		if (len == left || len > WIRE_URI_MAX)
			return bad_mount(s, "addresses of the iods");
		memcpy(s->uri[i].uri, uri, len + 1);
		uri += len + 1;
		left -= len + 1;
	}
	return 0;
}

static int take_mount(void *arg, const struct wire_msg *reply)
{
	const struct wire_mount_rep *rep = reply->body;
	struct session *s = arg;

	s->fsid = le64toh(rep->fsid);
	s->root = le64toh(rep->root);
	s->niods = le32toh(rep->niods);
	if (!s->niods || s->niods > WIRE_IOD_MAX)
		return bad_mount(s, "number of iods");
	s->uri = calloc(s->niods, sizeof(*s->uri));
	s->iod = calloc(s->niods, sizeof(struct rpc_peer *));
	if (!s->uri || !s->iod)
		return -ENOMEM;
	return take_uris(s, &reply->tail[0]);
}

static void iod_lost(void *arg, int status)
{
	atomic_fetch_add(&((struct session_server *)arg)->lost, 1);
}

static void iod_met(void *arg, struct rpc_peer *peer, uint64_t boot)
{
	struct session_server *server = arg;
	struct session *s = server->s;
	uint32_t life = wire_boot_life(boot, rpc_peer_features(peer));

	if (s->lives && lives_met(s->lives, (uint32_t)(server - s->uri), life))
		log_warn(s->log,
			 "%s: its host restarted: data that was written there "
			 "and not flushed may be lost; fsync reports it for "
			 "each such file",
			 rpc_peer_name(peer));
}

static int open_iods(struct session *s)
{
	char name[16], have[128];
	struct rpc_peer_attr iod = {
		.features = WIRE_FT_ENDS | WIRE_FT_SHARE | WIRE_FT_CAPS |
			    WIRE_FT_ASIDE | WIRE_FT_LIFE,
		.shower = keychain_shower(s->keys, s->niods),
		.name = name,
		.group = true,
		.server = WIRE_ROLE_IOD,
		.met = iod_met,
		.lost = iod_lost
	};
	uint32_t i;
	int rc;

	for (i = 0; i < s->niods; i++) {
		snprintf(name, sizeof(name), "iod %u", i);
		rc = addr_parse(s->uri[i].uri, 0, &iod.addr);
		if (!rc && !fabric_any(&iod.addr) &&
		    fabric_rail(&s->fabric.rails, iod.addr.scheme) < 0)
			rc = -EPROTONOSUPPORT;
		if (rc) {
			log_error(s->log,
				  "%s: \"%s\" cannot be reached over %s: write "
				  "pvfs:// in [iod.%u] of the servers' "
				  "configuration, or mount with fabric=auto",
				  name, s->uri[i].uri,
				  fabric_text(&s->fabric, have, sizeof(have)),
				  i);
			return rc;
		}
		s->uri[i].s = s;
		iod.arg = &s->uri[i];
		iod.index = i;
		rc = session_peer_open(s, &iod, &s->iod[i]);
		if (rc)
			return rc;
	}
	return 0;
}

int session_mount(struct session *s)
{
	struct ask c;
	int rc;

	rc = prove_run(s, s->mgr);
	if (rc)
		return rc;
	declare_proved(s);
	ask_begin(&c, s, s->mgr);
	rc = ask_run(&c, WIRE_MOUNT, take_mount, s);
	if (rc == -ENOKEY || (rc == -EKEYREJECTED && !s->auth))
		prove_hint(s, s->mgr);
	if (!rc)
		list_conf_get(&s->list, rpc_peer_transport(s->mgr), s->log);
	if (rc == -ENOSYS) {
		log_error(s->log,
			  "%s: this server is an iod, not the manager; port= "
			  "of the mount is that of [mgr] address in the "
			  "servers' configuration",
			  rpc_peer_name(s->mgr));
		rc = -ENXIO;
	}
	if (!rc && s->lives)
		atomic_store(&s->lives->niods, s->niods);
	if (!rc && rpc_peer_features(s->mgr) & WIRE_FT_CAPS)
		keychain_want(s->keys);
	return rc ? rc : open_iods(s);
}
