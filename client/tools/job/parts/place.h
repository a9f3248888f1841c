/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * place.h - the files that a head or a supervisor (the owner) creates on its host: a directory in
 * the job's directory, perhaps storage on a disk, perhaps a mount.  If the owner is killed, a
 * process called the sweeper removes them.
 */
#ifndef JOB_PLACE_H
#define JOB_PLACE_H

#include "client/tools/job/parts/job.h"
#include "client/tools/job/parts/sockets.h"

struct job_place {
	struct job job;
	char folder[JOB_PATH]; /* JOB/head, JOB/node.3 */
	char storage[JOB_PATH]; /* "": none */
	char mount[JOB_PATH]; /* "": none */
	bool made_mount; /* this program created the mount point */
	pid_t sweeper;
	/*
	 * a pipe to the sweeper; if it is closed and no byte was sent, the sweeper removes
	 * everything
	 */
	int sweeper_fd;
	int lock; /* on folder, while the owner or the sweeper lives */
	unsigned int again;
};

/*
 * Creates the directory name, and starts the sweeper.  The caller has set p->storage and p->mount.
 * Returns 0 or -errno; -EEXIST: the job already has that directory on this host.
 */
int place_make(struct job_place *p, const char *name);
/* Removes everything, until the deadline, and ends the sweeper. */
void place_leave(struct job_place *p, uint64_t deadline);
/* Writes the key, readable only for this user, and a pvfstab that names the key file. */
int place_tab(const struct job_place *p, const uint8_t key[MAC_KEY_LEN],
	      const struct job_addr *mgr);

/*
 * Removes a directory of this user with its content, as far as possible.  Skips directories of
 * other users, and mounts.
 */
void remove_own_tree(const char *path);

/* Whether pvfs-fuse has mounted PVFS at dir. */
bool mount_is_ours(const char *dir);
/* Detaches a mount, whatever its daemon does. */
void mount_detach(const char *dir);

#endif
