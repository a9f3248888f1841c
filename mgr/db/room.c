/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * room.c - what may still be changed when the disk fills up.  Others may share
 * it, and take what is free at any moment; so what a change needs is ours
 * before it is made: the log files that come next (logs.c), and pages for the
 * tables to grow into (slack.c).
 *
 *   ROOM --- little is left for others, or not all of that is ours ---> LOW
 *   LOW ---- ... and what is ours may not do for what goes on --------> NONE
 *   LOW, NONE -- space was freed, and is ours --> ROOM
 *
 * Short of space, the checkpointer lets old log files go sooner; they become
 * the next ones.  A file system that copies on write keeps no promise of space:
 * there a write may fail, and nothing is changed until one has succeeded.
 */
#include <errno.h>
#include <stdio.h>
#include <sys/statvfs.h>

#include "common/util/clock.h"
#include "mgr/db/db_int.h"

#define MIB (UINT64_C(1) << 20)
#define LOW (16 * MIB)
#define ENOUGH (2 * LOW) /* to be out of it again */
#define LOOK_NS 20000000 /* between looks: a log file takes longer */

bool room_left(const struct store *st, uint64_t *left)
{
	struct statvfs vfs;

	if (statvfs(st->home, &vfs))
		return false;
	*left = (uint64_t)vfs.f_bavail * vfs.f_frsize;
	return true;
}

static void say(struct store *st, enum store_room before, enum store_room now)
{
	if (!before && now)
		log_error(st->log,
			  "%s has less than %llu MiB left: until space is "
			  "freed, files can only be removed",
			  st->home, (unsigned long long)(LOW / MIB));
	else if (before && !now)
		log_info(st->log, "%s has space again", st->home);
}

static enum store_room worse(enum store_room a, enum store_room b)
{
	return a > b ? a : b;
}

static void look(struct store *st)
{
	enum store_room before = atomic_load(&st->room), now;
	uint64_t left;

	now = worse(logs_room(st), slack_room(st));
	if (atomic_load(&st->full))
		now = STORE_ROOM_NONE;
	if (!now && room_left(st, &left) && left < (before ? ENOUGH : LOW))
		now = STORE_ROOM_LOW;
	say(st, before, now);
	atomic_store(&st->room, now);
}

enum store_room store_room(struct store *st)
{
	uint64_t now = clock_now();

	if (st->tight || now - st->room_checked >= LOOK_NS) {
		st->room_checked = now;
		st->tight = false;
		look(st);
	}
	return atomic_load(&st->room);
}

bool store_short(const struct store *st)
{
	return atomic_load(&st->room) != STORE_ROOM;
}
