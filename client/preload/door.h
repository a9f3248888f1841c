/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * door.h - a mount that programs may go past: what its daemon says of it, and this
 * process' own way to its servers.
 */
#ifndef DOOR_H
#define DOOR_H

#include "client/lib/file/file.h"
#include "client/preload/ident.h"
#include "client/preload/shortcut.h"

enum link { LINK_NONE, LINK_WANTED, LINK_UP, LINK_FAILED };

struct door {
	struct ident id; /* dev and mount; ino 0 */
	const struct shortcut_page *page; /* NULL: there is none for us */
	pthread_mutex_t lock; /* tab */
	bool ready; /* fs can be used */
	atomic_int link; /* enum link */
	struct pvfstab tab;
	struct fs fs;
};

/* Those of one process. */
#define DOORS 16u
struct doors {
	pthread_mutex_t lock; /* for new ones */
	atomic_uint n; /* those before it stay as they are */
	struct door door[DOORS];
	struct log log;
	struct log_file err;
};

void doors_init(struct doors *d);
/*
 * The one that a file lies behind, of which fd is a descriptor, or NULL: its data goes
 * the kernel's way.
 */
struct door *door_find(struct doors *d, int fd, const struct ident *id);
/* A call begins: opens fd's file by the process' own session, with its flags. */
int door_open(struct doors *d, struct door *door, int fd, int flags,
	      struct file **f);

/* Connects those that are wanted, and waits for it. */
void doors_connect(struct doors *d);
static inline bool door_connected(const struct door *door)
{
	return atomic_load(&door->link) == LINK_UP;
}
void door_want(struct door *door);

/* Is the file one that must not be gone past the mount for? */
static inline bool door_marked(const struct door *door, uint64_t handle)
{
	return __atomic_load_n(&door->page->mark[shortcut_slot(handle)],
			       __ATOMIC_SEQ_CST);
}

/* Around a fork(), and at the end: fs.h. */
void doors_hold(struct doors *d);
void doors_release(struct doors *d);
void doors_disown(struct doors *d);
void doors_leave(struct doors *d);

#endif
