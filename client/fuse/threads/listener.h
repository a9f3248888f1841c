/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * listener.h - reads the kernel's requests; one thread at a time listens.
 *
 *   thread 1  listens | serves, answers | listens | ... has to wait
 *   thread 2  idle .......................................... listens | ...
 *
 * The listening thread serves the request itself and then listens again, so no request is handed to
 * another thread.  It polls for a moment before it sleeps: programs call again soon after a reply,
 * and waking a thread on another processor takes longer than most requests.
 *
 * Another thread takes over listening:
 * - if the thread must sleep, and either more requests wait already, or it would not notice new
 *   ones while it sleeps (watched_descriptor.h);
 * - if a long transfer begins and other requests wait already (listener_hand_over());
 * - if anything else keeps the thread for longer than LISTENER_STALL_MS.
 * If many programs send requests at once, the thread does not wait for requests about names either
 * (async_requests.h).
 */
#ifndef LISTENER_H
#define LISTENER_H

struct fs;
struct fuse_session;

#define LISTENER_STALL_MS 100
/* after this time without a request, deferred messages are sent */
#define LISTENER_IDLE_MS 5

/*
 * Serves until the file system is unmounted or a signal arrives, with at most `threads`
 * threads and `threads` asynchronous requests.  Returns 0 or -errno.
 */
int listener_run(struct fuse_session *se, struct fs *fs, unsigned int threads);

/*
 * Called by a thread before a part of its request that takes long.  If other requests wait,
 * another thread starts to serve them.
 */
void listener_hand_over(void);

#endif
