/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * client_auth.h - how a client authenticates: the interface between libpvfs and
 * libpvfs-auth.so.  That library has the cryptography, and is loaded only if pvfstab has
 * auth=.
 */
#ifndef CLIENT_AUTH_H
#define CLIENT_AUTH_H

#include <stdbool.h>

#include "common/wire/security_mode.h"
#include "common/trust/handshake.h"
#include "common/util/log.h"

struct client_auth;

/* The settings of pvfstab. */
struct client_auth_attr {
	enum auth_mode mode; /* minimum; not AUTH_SYS */
	enum seal_mode seal; /* minimum on connections that can be sealed */
	const char *key; /* file of the key, with AUTH_KEY */
	const char *munge_socket; /* "": the default of munge */
	/* managers of this user are trusted, like those of root */
	unsigned int server_uid;
	/* "FILE:LINE", for messages; must outlive the client_auth */
	const char *where;
	const struct log *log;
};

/* The connection over which CHALLENGE was answered. */
struct client_auth_way {
	uint64_t fsid; /* 0: any file system */
	uint64_t session, boot;
	uint32_t epoch;
	bool local; /* this host's kernel identifies the peer */
	bool seals; /* the connection can be sealed */
	bool seal_in_place; /* it can be sealed in place, without a reconnect */
	const char *peer; /* for messages */
	uint64_t deadline; /* clock_now() */
};

/* The calls, in the order of use, by one thread at a time.  Each logs its errors. */
struct client_auth_ops {
	int (*open)(const struct client_auth_attr *attr,
		    struct client_auth **auth);
	/* Wipes the secrets and frees the prover.  NULL is permitted. */
	void (*close)(struct client_auth *auth);
	/* Has no ticket before end(). */
	const struct prover *(*prover)(const struct client_auth *auth);
	/* Fills the body of CHALLENGE. */
	int (*begin)(struct client_auth *auth, struct wire_challenge *body);
	/*
	 * Fills AUTH: body, and body->len bytes of word, which has room for WIRE_WORD_MAX.
	 * - -EKEYREJECTED: the servers require less than pvfstab does.
	 * - -ENXIO: another file system.
	 * - -ECOMM: munged does not answer; a retry may help.
	 */
	int (*word)(struct client_auth *auth, const struct client_auth_way *way,
		    const struct wire_challenge_rep *rep,
		    struct wire_auth *body, void *word);
	/* Checks the answer.  Sets *life to the lifetime of the ticket in ns.  -EKEYREJECTED:
	 * the peer does not prove that it is the manager; -ECOMM: as above.  word() and end()
	 * may block, until way->deadline at most. */
	int (*end)(struct client_auth *auth, const struct wire_msg *reply,
		   uint64_t *life);
	/* After end(): how the existing connection is sealed, until the next begin().
	 * SEAL_NONE: it is not sealed in place; the client reconnects. */
	struct seal_in_place (*seal_in_place)(struct client_auth *auth);
};

/* The only exported symbol of libpvfs-auth.so. */
#define CLIENT_AUTH_SYMBOL "pvfs_client_auth_3"
const struct client_auth_ops *pvfs_client_auth_3(void);

#endif
