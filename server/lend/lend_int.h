/* SPDX-License-Identifier: BSD-2-Clause */
/* lend_int.h - what the files of lend.h share. */
#ifndef LEND_INT_H
#define LEND_INT_H

#include <linux/futex.h>
#include <pthread.h>
#include <stdatomic.h>
#include <sys/queue.h>

#include "common/util/hash_table.h"
#include "server/lend/lend.h"
#include "common/wire/lent.h"

#define LEND_BUCKETS 1024u
#define LEND_GONE_MS 10000u /* a process that was killed ends in that time */

/* A process, which keeps its number for nobody else as long as fd is open. */
struct lend_process {
	pid_t pid;
	int fd; /* a pidfd */
	uint64_t began; /* clock ticks since the boot, /proc/PID/stat */
	bool clock; /* whether it has ours is not to be seen from here */
};

/* What has to be done about a mark, if this process ends. */
enum lend_kind {
	LEND_NONE, /* nothing: it is nobody's, or was set aside */
	LEND_LOOKS, /* its object is set aside */
	LEND_WAITS, /* he has to leave */
};
/* The file of terms; what is behind those is for the next process. */
struct lend_terms {
	struct lent_terms lent;
	_Atomic uint64_t handle[LENT_OBJECTS];
	_Atomic uint8_t kind[LENT_OBJECTS]; /* enum lend_kind */
};

/* The two files of a session. */
struct lend_files {
	int terms_fd; /* for reading: the client's */
	int marks_fd;
	struct lend_terms *terms; /* for writing, or NULL */
	bool old; /* of an earlier release: the first part of it */
	bool named; /* they are in the folder */
};

/* What a page has said, [1]: of writes. */
struct lend_said {
	uint64_t at; /* clock_boot() */
	uint64_t n[2], bytes[2], ns[2], timed[2];
	uint64_t mean[2]; /* ns; 0: none was timed yet */
	uint64_t bucket[2][HISTOGRAM_BUCKETS];
};

struct lend_session;

struct loan {
	struct lend_session *ses;
	uint64_t number; /* 0: free */
	uint64_t handle;
	bool write, looks;
	uint64_t until; /* clock_boot() */
	LIST_ENTRY(loan) link; /* of its handle's bucket */
	/* it was taken back, and its writer stands still inside; but for stuck
	 * the watcher's alone */
	bool stuck, killed;
	uint64_t since; /* clock_now() */
	uint64_t again; /* it is not set aside before, clock_now() */
	bool told; /* that there is no room */
	struct gate_entry entry;
	TAILQ_ENTRY(loan) stuck_link;
};

struct lend_session {
	uint64_t id;
	UT_hash_handle hh;
	struct lend_process process;
	struct lend_files files;
	unsigned int stuck;
	unsigned int copies; /* to be made of what it was lent */
	bool ended; /* freed when there are none of either */
	bool stays; /* in its files, for the next process */
	struct lend_who who;
	struct lend_said said; /* of its page, when it was looked at last */
	char peer[96];
	struct loan loan[LENT_OBJECTS];
};

struct lends {
	struct lends_attr attr;
	int dirfd; /* of DIR/lent */
	pthread_mutex_t lock; /* of the rest */
	struct lend_session *sessions;
	LIST_HEAD(loans, loan) bucket[LEND_BUCKETS];
	atomic_uint held[LEND_BUCKETS]; /* lend_hold(); read unlocked */
	uint64_t number; /* of the last loan */
	atomic_uint count, writers; /* loans; for writing */
	uint32_t era;
	uint64_t told; /* lends_tell(), clock_boot() */
	_Atomic uint64_t
		ends; /* the first until of a loan, or before; never 0 */
	TAILQ_HEAD(, loan) stuck;
	struct lend_had *had; /* what is lent, or was: lend_had.c */
	LIST_HEAD(lend_hads, lend_had) had_of[LEND_BUCKETS];
	struct lend_hads had_spare;
	uint32_t had_slots; /* notes that there were */
	int had_fd; /* of the notes; -1: none are made */
	uint64_t *evicted; /* sessions, the last ones: lend_evict.c */
	uint64_t nevicted;
	TAILQ_HEAD(lend_copies, lend_copy) copies; /* lend_evict.c */
	struct lend_copies kept; /* they found no room */
	atomic_uint nkept;
	uint64_t again; /* then they are tried, clock_now() */
	struct lend_copy *copied; /* both, by handle */
	pthread_cond_t changed;
	pthread_t watcher;
	bool watching;
	atomic_bool stop;
	/* the watcher's: what the kernel does when it ends */
	struct robust_list_head robust;
	struct robust_list owner;
};

/* With the lock. */
static inline struct loans *loan_bucket(struct lends *lends, uint64_t handle)
{
	return &lends->bucket[handle % LEND_BUCKETS];
}

/* ---- lend.c.  With the lock. ---- */

struct lend_session *lend_session_find(struct lends *lends, uint64_t id);
static inline bool lend_session_over(const struct lend_session *ses)
{
	return ses->ended && !ses->stuck && !ses->copies;
}
typedef void lend_end_fn(struct lends *lends, struct lend_session *ses);
/* It is over. */
lend_end_fn lend_session_free;
/* Likewise for this process: what it leaves is for the next. */
lend_end_fn lend_session_leave;
/* It is not lent. */
void loan_forget(struct lends *lends, struct loan *loan);
static inline uint32_t loan_index(const struct loan *loan)
{
	return (uint32_t)(loan - loan->ses->loan);
}

/* From now on, until lend_let(), somebody else may change it. */
void lend_hold(struct lends *lends, uint64_t handle);
void lend_let(struct lends *lends, uint64_t handle);

/* Nobody is inside, or he does no harm: nothing is left to do for the next process. */
void loan_done(const struct loan *loan);

/* ---- lend_back.c.  With the lock. ---- */

/* Takes back what the client has given back. */
void lend_reclaim(struct lends *lends, struct lend_session *ses);
/*
 * Takes the object back from all, and tells those who stand still inside that it is set
 * aside.  False: somebody is who would not look, or who was not given LEND_ASIDE_MS yet:
 * what one who runs has written needs no message, which would write it once more, perhaps over
 * what others wrote meanwhile.
 */
bool lend_recall(struct lends *lends, uint64_t handle);
/* Somebody to whom it was lent keeps it shut. */
bool lend_is_stuck(const struct lends *lends, uint64_t handle);

/* ---- lend_told.c.  With the lock. ---- */

/* Nothing was said yet. */
void lend_said_begin(struct lend_said *said, uint64_t now);
/* What is new in page since said, which becomes page: as much of it as is believed. */
void lend_said_more(struct lend_said *said, const struct lent_page *page,
		    uint64_t now, struct lend_told told[2]);
void lend_tell(struct lends *lends, struct lend_session *ses);

/* ---- lend_files.c ---- */

/*
 * Makes them, or -errno.  dirfd < 0: without names.  Who has a file open for writing can keep
 * the kernel from taking a name of it away, for as long as he likes.
 */
int lend_files_make(int dirfd, uint64_t session,
		    const struct lend_process *process, struct lend_files *f);
/* Those of an earlier process, by the name of the terms. */
int lend_files_find(int dirfd, const char *terms, struct lend_files *f);
void lend_files_close(struct lend_files *f);
/* Their names, if they have any. */
void lend_files_remove(int dirfd, const struct lend_files *f, uint64_t session);
/* Nothing is lent any more, and what was set aside stays so; who looks at the marks then sees who did not see that. */
void lend_terms_clear(struct lent_terms *terms);
/* What is to be done about that mark; of files of an earlier release LEND_WAITS. */
enum lend_kind lend_kind_of(const struct lend_files *f, uint32_t index);
/* False: they cannot be read. */
bool lend_marks_read(const struct lend_files *f, struct lent_marks *marks);
/* The same, and what is behind them; what is not there is zero. */
bool lend_page_read(const struct lend_files *f, struct lent_page *page);
/* Which indexes are; all, if that cannot be read. */
void lend_marked(const struct lend_files *f, bool marked[LENT_OBJECTS]);
/* Somebody is inside with this index, or, LENT_OBJECTS, with any. */
bool lend_inside(const struct lend_files *f, uint32_t index);

/* ---- lend_process.c ---- */

/* -ESRCH: there is none, it cannot be seen, or has another clock.  See p->clock. */
int lend_process_open(pid_t pid, struct lend_process *p);
/*
 * It runs as that user: what has a number that a client had once, whose connection went on in
 * another process, is somebody else's.  Not so for one that may not be looked into, either.
 */
bool lend_process_is(const struct lend_process *p, uid_t uid);
void lend_process_close(struct lend_process *p);
bool lend_process_ended(const struct lend_process *p);
/* This process may end it. */
bool lend_process_ours(const struct lend_process *p);
/*
 * It has that file mapped.  One that does not is not inside any more: another
 * program runs in it by now.
 */
bool lend_process_maps(const struct lend_process *p, int fd);
void lend_process_kill(const struct lend_process *p);
/* All of it: by SIGSTOP, or by who traces it. */
bool lend_process_stopped(const struct lend_process *p);

/* ---- lend_old.c ---- */

/* Takes back what an earlier process had lent.  -EBUSY, or -errno. */
int lend_old(struct lends *lends);

/* ---- lend_aside.c.  The watcher's alone, with the lock, which is let go meanwhile. ---- */

/* A loan of who looks again is stuck.  True: not any more, nor others of its object. */
bool lend_aside(struct lends *lends, struct loan *loan);
/* 0: nobody is stuck in it any more; -EAGAIN: not yet; or as store_set_aside(). */
int lend_set_aside(struct lends *lends, uint64_t handle);

/* ---- lend_evict.c.  With the lock. ---- */

#define LEND_KEPT_MS 1000u

/* Before, and behind all else. */
int lend_evict_open(struct lends *lends);
void lend_evict_close(struct lends *lends);
/* Nothing is lent to that session any more. */
bool lend_is_evicted(const struct lends *lends, uint64_t session);
/* It is being set aside, or will be. */
bool lend_is_copied(const struct lends *lends, uint64_t handle);
/*
 * By the watcher, with the lock, which is let go meanwhile: sets one aside.  True: it is, and
 * there may be others.
 */
bool lend_copy_next(struct lends *lends);
/* Those that the process before was to set aside, and has not. */
void lend_evict_again(struct lends *lends);

/* ---- lend_had.c.  With the lock. ---- */

/* Before all of these, with what the process before had noted.  On a disk nothing is. */
int lend_had_open(struct lends *lends);
void lend_had_close(struct lends *lends);
/* That session is to be lent that.  -errno: it cannot be kept in mind. */
int lend_has(struct lends *lends, uint64_t session, uint64_t handle,
	     bool write);
/* It is not lent it any more. */
void lend_had(struct lends *lends, uint64_t session, uint64_t handle,
	      bool write);
/* It is to be set aside, as that session is evicted; it is. */
void lend_had_evicted(struct lends *lends, uint64_t session, uint64_t handle);
void lend_had_over(struct lends *lends, uint64_t session, uint64_t handle);
typedef void lend_had_fn(struct lends *lends, uint64_t session, uint64_t handle,
			 bool write);
void lend_had_each(struct lends *lends, uint64_t session, lend_had_fn *fn);
void lend_had_each_evicted(struct lends *lends, lend_had_fn *fn);

/* ---- lend_note.c ---- */

#define LEND_NOTE_WRITE 1u
#define LEND_NOTE_EVICTED 2u /* it is to be set aside */

struct lend_note {
	uint64_t session, handle; /* handle 0: none */
	uint32_t flags;
	uint32_t reserved[3];
};
/* A descriptor, or -errno. */
int lend_notes_open(int dirfd);
/* -ENOENT: there are no more. */
int lend_note_get(int fd, uint32_t at, struct lend_note *note);
int lend_note_put(int fd, uint32_t at, const struct lend_note *note);

/* ---- lend_watch.c ---- */

int lend_watch_start(struct lends *lends);
void lend_watch_stop(struct lends *lends);
/* With the lock: it was taken back, and nobody is inside, or he may be. */
void lend_let_go(struct lends *lends, struct loan *loan, lend_end_fn *end);
/* Without: ends its process, if he may still be inside. */
void lend_watch_kill(struct lends *lends, struct loan *loan);
/* With the lock, by the watcher: lets those go who have left another object than this one. */
void lend_look_beside(struct lends *lends, uint64_t handle);
/* With the lock: the writer of that loan is inside. */
void lend_watch(struct lends *lends, struct loan *loan);

#endif
