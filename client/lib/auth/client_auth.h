/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * client_auth.h - how a client proves who it is: what libpvfs asks of libpvfs-auth.so,
 * which has the cryptography, and is loaded only where pvfstab has auth=.
 */
#ifndef CLIENT_AUTH_H
#define CLIENT_AUTH_H

#include <stdbool.h>

#include "common/wire/auth_mode.h"
#include "common/trust/handshake.h"
#include "common/util/log.h"
#include "common/wire/seal_mode.h"

struct client_auth;

/* As pvfstab says. */
struct client_auth_attr {
	enum auth_mode mode; /* at least; not AUTH_SYS */
	enum seal_mode seal; /* at least, on connections that can be sealed */
	const char *key; /* file of it, with AUTH_KEY */
	const char *munge_socket; /* "": munge's own */
	unsigned int server_uid; /* whose managers are believed, as root's */
	const char *where; /* "FILE:LINE", for messages; outlives it */
	const struct log *log;
};

/* The connection that CHALLENGE was answered by. */
struct client_auth_way {
	uint64_t fsid; /* 0: any */
	uint64_t session, boot;
	uint32_t epoch;
	bool local; /* this host's kernel says who is at its other end */
	bool seals; /* it can be sealed */
	bool here; /* as it is */
	const char *peer; /* for messages */
	uint64_t deadline; /* clock_now() */
};

/* In this order, by one thread at a time; each logs its errors. */
struct client_auth_ops {
	int (*open)(const struct client_auth_attr *attr,
		    struct client_auth **auth);
	/* Secrets are wiped; the prover is gone.  NULL is fine. */
	void (*close)(struct client_auth *auth);
	/* No ticket before end(). */
	const struct prover *(*prover)(const struct client_auth *auth);
	/* What goes out with CHALLENGE. */
	int (*begin)(struct client_auth *auth, struct wire_challenge *body);
	/*
	 * What goes out with AUTH: body, and body->len bytes of word, room of
	 * WIRE_WORD_MAX.  -EKEYREJECTED: the servers ask for less than pvfstab;
	 * -ENXIO: another file system; -ECOMM: munged does not answer, once
	 * more may help.
	 */
	int (*word)(struct client_auth *auth, const struct client_auth_way *way,
		    const struct wire_challenge_rep *rep,
		    struct wire_auth *body, void *word);
	/*
	 * The answer.  *life: ns that the ticket holds.  -EKEYREJECTED: who sends
	 * it does not prove that it is the manager; -ECOMM as above.  Both may
	 * wait, until way->deadline at most.
	 */
	int (*end)(struct client_auth *auth, const struct wire_msg *reply,
		   uint64_t *life);
	/* Behind that: how the connection is sealed as it is, until the next begin(); its
	 * mode is SEAL_NONE: not so, the client comes again. */
	struct here (*here)(struct client_auth *auth);
};

/* The one symbol of libpvfs-auth.so. */
#define CLIENT_AUTH_SYMBOL "pvfs_client_auth_3"
const struct client_auth_ops *pvfs_client_auth_3(void);

#endif
