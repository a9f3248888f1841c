/* SPDX-License-Identifier: BSD-2-Clause */
/* api.h - pvfs.h with its functions exported: the only ones that are. */
#ifndef API_H
#define API_H

#pragma GCC visibility push(default)
#include "pvfs.h"
#pragma GCC visibility pop

#endif
