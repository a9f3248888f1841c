/* SPDX-License-Identifier: BSD-2-Clause */
/* boot_id.h - identifies the current boot of this host. A clock_boot() value on disk needs it. */
#ifndef BOOT_ID_H
#define BOOT_ID_H

#include <stdint.h>

/*
 * Returns the same id until the host reboots. Without /proc the id is random at each call, so no
 * value on disk counts as from this boot. 0, or -errno of random_id().
 */
int boot_id(uint64_t *id);

#endif
