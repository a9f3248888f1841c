/* SPDX-License-Identifier: BSD-2-Clause */
/* hash.c - a file's checksum. */
#include <errno.h>
#include <stdlib.h>
#include <xxhash.h>

#include "pvfs.h"
#include "stage.h"

#define BLOCK (4u << 20)

static int read_all(int fd, char *buf, XXH3_state_t *state)
{
	ssize_t n;

	while ((n = pvfs_read(fd, buf, BLOCK)) != 0) {
		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0)
			return -errno;
		XXH3_64bits_update(state, buf, (size_t)n);
	}
	return 0;
}

int stage_hash(const char *path, uint64_t *hash)
{
	int fd = pvfs_open(path, O_RDONLY | O_CLOEXEC), rc = -ENOMEM;
	XXH3_state_t *state;
	char *buf;

	if (fd < 0)
		return -errno;
	state = XXH3_createState();
	buf = malloc(BLOCK);
	if (state && buf) {
		XXH3_64bits_reset(state);
		rc = read_all(fd, buf, state);
	}
	if (!rc)
		*hash = XXH3_64bits_digest(state);
	free(buf);
	XXH3_freeState(state);
	pvfs_close(fd);
	return rc;
}
