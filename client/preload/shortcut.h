/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * shortcut.h - the interface between pvfs-fuse and programs that bypass it for data: ioctls on open
 * files of the mount, and a file (struct shortcut_page).  The file names the servers, and marks the
 * files that programs must not bypass.
 */
#ifndef SHORTCUT_H
#define SHORTCUT_H

#include <stdint.h>
#include <sys/ioctl.h>

/*
 * The result of an ioctl: the path of the shortcut_page file.  Root or the user of the mount owns
 * it.
 */
struct shortcut_where {
	char path[256];
};
#define SHORTCUT_WHERE _IOR(0xf5, 0x60, struct shortcut_where)

/*
 * The result of an ioctl: a token with which the program opens the file at the servers; see GRANT
 * in docs/protocol.md.
 */
struct shortcut_grant {
	uint8_t token[16];
	uint32_t flags; /* WIRE_O_READ, WIRE_O_WRITE */
	uint32_t zero;
};
#define SHORTCUT_GRANT _IOR(0xf5, 0x61, struct shortcut_grant)

/*
 * The argument of an ioctl: these bytes were written without the mount, so the kernel must drop its
 * pages of them.
 */
struct shortcut_wrote {
	uint64_t off, len;
};
#define SHORTCUT_WROTE _IOW(0xf5, 0x62, struct shortcut_wrote)

/*
 * The argument of an ioctl: data of the file is lost, and the servers reported that to this program
 * alone.  The mount must report it through its other open files of the file.
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
	/* path of the pvfstab that has a line for `what`; "": `what` is HOST:/ */
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
