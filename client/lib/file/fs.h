/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * fs.h - a mounted file system: a line of pvfstab and its present session.  The first use
 * creates the session.  Another session replaces it after fork(), or after the servers
 * ended it because the client was disconnected for too long.  Open files move to the new
 * session one by one.
 */
#ifndef FS_H
#define FS_H

#include <sys/queue.h>

#include "client/lib/mount/pvfstab.h"
#include "client/lib/session/client_session.h"

struct file;
struct unsynced;

#define FS_SAME 1024u
#define HEIR_SESSIONS 4u /* sessions that the previous program may have had */

/* The present session.  Another process can read this record after this one has ended. */
struct fs_note {
	uint64_t fsid; /* valid once there was a session */
	_Atomic uint64_t session; /* 0: there was no session yet */
};

struct fs {
	const struct mount *mount; /* outlives the fs */
	const struct log *log;
	unsigned int timeout_ms; /* timeout for calls in the next session */
	bool together, declares; /* see session_attr; set after fs_init() */
	atomic_uint tools; /* threads in fs_session_as_tool() */
	/* another service listens at the manager's port, and this was logged */
	atomic_bool wrong_service_logged;
	/* the iods did not copy between each other (space.h): do not ask before this
	 * clock_now(); 0: ask */
	_Atomic uint64_t copies_again;
	struct iod_boots boots; /* of its iods */
	struct gid_lists *gid_lists; /* see session_attr; set after fs_init() */
	struct unsynced *unsynced; /* a table; under files_lock */
	/* protects s, fsid, connecting; not held while waiting */
	pthread_mutex_t lock;
	struct session *s; /* NULL: no session at present */
	uint64_t fsid; /* of the last session; 0: there was none */
	struct flaw { /* last failure of session_open(), which was logged */
		int rc;
		char scheme[sizeof(((struct addr *)0)->scheme)];
	} flaw[2]; /* for sessions of the mount; for probes; under lock */
	/* s, if it can be used immediately.  Only for comparison, because the session may be
	 * freed */
	_Atomic(struct session *) ready;
	bool connecting; /* a thread creates a session */
	/* a thread creates a session in place of s, which was rejected: fs_retry.c */
	bool proving;
	/* signalled when connecting or proving becomes false */
	pthread_cond_t connected;
	pthread_mutex_t files_lock; /* taken before file.lock */
	LIST_HEAD(file_list, file) files; /* open files */
	struct file_list same[FS_SAME]; /* open files by handle */
	uint64_t owners; /* lock owners given out; under files_lock */
	bool process_locks; /* the process may hold locks; under files_lock */
	/*
	 * sessions that belong to the parent process; this process keeps them, but does not use
	 * them
	 */
	struct session *inherited;
	/* Sessions of the previous program in this process.  The next session adopts their
	 * files before anything else.  Only the thread that creates it (connecting) uses them. */
	uint64_t before[HEIR_SESSIONS];
	unsigned int nbefore;
	/* adopt_all() of process/inherit.c; set with before */
	int (*adopt)(struct fs *fs, struct session *s);
	/* kept up to date; owned by the caller, or NULL; set before other threads use the fs */
	struct fs_note *note;
};

void fs_init(struct fs *fs, const struct mount *mount, const struct log *log);
/*
 * Returns the attributes for a session with a server of the mount: the mount's options, and
 * the file system that the server must serve, if known.  The caller adds name and log.
 */
struct session_attr fs_session_attr(struct fs *fs);
/*
 * Calls session_open() for a server of the mount.  attr->log must be fs->log.  If the cause of
 * a failure is on this host (no device, no such transport), logs it once, not at each try.
 */
int fs_session_open(struct fs *fs, const struct session_attr *attr,
		    struct session **s);
/* Returns 1 + the number of the iod with this address; 0: none, or not known yet. */
uint32_t fs_iod_at(struct fs *fs, const struct addr *addr);
/* Ends the session as soon as no operation uses it. */
void fs_leave(struct fs *fs);

/*
 * Called before fs_leave(), at the end of the program.  Ends the sessions of the previous
 * program in this process, if they exist.  Waits at most ms milliseconds.
 */
void fs_settle(struct fs *fs, unsigned int ms);
/*
 * Whether a session is being created, or sessions of the program before execve(2) have not ended.
 */
bool fs_has_unadopted(struct fs *fs);

/*
 * Sets *s to the session, and creates it if necessary.  The caller releases it with
 * session_put().  Returns 0 or -errno.
 */
int fs_session(struct fs *fs, struct session **s);
/*
 * As fs_session().  But if it creates the session, this is the session of a tool
 * (session_attr.tool).
 */
int fs_session_as_tool(struct fs *fs, struct session **s);
/* Returns the present session, with a reference, or NULL. */
struct session *fs_present(struct fs *fs);
/*
 * Returns true if the session has submitted operations that are not started yet.  These are
 * delayed messages (server_call_post()), for which no caller waits, and operations of callers that
 * wait for the driving thread.  fs_send_late_requests() starts them.
 */
bool fs_has_late_requests(struct fs *fs);
void fs_send_late_requests(struct fs *fs);
/*
 * Called after an operation under s returned rc.  If rc means that s has ended, the function
 * makes fs give up s.  Returns true if the caller must run the operation again under the next
 * session.
 *
 * The caller may repeat lookups, transfers at a given offset, and changes that were rejected or
 * never sent.  If a change was in flight when its session ended, it is unknown whether it was
 * made.  It has failed with -ECONNABORTED (server_call.h), for which this function returns
 * false.
 *
 * If rc is -EKEYREJECTED, a server rejected our ticket, and this function waits up to five
 * seconds for another one.  If the manager also rejects the ticket, this function creates a
 * session, which may take as long as a call.
 */
bool fs_must_retry(struct fs *fs, struct session *s, int rc);
/*
 * For fork(): fs_hold() before it keeps other threads from changing fs, and fs_release() after
 * it lets them continue.  In the child, fs_disown() closes the connections of the parent.
 */
void fs_hold(struct fs *fs);
void fs_release(struct fs *fs);
void fs_disown(struct fs *fs);
/*
 * In a child after fork(), which has one thread, before file_forked(): gives up the sessions of
 * the parent, whether or not fs_disown() was called.
 */
void fs_forked(struct fs *fs);

#endif
