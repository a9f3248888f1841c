/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * shortcut.h - what pvfs-fuse tells programs that bypass it for data: ioctls on open
 * files of the mount, and a file with the servers and with the files that must not be
 * bypassed.
 */
#ifndef SHORTCUT_H
#define SHORTCUT_H

#include <stdint.h>
#include <sys/ioctl.h>

/* The name of that file.  Root or the user of the mount owns it. */
struct shortcut_where {
	char path[256];
};
#define SHORTCUT_WHERE _IOR(0xf5, 0x60, struct shortcut_where)

/* A token for the open file; see GRANT in the protocol. */
struct shortcut_grant {
	uint8_t token[16];
	uint32_t flags; /* WIRE_O_READ, WIRE_O_WRITE */
	uint32_t zero;
};
#define SHORTCUT_GRANT _IOR(0xf5, 0x61, struct shortcut_grant)

/*
 * The request says which bytes were written past the mount, so the kernel must drop its pages of
 * them.
 */
struct shortcut_wrote {
	uint64_t off, len;
};
#define SHORTCUT_WROTE _IOW(0xf5, 0x62, struct shortcut_wrote)

/*
 * The servers reported only to this program that data of the file is lost.  The mount
 * must report it to the file's other opens.
 */
struct shortcut_lost {
	uint32_t error; /* EIO, ENOSPC, EDQUOT */
	uint32_t zero;
};
#define SHORTCUT_LOST _IOW(0xf5, 0x63, struct shortcut_lost)

/* ---- the file ---- */

#define SHORTCUT_MAGIC 0x3130544853465650ull /* "PVFSHT01" */
#define SHORTCUT_SLOTS 65536u

/*
 * mark[shortcut_slot(handle)]: the number of files with this slot whose data must go through the
 * mount.  A file counts from the first of these events until its last close in the mount: the
 * kernel may have cached a page of it, a lock was requested, or it had set-id bits while it was
 * open for writing.
 */
struct shortcut_page {
	uint64_t magic;
	uint64_t fsid;
	uint32_t timeout_ms;
	uint32_t zero;
	/* path of the pvfstab that contains what; "": what is HOST:/ */
	char tab[512];
	char what[512];
	char options[2048]; /* of pvfstab */
	uint32_t mark[SHORTCUT_SLOTS];
};

static inline uint32_t shortcut_slot(uint64_t handle)
{
	return (uint32_t)(handle * 0x9e3779b97f4a7c15ull >> 48);
}

#endif
