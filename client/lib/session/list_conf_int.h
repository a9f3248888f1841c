/* SPDX-License-Identifier: BSD-2-Clause */
/* list_conf_int.h - how list requests treat memory, and their counters. */
#ifndef LIST_CONF_INT_H
#define LIST_CONF_INT_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

struct log;

struct list_conf {
	/* If pieces of memory have at least this many bytes on average, they stay in place.
	 * Otherwise they are packed. */
	uint64_t place;
	bool group; /* neighbours are registered together */
};

/* Counters of a session, updated from any thread. */
struct list_count {
	atomic_ulong requests, packed, placed, registrations;
	atomic_ulong borrowed; /* shares of calls that needed no request */
};

/*
 * Gets the values for the provider.  PVFS_LIST_PLACE and PVFS_LIST_GROUP override them.
 * Invalid values are logged, if log is not NULL.
 */
void list_conf_get(struct list_conf *conf, const char *provider,
		   const struct log *log);

#endif
