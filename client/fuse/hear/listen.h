/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * listen.h - who reads the kernel's requests: one thread at a time.
 *
 *	thread 1  listens | carries out, answers | listens | ... has to wait
 *	thread 2  idle .......................................... listens | ...
 *
 * The thread that listens carries out what it hears itself, and listens again: nothing
 * is handed over.  It looks again for a moment before it sleeps, as programs call
 * again soon after an answer, and waking a thread on another processor takes longer
 * than most requests.  Another one listens instead where it has to sleep and there are
 * further requests, or would not hear of them (lookout.h); where a long transfer
 * begins and others wait already (listen_share()); and whatever keeps it, if that takes
 * longer than LISTEN_LOOK_MS.  Where many ask at once it does not wait either for what it
 * hears of names (errands.h).
 */
#ifndef LISTEN_H
#define LISTEN_H

struct fs;
struct fuse_session;

#define LISTEN_LOOK_MS 100
#define LISTEN_LAG_MS                                                          \
	5 /* without a request; then what nobody waits for is sent */

/* Until the file system is unmounted or a signal ends it, with that many threads at
 * most, and errands.  0 or -errno. */
int listen_run(struct fuse_session *se, struct fs *fs, unsigned int threads);

/* What begins now takes long: requests that wait already are another thread's. */
void listen_share(void);

#endif
