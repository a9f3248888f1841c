/* SPDX-License-Identifier: BSD-2-Clause */
/* bounds.c - see bounds.h. */
#include "common/trust/bounds.h"

#include <errno.h>

int bounds_check(const struct bounds *bounds, const struct bounds_here *here)
{
	if (bounds->fsid != here->fsid)
		return -ENXIO;
	if (bounds->session != here->session)
		return -EPERM;
	if (bounds->term < here->oldest || bounds->term > here->newest)
		return -ESTALE;
	return here->now < bounds->expiry ? 0 : -EKEYEXPIRED;
}
