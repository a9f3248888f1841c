/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * auth_mode.h - what makes servers believe who a client is.  The numbers are the
 * protocol; a higher one asks for more.
 */
#ifndef AUTH_MODE_H
#define AUTH_MODE_H

enum auth_mode {
	AUTH_SYS = 0, /* it says so; over local the kernel does */
	AUTH_KEY = 1, /* it has the file system's key */
	AUTH_MUNGE = 2, /* the munged of its host says so */
	AUTH_MODES
};

/* 0, or -EINVAL: not AUTH_WANT. */
int auth_mode_parse(const char *text, enum auth_mode *mode);
#define AUTH_WANT "sys, key or munge"
/* "munge" */
const char *auth_mode_name(enum auth_mode mode);

#endif
