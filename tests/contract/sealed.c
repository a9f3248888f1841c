/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * sealed.c - wraps connections of a program (ld --wrap): both ends of each are sealed as soon as it
 * is established, and the program does not notice.  CONTRACT_SEAL is auth, encrypt, or none.  With
 * CONTRACT_KEYS=long, keys do not change all the time.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "common/trust/gcm.h"
#include "common/transport/tp_seal.h"

enum { CONNECTOR, ACCEPTOR };

int __real_tp_accept(struct tp_ep *ep, struct tp_conn_req *req,
		     const void *priv, unsigned int len);
int __wrap_tp_accept(struct tp_ep *ep, struct tp_conn_req *req,
		     const void *priv, unsigned int len);
int __real_tp_cq_event(struct tp_cq *cq, struct tp_event *ev);
int __wrap_tp_cq_event(struct tp_cq *cq, struct tp_event *ev);

/* Keys that change often. */
static const struct gcm_limits limits = { .bytes = 1 << 20, .records = 1000 };
static const uint8_t key[2][MAC_KEY_LEN] = { { 1, 2, 3 }, { 4, 5, 6 } };

static void seal(struct tp_ep *ep, int end)
{
	const char *text = getenv("CONTRACT_SEAL");
	enum seal_mode mode = SEAL_AUTH;
	const char *keys = getenv("CONTRACT_KEYS");
	struct sealer *sealer;

	if (text && !strcmp(text, "none"))
		return;
	if ((text && seal_mode_parse(text, &mode)) ||
	    gcm_sealer(mode, key[end], key[!end],
		       keys && !strcmp(keys, "long") ? NULL : &limits, &sealer))
		abort();
	/* ep may be the other end, or broken */
	tp_ep_seal(ep, sealer, 0);
}

int __wrap_tp_accept(struct tp_ep *ep, struct tp_conn_req *req,
		     const void *priv, unsigned int len)
{
	int rc = __real_tp_accept(ep, req, priv, len);

	if (!rc)
		seal(ep, ACCEPTOR);
	return rc;
}

int __wrap_tp_cq_event(struct tp_cq *cq, struct tp_event *ev)
{
	int rc = __real_tp_cq_event(cq, ev);

	if (rc == 1 && ev->type == TP_EV_ESTABLISHED)
		seal(ev->ep, CONNECTOR);
	return rc;
}
