/* SPDX-License-Identifier: BSD-2-Clause */
/* manager_list_int.h - the managers in the first word of a line: "HOST:/" or "HOST,HOST,HOST:/". */
#ifndef MANAGER_LIST_INT_H
#define MANAGER_LIST_INT_H

#include "client/lib/mount/mount_opt_int.h"

/*
 * Reads the addresses of the managers from name into mount.  A host in a list may have a port:
 * "HOST:PORT".  For the hosts without one, opt has the port; opt also has the transport.
 * Returns NULL, or a text that says what is wrong with name and how to correct it; mount is
 * then undefined.
 */
const char *manager_list_read(const char *name, const struct mount_opt *opt,
			      struct mount *mount);

#endif
