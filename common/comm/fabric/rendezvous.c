/* SPDX-License-Identifier: BSD-2-Clause */
/* rendezvous.c - reads the setting from text. */
#include "common/comm/fabric/rendezvous.h"

#include <errno.h>
#include <string.h>

int rendezvous_parse(const char *text, bool *adaptive)
{
	bool is = !strcmp(text, "adaptive");

	if (!is && strcmp(text, "server"))
		return -EINVAL;
	*adaptive = is;
	return 0;
}
