/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * hash_table.h - uthash that does not end the process where there is no memory: then
 * the entry that HASH_ADD() was given is in no table, and its hh.tbl is NULL.  So it
 * is after calloc(), as long as nobody adds it.
 */
#ifndef HASH_TABLE_H
#define HASH_TABLE_H

#define HASH_NONFATAL_OOM 1
#include <uthash.h>

#endif
