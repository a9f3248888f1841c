/* SPDX-License-Identifier: BSD-2-Clause */
/* seal_mode.c - see seal_mode.h. */
#include "seal_mode.h"

#include <errno.h>
#include <string.h>

static const char *const names[SEAL_MODES] = {
	[SEAL_NONE] = "none",
	[SEAL_AUTH] = "auth",
	[SEAL_ENCRYPT] = "encrypt",
};

int seal_mode_parse(const char *text, enum seal_mode *mode)
{
	for (int i = 0; i < SEAL_MODES; i++) {
		if (!strcmp(names[i], text)) {
			*mode = (enum seal_mode)i;
			return 0;
		}
	}
	return -EINVAL;
}

const char *seal_mode_name(enum seal_mode mode)
{
	return mode < SEAL_MODES ? names[mode] : "?";
}
