/* SPDX-License-Identifier: BSD-2-Clause */
/* security_mode.c - see security_mode.h. */
#include "common/wire/security_mode.h"

#include "common/util/words.h"

static const char *const auth_name[AUTH_MODES] = {
	[AUTH_SYS] = "sys",
	[AUTH_KEY] = "key",
	[AUTH_MUNGE] = "munge",
};

int auth_mode_parse(const char *text, enum auth_mode *mode)
{
	int i = words_index(text, auth_name, AUTH_MODES);

	if (i < 0)
		return i;
	*mode = (enum auth_mode)i;
	return 0;
}

const char *auth_mode_name(enum auth_mode mode)
{
	return mode < AUTH_MODES ? auth_name[mode] : "?";
}

static const char *const seal_name[SEAL_MODES] = {
	[SEAL_NONE] = "none",
	[SEAL_AUTH] = "auth",
	[SEAL_ENCRYPT] = "encrypt",
};

int seal_mode_parse(const char *text, enum seal_mode *mode)
{
	int i = words_index(text, seal_name, SEAL_MODES);

	if (i < 0)
		return i;
	*mode = (enum seal_mode)i;
	return 0;
}

const char *seal_mode_name(enum seal_mode mode)
{
	return mode < SEAL_MODES ? seal_name[mode] : "?";
}
