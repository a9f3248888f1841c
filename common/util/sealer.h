/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * sealer.h - protects the records of one connection against an attacker on the network. The
 * handshake creates it and passes it to the transport, which contains no cryptography. One sealer
 * serves both directions; one thread uses it at a time.
 */
#ifndef SEALER_H
#define SEALER_H

#include <stddef.h>
#include <stdint.h>
#include <sys/uio.h>

#define SEALER_TAG_LEN 16u

struct sealer {
	/*
	 * Seals the next record to send. The bytes of n pieces are copied or encrypted to data, one
	 * after the other. The tag covers head, the resulting data, and the number of earlier
	 * records. Pieces may change meanwhile; a piece may overlap its destination. -ECANCELED:
	 * the cryptography library is unloaded.
	 */
	int (*seal)(struct sealer *s, const void *head, size_t head_len,
		    const struct iovec *from, unsigned int n, void *data,
		    uint8_t tag[SEALER_TAG_LEN]);
	/*
	 * Opens the next received record: restores data in place. -EBADMSG: not the expected
	 * record; discard data; nothing more can be opened. -ECANCELED.
	 */
	int (*open)(struct sealer *s, const void *head, size_t head_len,
		    void *data, size_t len, const uint8_t tag[SEALER_TAG_LEN]);
	/* Wipes the keys. */
	void (*free)(struct sealer *s);
};

static inline void sealer_free(struct sealer *s)
{
	if (s)
		s->free(s);
}

#endif
