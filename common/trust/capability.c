/* SPDX-License-Identifier: BSD-2-Clause */
/* capability.c - see capability.h. */
#include "common/trust/capability.h"

#include <errno.h>
#include <string.h>

#include "common/trust/token_int.h"

/* clang-format off */
struct capability_wire {
	struct token_head head;
	le64 handle;
	le32 rights;
	le32 zero;
	uint8_t mac[MAC_LEN];
};
/* clang-format on */

_Static_assert(sizeof(struct capability_wire) == CAPABILITY_LEN, "no padding");

static bool can_be(uint64_t handle, uint32_t rights)
{
	return handle && rights && !(rights & ~CAPABILITY_ALL);
}

int capability_seal(struct keyring *ring, const struct capability *cap,
		    uint8_t out[CAPABILITY_LEN])
{
	struct capability_wire w = { .handle = htole64(cap->handle),
				     .rights = htole32(cap->rights) };
	const struct mac_field what = token_covered(&w, sizeof(w) - MAC_LEN);
	uint32_t id;

	if (!can_be(cap->handle, cap->rights))
		return -EINVAL;
	token_begin(&w.head, &cap->limits);
	keyring_fast_mac(ring, what.ptr, what.len, &id, w.mac);
	w.head.key = htole32(id);
	memcpy(out, &w, sizeof(w));
	return 0;
}

int capability_open(struct keyring *ring, const void *sealed, size_t len,
		    const struct token_context *here, struct capability *cap)
{
	struct capability_wire w;
	struct mac_field what;
	struct capability c;
	int rc;

	if (len != sizeof(w))
		return -EBADMSG;
	memcpy(&w, sealed, sizeof(w));
	c.handle = le64toh(w.handle);
	c.rights = le32toh(w.rights);
	if (!can_be(c.handle, c.rights) || w.zero)
		return -EBADMSG;
	what = token_covered(&w, sizeof(w) - MAC_LEN);
	rc = token_limits_decode(&w.head, &c.limits);
	if (!rc)
		rc = keyring_fast_check(ring, le32toh(w.head.key), what.ptr,
					what.len, w.mac);
	if (!rc)
		rc = token_limits_check(&c.limits, here);
	if (!rc)
		*cap = c;
	return rc;
}
