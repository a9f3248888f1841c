/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * seal_mode.h - what keeps others from connections over tcp.  The numbers are the protocol;
 * a higher one asks for more.
 */
#ifndef SEAL_MODE_H
#define SEAL_MODE_H

enum seal_mode {
	SEAL_NONE = 0,
	SEAL_AUTH = 1, /* who changes something is found out */
	SEAL_ENCRYPT = 2, /* and who listens hears nothing */
	SEAL_MODES
};

/* 0, or -EINVAL: not SEAL_WANT. */
int seal_mode_parse(const char *text, enum seal_mode *mode);
#define SEAL_WANT "none, auth or encrypt"
/* "auth" */
const char *seal_mode_name(enum seal_mode mode);

#endif
