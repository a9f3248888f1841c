/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * mgrrig.h - the program pvfs-mgr with its storage, its configuration and fake iods, for tests. The
 * environment variable PVFS_MGR names the program.
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
	char more[256]; /* further lines of section [mgr] */
	int port;
	unsigned int index; /* index of the manager, in a group */
	struct addr addr;
	struct fakeiod iod[RIG_IODS];
	pid_t pid;
	int log; /* the output of the manager */
	char said[65536];
	size_t said_len;
};

/* Creates the directory, the configuration and the iods, but does not start the manager. */
void rig_open(struct mgrrig *rig);
void rig_close(struct mgrrig *rig);
void rig_configure(struct mgrrig *rig);
/* Starts the manager, and returns when it is ready. */
void rig_start(struct mgrrig *rig);
/* Starts the manager, and returns at once. */
void rig_spawn(struct mgrrig *rig);
/* rig_open() and rig_start(), with the lines `more` in [mgr], and a client. */
void rig_serve(struct mgrrig *rig, const char *more, struct mgrc *c);
/* Sends SIGTERM.  The manager must exit with status 0. */
void rig_stop(struct mgrrig *rig);
void rig_kill(struct mgrrig *rig);
/* Reads the log.  Returns true if it contains text, and false if the manager ends before. */
bool rig_says(struct mgrrig *rig, const char *text);

/* Waits until cond is true.  Fails after two minutes, which only an error takes. */
#define rig_until(cond)                                                        \
	do {                                                                   \
		uint64_t end_ = clock_after_ms(120000);                        \
		while (!(cond)) {                                              \
			must(clock_now() < end_);                              \
			usleep(2000);                                          \
		}                                                              \
	} while (0)

#endif
