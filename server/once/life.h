/* SPDX-License-Identifier: BSD-2-Clause */
/* life.h - the boot number of an iod, which tells clients whether it was restarted. */
#ifndef LIFE_H
#define LIFE_H

#include <stdbool.h>
#include <stdint.h>

/*
 * The boot number (WIRE_FT_LIFE).  From the upper half clients see whether their unflushed
 * writes still exist: the kernel keeps them over restarts of this process, until the host
 * reboots.  sync: every answered write was flushed, so a reboot loses none.
 */
uint64_t life_boot(bool sync);

#endif
