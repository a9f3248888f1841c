/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * key_file.h - keys in a file: one per line, 64 hexadecimal digits. Empty lines and lines that
 * begin with # are ignored.
 */
#ifndef KEY_FILE_H
#define KEY_FILE_H

#include <stdint.h>

#include "common/util/log.h"
#include "common/trust/mac.h"

#define KEYS_MAX 2u /* the key in use, and one more that is accepted */

/* Keys, which must be in secret memory (secret.h). */
struct keys {
	unsigned int n;
	uint8_t key[KEYS_MAX][MAC_KEY_LEN];
};

/*
 * Reads a key file. It must be a regular file that belongs to the caller's user or root, and nobody
 * else may read or write it. Returns 0; -ENOENT if there is no such file, which is not logged; or
 * another error, which is logged with cause and remedy: -EPERM, -EINVAL (bad text), -errno. *keys
 * is set on success only.
 */
int key_file_read(const char *path, const struct log *log, struct keys *keys);

/*
 * Creates the file atomically, with one random key and mode 0600. Also returns 0 if another process
 * created it meanwhile: the key of that process is then valid. Otherwise returns -errno, which is
 * logged.
 */
int key_file_make(const char *path, const struct log *log);

#endif
