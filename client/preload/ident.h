/* SPDX-License-Identifier: BSD-2-Clause */
/* ident.h - which file a number stands for at this moment, asked of the kernel alone. */
#ifndef IDENT_H
#define IDENT_H

#include <stdbool.h>
#include <stdint.h>

struct ident {
	uint64_t dev, ino;
	uint64_t mount; /* given out once, from Linux 6.8 on */
};

/* False: it is no regular file of a device without a disk. */
bool ident_get(int fd, struct ident *id);
/* The kernel asks the mount for the file's attributes. */
void ident_refresh(int fd);

static inline bool ident_same(const struct ident *a, const struct ident *b)
{
	return a->ino == b->ino && a->dev == b->dev && a->mount == b->mount;
}

#endif
