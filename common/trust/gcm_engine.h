/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * gcm_engine.h - the implementations of AES-256-GCM. All give the same result, so a sealer can
 * change between them from one record to the next. gcm.c keeps the keys, record numbers and
 * counters.
 *
 * Clients need both libraries. With libcrypto alone, the concurrent start of 1,000 clients takes
 * 1.6 times as long, and a program's last writes fail once its own libcrypto has cleaned up. With
 * libsodium alone, large transfers are less than half as fast.
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
#define GCM_ROOM 512u /* bytes of secret memory for each direction */

/* The tag covers all bytes from head to the end of data. data follows head directly. */
struct gcm_record {
	const uint8_t *nonce;
	const void *head;
	size_t head_len; /* 0 if there is no head */
	const struct iovec *from; /* the n pieces of a record to send */
	unsigned int n;
	void *data;
	size_t len;
	uint8_t *tag;
	bool enciphers;
};

struct gcm_engine {
	/*
	 * room has GCM_ROOM bytes, is aligned to 16, and stays valid until close(). Returns 0,
	 * -ENOMEM or -ECANCELED.
	 */
	int (*open)(void *room, const uint8_t key[MAC_KEY_LEN], bool out,
		    void **way);
	void (*close)(void *way);
	/* These do the work of seal() and open() of struct sealer. */
	int (*seal)(void *way, const struct gcm_record *r);
	int (*unseal)(void *way, const struct gcm_record *r);
};

/*
 * libcrypto is the fastest (4.2 GB/s in records of 128 KiB, where libsodium has 1.7), but a program
 * pays 2 to 3 ms of CPU time before its first record.
 */
extern const struct gcm_engine gcm_crypto;
/*
 * Prevents the cleanup of libcrypto at exit(), unless the program itself initialised libcrypto
 * before. Call it before the first use of libcrypto; further calls do nothing.
 */
void crypto_keep(void);
/*
 * Returns whether libcrypto has cleaned up, which is final: code must not use it after that.
 * Returns false during exit() before the cleanup. Much is written then (programs flush their
 * buffers), perhaps over a new connection.
 */
bool crypto_is_gone(void);

/*
 * libsodium is slower, but has no start-up time, and is usable until the process ends. Returns NULL
 * if the CPU lacks the instructions.
 */
const struct gcm_engine *gcm_sodium(void);

/*
 * Returns the engine for the next record of a direction that has sealed that many bytes, or NULL if
 * none is available. Programs that link with libcrypto use gcm_here.c; libpvfs-auth.so has its own.
 */
const struct gcm_engine *gcm_engine(uint64_t bytes);

/* Copies all pieces to data, one after the other. */
static inline void gcm_gather(const struct gcm_record *r)
{
	const struct iovec *from = r->from;
	char *to = r->data;

	for (unsigned int n = r->n; n; to += from->iov_len, from++, n--)
		if (from->iov_base != to)
			memcpy(to, from->iov_base, from->iov_len);
}

#endif
