/* SPDX-License-Identifier: BSD-2-Clause */
/* ident.h - the file to which a number refers at this moment, according to the kernel. */
#ifndef IDENT_H
#define IDENT_H

#include <stdbool.h>
#include <stdint.h>

struct ident {
	uint64_t dev, ino;
	uint64_t mount; /* unique id of the mount, since Linux 6.8 */
};

/* Sets *id.  Returns false if fd is not open, or is no regular file on a device without a disk. */
bool ident_get(int fd, struct ident *id);
/* Makes the kernel ask the mount for the attributes of fd's file. */
void ident_refresh(int fd);

static inline bool ident_same(const struct ident *a, const struct ident *b)
{
	return a->ino == b->ino && a->dev == b->dev && a->mount == b->mount;
}

#endif
