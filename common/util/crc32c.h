/* SPDX-License-Identifier: BSD-2-Clause */
/* crc32c.h - CRC-32C (Castagnoli), as in iSCSI and ext4. */
#ifndef CRC32C_H
#define CRC32C_H

#include <stddef.h>
#include <stdint.h>

/* Continues before, the sum of the bytes so far; 0: there were none. */
uint32_t crc32c(uint32_t before, const void *data, size_t len);

#endif
