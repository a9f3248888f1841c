/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * keychain_renew.c - RENEW, before capabilities expire.  The keeper renews them with the
 * ticket, so that no transfer waits for the manager.
 */
#include <errno.h>

#include "client/lib/session/ask.h"
#include "client/lib/session/keychain_int.h"

static int renewal_take_reply(void *arg, const struct wire_msg *reply)
{
	struct session *s = ((struct session **)arg)[0];
	const struct renewal *r = ((void **)arg)[1];

	if (!reply->caps || le32toh(reply->caps->n) != r->n)
		return -EPROTO;
	keychain_renewed(s->keys, r, reply->caps);
	return 0;
}

static int renewal_send(struct session *s, const struct renewal *r)
{
	const struct wire_caps head = { .n = htole32(r->n) };
	void *arg[] = { s, (void *)(uintptr_t)r };
	struct ask c;
	int rc;

	ask_begin(&c, s, s->mgr);
	c.caps = true;
	ask_put(&c, &head, sizeof(head));
	ask_put(&c, r->cap, r->n * sizeof(r->cap[0]));
	rc = ask_run(&c, WIRE_RENEW, renewal_take_reply, arg);
	if (rc == -EKEYREJECTED || rc == -ENOKEY || rc == -EOPNOTSUPP)
		keychain_renewed(s->keys, r, NULL);
	return rc;
}

int keychain_renew(struct session *s)
{
	struct renewal r;
	int rc = 0;

	for (keychain_due(s->keys, &r); !rc && r.n; keychain_due(s->keys, &r))
		rc = renewal_send(s, &r);
	return rc;
}
