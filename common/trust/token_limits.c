/* SPDX-License-Identifier: BSD-2-Clause */
/* token_limits.c - see token_limits.h. */
#include "common/trust/token_limits.h"

#include <errno.h>

int token_limits_check(const struct token_limits *bounds,
		       const struct token_context *here)
{
	if (bounds->fsid != here->fsid)
		return -ENXIO;
	if (bounds->session != here->session)
		return -EPERM;
	if (bounds->term < here->oldest || bounds->term > here->newest)
		return -ESTALE;
	return here->now < bounds->expiry ? 0 : -EKEYEXPIRED;
}
