/* SPDX-License-Identifier: BSD-2-Clause */
/* client_session.c - opening, mounting and closing the connections of a client. */
#include <errno.h>
#include <grp.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "client/lib/session/client_session_int.h"
#include "client/lib/session/server_call.h"
#include "client/lib/session/declare.h"
#include "client/lib/session/loan.h"
#include "common/comm/fabric/rendezvous.h"
#include "common/util/random_id.h"
#include "common/util/usermem.h"

#define DRAIN_MS 2000 /* for requests that no caller waited for */
#define POLL_US 30 /* polling time before sleeping */
#define FIX_MGR "is pvfs-mgr running there? see HOST and port= of the mount"

/* PVFS_PIN_CACHE: whether registrations of the caller's memory are kept. */
static enum pins_mode mode_of(const char *name, const struct log *log)
{
	const char *text = secure_getenv(name);
	enum pins_mode mode = PINS_AUTO;

	if (text && pins_mode_parse(text, &mode))
		log_warn(log, "%s=%s: want auto, on or off; using auto", name,
			 text);
	return mode;
}

/* Sizes of the environment override those of pvfstab. */
static void sizes_env(const char *name, struct sizes *sizes,
		      const struct log *log)
{
	const char *text = secure_getenv(name);

	if (text && sizes_parse(text, sizes))
		log_warn(log, "%s=%s: want " SIZES_WANT "; not used", name,
			 text);
}

/* PVFS_FAST_RDMA is on or off for all transports. */
static struct sizes fast_max(const struct session_attr *attr)
{
	struct sizes sizes = attr->fast_max;
	enum pins_mode mode = mode_of("PVFS_FAST_RDMA", attr->log);

	if (mode != PINS_AUTO)
		sizes = sizes_all(mode == PINS_ON ? SIZES_MAX : 0);
	sizes_env("PVFS_FAST_MAX", &sizes, attr->log);
	return sizes;
}

/* PVFS_RENDEZVOUS overrides the option. */
static bool rendezvous_is_adaptive(const struct session_attr *attr)
{
	const char *text = secure_getenv("PVFS_RENDEZVOUS");
	bool is = attr->adaptive;

	if (text && rendezvous_parse(text, &is))
		log_warn(attr->log, "PVFS_RENDEZVOUS=%s: want %s; not used",
			 text, RENDEZVOUS_WANT);
	return is;
}

/* PVFS_DIRECT overrides the option. */
static bool may_borrow_objects(const struct session_attr *attr)
{
	const char *text = secure_getenv("PVFS_DIRECT");

	if (!text || !strcmp(text, "on") || !strcmp(text, "off"))
		return text ? !strcmp(text, "on") : !attr->indirect;
	log_warn(attr->log, "PVFS_DIRECT=%s: want on or off; not used", text);
	return !attr->indirect;
}

/* transport= of a mount applies to all of its servers, whichever is asked first. */
static const char *scheme_of(const struct session_attr *attr)
{
	return attr->scheme && fabric_any(attr->addr) ? attr->scheme
						      : attr->addr->scheme;
}

static void session_unused(struct drive *drive);

/* Opens the device, the progress context and the first peer. */
static int transport_open(struct session *s, const struct session_attr *attr)
{
	struct tp_dev_attr dev_attr = { .log = s->log,
					.server_uid = attr->server_uid,
					.rdma = attr->rdma,
					.where = attr->where,
					.dead_peer_ms = attr->dead_peer_ms,
					.probe = attr->probe };
	struct rpc_ctx_attr ctx_attr = {
		.log = s->log,
		.poll_us = POLL_US,
		.pins = mode_of("PVFS_PIN_CACHE", s->log),
		.inline_max = attr->inline_max,
		.fast_max = fast_max(attr),
		.carry = rendezvous_is_adaptive(attr),
	};
	struct rpc_peer_attr mgr = {
		.addr = *attr->addr,
		.managers = attr->addr,
		.nmanagers = attr->nmanagers,
		.name = attr->name,
		.server = attr->auth.iod ? WIRE_ROLE_IOD : WIRE_ROLE_MGR,
		.index = attr->auth.iod ? attr->auth.iod - 1 : 0,
		.fix = attr->probe ? NULL : FIX_MGR,
		.wrong_service_logged = attr->wrong_service_logged,
		.features = WIRE_FT_LACKS | WIRE_FT_SOLE | WIRE_FT_CAPS |
			    WIRE_FT_EVICT | WIRE_FT_GROUPS | WIRE_FT_COPIES,
		.on_new_process = s->declare ? declare_met : NULL,
		.arg = s->declare,
	};
	struct rpc_ctx *ctx;
	int rc;

	sizes_env("PVFS_INLINE_MAX", &ctx_attr.inline_max, s->log);
	rc = fabric_open(&s->fabric, scheme_of(attr), attr->fabric, &dev_attr);
	if (rc)
		return rc;
	ctx_attr.fabric = &s->fabric;
	rc = rpc_ctx_open(&ctx_attr, &ctx);
	if (rc)
		goto close_fabric;
	drive_init(&s->drive, ctx, session_unused);
	rc = session_peer_open(s, &mgr, &s->mgr);
	if (rc)
		goto close_ctx;
	return 0;
close_ctx:
	drive_destroy(&s->drive);
	rpc_ctx_close(ctx);
close_fabric:
	fabric_close(&s->fabric);
	return rc;
}

int session_open(const struct session_attr *attr, struct session **out)
{
	struct session *s = calloc(1, sizeof(*s));
	int rc, saved = errno;

	if (!s)
		return -ENOMEM;
	s->log = attr->log;
	s->timeout_ms = attr->timeout_ms;
	s->probe = attr->probe;
	s->together = attr->together;
	s->tool = attr->tool;
	s->fsid = attr->fsid;
	s->direct = may_borrow_objects(attr);
	s->boots = attr->boots;
	s->gid_lists = attr->gid_lists;
	pthread_mutex_init(&s->loans_lock, NULL);
	s->keys = keychain_new();
	s->copysets = copysets_new(s);
	rc = s->keys && s->copysets ? random_id(&s->id) : -ENOMEM;
	if (!rc && attr->declares) {
		s->declare = declare_new(s);
		rc = s->declare ? 0 : -ENOMEM;
	}
	if (!rc)
		rc = session_auth_open(s, &attr->auth);
	if (!rc)
		rc = transport_open(s, attr);
	if (rc) {
		free(s->own);
		session_auth_close(s);
		declare_free(s->declare);
		copysets_free(s->copysets);
		keychain_free(s->keys);
		free(s);
		return rc;
	}
	s->first = (unsigned int)(s->id >> 32);
	list_conf_get(&s->list, tp_dev_name(s->fabric.rails.dev[0]), NULL);
	s->zero_fd = usermem_open();
	errno = saved;
	*out = s;
	return 0;
}

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

	if (s->boots &&
	    iod_boots_met(s->boots, (uint32_t)(server - s->uri), life))
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
			    WIRE_FT_ASIDE | WIRE_FT_LIFE | WIRE_FT_COPIES,
		.caps = keychain_caps_source(s->keys, s->niods),
		.name = name,
		.group = true,
		.server = WIRE_ROLE_IOD,
		.on_new_process = iod_met,
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
	struct server_call c;
	int rc;

	rc = session_auth_run(s, s->mgr);
	if (rc)
		return rc;
	declare_proved(s);
	server_call_begin(&c, s, s->mgr);
	rc = server_call_run(&c, WIRE_MOUNT, take_mount, s);
	if (rc == -ENOKEY || (rc == -EKEYREJECTED && !s->auth))
		session_auth_log_missing(s, s->mgr);
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
	if (!rc && s->boots)
		atomic_store(&s->boots->niods, s->niods);
	if (!rc && rpc_peer_features(s->mgr) & WIRE_FT_CAPS)
		keychain_want(s->keys);
	return rc ? rc : open_iods(s);
}

/* ---- release ---- */

static uint64_t keeper_renew_keys(struct keeper *k)
{
	struct session *s = container_of(k, struct session, keeper);
	uint64_t next = s->auth ? session_auth_renew(s) : 0;

	keychain_renew(s);
	return next ? next : keychain_next_look(s->keys);
}

void session_keep(struct session *s)
{
	s->keeper.chore = keeper_renew_keys;
	s->keeper.chore_at = s->auth ? ticket_due(s) : CLOCK_NEVER;
	keeper_start(&s->keeper, &s->drive, s->log);
}

void session_abandon(struct session *s)
{
	if (s->abandoned)
		return;
	s->abandoned = true;
	keeper_abandon(&s->keeper);
	rpc_ctx_abandon(s->drive.ctx);
	if (s->zero_fd >= 0)
		close(s->zero_fd);
}

static void session_drain(struct session *s)
{
	uint64_t end = clock_after_ms(DRAIN_MS), late = session_deadline(s);

	end = end < late ? end : late;
	drive_kick(&s->drive);
	while (atomic_load(&s->posted) && clock_now() < end)
		rpc_ctx_progress(s->drive.ctx, end);
}

/* Tells the manager that requests of this session may still arrive at an iod. */
static void session_settle(struct session *s)
{
	for (uint32_t i = 0; s->iod && i < s->niods; i++)
		if (s->iod[i] && rpc_peer_has_unanswered(s->iod[i]))
			rpc_peer_set_unclean(s->mgr);
}

static void session_close(struct session *s)
{
	int saved = errno;
	uint32_t i;

	keeper_stop(&s->keeper);
	session_drain(s);
	session_settle(s);
	for (i = 0; s->iod && i < s->niods; i++) {
		if (!s->iod[i])
			continue;
		rpc_peer_close(s->iod[i], true);
		loan_pages_put(s->uri[i].loan_pages);
	}
	rpc_peer_close(s->mgr, true);
	if (atomic_load(&s->count.borrowed))
		log_info(s->log,
			 "%lu transfers with one iod went without a request",
			 atomic_load(&s->count.borrowed));
	packs_free(&s->packs);
	copysets_free(s->copysets);
	rpc_ctx_close(s->drive.ctx);
	drive_destroy(&s->drive);
	session_auth_close(s);
	fabric_close(&s->fabric);
	declare_free(s->declare);
	keychain_free(s->keys);
	if (s->zero_fd >= 0)
		close(s->zero_fd);
	pthread_mutex_destroy(&s->loans_lock);
	free(s->own);
	free(s->iod);
	free(s->uri);
	free(s);
	errno = saved;
}

static void close_kept(struct keeper *k)
{
	session_close(container_of(k, struct session, keeper));
}

/* The keeper cannot wait for itself, or free what it drives. */
static void session_unused(struct drive *drive)
{
	struct session *s = session_driven(drive);

	if (!keeper_ends(&s->keeper, close_kept))
		session_close(s);
}
