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
 * Reads path.  A missing file is an empty table.  A line that cannot be used is skipped
 * with a warning.  timeout_ms is the timeout for lines without that option.  Returns 0,
 * -ENOMEM, or -errno of reading.
 */
int pvfstab_load(const char *path, unsigned int timeout_ms,
		 const struct log *log, struct pvfstab *tab);
/*
 * The same with a single mount: that of the line "WHAT DIR pvfs OPTIONS 0 0".  -EINVAL,
 * logged: the line cannot be used.
 */
int pvfstab_line(const char *what, const char *dir, const char *options,
		 unsigned int timeout_ms, const struct log *log,
		 struct pvfstab *tab);
/* Removes all mounts but this one, which belongs to tab. */
void pvfstab_keep(struct pvfstab *tab, const struct mount *mount);
void pvfstab_free(struct pvfstab *tab);

/*
 * Returns the mount with the longest prefix of path, which is absolute, or NULL.  *rest
 * points into path, after the prefix: without a leading '/', "" for the mount point
 * itself.  Outside mounts, ".." is resolved textually.  After a mount point it stays in
 * the rest, because the server resolves symlinks.
 */
const struct mount *pvfstab_find(const struct pvfstab *tab, const char *path,
				 const char **rest);

/* Makes path absolute.  -ENOENT: path is empty; -ENAMETOOLONG; -errno of getcwd(). */
int path_absolute(const char *path, char buf[PATH_MAX]);
/*
 * Gets the path to which a server redirects.  target is absolute, or "../x" relative to
 * the mount point.  -ENAMETOOLONG; -EPROTO: target is neither.
 */
int path_redirected(const struct mount *mount, const char *target,
		    char buf[PATH_MAX]);

#endif
