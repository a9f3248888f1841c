/* SPDX-License-Identifier: BSD-2-Clause */
/* version.c - the version of the library. */
#include "client/lib/api.h"

const char *pvfs_version(void)
{
	return PVFS_VERSION;
}
