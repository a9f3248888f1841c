/* SPDX-License-Identifier: BSD-2-Clause */
/* session.c - opening and closing the connections of a client. */
#include "client/lib/session/session.h"

#include <errno.h>
#include <grp.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "client/lib/session/ask.h"
#include "client/lib/session/job_id_int.h"
#include "client/lib/session/lender.h"
#include "client/lib/session/prove_int.h"
#include "common/util/random_id.h"
#include "common/comm/fabric/rendezvous.h"
#include "common/util/usermem.h"

#define DRAIN_MS 2000 /* for requests that no caller waited for */
#define POLL_US 30 /* polling time before sleeping */
#define FIX_MGR "is pvfs-mgr running there? see HOST and port= of the mount"

/* Sets host:pid:program, for the servers' logs. */
static void cred_name(struct rpc_cred *cred)
{
	char host[32] = "?";

	gethostname(host, sizeof(host) - 1);
	snprintf(cred->name, sizeof(cred->name), "%.20s:%ld:%.20s", host,
		 (long)getpid(), program_invocation_short_name);
}

/* *own: see listed_name_own(). */
static int cred_get(struct rpc_cred *cred, struct listed_groups **own)
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
		  : listed_name_own(groups, (uint32_t)n, cred->groups, own);
	free(groups);
	if (n < 0)
		return n;
	cred->ngroups = (uint32_t)n;
	cred_name(cred);
	return 0;
}

int session_peer_open(struct session *s, struct rpc_peer_attr *attr,
		      struct rpc_peer **peer)
{
	struct listed_groups *own = NULL;
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
	attr->job = session_job_id();
	attr->features |= s->tool ? WIRE_FT_TOOL : 0;
	attr->prover = s->auth ? s->auth_ops->prover(s->auth) : NULL;
	attr->seal = s->seal;
	attr->impatient = s->probe;
	attr->patience_ms = s->together ? s->timeout_ms : 0;
	return rpc_peer_open(s->drive.ctx, attr, peer);
}

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
		.name = attr->name,
		.server = attr->auth.iod ? WIRE_ROLE_IOD : WIRE_ROLE_MGR,
		.index = attr->auth.iod ? attr->auth.iod - 1 : 0,
		.fix = attr->probe ? NULL : FIX_MGR,
		.stranger = attr->stranger,
		.features = WIRE_FT_LACKS | WIRE_FT_SOLE | WIRE_FT_CAPS |
			    WIRE_FT_EVICT | WIRE_FT_GROUPS,
		.met = s->declare ? declare_met : NULL,
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
	drive_init(&s->drive, ctx);
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
	atomic_init(&s->refs, 1);
	s->log = attr->log;
	s->timeout_ms = attr->timeout_ms;
	s->probe = attr->probe;
	s->together = attr->together;
	s->tool = attr->tool;
	s->fsid = attr->fsid;
	s->direct = may_borrow_objects(attr);
	s->lives = attr->lives;
	s->listed = attr->listed;
	pthread_mutex_init(&s->lenders, NULL);
	s->keys = keychain_new();
	rc = s->keys ? random_id(&s->id) : -ENOMEM;
	if (!rc && attr->declares) {
		s->declare = declare_new(s);
		rc = s->declare ? 0 : -ENOMEM;
	}
	if (!rc)
		rc = prove_open(s, &attr->auth);
	if (!rc)
		rc = transport_open(s, attr);
	if (rc) {
		free(s->own);
		prove_close(s);
		declare_free(s->declare);
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

/* ---- release ---- */

struct session *session_get(struct session *s)
{
	atomic_fetch_add(&s->refs, 1);
	return s;
}

static uint64_t keeper_renew_keys(struct keeper *k)
{
	struct session *s = container_of(k, struct session, keeper);
	uint64_t next = prove_again(s);

	keychain_renew(s);
	return next;
}

void session_keep(struct session *s)
{
	if (s->auth) {
		s->keeper.chore = keeper_renew_keys;
		s->keeper.chore_at = prove_due(s);
	}
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
	ask_late_send(s);
	while (atomic_load(&s->posted) && clock_now() < end)
		rpc_ctx_progress(s->drive.ctx, end);
}

/* Tells the manager that requests of this session may still arrive at an iod. */
static void session_settle(struct session *s)
{
	for (uint32_t i = 0; s->iod && i < s->niods; i++)
		if (s->iod[i] && rpc_peer_owes(s->iod[i]))
			rpc_peer_unsure(s->mgr);
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
		lender_put(s->uri[i].lender);
	}
	rpc_peer_close(s->mgr, true);
	if (atomic_load(&s->count.borrowed))
		log_info(s->log,
			 "%lu transfers with one iod went without a request",
			 atomic_load(&s->count.borrowed));
	packs_free(&s->packs);
	rpc_ctx_close(s->drive.ctx);
	drive_destroy(&s->drive);
	prove_close(s);
	fabric_close(&s->fabric);
	declare_free(s->declare);
	keychain_free(s->keys);
	if (s->zero_fd >= 0)
		close(s->zero_fd);
	pthread_mutex_destroy(&s->lenders);
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
void session_put(struct session *s)
{
	if (atomic_fetch_sub(&s->refs, 1) == 1 &&
	    !keeper_ends(&s->keeper, close_kept))
		session_close(s);
}
