/* SPDX-License-Identifier: BSD-2-Clause */
/* caps.c - see caps.h. */
#include "mgr/session/caps.h"

#include <errno.h>
#include <string.h>
#include <sys/stat.h>

#include "mgr/request/caller.h"
#include "common/trust/capability.h"
#include "common/util/clock.h"
#include "mgr/jobs/jobs.h"

/*
 * lifetime of a capability in lifetimes of a ticket; a client that renews its ticket also renews
 * these
 */
#define LIVES 2u

static uint32_t life_s(const struct mgr *mgr)
{
	return LIVES * mgr->conf.auth.ticket_life;
}

static bool are_caps_wanted(const struct mgr_op *op)
{
	return op->mgr->conf.auth.caps && op->ns.features & WIRE_FT_CAPS;
}

static uint32_t rights_of(const struct wire_attr *attr, uint32_t flags)
{
	if (!S_ISREG(le32toh(attr->mode)))
		return 0;
	return (flags & WIRE_O_READ ? CAPABILITY_READ : 0) |
	       (flags & WIRE_O_WRITE ? CAPABILITY_WRITE : 0);
}

static void put_head(struct mgr_op *op, uint32_t n)
{
	const struct wire_caps head = { htole32(n), htole32(life_s(op->mgr)) };

	wire_put(op->out, &head, sizeof(head));
	rpc_reply_caps(op->rpc);
}

static uint64_t life_ns(const struct mgr *mgr)
{
	return life_s(mgr) * UINT64_C(1000000000);
}

uint64_t caps_expiry(const struct mgr *mgr)
{
	return clock_boot() + life_ns(mgr);
}

/* Seals the capability for this session.  Its lifetime begins now. */
static int seal_capability(struct mgr_op *op, struct capability *cap)
{
	uint8_t sealed[CAPABILITY_LEN];
	int rc;

	cap->limits = (struct token_limits){
		.fsid = op->mgr->conf.fsid,
		.session = op->ns.session,
		.term = jobs_term(op->mgr),
		.expiry = caps_expiry(op->mgr),
	};
	rc = capability_seal(op->mgr->ring, cap, sealed);
	if (rc)
		return rc;
	caller_of(op->rpc->session)->capped = true;
	wire_put(op->out, sealed, sizeof(sealed));
	return 0;
}

static bool may_have(const struct mgr_op *op, const struct capability *cap)
{
	return !(cap->rights & CAPABILITY_WRITE) ||
	       !caller_of(op->rpc->session)->place.reads_only;
}

int caps_put(struct mgr_op *op, const struct wire_attr *attr, uint32_t flags)
{
	struct capability cap = { .handle = le64toh(attr->handle),
				  .rights = rights_of(attr, flags) };

	if (!are_caps_wanted(op) || !cap.rights || !may_have(op, &cap))
		return 0;
	op->opened = flags & (WIRE_O_READ | WIRE_O_WRITE);
	put_head(op, 1);
	return seal_capability(op, &cap);
}

int caps_rebuild_reply(struct mgr_op *op, const struct reply_rec *rec)
{
	struct wire_open_rep rep;

	if (rec->len != sizeof(struct wire_hdr) + sizeof(rep)) {
		log_error(op->mgr->log,
			  "kept reply of an open: damaged record");
		return -EIO;
	}
	memcpy(&rep, rec->bytes + sizeof(struct wire_hdr), sizeof(rep));
	wire_put(op->out, &rep, sizeof(rep));
	return caps_put(op, &rep.attr, (uint32_t)rec->opened);
}

/*
 * Whether the capability has expired.  If the manager that issued it had another clock, the expiry
 * cannot be compared with ours.  Then the lifetime counts from jobs_clock_of().
 */
static bool has_ended(const struct mgr *mgr, const struct token_limits *limits)
{
	uint64_t here = clock_boot(), begun = jobs_clock_of(mgr, limits->term);

	return begun ? here - begun >= life_ns(mgr) : here >= limits->expiry;
}

/*
 * Whether this client owns the capability.  Another client may have used the same session number
 * before.  So the capability must be younger than the session.  If an earlier process of the
 * manager issued it, its age is unknown here, and it must not have expired.
 */
static bool is_of_it(const struct mgr_op *op, const struct token_limits *limits)
{
	const struct caller *caller = caller_of(op->rpc->session);

	if (limits->term != jobs_term(op->mgr))
		return !has_ended(op->mgr, limits);
	return limits->expiry - life_ns(op->mgr) >= caller->since;
}

static void put_none(struct mgr_op *op)
{
	static const uint8_t none[CAPABILITY_LEN];

	wire_put(op->out, none, sizeof(none));
}

/* Renews one capability.  An expired one is also renewed, because the session still exists. */
static int renew_one(struct mgr_op *op, const uint8_t *sealed)
{
	const struct token_context here = { .fsid = op->mgr->conf.fsid,
					    .session = op->ns.session,
					    .newest = UINT64_MAX };
	struct capability cap;
	int rc = capability_open(op->mgr->ring, sealed, CAPABILITY_LEN, &here,
				 &cap);

	if (!rc && may_have(op, &cap) && is_of_it(op, &cap.limits))
		return seal_capability(op, &cap);
	if (rc && rc != -ENOKEY)
		return rc == -ENOMEM ? rc : -EKEYREJECTED;
	put_none(op);
	return 0;
}

void caps_session_ended(struct mgr *mgr, uint64_t session)
{
	unfenced_end_add(mgr, session, caps_expiry(mgr));
}

int op_renew(struct mgr_op *op)
{
	const struct wire_caps *caps = op->rpc->msg.caps;
	const uint8_t *sealed = (const uint8_t *)(caps + 1);
	uint32_t i, n = caps ? le32toh(caps->n) : 0;
	int rc = 0;

	if (!are_caps_wanted(op))
		return -EOPNOTSUPP;
	if (!n)
		return -EINVAL;
	put_head(op, n);
	for (i = 0; !rc && i < n; i++)
		rc = renew_one(op, sealed + i * WIRE_CAP_LEN);
	return rc;
}
