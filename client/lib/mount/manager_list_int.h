/* SPDX-License-Identifier: BSD-2-Clause */
/* manager_list_int.h - the managers in the first word of a line: "HOST:/" or "HOST,HOST,HOST:/". */
#ifndef MANAGER_LIST_INT_H
#define MANAGER_LIST_INT_H

#include "client/lib/mount/mount_opt_int.h"

/*
 * Reads the addresses of name into mount.  In a list, each host may have a port of its own:
 * "HOST:PORT".  opt: the transport, and the port of the others.  Returns NULL, or what is wrong
 * with name and the remedy; mount is then undefined.
 */
const char *manager_list_read(const char *name, const struct mount_opt *opt,
			      struct mount *mount);

#endif
