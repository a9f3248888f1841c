/* SPDX-License-Identifier: BSD-2-Clause */
/* invite.h - what programs need to know that go past the mount (shortcut.h). */
#ifndef INVITE_H
#define INVITE_H

#include "client/fuse/options.h"

struct marks;

/*
 * NULL: none may.  The kernel keeps more than they can know of, or the page cannot be
 * made, or does not hold all that is to be said.
 */
struct marks *invite(const struct fsd *d, const struct options *opt);

#endif
