/* SPDX-License-Identifier: BSD-2-Clause */
/* boot_id.h - which life of this host this is: what a clock_boot() on disk needs. */
#ifndef BOOT_ID_H
#define BOOT_ID_H

#include <stdint.h>

/* The same until the host is started anew; without /proc another one each time, so
 * that nothing on disk counts as of this life.  0, or -errno of random_id(). */
int boot_id(uint64_t *id);

#endif
