/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * place.h - what a head or a supervisor has on its host outside of its memory: a folder in
 * the job's folder, perhaps storage on a disk, perhaps a mount.  And a sweeper, a process
 * that takes it away when its owner was killed.
 */
#ifndef JOB_PLACE_H
#define JOB_PLACE_H

#include "client/tools/job/parts/job.h"

struct place {
	struct job job;
	char folder[JOB_PATH]; /* JOB/head, JOB/node.3 */
	char storage[JOB_PATH]; /* "": none */
	char mount[JOB_PATH]; /* "": none */
	bool made_mount; /* the folder of the mount is ours, too */
	pid_t sweeper;
	int sweeper_fd; /* its end tells the sweeper */
	int lock; /* of the folder, as long as one of both lives */
	unsigned int again;
};

/* Makes the folder, and starts the sweeper; storage and mount are set before.  0, or
 * -errno: -EEXIST: the job has such a one here. */
int place_make(struct place *p, const char *name);
/* All of it goes, until the deadline; the sweeper, too. */
void place_leave(struct place *p, uint64_t deadline);
/* A link in the job's folder to that file in ours, unless another has one. */
int place_show(const struct place *p, const char *name);

/* tab.c: the key, for this user alone, and a pvfstab that names it; shows both. */
int place_tab(const struct place *p, const uint8_t key[MAC_KEY_LEN],
	      const struct job_addr *mgr);

/* remove.c: all of a folder of ours, as far as it goes; nobody else's, and no mounts. */
void remove_own_tree(const char *path);

/* mounted.c */
bool mount_is_ours(const char *dir);
void mount_detach(const char *dir);

#endif
