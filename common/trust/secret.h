/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * secret.h - memory for keys: separate pages, excluded from core files, zeroed in a child after
 * fork(), wiped when freed.
 */
#ifndef SECRET_H
#define SECRET_H

#include <stddef.h>

/* len zero bytes, aligned to a page; NULL: no memory. The caller frees it. */
void *secret_new(size_t len);
/* len as passed to secret_new(). NULL is allowed. */
void secret_free(void *secret, size_t len);

#endif
