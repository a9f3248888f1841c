/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * lend.h - objects that clients of this host read and write by themselves: to whom
 * they are lent, and how that ends (lent.h).
 *
 * What is lent for writing is taken back from all when the iod's lease has passed,
 * and from a session that ends.  Who stands still in the middle of a write then keeps
 * the object shut for everybody, as a change that is late does (gate.h), until it goes
 * on, or for LEND_ASIDE_MS: then the object is set aside by a copy, and what he
 * goes on to write is nobody's.  Where there is no room for that the object stays shut,
 * and it is tried again; if his process is stopped (SIGSTOP) and may be killed from here, it
 * is, after LEND_STUCK_MS.  One that runs is not: a handler may have jumped out of the
 * write, and the mark of that stays.
 *
 * A client of an earlier release does not look whether that happened (ask.looks).  So to
 * such a one objects are lent for writing only if it may be killed, and it is, after
 * LEND_STUCK_MS.
 *
 * Over the end of this process what is lent is known from files, DIR/lent/SESSION.terms and
 * SESSION.marks: the next one takes back what the one before had lent; of clients of
 * earlier releases it waits for who is inside before it serves.  Where nothing is lent for
 * writing (attr.reads) there are no files, and the pages have no names.  What sessions had, for
 * who is evicted, it knows from DIR/lent/.had, if the store lies in memory.
 *
 * All functions but lends_open() and lends_close() may be called from any thread, and
 * do not block but on these files.
 */
#ifndef LEND_H
#define LEND_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "common/util/histogram.h"
#include "common/wire/lent.h"
#include "server/store/store.h"
#include "common/wire/wire.h"

#define LEND_ASIDE_MS 100u
#define LEND_STUCK_MS 2000u
#define LEND_AGAIN_MS 100u /* where there was no room for a copy */
#define LEND_SESSIONS 1024u /* that borrow; others go by message */

struct lends;

/* A user, and his job. */
struct lend_who {
	uint32_t uid;
	char job[WIRE_JOB_MAX]; /* then zeros */
};
struct lend_told {
	uint64_t n, bytes, ns;
	uint64_t bucket[HISTOGRAM_BUCKETS]; /* n, as far as a time is known */
};

struct lends_attr {
	const char *dir; /* of the store */
	struct store *store; /* outlives it, as log does */
	const struct log *log;
	bool reads; /* nothing is lent for writing */
	/* So much more did this session's process read, [0], and write, [1], as it says.  With a
	 * lock; NULL: nobody wants to know. */
	void (*told)(void *arg, const struct lend_who *who,
		     const struct lend_told told[2]);
	void *arg;
};
/*
 * -EBUSY: a process that borrowed from the one before cannot be got out of the
 * middle of a write; -errno.  The cause and the fix are logged.
 */
int lends_open(const struct lends_attr *attr, struct lends **lends);
/*
 * What is lent is taken back; from whoever is inside then, by the next lends_open().
 * NULL: nothing happens.
 */
void lends_close(struct lends *lends);

struct lend_ask {
	uint64_t session;
	pid_t pid; /* who it is, as the kernel says, */
	uid_t uid; /* ... and whose */
	bool read, write; /* one at least */
	bool looks; /* it looks again behind a write (lent.h) */
	bool trusted; /* it could end us anyway, or we are told so: to others nothing
		       * is lent that they could keep everybody from */
	uint64_t until; /* then it is taken back, clock_boot() */
	uint32_t era; /* as of lends_recall(); 0 before */
	const char *peer; /* for messages */
	struct lend_who who; /* for attr.told */
};
struct lent {
	uint64_t number;
	uint64_t inode;
	uint32_t index;
	bool write; /* it was asked for, and may be */
	bool clock; /* its process has to see whether our clock is its own */
	int fd; /* the caller's */
	int page[LENT_PAGES]; /* gate, terms, marks: the lends', for the session */
};
/*
 * -EACCES: it may not read, and writing is not to be had; -ENOKEY: it is of another
 * era; -ENOSPC: the session has LENT_OBJECTS of them, or there is no room for a note; -EMFILE: too many sessions do, or
 * descriptors are short; -ESRCH: that process is not to be seen from here, or another
 * user's; -EBUSY: somebody who was lent it keeps it shut;
 * -EOPNOTSUPP: nobody would see the end of this one, or he is not trusted and the object
 * lies on a disk; -errno.
 */
int lend_object(struct lends *lends, struct store_obj *obj,
		const struct lend_ask *ask, struct lent *lent);
/* It could not be told of it. */
void lend_cancel(struct lends *lends, uint64_t session,
		 const struct lent *lent);
/* The session ends: what it was lent is taken back. */
void lend_end(struct lends *lends, uint64_t session);
/* Before that, of one that is evicted: what it is lent, or was, is set aside, soon. */
void lend_evict(struct lends *lends, uint64_t session);
/* That is not done yet, of some session. */
bool lend_evicts(struct lends *lends);
/* Objects for whose copy there was no room; others use them, and it is tried again.  Any thread. */
unsigned int lends_kept(const struct lends *lends);
/* A new era: all that is lent for a time is taken back; from now on it is lent to this one alone. */
void lends_recall(struct lends *lends, uint32_t era);
/* The object was removed. */
void lend_removed(struct lends *lends, uint64_t handle);
/*
 * Takes back what is lent no longer than until now.  Before the lease goes on, and
 * before anything is served that clients could have changed: if it has passed, what is
 * lent for writing is taken back.
 */
void lends_look(struct lends *lends);
/*
 * attr.told for all sessions, not more often than every LEND_TELL_MS: what their pages say
 * more than before.  A page may say anything: of a session no more is believed than
 * LEND_TELL_NS bytes, and one access, in a nanosecond, and LENT_MOST bytes in an access.
 */
#define LEND_TELL_MS 100u
#define LEND_TELL_NS 256u
void lends_tell(struct lends *lends);
/* Until when clients may write; clock_boot(). */
void lends_until(struct lends *lends, uint64_t until);
/*
 * Somebody of this host may be changing it, and the kernel lets nobody else do so meanwhile,
 * for as long as the memory that he writes from takes to come: who serves must not
 * wait for that, as that memory may come from here.  Any thread, no lock; seldom true of another
 * object.
 */
bool lend_held(const struct lends *lends, uint64_t handle);
/* He is in the middle of that now, or that is not soon known. */
bool lend_busy(struct lends *lends, uint64_t handle);
/* How many there are now; any thread. */
unsigned int lends_count(const struct lends *lends);

#endif
