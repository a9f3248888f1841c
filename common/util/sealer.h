/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * sealer.h - what makes the records of one connection safe from whoever sits in its
 * middle: who made the handshake hands it down to the transport, which knows no
 * cryptography.  One for both directions; of one thread at a time.
 */
#ifndef SEALER_H
#define SEALER_H

#include <stddef.h>
#include <stdint.h>
#include <sys/uio.h>

#define SEALER_TAG_LEN 16u

struct sealer {
	/*
	 * The next record that leaves: the bytes of n pieces come to data behind each
	 * other, as they are or enciphered, and the tag is about head, what data has
	 * then, and how many records there were before.  Pieces may change meanwhile;
	 * one may be where it comes to.  -ECANCELED: the cryptography is gone.
	 */
	int (*seal)(struct sealer *s, const void *head, size_t head_len,
		    const struct iovec *from, unsigned int n, void *data,
		    uint8_t tag[SEALER_TAG_LEN]);
	/*
	 * The next one that came: data becomes what it was.  -EBADMSG: it is not that
	 * record, and data is to be thrown away; after that nothing more is opened.
	 * -ECANCELED
	 */
	int (*open)(struct sealer *s, const void *head, size_t head_len,
		    void *data, size_t len, const uint8_t tag[SEALER_TAG_LEN]);
	/* Its keys are wiped. */
	void (*free)(struct sealer *s);
};

static inline void sealer_free(struct sealer *s)
{
	if (s)
		s->free(s);
}

#endif
