/* SPDX-License-Identifier: BSD-2-Clause */
/* auth_mode.c - see auth_mode.h. */
#include "common/wire/auth_mode.h"

#include "common/util/words.h"

static const char *const names[AUTH_MODES] = {
	[AUTH_SYS] = "sys",
	[AUTH_KEY] = "key",
	[AUTH_MUNGE] = "munge",
};

int auth_mode_parse(const char *text, enum auth_mode *mode)
{
	int i = words_index(text, names, AUTH_MODES);

	if (i < 0)
		return i;
	*mode = (enum auth_mode)i;
	return 0;
}

const char *auth_mode_name(enum auth_mode mode)
{
	return mode < AUTH_MODES ? names[mode] : "?";
}
