/* SPDX-License-Identifier: BSD-2-Clause */
/* random_id.h - unique identifiers: sessions, stores, starts of a server. */
#ifndef RANDOM_ID_H
#define RANDOM_ID_H

#include <stddef.h>
#include <stdint.h>

/* 64 random bits, never 0. 0, or -errno: *id is unchanged. */
int random_id(uint64_t *id);

/* len unpredictable bytes from the kernel. 0, or -errno. */
int random_bytes(void *out, size_t len);

#endif
