/* SPDX-License-Identifier: BSD-2-Clause */
/* tab.c - the files that a client needs: the key, and pvfstab. */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "client/tools/job/parts/place.h"

static int write_file(const struct job_place *p, const char *name,
		      const char *text)
{
	char path[JOB_PATH + 16];
	size_t len = strlen(text);
	int fd, rc = 0;

	snprintf(path, sizeof(path), "%s/%s", p->folder, name);
	fd = open(path, O_CREAT | O_EXCL | O_WRONLY | O_CLOEXEC | O_NOFOLLOW,
		  0600);
	if (fd < 0)
		return -errno;
	if (write(fd, text, len) != (ssize_t)len)
		rc = -ENOSPC;
	close(fd);
	return rc ? rc : place_show(p, name);
}

int place_tab(const struct job_place *p, const uint8_t key[MAC_KEY_LEN],
	      const struct job_addr *mgr)
{
	char text[2 * JOB_PATH], hex[66];
	int rc;

	job_key_text(key, hex);
	strcat(hex, "\n");
	rc = write_file(p, "key", hex);
	if (rc)
		return rc;
	snprintf(text, sizeof(text),
		 "%s:/ /pvfs pvfs port=%u,auth=key,key=%s/key 0 0\n", mgr->ip,
		 mgr->port, p->folder);
	return write_file(p, "pvfstab", text);
}
