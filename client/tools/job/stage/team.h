/* SPDX-License-Identifier: BSD-2-Clause */
/* team.h - the copiers of a staging, and the files that they copy. */
#ifndef JOB_TEAM_H
#define JOB_TEAM_H

#include <sys/queue.h>

#include "client/tools/job/parts/guests.h"
#include "client/tools/job/stage/stage.h"

#define TEAM_MAX 1024u
#define TEAM_AT_A_TIME 16u /* files that a copier has at a time */

struct team_file {
	TAILQ_ENTRY(team_file) link;
	uint64_t number;
	char *from, *to; /* absolute */
	struct stat st; /* of from, when the walk found it */
	bool known, again; /* known: hash is set; again: it failed once */
	uint64_t hash;
	char why[64];
};
TAILQ_HEAD(team_files, team_file);

struct mate {
	struct job_link link; /* fd -1: none */
	bool local;
	unsigned int n;
	struct team_files has;
};

struct team {
	const uint8_t *key;
	int listener;
	unsigned int port;
	struct guests guests;
	struct mate mate[TEAM_MAX];
	struct team_files todo;
	/* COPY_NO_*: attributes that targets could not store */
	unsigned int unsupported;
	uint64_t ntodo, nout; /* files that wait; files that copiers have */
	pid_t local; /* the copier of this host */
	/* called when file is complete or (f NULL) has failed with file->why; takes over file */
	void (*ended)(void *arg, struct team_file *file,
		      const struct stage_file *f, bool same);
	void *arg;
};

/* 0, or -errno. */
int team_open(struct team *t, const struct job *job);
void team_close(struct team *t);
/* Adds f to the files that wait, and takes it over. */
void team_give(struct team *t, struct team_file *f);
/* Waits at most ms for events, including those of the descriptor `also`. */
void team_turn(struct team *t, int also, int ms);
/* Fails the files that wait and those that copiers have; why: the reason. */
void team_give_up(struct team *t, const char *why);
void team_file_free(struct team_file *f);

#endif
