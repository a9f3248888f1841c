/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * munger.h - MUNGE credentials with deadlines. libmunge waits for munged without a limit, so each
 * call runs in its own thread. A thread that takes too long is abandoned. The number of threads is
 * limited.
 */
#ifndef MUNGER_H
#define MUNGER_H

#include <stddef.h>
#include <stdint.h>

#include "common/util/log.h"

struct munger;

#define MUNGER_CRED_MAX 4096u
#define MUNGER_PAYLOAD_MAX 64u
#define MUNGER_WAIT_MS 5000u /* long enough for one call */

/* A decoded credential. */
struct munger_word {
	uint32_t uid, gid; /* ids of the creator */
	size_t len;
	uint8_t payload[MUNGER_PAYLOAD_MAX];
};

/*
 * socket is the socket of munged, a path of less than 108 bytes; "" is libmunge's default. most is
 * the maximum number of concurrent calls, including abandoned ones, and at least 1. Returns 0;
 * -ELIBACC if libmunge is not installed, which is logged; -EINVAL if socket is too long; or
 * -ENOMEM. munged need not run yet.
 */
int munger_open(const char *socket, unsigned int most, const struct log *log,
		struct munger **munger);
/* Takes another reference. */
struct munger *munger_get(struct munger *munger);
/* Never waits. munger may be NULL. */
void munger_put(struct munger *munger);

/*
 * Any thread may call these functions; each waits until deadline (clock_now()) at most.
 *
 * They return -EHOSTDOWN if munged does not run or does not answer; -ETIMEDOUT if the call was not
 * done by the deadline; -ENOMEM or -EAGAIN if no thread could be started; -EIO for other errors of
 * libmunge.
 */

/*
 * Makes a credential. cred is a string, with room for MUNGER_CRED_MAX bytes. With
 * munger_encode_for(), only uid can decode it, and the payload is encrypted whatever munged's
 * default is.
 */
int munger_encode(struct munger *munger, const void *payload, size_t len,
		  uint64_t deadline, char *cred);
int munger_encode_for(struct munger *munger, uint32_t uid, const void *payload,
		      size_t len, uint64_t deadline, char *cred);
/*
 * Decodes len untrusted bytes. Returns -EBADMSG if they are not a credential. Other errors concern
 * the credential: -ENOKEY: made with another key; -ETIME: too old; -ERANGE: made in the future;
 * -EALREADY: decoded before; -EACCES: only another user may decode it. *word is set on success
 * only.
 */
int munger_decode(struct munger *munger, const void *cred, size_t len,
		  uint64_t deadline, struct munger_word *word);

/* Returns a text with the meaning of the error, and the remedy. */
const char *munger_why(int rc);

#endif
