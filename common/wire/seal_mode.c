/* SPDX-License-Identifier: BSD-2-Clause */
/* seal_mode.c - see seal_mode.h. */
#include "common/wire/seal_mode.h"

#include "common/util/words.h"

static const char *const names[SEAL_MODES] = {
	[SEAL_NONE] = "none",
	[SEAL_AUTH] = "auth",
	[SEAL_ENCRYPT] = "encrypt",
};

int seal_mode_parse(const char *text, enum seal_mode *mode)
{
	int i = words_index(text, names, SEAL_MODES);

	if (i < 0)
		return i;
	*mode = (enum seal_mode)i;
	return 0;
}

const char *seal_mode_name(enum seal_mode mode)
{
	return mode < SEAL_MODES ? names[mode] : "?";
}
