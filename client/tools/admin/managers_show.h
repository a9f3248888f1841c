/* SPDX-License-Identifier: BSD-2-Clause */
/* managers_show.h - prints the group of managers, for pvfs-managers. */
#ifndef MANAGERS_SHOW_H
#define MANAGERS_SHOW_H

#include <stdbool.h>
#include <stddef.h>

#include <pvfs.h>

/* The address without its transport. */
const char *managers_host(const char *address);
/* Returns the address of the leader; "nobody" if it is unknown. */
const char *managers_leader(const struct pvfs_managers *state);
/*
 * Returns true if all members are voters and have answered.  Also true for a manager without a
 * group.
 */
bool managers_healthy(const struct pvfs_managers *state);
/* Writes the state of a member to text, such as "HOST:PORT gets the database: 12 MiB". */
void managers_describe(const struct pvfs_member *m, char *text, size_t len);
/* Print the group to standard output. */
void managers_text(const struct pvfs_managers *state);
void managers_json(const struct pvfs_managers *state);

#endif
