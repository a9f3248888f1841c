/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * place.h - what a head or a supervisor has on its host outside of its memory: a folder
 * in the job's folder, maybe storage on a disk, maybe a mount.  A sweeper is a process
 * that removes it if its owner was killed.
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
	bool made_mount; /* the mount point was made here */
	pid_t sweeper;
	int sweeper_fd; /* closed without a byte, it starts the sweep */
	int lock; /* on folder, while the owner or the sweeper lives */
	unsigned int again;
};

/*
 * Makes the folder, and starts the sweeper; the caller sets storage and mount before.
 * 0 or -errno: -EEXIST: the job has such a folder here.
 */
int place_make(struct job_place *p, const char *name);
/* Removes everything, until the deadline, and ends the sweeper. */
void place_leave(struct job_place *p, uint64_t deadline);
/*
 * Writes the key, for this user alone, and a pvfstab that names it; shows both.
 */
int place_tab(const struct job_place *p, const uint8_t key[MAC_KEY_LEN],
	      const struct job_addr *mgr);

/*
 * Removes a folder of this user with its content, as far as possible; no
 * folders of other users, and no mounts.
 */
void remove_own_tree(const char *path);

/* True: PVFS is mounted there. */
bool mount_is_ours(const char *dir);
/* Detaches a mount, whatever its daemon does. */
void mount_detach(const char *dir);

#endif
