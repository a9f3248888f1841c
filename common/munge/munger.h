/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * munger.h - credentials of MUNGE, with deadlines: libmunge waits for munged as long as
 * it likes, so each of its calls is made in a thread of its own, which is left behind if
 * it takes too long.  There are never more than a few of these.
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

/* What a credential says. */
struct munger_word {
	uint32_t uid, gid; /* of who made it */
	size_t len;
	uint8_t payload[MUNGER_PAYLOAD_MAX];
};

/*
 * socket: of munged, less than 108 bytes; "" is libmunge's own.  most: calls at a time,
 * those that were left behind as well; at least 1.  -ELIBACC: there is no libmunge,
 * logged; -ENOMEM.  munged need not run yet.
 */
int munger_open(const char *socket, unsigned int most, const struct log *log,
		struct munger **munger);
/* One more who has it. */
struct munger *munger_get(struct munger *munger);
/* Never waits.  NULL is fine. */
void munger_put(struct munger *munger);

/*
 * Any thread; each waits until deadline (clock_now()) at most.
 *
 * -EHOSTDOWN: munged does not run, or does not answer; -ETIMEDOUT: not by the deadline;
 * -ENOMEM, -EAGAIN: no thread; -EIO: libmunge failed otherwise.
 */

/*
 * cred: a string, room of MUNGER_CRED_MAX.  munger_encode_for(): uid alone can decode it, and
 * the payload is enciphered whatever munged's default is.
 */
int munger_encode(struct munger *munger, const void *payload, size_t len,
		  uint64_t deadline, char *cred);
int munger_encode_for(struct munger *munger, uint32_t uid, const void *payload,
		      size_t len, uint64_t deadline, char *cred);
/*
 * len bytes from anyone.  -EBADMSG: no credential; -ENOKEY: made with another key;
 * -ETIME: too old; -ERANGE: made in the future; -EALREADY: decoded before;
 * -EACCES: meant for another user.  *word is set on success only.
 */
int munger_decode(struct munger *munger, const void *cred, size_t len,
		  uint64_t deadline, struct munger_word *word);

/* What that error means, and what to do about it. */
const char *munger_why(int rc);

#endif
