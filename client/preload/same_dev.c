/* SPDX-License-Identifier: BSD-2-Clause */
/* same_dev.c - see same_dev.h. */
#include "client/preload/same_dev.h"

#include "client/lib/names/mounted.h"

dev_t same_dev(int dir, const char *path, int flags, dev_t dev, ino_t ino)
{
	return mounted_find(dir, path, flags, dev, ino);
}
