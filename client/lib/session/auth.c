/* SPDX-License-Identifier: BSD-2-Clause */
/* auth.c - a session proves who it is to the manager: CHALLENGE, then AUTH. */
#include <errno.h>
#include <poll.h>
#include <string.h>

#include "ask.h"
#include "prove_int.h"

#define TRIES 5
#define PAUSE_MS 200 /* and twice that each time */

int prove_open(struct session *s, const struct session_auth_attr *attr)
{
	const struct client_auth_attr ca = { .mode = attr->mode,
					     .key = attr->key,
					     .munge_socket = attr->munge_socket,
					     .server_uid = attr->server_uid,
					     .where = attr->where,
					     .log = s->log };

	if (attr->mode == AUTH_SYS)
		return 0;
	s->auth_ops = prove_load(s->log);
	return s->auth_ops ? s->auth_ops->open(&ca, &s->auth) : -ELIBACC;
}

void prove_close(struct session *s)
{
	if (s->auth)
		s->auth_ops->close(s->auth);
	s->auth = NULL;
}

void prove_hint(const struct session *s, const struct rpc_peer *peer)
{
	log_error(s->log,
		  "%s: the servers want to know who this program is "
		  "([filesystem] auth): write auth=munge, or auth=key and "
		  "key=FILE, among the options of the mount in pvfstab",
		  rpc_peer_name(peer));
}

/* ---- CHALLENGE ---- */

struct challenge {
	struct rpc_peer *peer;
	struct wire_challenge_rep rep;
	struct client_auth_way way;
};

/* On the driving thread: the connection that it came by is the present one. */
static int take_challenge(void *arg, const struct wire_msg *reply)
{
	struct challenge *c = arg;

	memcpy(&c->rep, reply->body, sizeof(c->rep));
	c->way.epoch = rpc_peer_epoch(c->peer);
	c->way.boot = rpc_peer_boot(c->peer);
	c->way.local = !strcmp(rpc_peer_transport(c->peer), "local");
	return 0;
}

static int ask_challenge(struct session *s, struct challenge *c)
{
	struct wire_challenge body;
	struct ask ask;
	int rc = s->auth_ops->begin(s->auth, &body);

	if (rc)
		return rc;
	ask_begin(&ask, s, c->peer);
	ask_put(&ask, &body, sizeof(body));
	return ask_run(&ask, WIRE_CHALLENGE, take_challenge, c);
}

/* ---- AUTH ---- */

struct answer {
	struct session *s;
	uint64_t life;
};

static int take_ticket(void *arg, const struct wire_msg *reply)
{
	struct answer *a = arg;

	return a->s->auth_ops->end(a->s->auth, reply, &a->life);
}

static int ask_auth(struct session *s, struct challenge *c)
{
	struct answer answer = { .s = s };
	uint8_t word[WIRE_WORD_MAX];
	struct wire_auth body;
	struct ask ask;
	int rc;

	c->way.fsid = s->fsid;
	c->way.session = s->id;
	c->way.peer = rpc_peer_name(c->peer);
	c->way.deadline = session_deadline(s);
	rc = s->auth_ops->word(s->auth, &c->way, &c->rep, &body, word);
	if (rc)
		return rc;
	ask_begin(&ask, s, c->peer);
	ask_put(&ask, &body, sizeof(body));
	ask_put(&ask, word, le32toh(body.len));
	return ask_run(&ask, WIRE_AUTH, take_ticket, &answer);
}

static const char *why(int rc)
{
	switch (rc) {
	case -EAGAIN:
		return "the manager cannot look at it now; see its log";
	case -ENOKEY:
		return "its key is not that of the servers: copy the file of "
		       "[filesystem] key";
	case -EKEYREJECTED:
		return "the manager does not take what this program shows for "
		       "true; see its log";
	default:
		return strerror(-rc);
	}
}

static int try(struct session *s, struct rpc_peer *peer)
{
	struct challenge c = { .peer = peer };
	int rc = ask_challenge(s, &c);

	return rc ? rc : ask_auth(s, &c);
}

/* Not for ever, and not at once: many clients may come at the same time. */
int prove_run(struct session *s, struct rpc_peer *peer)
{
	int pause = PAUSE_MS, rc = 0;

	if (!s->auth)
		return 0;
	for (int i = 0; i < TRIES; i++, pause *= 2) {
		rc = try(s, peer);
		if (rc != -EAGAIN ||
		    clock_after_ms((unsigned int)pause) >= session_deadline(s))
			break;
		poll(NULL, 0,
		     pause / 2 + (int)(s->first % (unsigned int)pause) / 2);
	}
	if (rc)
		log_error(s->log, "%s: no ticket: %s", rpc_peer_name(peer),
			  why(rc));
	return rc;
}
