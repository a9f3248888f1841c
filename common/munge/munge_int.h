/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * munge_int.h - the parts of libmunge.so.2 in use. These constants and functions are its ABI, which
 * is stable while the library's name is. test_munger compares them with <munge.h>.
 */
#ifndef MUNGE_INT_H
#define MUNGE_INT_H

#include <sys/types.h>

#include "common/util/log.h"

#define MUNGE_LIBRARY "libmunge.so.2"

/* Options of a context. */
#define MUNGE_SET_CIPHER 0
#define MUNGE_SET_SOCKET 8
#define MUNGE_SET_ONLY_UID 9

#define MUNGE_AES128 4 /* a cipher, whatever munged's default is */

/* Return values of its calls. */
enum munge_says {
	MUNGE_OK = 0,
	MUNGE_NO_MEMORY = 5,
	MUNGE_NO_SOCKET = 6, /* munged does not run, or answers too slowly */
	MUNGE_BAD_CRED = 8, /* not a credential */
	MUNGE_BAD_VERSION = 9,
	MUNGE_BAD_CIPHER = 10, /* munged does not support the cipher */
	MUNGE_BAD_REALM = 13,
	/* the credential was made with another key, or changed */
	MUNGE_INVALID = 14,
	MUNGE_EXPIRED = 15,
	MUNGE_REWOUND = 16, /* the credential was made in the future */
	MUNGE_REPLAYED = 17,
	/* only another user may decode the credential */
	MUNGE_UNAUTHORIZED = 18,
};

struct munge_library {
	void *(*ctx_create)(void);
	void (*ctx_destroy)(void *ctx);
	int (*ctx_set)(void *ctx, int opt, ...);
	int (*encode)(char **cred, void *ctx, const void *buf, int len);
	int (*decode)(const char *cred, void *ctx, void **buf, int *len,
		      uid_t *uid, gid_t *gid);
};

/* Loads the library, which stays loaded. Returns 0, or -ELIBACC, which is logged. */
int munge_load(const struct log *log, struct munge_library *lib);

#endif
