/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * security_mode.h - how clients authenticate, and how connections over tcp are protected.  The
 * numbers are part of the protocol; a higher number means more protection.
 */
#ifndef SECURITY_MODE_H
#define SECURITY_MODE_H

enum auth_mode {
	AUTH_SYS = 0, /* the client's claim; over local, the kernel's report */
	AUTH_KEY = 1, /* the client has the key of the file system */
	AUTH_MUNGE = 2, /* the munged of its host vouches for it */
	AUTH_MODES
};

/* Returns 0, or -EINVAL: not AUTH_WANT. */
int auth_mode_parse(const char *text, enum auth_mode *mode);
#define AUTH_WANT "sys, key or munge"
/* "munge" */
const char *auth_mode_name(enum auth_mode mode);

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
