/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * gcm_engine.h - who computes AES-256-GCM.  What comes out is the same, so a sealer goes
 * from one to the other between two records; its key, its numbers and what it counts are gcm.c's.
 */
#ifndef GCM_ENGINE_H
#define GCM_ENGINE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <sys/uio.h>

#include "common/trust/mac.h"
#include "common/util/sealer.h"

#define GCM_NONCE_LEN 12u
#define GCM_ROOM 512u /* bytes of secret memory for each way */

/* Its tag is about all bytes from head to the end of data, which is right behind it. */
struct gcm_record {
	const uint8_t *nonce;
	const void *head;
	size_t head_len; /* 0: there is none */
	const struct iovec *from; /* of what leaves: n pieces */
	unsigned int n;
	void *data;
	size_t len;
	uint8_t *tag;
	bool enciphers;
};

struct gcm_engine {
	/* room: GCM_ROOM bytes, aligned to 16, until close().  -ENOMEM, -ECANCELED */
	int (*open)(void *room, const uint8_t key[MAC_KEY_LEN], bool out,
		    void **way);
	void (*close)(void *way);
	/* As those of struct sealer. */
	int (*seal)(void *way, const struct gcm_record *r);
	int (*unseal)(void *way, const struct gcm_record *r);
};

/* libcrypto: the quickest, but a program pays milliseconds before its first record. */
extern const struct gcm_engine gcm_crypto;
/* libsodium: half as quick, at once.  NULL: this processor has not what it takes. */
const struct gcm_engine *gcm_sodium(void);

/*
 * Which one has the next record of a direction in which there were so many bytes; NULL: none
 * can be had.  Programs that link with libcrypto have gcm_here.c; libpvfs-auth.so
 * has its own.
 */
const struct gcm_engine *gcm_engine(uint64_t bytes);

/* All pieces behind each other at data. */
static inline void gcm_gather(const struct gcm_record *r)
{
	const struct iovec *from = r->from;
	char *to = r->data;

	for (unsigned int n = r->n; n; to += from->iov_len, from++, n--)
		if (from->iov_base != to)
			memcpy(to, from->iov_base, from->iov_len);
}

#endif
