/* SPDX-License-Identifier: BSD-2-Clause */
/* crc32c.h - CRC-32C (Castagnoli), as in iSCSI and ext4. */
#ifndef CRC32C_H
#define CRC32C_H

#include <stddef.h>
#include <stdint.h>

/*
 * Returns the checksum of all bytes so far. `before` is the checksum of the earlier bytes, or 0 if
 * there were none.
 */
uint32_t crc32c(uint32_t before, const void *data, size_t len);

#endif
