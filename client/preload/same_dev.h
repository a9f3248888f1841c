/* SPDX-License-Identifier: BSD-2-Clause */
/* same_dev.h - one st_dev for a file of PVFS, through a mount and by its path of pvfstab. */
#ifndef SAME_DEV_H
#define SAME_DEV_H

#include <sys/types.h>

/* The kernel's answer to fstatat(2), as a program that uses both gets it: see mounted.h. */
dev_t same_dev(int dir, const char *path, int flags, dev_t dev, ino_t ino);

#endif
