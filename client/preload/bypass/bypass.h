/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * bypass.h - the sessions and open files by which this process bypasses mounts of pvfs-fuse.
 * A child after fork() starts without any.  A child that was made in another way may share the
 * memory of its parent; all its calls go to the kernel.
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
	/* the sessions are being ended; never reset */
	atomic_bool closing;
	atomic_bool paused; /* an exec() is in progress, which may fail */
};

/* Called at the start of the program, by the constructor. */
void bypass_begin(void);
/* Returns the state, and creates it if necessary.  NULL: the caller uses the kernel. */
struct bypass *bypass_get(void);
/*
 * Returns the state if it exists; NULL: there is none, or another thread ends the program or
 * calls exec().
 */
struct bypass *bypass_existing(void);
/* Returns the asynchronous requests of this process.  NULL: none, or no bypass_existing(). */
struct request_queue *bypass_requests(void);

/* desc_find() in the state of this process. */
bool bypass_find_file(int fd, struct desc_use *use);
/* written_files_open() in the state of this process. */
bool bypass_open_written_file(int fd, struct desc_use *use);
/* written_files_have() in the state of this process. */
bool bypass_has_written(int fd);
/* Called before the program closes the number. */
void bypass_close(int fd);
/*
 * Called before a system call that uses the size of fd's file from the kernel's cache: makes the
 * kernel get the present size, which another client may have changed.
 */
void bypass_refresh_size(int fd);

/* Ends the sessions of this process.  From now on all calls go to the kernel. */
void bypass_end(void);

/*
 * Called before exec(): ends the sessions of this process.  All calls then go to the kernel
 * until bypass_resume(), which gets the result.  NULL: there is no session, or this is a child
 * that shares its parent's memory.  Keeps errno.
 */
struct bypass *bypass_pause(void);
/* Called if exec() failed: bypassing starts again when it is worthwhile.  NULL is permitted. */
void bypass_resume(struct bypass *paused);

#endif
