/* SPDX-License-Identifier: BSD-2-Clause */
/* wire_build.c - builds a message in the sender's buffer. */
#include <assert.h>
#include <errno.h>
#include <string.h>

#include "common/wire/wire_form.h"

void wire_begin(struct wire_out *out, void *buf, size_t cap)
{
	assert(wire_aligned(buf));
	*out = (struct wire_out){ .buf = buf, .cap = cap };
	wire_put(out, NULL, sizeof(struct wire_hdr));
}

void *wire_put(struct wire_out *out, const void *item, size_t len)
{
	uint8_t *at = out->buf + out->len;
	size_t room = out->cap - out->len;

	if (out->err || len > room || wire_pad(len) > room) {
		out->err = -EMSGSIZE;
		return NULL;
	}
	if (item)
		memcpy(at, item, len);
	else
		memset(at, 0, len);
	memset(at + len, 0, wire_pad(len) - len);
	out->len += wire_pad(len);
	return at;
}

int wire_end(struct wire_out *out, unsigned int op, unsigned int flags,
	     size_t extra)
{
	struct wire_hdr *hdr = (void *)out->buf;

	if (!out->err && extra > WIRE_INLINE_MAX)
		out->err = -EMSGSIZE;
	if (out->err)
		return out->err;
	hdr->magic = htole32(WIRE_MAGIC);
	hdr->version = htole16(WIRE_VERSION);
	hdr->op = htole16((uint16_t)op);
	hdr->len = htole32((uint32_t)(out->len + extra));
	hdr->flags = htole16((uint16_t)flags);
	return (int)(out->len + extra);
}

unsigned int wire_room(const struct wire_out *out, size_t head, size_t item,
		       unsigned int most)
{
	size_t used = out->len + head;
	size_t n = out->cap < used ? 0 : (out->cap - used) / item;

	return n < most ? (unsigned int)n : most;
}
