/* SPDX-License-Identifier: BSD-2-Clause */
/* xattr.h - extended attributes of an object: small values by name. */
#ifndef XATTR_H
#define XATTR_H

#include "mgr/db/store.h"

#define XATTR_NAME_MAX 255u /* bytes */
#define XATTR_VALUE_MAX 4096u

/* *len: the length of value, which has room for XATTR_VALUE_MAX.  -ENODATA: no such name. */
int xattr_get(struct store *st, uint64_t handle, const char *name, size_t nlen,
	      void *value, size_t *len);
int xattr_put(struct store *st, uint64_t handle, const char *name, size_t nlen,
	      const void *value, size_t len);
/* -ENODATA: no such name. */
int xattr_del(struct store *st, uint64_t handle, const char *name, size_t nlen);
/* Removes all attributes, when the object is removed. */
int xattr_del_all(struct store *st, uint64_t handle);

/* Calls fn for each name until fn returns non-zero, and returns that value. */
typedef int xattr_fn(void *arg, const char *name, size_t nlen);
int xattr_walk(struct store *st, uint64_t handle, xattr_fn *fn, void *arg);

#endif
