/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * same_dev.h - the same st_dev for a file of PVFS, through a mount and by its path of
 * pvfstab.
 */
#ifndef SAME_DEV_H
#define SAME_DEV_H

#include <sys/types.h>

/* Converts the kernel's answer to fstatat(2) for a program that uses both: see mounted.h. */
dev_t same_dev(int dir, const char *path, int flags, dev_t dev, ino_t ino);

#endif
