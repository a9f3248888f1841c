/* SPDX-License-Identifier: BSD-2-Clause */
/* invite.h - the information that programs need to bypass the mount (shortcut.h). */
#ifndef INVITE_H
#define INVITE_H

#include "client/fuse/options.h"

struct bypass_page;

/*
 * Makes the shared page.  NULL: no program may bypass the mount, because the kernel may
 * keep more than programs can see, or because the page cannot be made or is too small.
 */
struct bypass_page *invite(const struct fsd *d, const struct options *opt);

#endif
