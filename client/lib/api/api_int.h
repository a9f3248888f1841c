/* SPDX-License-Identifier: BSD-2-Clause */
/* api_int.h - what the files of the C interface share. */
#ifndef API_INT_H
#define API_INT_H

#include <errno.h>

#include "api.h"
#include "process.h"
#include "where.h"

/* From negative errno to -1 and errno. */
static inline ssize_t api_ret(ssize_t rc)
{
	if (rc >= 0)
		return rc;
	errno = (int)-rc;
	return -1;
}

static inline int api_int(int rc)
{
	return (int)api_ret(rc);
}

/* The PVFS file behind fd, the caller's, or NULL: none, or a part of an ordinary one. */
struct file *api_file(int fd);

/* Permission bits for a new file: mode without the process' umask. */
uint32_t mode_after_umask(mode_t mode);

/* SETATTR on a path: as where_run(). */
int setattr_path(struct where *w, const char *path, uint32_t flags,
		 const struct setattr *set);
/* SETATTR on an open file; puts f. */
int setattr_file(struct file *f, const struct setattr *set);

#endif
