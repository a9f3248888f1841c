/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * hash_table.h - uthash that does not end the process if memory is short. The entry passed to
 * HASH_ADD() is then in no table, and its hh.tbl is NULL. hh.tbl is also NULL after calloc().
 */
#ifndef HASH_TABLE_H
#define HASH_TABLE_H

#define HASH_NONFATAL_OOM 1
#include <uthash.h>

#endif
