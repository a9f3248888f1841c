/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * pvfstab.h - the mounts: lines of pvfstab(5), and which of them contains a path.  Asks
 * no server.
 */
#ifndef PVFSTAB_H
#define PVFSTAB_H

#include <limits.h>
#include <stdbool.h>

#include "common/util/addr.h"
#include "common/wire/security_mode.h"
#include "common/wire/wire.h"
#include "common/comm/fabric/fabric.h"
#include "common/util/log.h"
#include "common/comm/fabric/sizes.h"

#define MOUNT_KEY_MAX 1024u
#define MOUNT_SOCKET_MAX 108u /* size in sockaddr_un */

struct mount {
	char *dir; /* "/pvfs": absolute, without "." and "//" */
	char *where; /* "FILE:LINE" of the mount */
	struct addr mgr[WIRE_MGR_MAX]; /* nmgrs of them: one of them leads */
	unsigned int nmgrs;
	unsigned int timeout_ms;
	char fabric[FABRIC_TEXT_MAX]; /* fabric option, "": auto */
	struct rdma_opt rdma;
	unsigned int dead_peer_ms; /* 0: the default */
	struct sizes inline_max, fast_max; /* payload sizes: payload_int.h */
	bool adaptive; /* see rendezvous.h */
	bool indirect; /* direct=off: borrow nothing from iods on this host */
	unsigned int server_uid; /* local servers of this user are trusted */
	enum auth_mode auth; /* minimum */
	enum seal_mode seal; /* minimum; requires auth */
	char key[MOUNT_KEY_MAX]; /* file of the key, "": none */
	char munge_socket[MOUNT_SOCKET_MAX]; /* "": the default of munge */
};

struct pvfstab {
	struct mount *mount;
	unsigned int n;
};

/*
 * Reads the table path into *tab, which the caller frees with pvfstab_free().  A missing file
 * is an empty table.  An invalid line is logged and skipped.  timeout_ms is the timeout of
 * lines without timeout=.  Returns 0, -ENOMEM, or -errno of reading.
 */
int pvfstab_load(const char *path, unsigned int timeout_ms,
		 const struct log *log, struct pvfstab *tab);
/*
 * Fills *tab with one mount, as from the line "WHAT DIR pvfs OPTIONS 0 0".  Returns 0, -ENOMEM,
 * or -EINVAL: the line is invalid, which is logged.
 */
int pvfstab_line(const char *what, const char *dir, const char *options,
		 unsigned int timeout_ms, const struct log *log,
		 struct pvfstab *tab);
/* Removes all mounts from tab except mount, which is one of them. */
void pvfstab_keep(struct pvfstab *tab, const struct mount *mount);
void pvfstab_free(struct pvfstab *tab);

/*
 * Returns the mount that contains the absolute path, or NULL.  Sets *rest to the part of path
 * below the mount point, without a leading '/'; "" for the mount point itself.  The function
 * resolves ".." textually before the mount point.  A ".." in *rest stays for the server,
 * because the name before it may be a symlink.
 */
const struct mount *pvfstab_find(const struct pvfstab *tab, const char *path,
				 const char **rest);

/* Makes path absolute.  -ENOENT: path is empty; -ENAMETOOLONG; -errno of getcwd(). */
int path_absolute(const char *path, char buf[PATH_MAX]);
/*
 * Sets buf to the path to which a server redirects a lookup in mount.  target is absolute, or
 * "../x" relative to the mount point.  Returns 0; -EPROTO: target has another form;
 * -ENAMETOOLONG.
 */
int path_redirected(const struct mount *mount, const char *target,
		    char buf[PATH_MAX]);

#endif
