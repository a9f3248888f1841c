/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * fs.h - a mounted file system: a line of pvfstab and the session that serves
 * it at present.  The session is made at first use.  When the servers gave it
 * up (they missed this client for too long and fenced it off), or after
 * fork(), another one takes its place and open files move to it one by one.
 */
#ifndef FS_H
#define FS_H

#include <sys/queue.h>

#include "client/lib/mount/pvfstab.h"
#include "client/lib/session/session.h"

struct file;
struct unsynced;

#define FS_SAME 1024u
#define HEIR_SESSIONS 4u /* that a program before may have had */

/* Which session its calls go under: of use to another process when this one is gone. */
struct fs_note {
	uint64_t fsid; /* valid once there is a session */
	_Atomic uint64_t session; /* 0: there was none yet */
};

struct fs {
	const struct mount *mount; /* outlives it */
	const struct log *log;
	unsigned int timeout_ms; /* of the next session's calls */
	bool together, declares; /* see session_attr; set after fs_init() */
	atomic_uint tools; /* threads in fs_session_as_tool() */
	atomic_bool
		stranger; /* the mgr's port was another service's, which was logged */
	/* its iods did not copy from each other (copy.h): not asked before that,
	 * clock_now(); 0: they may be */
	_Atomic uint64_t copies_again;
	struct lives lives; /* of its iods */
	struct listed *listed; /* see session_attr; set after fs_init() */
	struct unsynced *unsynced; /* a table; under files_lock */
	pthread_mutex_t lock; /* s, fsid, connecting; not held while waiting */
	struct session *s; /* NULL: none at present */
	uint64_t fsid; /* of the last one; 0: there was none */
	struct flaw { /* why session_open() failed last, and was logged */
		int rc;
		char scheme[sizeof(((struct addr *)0)->scheme)];
	} flaw[2]; /* of the mount's sessions; of probes; under lock */
	_Atomic(struct session *) ready; /* s, while it may be used at once; to be
					  * compared with, as it may go */
	bool connecting; /* a thread makes one */
	bool proving; /* a thread makes one beside s, which is refused: fs_lost.c */
	pthread_cond_t connected; /* ... and is done */
	pthread_mutex_t files_lock; /* before file.lock */
	LIST_HEAD(file_list, file) files; /* open ones */
	struct file_list same[FS_SAME]; /* the same, by handle */
	uint64_t owners; /* of locks, given out; under files_lock */
	bool process_locks; /* there may be some; under files_lock */
	struct session *inherited; /* a parent's, all: kept, never used */
	/*
	 * Those of the program before in this process, to be adopted by the next session
	 * before anything else is done; of the thread that makes it (connecting).
	 */
	uint64_t before[HEIR_SESSIONS];
	unsigned int nbefore;
	struct fs_note *note; /* kept up to date; the caller's, or NULL; set
			       * before others use it */
};

void fs_init(struct fs *fs, const struct mount *mount, const struct log *log);
/*
 * How a server is reached through the mount, and what it must serve, once that
 * is known; the caller adds name and log.
 */
struct session_attr fs_session_attr(struct fs *fs);
/*
 * session_open() for a server of the mount, with attr.log as fs->log.  What is
 * wrong here (no device, no such transport) is logged once, not at each try.
 */
int fs_session_open(struct fs *fs, const struct session_attr *attr,
		    struct session **s);
/* Which of its iods has that address, 1 + its number; 0: none, as far as is known. */
uint32_t fs_iod_at(struct fs *fs, const struct addr *addr);
/* Ends the session, as soon as no operation uses it any more. */
void fs_leave(struct fs *fs);

/* Before that, at the end of the program: the sessions before end, if they have not.
 * Waits no longer than ms. */
void fs_settle(struct fs *fs, unsigned int ms);
/* Have they not? */
bool fs_owes(struct fs *fs);

/* The session, made if there is none; the caller's to session_put(). */
int fs_session(struct fs *fs, struct session **s);
/* The same; if it is made now, it is a tool's (session_attr.tool). */
int fs_session_as_tool(struct fs *fs, struct session **s);
/* That, if there is one, or NULL. */
struct session *fs_present(struct fs *fs);
/* Requests that nobody waits for stay behind (ask_late_waits()); they go. */
bool fs_lags(struct fs *fs);
void fs_catch_up(struct fs *fs);
/*
 * After a result under s: leaves s if it means that s has ended (-ESTALE may
 * also mean that the object is gone).  True: the operation is to be run again
 * under the next session.  That holds for what changed nothing: for lookups,
 * for transfers at a given offset, and for changes that were refused or never
 * sent.  A change that was on its way when its session ended may have been
 * made or not, and nobody can tell: it failed with -ECONNABORTED (ask.h), and
 * its caller hears so.  -EKEYREJECTED: a server does not take our ticket.  Then it waits up
 * to five seconds for another one, or makes a session where the mgr does not take it either,
 * which may take as long as a call.
 */
bool fs_lost(struct fs *fs, struct session *s, int rc);
/*
 * Around a fork(): what may be changed by other threads stands still, and the
 * child has no connection of its parent's any more.
 */
void fs_hold(struct fs *fs);
void fs_release(struct fs *fs);
void fs_disown(struct fs *fs);
/* In a child after fork(), with one thread, before file_forked(): leaves the
 * parent's sessions.  With or without fs_disown(). */
void fs_forked(struct fs *fs);

#endif
