/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * room.c - which changes are allowed when the disk fills up.  Others may share the disk
 * and take free space at any moment.  So the store allocates the space of a change
 * before the change: the next log files (logs.c), and pages into which tables can grow
 * (slack.c).
 *
 *   ROOM --- little free space, or an allocation failed -----------------> LOW
 *   LOW ---- ... and the allocated space may not suffice to continue ----> NONE
 *   LOW, NONE -- space was freed and allocated --> ROOM
 *
 * If space is short, the checkpointer frees old log files sooner; they become the next
 * ones.  A copy-on-write file system does not guarantee allocated space.  There a write
 * may fail, and then nothing is changed until a write has succeeded.
 */
#include <errno.h>
#include <stdio.h>

#include "common/util/clock.h"
#include "common/util/disk_space.h"
#include "mgr/db/db_int.h"

#define MIB (UINT64_C(1) << 20)
#define LOW (16 * MIB)
#define ENOUGH (2 * LOW) /* needed to leave LOW */
#define LOOK_NS 20000000 /* between checks; filling a log file takes longer */

bool room_left(const struct store *st, uint64_t *left)
{
	struct statvfs vfs;

	if (statvfs(st->home, &vfs))
		return false;
	*left = disk_space_left(&vfs);
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
