/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * secret.h - memory for keys: separate pages, excluded from core files, zeroed in a child after
 * fork(), wiped when freed.
 */
#ifndef SECRET_H
#define SECRET_H

#include <stddef.h>

/*
 * Returns len zero bytes, aligned to a page, or NULL if there is no memory. The caller frees them.
 */
void *secret_new(size_t len);
/* len is the one that was passed to secret_new(). secret may be NULL. */
void secret_free(void *secret, size_t len);

#endif
