/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * auth_mode.h - how clients prove who they are.  The numbers are part of the protocol; a higher
 * one requires more.
 */
#ifndef AUTH_MODE_H
#define AUTH_MODE_H

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

#endif
