/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * reserve.c - what the store does when the disk fills up.  A log file that
 * cannot be written ends the mgr, and others may share the disk.  So a file
 * keeps space back:
 *
 *   ROOM --- little space is left: the reserve is given up ---> LOW
 *   LOW ---- ... and still no room for a log file ------------> NONE
 *   LOW, NONE -- space was freed: the reserve is made again --> ROOM
 *
 * Short of space, the checkpointer lets old log files go sooner.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/statvfs.h>
#include <unistd.h>

#include "clock.h"
#include "store_impl.h"

#define MIB (UINT64_C(1) << 20)
#define RESERVE (32 * MIB)
#define LOW (16 * MIB) /* left beside the reserve */
#define NEXT_LOG (STORE_LOG_FILE + STORE_LOG_BUFFER)
#define LOOK_NS 20000000 /* between looks: a log file takes longer */

static bool space_left(const struct store *st, uint64_t *left)
{
	struct statvfs vfs;

	if (statvfs(st->home, &vfs))
		return false;
	*left = (uint64_t)vfs.f_bavail * vfs.f_frsize;
	return true;
}

/* Without it the rest still holds, only less so. */
static void make(const struct store *st)
{
	int fd = open(st->reserve, O_WRONLY | O_CREAT | O_CLOEXEC, 0600);

	if (fd < 0)
		return;
	if (fallocate(fd, 0, 0, (off_t)RESERVE))
		unlink(st->reserve);
	close(fd);
}

static void enough(struct store *st)
{
	make(st);
	if (atomic_exchange(&st->room, STORE_ROOM))
		log_info(st->log, "%s has space again", st->home);
}

static void too_little(struct store *st)
{
	unlink(st->reserve);
	atomic_store(&st->room, STORE_ROOM_LOW);
	log_error(st->log,
		  "%s has less than %llu MiB left: until space is freed, files "
		  "can only be removed",
		  st->home, (unsigned long long)((LOW + RESERVE) / MIB));
}

static void look(struct store *st)
{
	enum store_room room = atomic_load(&st->room);
	uint64_t left;

	if (!space_left(st, &left))
		return;
	if (room == STORE_ROOM) {
		if (left < LOW)
			too_little(st);
	} else if (left >= RESERVE + 2 * LOW) {
		enough(st);
	} else {
		atomic_store(&st->room, left < NEXT_LOG ? STORE_ROOM_NONE
							: STORE_ROOM_LOW);
	}
}

enum store_room store_room(struct store *st)
{
	uint64_t now = clock_now();

	if (now - st->room_checked >= LOOK_NS) {
		st->room_checked = now;
		look(st);
	}
	return atomic_load(&st->room);
}

bool store_short(const struct store *st)
{
	return atomic_load(&st->room) != STORE_ROOM;
}

int reserve_release(struct store *st)
{
	if (asprintf(&st->reserve, "%s/reserve", st->home) < 0) {
		st->reserve = NULL;
		return -ENOMEM;
	}
	unlink(st->reserve);
	return 0;
}

void reserve_make(struct store *st)
{
	uint64_t left;

	if (space_left(st, &left) && left < RESERVE + LOW)
		too_little(st);
	else
		make(st);
}
