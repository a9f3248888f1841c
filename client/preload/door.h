/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * door.h - a mount that programs may bypass: the information from its daemon, and this
 * process' own session with its servers.
 */
#ifndef DOOR_H
#define DOOR_H

#include "client/lib/file/file.h"
#include "client/preload/ident.h"
#include "client/preload/shortcut.h"

enum link { LINK_NONE, LINK_WANTED, LINK_UP, LINK_FAILED };

struct door {
	struct ident id; /* dev and mount; ino is 0 */
	const struct shortcut_page *page; /* NULL: bypassing is not possible */
	pthread_mutex_t lock; /* protects tab */
	bool ready; /* fs is initialised */
	atomic_int link; /* an enum link */
	struct pvfstab tab;
	struct fs fs;
};

/* The doors of one process. */
#define DOORS 16u
struct doors {
	pthread_mutex_t lock; /* for adding */
	atomic_uint n; /* existing elements do not change */
	struct door door[DOORS];
	struct log log;
	struct log_file err;
};

void doors_init(struct doors *d);
/*
 * Returns the door of the mount that contains the file of fd.  NULL: use the kernel for
 * its data.
 */
struct door *door_find(struct doors *d, int fd, const struct ident *id);
/*
 * Starts the deadline of a call.  Opens fd's file in the process' own session, with its
 * flags.  Returns 0 or -errno.
 */
int door_open(struct doors *d, struct door *door, int fd, int flags,
	      struct file **f);

/* Connects the doors for which door_want() was called, and waits for that. */
void doors_connect(struct doors *d);
static inline bool door_connected(const struct door *door)
{
	return atomic_load(&door->link) == LINK_UP;
}
void door_want(struct door *door);

/* True: the data of the file must go through the mount. */
static inline bool door_marked(const struct door *door, uint64_t handle)
{
	return __atomic_load_n(&door->page->mark[shortcut_slot(handle)],
			       __ATOMIC_SEQ_CST);
}

/* Around a fork(), and at the end: see fs.h. */
void doors_hold(struct doors *d);
void doors_release(struct doors *d);
void doors_disown(struct doors *d);
void doors_leave(struct doors *d);

#endif
