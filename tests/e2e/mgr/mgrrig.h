/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * mgrrig.h - the program pvfs-mgr with its storage, its configuration and
 * fake iods, for tests.  The environment's PVFS_MGR names the program.
 */
#ifndef MGRRIG_H
#define MGRRIG_H

#include <sys/types.h>
#include <unistd.h>

#include "tests/e2e/mgr/fakeiod.h"
#include "tests/e2e/mgr/mgrc.h"

#define RIG_IODS 3

struct mgrrig {
	char dir[64];
	char conf[96];
	char more[256]; /* further lines of [mgr] */
	int port;
	unsigned int index; /* of the manager, in a group */
	struct addr addr;
	struct fakeiod iod[RIG_IODS];
	pid_t pid;
	int log; /* the output of the mgr */
	char said[65536];
	size_t said_len;
};

/* Directory, configuration, iods; not yet the mgr. */
void rig_open(struct mgrrig *rig);
void rig_close(struct mgrrig *rig);
void rig_configure(struct mgrrig *rig);
/* Returns when it is ready. */
void rig_start(struct mgrrig *rig);
/* ... or not even. */
void rig_spawn(struct mgrrig *rig);
/* rig_open() to rig_start(), with lines more for [mgr]; and a client. */
void rig_serve(struct mgrrig *rig, const char *more, struct mgrc *c);
/* SIGTERM; it must end with status 0. */
void rig_stop(struct mgrrig *rig);
void rig_kill(struct mgrrig *rig);
/* Reads the log until it says text (true) or ends (false). */
bool rig_says(struct mgrrig *rig, const char *text);

/* Waits until cond; fails after two minutes, which only an error takes. */
#define rig_until(cond)                                                        \
	do {                                                                   \
		uint64_t end_ = clock_after_ms(120000);                        \
		while (!(cond)) {                                              \
			must(clock_now() < end_);                              \
			usleep(2000);                                          \
		}                                                              \
	} while (0)

#endif
