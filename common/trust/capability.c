/* SPDX-License-Identifier: BSD-2-Clause */
/* capability.c - see capability.h. */
#include "capability.h"

#include <errno.h>
#include <string.h>

#include "seal_int.h"

#define LABEL "pvfs capability 1"

/* clang-format off */
struct capability_wire {
	struct seal_head head;
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

	if (!can_be(cap->handle, cap->rights))
		return -EINVAL;
	seal_begin(&w.head, &cap->bounds);
	seal_close(ring, LABEL, &w.head, sizeof(w) - MAC_LEN);
	memcpy(out, &w, sizeof(w));
	return 0;
}

int capability_open(struct keyring *ring, const void *sealed, size_t len,
		    const struct bounds_here *here, struct capability *cap)
{
	struct capability_wire w;
	struct capability c;
	int rc;

	if (len != sizeof(w))
		return -EBADMSG;
	memcpy(&w, sealed, sizeof(w));
	c.handle = le64toh(w.handle);
	c.rights = le32toh(w.rights);
	if (!can_be(c.handle, c.rights) || w.zero)
		return -EBADMSG;
	rc = seal_check(ring, LABEL, &w, sizeof(w), &c.bounds);
	if (!rc)
		rc = bounds_check(&c.bounds, here);
	if (!rc)
		*cap = c;
	return rc;
}
