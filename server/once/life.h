/* SPDX-License-Identifier: BSD-2-Clause */
/* life.h - as whom an iod is known to those that were here before. */
#ifndef LIFE_H
#define LIFE_H

#include <stdbool.h>
#include <stdint.h>

/*
 * Its boot number (WIRE_FT_LIFE). The upper half tells clients whether what they had written
 * and not flushed is there still: the kernel has it, however often this process is started,
 * until the host is. sync: nothing was answered that was not flushed.
 */
uint64_t life_boot(bool sync);

#endif
