/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * bypass.h - what this process has at the servers of mounts, to bypass the mounts.  A
 * child after fork() starts without its parent's state.  A child made otherwise may share
 * memory with its parent, and uses the kernel only.
 */
#ifndef BYPASS_H
#define BYPASS_H

#include "client/preload/bypass/desc.h"
#include "client/preload/bypass/helper.h"
#include "client/preload/bypass/written_files.h"

struct request_queue;

struct bypass {
	pid_t pid; /* process that owns it */
	struct fuse_mounts mounts;
	struct desc_table descs;
	struct written_files written;
	struct helper helper;
	_Atomic(struct request_queue *) requests; /* NULL: none yet */
	pthread_mutex_t sweep_lock; /* held while checking all descriptors */
	atomic_bool closing; /* never reset */
	atomic_bool paused; /* an exec() is in progress, which may fail */
};

/* Called at the start of the program, by the constructor. */
void bypass_begin(void);
/* Creates the state if it does not exist.  NULL: use the kernel. */
struct bypass *bypass_get(void);
/*
 * The same, but never creates the state.  NULL also while another thread ends the program
 * or calls exec().
 */
struct bypass *bypass_existing(void);
/* The asynchronous requests of this process.  NULL: none; or as bypass_existing(). */
struct request_queue *bypass_requests(void);

/* As desc_find(). */
bool bypass_find_file(int fd, struct desc_use *use);
/* As written_files_open(). */
bool bypass_open_written_file(int fd, struct desc_use *use);
/* As written_files_have(). */
bool bypass_has_written(int fd);
/* Called before the program closes the number. */
void bypass_close(int fd);
/*
 * Called before the kernel uses the size that it has cached: another client may have
 * changed it.
 */
void bypass_refresh_size(int fd);

/* Ends the sessions of this process.  From now on all calls go to the kernel. */
void bypass_end(void);

/*
 * Called before exec(): ends what this process has at the servers.  All calls then go to
 * the kernel until bypass_resume().  NULL: there is nothing to end, or this is a child
 * that shares its parent's memory.  Keeps errno.
 */
struct bypass *bypass_pause(void);
/* Called if exec() failed: bypassing starts again when it is worthwhile.  NULL is permitted. */
void bypass_resume(struct bypass *paused);

#endif
