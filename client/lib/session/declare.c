/* SPDX-License-Identifier: BSD-2-Clause */
/* declare.c - see declare.h. */
#include "client/lib/session/declare.h"

#include <errno.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

#include "client/lib/session/server_call.h"
#include "common/util/hash_table.h"
#include "client/lib/session/client_session.h"
#include "common/wire/wire.h"

#define PART WIRE_HOLD_MAX

struct declared_open {
	UT_hash_handle hh;
	uint64_t open, handle;
};

struct declare {
	struct session *s;
	pthread_mutex_t lock;
	struct declared_open *opened; /* under lock */
	_Atomic uint64_t boot; /* boot id of the manager met last */
};

/*
 * A declaration in progress: the holds that were open when the manager was met.  It has one
 * DECLARE in flight, for the next PART of them.
 */
struct telling {
	struct rpc_call call;
	struct declare *d;
	struct rpc_peer *peer;
	uint64_t boot;
	size_t n, sent; /* elements of hold, and how many of them are sent */
	struct wire_hold *hold;
	_Alignas(8) uint8_t
		msg[sizeof(struct wire_hdr) + sizeof(struct wire_declare) +
		    PART * sizeof(struct wire_hold)];
};

struct declare *declare_new(struct session *s)
{
	struct declare *d = calloc(1, sizeof(*d));

	if (!d)
		return NULL;
	d->s = s;
	pthread_mutex_init(&d->lock, NULL);
	return d;
}

void declare_free(struct declare *d)
{
	struct declared_open *o, *next;

	if (!d)
		return;
	HASH_ITER(hh, d->opened, o, next) {
		HASH_DEL(d->opened, o);
		free(o);
	}
	pthread_mutex_destroy(&d->lock);
	free(d);
}

int declare_opened(struct declare *d, uint64_t handle, uint64_t open)
{
	struct declared_open *o = d ? calloc(1, sizeof(*o)) : NULL;

	if (!o)
		return d ? -ENOMEM : 0;
	o->open = open;
	o->handle = handle;
	pthread_mutex_lock(&d->lock);
	HASH_ADD(hh, d->opened, open, sizeof(o->open), o);
	pthread_mutex_unlock(&d->lock);
	if (o->hh.tbl)
		return 0;
	free(o);
	return -ENOMEM;
}

void declare_closed(struct declare *d, uint64_t open)
{
	struct declared_open *o;

	if (!d)
		return;
	pthread_mutex_lock(&d->lock);
	HASH_FIND(hh, d->opened, &open, sizeof(open), o);
	if (o)
		HASH_DEL(d->opened, o);
	pthread_mutex_unlock(&d->lock);
	free(o);
}

/* ---- sending ---- */

static int telling_snapshot(struct declare *d, struct telling *t)
{
	struct declared_open *o, *next;
	int rc = 0;

	pthread_mutex_lock(&d->lock);
	t->hold = calloc(HASH_COUNT(d->opened) + 1, sizeof(*t->hold));
	if (!t->hold)
		rc = -ENOMEM;
	HASH_ITER(hh, d->opened, o, next) {
		if (rc)
			break;
		t->hold[t->n++] = (struct wire_hold){ htole64(o->handle),
						      htole64(o->open) };
	}
	pthread_mutex_unlock(&d->lock);
	return rc;
}

static void telling_free(struct telling *t)
{
	free(t->hold);
	free(t);
}

static size_t telling_part(const struct telling *t)
{
	size_t left = t->n - t->sent;

	return left < PART ? left : PART;
}

static size_t telling_build(struct telling *t)
{
	size_t n = telling_part(t);
	struct wire_declare body = {
		.boot = htole64(t->boot),
		.flags = htole32(t->sent + n == t->n ? WIRE_DC_ALL : 0),
		.n = htole32((uint32_t)n),
	};
	struct wire_out out;

	wire_begin(&out, t->msg, sizeof(t->msg));
	wire_put(&out, &body, sizeof(body));
	wire_put(&out, t->hold + t->sent, n * sizeof(*t->hold));
	return (size_t)wire_end(&out, WIRE_DECLARE, 0, 0);
}

static void telling_send(struct telling *t);

/*
 * Whether to stop declaring.  Either the manager has ended the session, or we have not yet
 * authenticated to it; in the second case declare_proved() declares again.
 */
static bool declaration_is_needless(int rc)
{
	return rc == -ESTALE || rc == -ECANCELED || rc == -ENOKEY;
}

static void telling_done(struct rpc_call *call)
{
	struct telling *t = call->arg;
	int rc = call->status;

	if (!rc)
		t->sent += telling_part(t);
	if ((!rc && t->sent < t->n) || rc == -ETIMEDOUT) {
		telling_send(t);
		return;
	}
	if (rc && !declaration_is_needless(rc))
		log_warn(t->d->s->log,
			 "%s: it was not told which files are open: %s; it "
			 "keeps what is removed for a while only",
			 rpc_peer_name(t->peer), strerror(-rc));
	telling_free(t);
}

static void telling_send(struct telling *t)
{
	t->call = (struct rpc_call){
		.msg = t->msg,
		.msg_len = telling_build(t),
		.deadline = clock_after_ms(t->d->s->timeout_ms),
		.quiet = true,
		.patient = true,
		.done = telling_done,
		.arg = t,
	};
	rpc_call_start(t->peer, &t->call);
}

void declare_met(void *arg, struct rpc_peer *peer, uint64_t boot)
{
	struct declare *d = arg;
	struct telling *t;
	int rc;

	atomic_store(&d->boot, boot);
	if (!(rpc_peer_features(peer) & WIRE_FT_V3))
		return; /* a manager of an earlier release stores this itself */
	t = calloc(1, sizeof(*t));
	rc = t ? telling_snapshot(d, t) : -ENOMEM;
	if (rc) {
		free(t);
		log_warn(d->s->log,
			 "%s: no memory to tell it which files are open; it "
			 "keeps what is removed for a while only",
			 rpc_peer_name(peer));
		return;
	}
	t->d = d;
	t->peer = peer;
	t->boot = boot;
	telling_send(t);
}

void declare_proved(struct session *s)
{
	struct wire_declare body = { .flags = htole32(WIRE_DC_ALL) };
	struct server_call c;

	if (!s->declare || !s->auth)
		return;
	body.boot = htole64(atomic_load(&s->declare->boot));
	server_call_begin(&c, s, s->mgr);
	server_call_put(&c, &body, sizeof(body));
	server_call_run(&c, WIRE_DECLARE, NULL, NULL);
}
