/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * secret.h - memory for keys: pages of its own, left out of core files, zeros in a
 * child after fork(), wiped when it is freed.
 */
#ifndef SECRET_H
#define SECRET_H

#include <stddef.h>

/* len zeros, aligned to a page, or NULL: no memory.  The caller frees it. */
void *secret_new(size_t len);
/* len as it was asked for.  NULL is fine. */
void secret_free(void *secret, size_t len);

#endif
