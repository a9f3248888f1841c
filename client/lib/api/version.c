/* SPDX-License-Identifier: BSD-2-Clause */
/* version.c - what the library calls itself. */
#include "client/lib/api.h"

const char *pvfs_version(void)
{
	return PVFS_VERSION;
}
