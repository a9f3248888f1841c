/* SPDX-License-Identifier: BSD-2-Clause */
/* random_id.h - unique identifiers: sessions, stores, starts of a server. */
#ifndef RANDOM_ID_H
#define RANDOM_ID_H

#include <stddef.h>
#include <stdint.h>

/* Sets *id to 64 random bits, which are never 0. Returns 0, or -errno with *id unchanged. */
int random_id(uint64_t *id);

/* Sets out to len unpredictable bytes from the kernel. Returns 0 or -errno. */
int random_bytes(void *out, size_t len);

#endif
