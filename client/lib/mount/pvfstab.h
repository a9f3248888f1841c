/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * pvfstab.h - the mounts: lines of pvfstab(5), and which of them a path lies
 * on.  Asks no server.
 */
#ifndef PVFSTAB_H
#define PVFSTAB_H

#include <limits.h>
#include <stdbool.h>

#include "common/util/addr.h"
#include "common/wire/auth_mode.h"
#include "common/comm/fabric/fabric.h"
#include "common/util/log.h"
#include "common/wire/seal_mode.h"
#include "common/comm/fabric/sizes.h"

#define MOUNT_KEY_MAX 1024u
#define MOUNT_SOCKET_MAX 108u /* of sockaddr_un */

struct mount {
	char *dir; /* "/pvfs": absolute, no "." or "//" */
	char *where; /* "FILE:LINE" of it */
	struct addr mgr;
	unsigned int timeout_ms;
	char fabric[FABRIC_TEXT_MAX]; /* option, "": auto */
	struct rdma_opt rdma;
	unsigned int dead_peer_ms; /* 0: the default */
	struct sizes inline_max, fast_max; /* of payloads: call_way_int.h */
	bool adaptive; /* rendezvous.h */
	bool indirect; /* direct=off: nothing is borrowed from iods of this host */
	unsigned int server_uid; /* whose local servers are believed */
	enum auth_mode auth; /* at least */
	enum seal_mode seal; /* likewise; with auth */
	char key[MOUNT_KEY_MAX]; /* file of it, "": none */
	char munge_socket[MOUNT_SOCKET_MAX]; /* "": munge's own */
};

struct pvfstab {
	struct mount *mount;
	unsigned int n;
};

/*
 * Reads path.  A file that is not there is an empty table; a line that cannot
 * be used is skipped with a warning.  -ENOMEM, or -errno of reading.
 * timeout_ms is the bound where a line has no timeout option.
 */
int pvfstab_load(const char *path, unsigned int timeout_ms,
		 const struct log *log, struct pvfstab *tab);
/*
 * The same with a single mount: what the line "WHAT DIR pvfs OPTIONS 0 0" would say.
 * -EINVAL: it cannot be used, which is logged.
 */
int pvfstab_line(const char *what, const char *dir, const char *options,
		 unsigned int timeout_ms, const struct log *log,
		 struct pvfstab *tab);
/* Leaves only that mount, which is one of tab's. */
void pvfstab_keep(struct pvfstab *tab, const struct mount *mount);
void pvfstab_free(struct pvfstab *tab);

/*
 * The mount with the longest prefix of path, which is absolute, or NULL.
 * *rest points behind the prefix into path: no leading '/', "" for the mount
 * point itself.  ".." is taken as written outside of mounts; behind a mount
 * point it is left in the rest, for the server knows about symlinks.
 */
const struct mount *pvfstab_find(const struct pvfstab *tab, const char *path,
				 const char **rest);

/*
 * Makes path absolute.  -ENOENT: empty; -ENAMETOOLONG; -errno of getcwd().
 */
int path_absolute(const char *path, char buf[PATH_MAX]);
/*
 * Where a redirection from a server leads: target is absolute, or "../x" as
 * seen from the mount point.  -ENAMETOOLONG; -EPROTO: it is neither.
 */
int path_redirected(const struct mount *mount, const char *target,
		    char buf[PATH_MAX]);

#endif
