/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * key_file.h - keys in a file: one a line, 64 hexadecimal digits; empty lines and
 * those that begin with # do not count.
 */
#ifndef KEY_FILE_H
#define KEY_FILE_H

#include <stdint.h>

#include "common/util/log.h"
#include "common/trust/mac.h"

#define KEYS_MAX 2u /* the one in use, and one more that is taken */

/* In secret memory (secret.h). */
struct keys {
	unsigned int n;
	uint8_t key[KEYS_MAX][MAC_KEY_LEN];
};

/*
 * The file must be a regular one of the caller's user or of root, and nobody else may
 * read or write it.  -ENOENT: there is none, and nothing was logged; else the log
 * has the cause and the fix: -EPERM, -EINVAL (its text), -errno.  *keys is
 * set on success only.
 */
int key_file_read(const char *path, const struct log *log, struct keys *keys);

/*
 * Makes the file, whole or not at all, with one random key and mode 0600.  0 too if
 * another one has made it meanwhile: then that one's counts.  -errno, logged.
 */
int key_file_make(const char *path, const struct log *log);

#endif
