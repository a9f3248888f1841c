/* SPDX-License-Identifier: BSD-2-Clause */
/* xattr.h - extended attributes of an object: small values by name. */
#ifndef XATTR_H
#define XATTR_H

#include "mgr/db/store.h"

#define XATTR_NAME_MAX 255u /* bytes */
#define XATTR_VALUE_MAX 4096u

/* -ENODATA: there is none of that name.  *len: of value, which has room for XATTR_VALUE_MAX. */
int xattr_get(struct store *st, uint64_t handle, const char *name, size_t nlen,
	      void *value, size_t *len);
int xattr_put(struct store *st, uint64_t handle, const char *name, size_t nlen,
	      const void *value, size_t len);
/* -ENODATA. */
int xattr_del(struct store *st, uint64_t handle, const char *name, size_t nlen);
/* All of them go with the object. */
int xattr_del_all(struct store *st, uint64_t handle);

/* Calls fn for each name until one answers not 0, and answers that. */
typedef int xattr_fn(void *arg, const char *name, size_t nlen);
int xattr_walk(struct store *st, uint64_t handle, xattr_fn *fn, void *arg);

#endif
