/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * seal_mode.h - how connections over tcp are protected.  The numbers are part of the protocol; a
 * higher one requires more.
 */
#ifndef SEAL_MODE_H
#define SEAL_MODE_H

enum seal_mode {
	SEAL_NONE = 0,
	SEAL_AUTH = 1, /* detects changes */
	SEAL_ENCRYPT = 2, /* also prevents reading */
	SEAL_MODES
};

/* Returns 0, or -EINVAL: not SEAL_WANT. */
int seal_mode_parse(const char *text, enum seal_mode *mode);
#define SEAL_WANT "none, auth or encrypt"
/* "auth" */
const char *seal_mode_name(enum seal_mode mode);

#endif
