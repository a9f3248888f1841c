/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * assignments.h - the copysets (copyset.h) that the managers assigned to this iod, when it may serve
 * each of them, and the changes in progress.
 *
 * A request names a copyset and a version of its members.  The iod serves it only if this version
 * is in force here and names this iod as the primary.  So a client with an old row never changes
 * an object at a former primary.  These are the configurations of PacificA (Lin and others,
 * MSR-TR-2008-25), whose versions its configuration manager counts.
 *
 * If an iod becomes primary while changes of an earlier version still run here, it refuses requests
 * until they have ended.  An iod that was primary in the version before this one keeps them:
 *
 *	version          | 7 primary | 8 other primary | 9 primary      |
 *	change under 7          |----------------------------|
 *	requests under 9                               refused | admitted
 *
 * A version may be skipped.  Then another iod may have been primary meanwhile, so this one becomes
 * primary again.
 *
 * A copyset may move to other iods.  The managers send rows with this iod only, so they tell it by
 * leaving out the row: see struct assignment_part.
 *
 * A primary of several members also needs their promises (promises.h).  The rows that
 * are durable count for them.
 *
 * The file DIR/copysets has the rows.  The managers send all rows before the first LEASE, and until
 * then no client is admitted.  So requests never meet the rows of an earlier process.  The file is
 * for the promises (promises.h), and for a manager whose database was restored from an older copy.
 *
 * All functions except assignments_open() and assignments_close() may be called from any thread.
 */
#ifndef ASSIGNMENTS_H
#define ASSIGNMENTS_H

#include "common/dist/copyset.h"
#include "common/util/log.h"
#include "common/wire/wire.h"
#include "server/copyset/promises.h"

#define ASSIGNMENTS_MAX PROMISES_COPYSETS_MAX

struct assignments;

struct assignments_attr {
	const char *dir; /* the store */
	uint32_t iod; /* this iod */
	uint64_t process, lease; /* as in struct promises_attr */
	uint64_t started; /* clock_boot() at the start of the process */
	const struct log *log; /* outlives the assignments */
};

/*
 * -EBADMSG: the file is damaged.  -ENOMEM; -errno of the file.  Errors except -ENOMEM are logged
 * with cause and remedy.
 */
int assignments_open(const struct assignments_attr *attr,
		     struct assignments **assignments);
/* No change is in progress.  NULL: nothing happens. */
void assignments_close(struct assignments *a);

/*
 * A part of the rows with this iod that the managers had at a revision.  When the last part of a
 * revision is put in force, the others are.
 */
struct assignment_part {
	uint64_t revision; /* not 0 */
	const struct copyset *set; /* n rows */
	unsigned int n;
	bool last;
	/* these processes of other iods have ended: promises_end_process() */
	const struct iod_process {
		uint32_t iod;
		uint64_t process;
	} * ended;
	unsigned int nended;
};
/*
 * Puts the rows of the part in force, except those whose version is not above the one that is in
 * force.  From the call on, earlier versions of their copysets are refused.  The new versions are
 * admitted after they are on stable storage.  After the last part, copysets that no part of this
 * revision has are refused.  A part of a revision that is lower than that of an earlier call is
 * ignored, because it is late.  Blocks on the disk.
 *
 * After an error, all earlier versions of the rows may be refused, and new ones are not admitted
 * until a repeated call returns 0.  -ENOSPC: more than ASSIGNMENTS_MAX copysets, or the disk is
 * full.  -ENOMEM; -errno of the file.  Errors except -ENOMEM are logged, at most once per second.
 */
int assignments_change(struct assignments *a,
		       const struct assignment_part *part);

/* As promises_ask(), promises_answer() and promises_accept(), at the present time. */
uint32_t assignments_ask_promises(struct assignments *a, uint32_t to,
				  uint32_t first, struct promise_head *head,
				  struct promise *list, uint32_t max);
uint32_t assignments_give_promises(struct assignments *a, uint32_t from,
				   const struct promise_head *head,
				   struct promise *list, uint32_t n);
void assignments_accept_promises(struct assignments *a, uint32_t from,
				 const struct promise_head *head,
				 const struct promise *list, uint32_t n);

/*
 * 0: this iod serves the copyset now, in this version.  -WIRE_ECOPYSET: it does not, or has not the
 * promises of the other members.  For a request that only reads, this check is enough when it begins.
 */
int copyset_check(struct assignments *a, struct copyset_ref ref);
/* Whether this iod serves the copyset now, in the version in force. */
bool copyset_is_served(struct assignments *a, uint32_t id);
/* As copyset_check(), for a change: if it returns 0, the change is in progress until copyset_leave(). */
int copyset_enter(struct assignments *a, struct copyset_ref ref);
/* The other members that get the changes, and the number of a change's orders. */
struct copyset_targets {
	unsigned int n;
	uint32_t iod[COPYSET_COPIES_MAX - 1];
	uint64_t number;
};
/* As copyset_enter(), and fills in *targets.  -WIRE_ECOPYSET also after copyset_stop(). */
int copyset_enter_targets(struct assignments *a, struct copyset_ref ref,
			  struct copyset_targets *targets);
/*
 * A member may have a change that others lack: no further change enters in this version.  True: the
 * version is in force, and had not stopped before.
 */
bool copyset_stop(struct assignments *a, struct copyset_ref ref);
/*
 * For an order of the iod `primary`: 0: it is the primary in this version, this iod is a member that
 * gets the changes, and the change is in progress until copyset_leave().  -EAGAIN: this iod does not
 * know the version yet.  -WIRE_ECOPYSET: a later version is in force, or the version has another
 * primary, or other members.
 */
int copyset_enter_order(struct assignments *a, struct copyset_ref ref,
			uint32_t primary);
void copyset_leave(struct assignments *a, uint32_t id);

#endif
