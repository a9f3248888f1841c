/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * shortcut.h - what pvfs-fuse tells programs that go past it for data: ioctls on open
 * files of the mount, and a file that says which servers there are and which files
 * must not be gone past.
 */
#ifndef SHORTCUT_H
#define SHORTCUT_H

#include <stdint.h>
#include <sys/ioctl.h>

/* The name of that file, which root or the user of the mount owns. */
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

/* These bytes were written past the mount: the kernel shall forget its own. */
struct shortcut_wrote {
	uint64_t off, len;
};
#define SHORTCUT_WROTE _IOW(0xf5, 0x62, struct shortcut_wrote)

/* The servers have told this program alone that some of the file is lost: the file's other
 * opens shall hear of it, too. */
struct shortcut_lost {
	uint32_t error; /* EIO, ENOSPC, EDQUOT */
	uint32_t zero;
};
#define SHORTCUT_LOST _IOW(0xf5, 0x63, struct shortcut_lost)

/* ---- the file ---- */

#define SHORTCUT_MAGIC 0x3130544853465650ull /* "PVFSHT01" */
#define SHORTCUT_SLOTS 65536u

/*
 * mark[shortcut_slot(handle)]: how many files there are of which the kernel may have
 * pages, or on which there are locks.  Their data goes through the mount.
 */
struct shortcut_page {
	uint64_t magic;
	uint64_t fsid;
	uint32_t timeout_ms;
	uint32_t zero;
	char tab[512]; /* pvfstab in which "what" is; "": it is HOST:/ */
	char what[512];
	char options[2048]; /* of pvfstab */
	uint32_t mark[SHORTCUT_SLOTS];
};

static inline uint32_t shortcut_slot(uint64_t handle)
{
	return (uint32_t)(handle * 0x9e3779b97f4a7c15ull >> 48);
}

#endif
