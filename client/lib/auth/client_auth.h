/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * client_auth.h - how a client authenticates: the interface between libpvfs and
 * libpvfs-auth.so.  libpvfs-auth.so contains the cryptography.  libpvfs loads it only if a line
 * of pvfstab has the option auth=.
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
	/* Returns the prover of auth, which has no ticket before end(). */
	const struct prover *(*prover)(const struct client_auth *auth);
	/* Fills the body of CHALLENGE. */
	int (*begin)(struct client_auth *auth, struct wire_challenge *body);
	/*
	 * Prepares the message AUTH after the reply rep to CHALLENGE: fills body, and body->len
	 * bytes of word, which has room for WIRE_WORD_MAX.  May block, until way->deadline.
	 * - -EKEYREJECTED: the servers permit weaker authentication than pvfstab demands.
	 * - -ENXIO: the manager serves another file system than way->fsid.
	 * - -ECOMM: munged does not answer; a retry may help.
	 */
	int (*word)(struct client_auth *auth, const struct client_auth_way *way,
		    const struct wire_challenge_rep *rep,
		    struct wire_auth *body, void *word);
	/*
	 * Checks the reply to AUTH, and sets *life to the lifetime of the ticket in ns.  May
	 * block, until the deadline of word().
	 * - -EKEYREJECTED: the peer does not prove that it is the manager.
	 * - -ECOMM: munged does not answer; a retry may help.
	 */
	int (*end)(struct client_auth *auth, const struct wire_msg *reply,
		   uint64_t *life);
	/*
	 * After end(): returns how to seal the existing connection, valid until the next begin().
	 * With the mode SEAL_NONE, the client reconnects instead.
	 */
	struct seal_in_place (*seal_in_place)(struct client_auth *auth);
};

/* The only exported symbol of libpvfs-auth.so. */
#define CLIENT_AUTH_SYMBOL "pvfs_client_auth_3"
const struct client_auth_ops *pvfs_client_auth_3(void);

#endif
