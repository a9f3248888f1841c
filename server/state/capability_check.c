/* SPDX-License-Identifier: BSD-2-Clause */
/* capability_check.c - see capability_check.h. */
#include "server/state/capability_check.h"

#include <errno.h>
#include <inttypes.h>

#include "common/trust/capability.h"
#include "common/util/clock.h"
#include "common/util/log.h"

/* A capability of a manager whose clock is not known yet counts for this long at a time, while
 * the iod has heard from a manager within SILENT_NS. */
#define UNHEARD_NS (60 * UINT64_C(1000000000))
#define SILENT_NS (3600 * UINT64_C(1000000000))

static const struct {
	int status;
	const char *what, *fix;
} flaws[CAPS_FLAWS] = {
	[CAPS_MISSING] = { -ENOKEY, "it showed no capability for the file",
			   "install this release at the client; if it has it, "
			   "a program tries to access a file that it did not "
			   "open" },
	[CAPS_FORGOTTEN] = { -ENOKEY, "it has to show its capability again",
			     "" },
	[CAPS_FALSE] = { -EKEYREJECTED, "its capability is false",
			 "it was forged, or changed on the network" },
	[CAPS_OTHERS] = { -EKEYREJECTED,
			  "its capability belongs to another session or "
			  "another file system",
			  "it was probably stolen" },
	[CAPS_ENDED] = { -EKEYREVOKED, "its capability has expired",
			 "the client requests a new one; if it gets none, "
			 "check whether it reaches the manager" },
	[CAPS_OLD] = { -EKEYREVOKED,
		       "its capability was made with a key, or by a manager, "
		       "that is no longer valid",
		       "the client requests a new one; if this repeats, "
		       "compare the key files of the manager and the iods" },
	[CAPS_NEVER] = { -EOPNOTSUPP,
			 "it asks for the address of a file's data or counter "
			 "in the iod's memory",
			 "install this release at the client" },
};

static int refuse_request(struct iod_session *ses, const struct rpc_req *req,
			  enum caps_flaw flaw)
{
	const struct rpc_session_info *info = rpc_session_info(req->session);
	struct worker *w = ses->worker;

	atomic_fetch_add_explicit(&w->iod->caps_refused[flaw], 1,
				  memory_order_relaxed);
	if (flaw != CAPS_FORGOTTEN && flaw != CAPS_NEVER &&
	    log_pace(&w->caps_logged[flaw]))
		log_warn(w->iod->log, "%s (%s): %s is refused: %s; %s",
			 info->peer, info->cred.name, wire_op_name(req->op),
			 flaws[flaw].what, flaws[flaw].fix);
	return flaws[flaw].status;
}

/* ---- capabilities that a request shows ---- */

/* When the capability ends, clock_boot(); or the negative of an enum caps_flaw. */
static int64_t capability_end(struct iod *iod, const struct capability *cap)
{
	uint64_t now, here = clock_boot();
	int rc = mgr_clocks_read(&iod->mgr_clocks, cap->limits.term, &now);

	if (rc == -EAGAIN && here - atomic_load(&iod->lease.heard) < SILENT_NS)
		return (int64_t)(here + UNHEARD_NS);
	if (rc)
		return -CAPS_OLD;
	if (now >= cap->limits.expiry)
		return -CAPS_ENDED;
	return (int64_t)(here + (cap->limits.expiry - now));
}

static enum caps_flaw flaw_of(int rc)
{
	return rc == -ENOKEY		      ? CAPS_OLD
	       : rc == -EPERM || rc == -ENXIO ? CAPS_OTHERS
					      : CAPS_FALSE;
}

/* 0; the negative of an enum caps_flaw; or 1: no memory. */
static int learn_capability(struct iod_session *ses, const void *sealed)
{
	struct iod *iod = ses->worker->iod;
	const struct token_context here = { .fsid = iod->conf.fsid,
					    .session = ses->id,
					    .newest = UINT64_MAX };
	struct capability cap;
	int64_t end;
	int rc = capability_open(iod->ring, sealed, WIRE_CAP_LEN, &here, &cap);

	if (rc)
		return rc == -ENOMEM ? 1 : -(int)flaw_of(rc);
	end = capability_end(iod, &cap);
	if (end < 0)
		return (int)end;
	return session_rights_add(&ses->rights, cap.handle, cap.rights,
				  (uint64_t)end)
		       ? 1
		       : 0;
}

static int learn_all_capabilities(struct iod_session *ses,
				  const struct rpc_req *req)
{
	const struct wire_caps *caps = req->msg.caps;
	const uint8_t *cap = (const uint8_t *)(caps + 1);
	uint32_t i;
	int rc = 0;

	for (i = 0; caps && !rc && i < le32toh(caps->n); i++)
		rc = learn_capability(ses, cap + i * WIRE_CAP_LEN);
	if (!rc)
		return 0;
	return rc > 0 ? -ENOMEM
		      : refuse_request(ses, req, (enum caps_flaw)(-rc));
}

/* ---- rights that a request needs ---- */

static bool needs_capability(const struct iod_session *ses)
{
	return ses->worker->iod->conf.auth.caps && ses->client;
}

uint64_t capability_until(const struct iod_session *ses, uint64_t handle,
			  unsigned int right)
{
	return needs_capability(ses)
		       ? session_rights_until(&ses->rights, handle, right)
		       : UINT64_MAX;
}

/* If the session had the right before, or entries were dropped, this is no offence. */
static enum caps_flaw missing_right_flaw(const struct iod_session *ses,
					 uint64_t until)
{
	return until || ses->rights.dropped ? CAPS_FORGOTTEN : CAPS_MISSING;
}

static int check_rights(struct iod_session *ses, const struct rpc_req *req)
{
	struct wire_need need[WIRE_NEEDS_MAX];
	unsigned int i, n = wire_needs(req->op, req->msg.body, need);
	uint64_t now = n ? clock_boot() : 0, until;
	int rc;

	session_rights_set_era(&ses->rights,
			       keyring_losses(ses->worker->iod->ring));
	rc = learn_all_capabilities(ses, req);
	for (i = 0; !rc && i < n; i++) {
		until = session_rights_until(&ses->rights, need[i].handle,
					     need[i].rights);
		if (now >= until)
			rc = refuse_request(ses, req,
					    missing_right_flaw(ses, until));
	}
	if (!rc && req->op == WIRE_PLACE)
		rc = refuse_request(ses, req, CAPS_NEVER);
	return rc;
}

int capability_check(struct iod_session *ses, const struct rpc_req *req)
{
	return needs_capability(ses) ? check_rights(ses, req) : 0;
}

/* ---- reports for the administrator ---- */

void capability_log_settings(const struct iod *iod)
{
	if (iod->conf.auth.caps)
		return;
	if (iod->conf.auth.mode == AUTH_SYS)
		log_warn(iod->log,
			 "[filesystem] auth = sys: programs on other hosts are "
			 "believed whatever user they say they are: give this "
			 "to trusted hosts alone, or set auth = munge or key "
			 "(docs/trust.md)");
	else
		log_warn(iod->log,
			 "[filesystem] capabilities are off: users who know "
			 "an object's handle may read and write it; set "
			 "capabilities = on when all clients are of this "
			 "release (docs/trust.md)");
}

void capability_metrics(const struct iod *iod, struct rpc_metrics *m)
{
	for (unsigned int i = 1; i < CAPS_FLAWS; i++)
		rpc_metrics_total(m, "capability_refusals", "reason",
				  flaws[i].what,
				  atomic_load(&iod->caps_refused[i]),
				  "Requests that no capability allowed.");
}
