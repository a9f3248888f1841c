/* SPDX-License-Identifier: BSD-2-Clause */
/* api.h - includes the public headers. libpvfs exports their functions, and no others. */
#ifndef API_H
#define API_H

#pragma GCC visibility push(default)
#include <pvfs.h>
#include <pvfs_aio.h>
#include <pvfs_mdbi.h>
#pragma GCC visibility pop

#endif
