/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * head.h - the main process of a job.  It starts the supervisors of the nodes, sends each the
 * addresses of all servers, answers the commands of the user, and ends the supervisors.
 *
 *	GATHER (all are here) -> SERVE (all are up) -> MOUNT -> RUN -> STOP -> OVER
 */
#ifndef JOB_HEAD_H
#define JOB_HEAD_H

#include "client/tools/job/parts/guests.h"
#include "client/tools/job/parts/place.h"

#define HEAD_ASKERS 16u

enum launcher { LAUNCH_AUTO, LAUNCH_FORK, LAUNCH_MPIEXEC, LAUNCH_SRUN };
enum head_state {
	HEAD_GATHER,
	HEAD_SERVE,
	HEAD_MOUNT,
	HEAD_RUN,
	HEAD_STOP,
	HEAD_OVER
};

struct head_node {
	struct job_link link; /* fd -1: not connected */
	char host[JOB_NAME], trouble[JOB_NAME];
	struct job_addr iod, mgr;
	char memory[16]; /* bounded, unbounded, disk */
	bool here, up, mount_done, mounted, ends, gone, lost;
	pid_t pid; /* if started by fork */
};

struct head {
	struct job_conf conf;
	enum launcher how;
	const char *hosts;
	uint64_t timeout_s;
	bool follow; /* end with the starter */
	struct job_place place;
	uint8_t key[MAC_KEY_LEN];
	char fsid[17], address[1024]; /* "A,B:PORT" */
	int listener, control, signals;
	unsigned int n, port;
	struct head_node *node;
	struct guests guests;
	struct job_link asker[HEAD_ASKERS], starter;
	bool waits[HEAD_ASKERS]; /* these callers wait for the end of the job */
	/*
	 * After accept() found no free descriptor, no connection is accepted before this time,
	 * clock_now().
	 */
	uint64_t ask_again;
	pid_t launcher;
	enum head_state state;
	uint64_t deadline, ticked;
	uint64_t stop_sent; /* when nodes were told to end */
	unsigned int killed; /* signals to the launcher so far */
	char why[512]; /* reason of a failure */
};

/* A node that sent nothing for this long is treated as failed. */
#define HEAD_SILENT_NS 5000000000ull

/* head.c: runs in its own process. */
void head_run(struct head *h, int starter) __attribute__((noreturn));
/* head_nodes.c: handle messages of a guest (guests.h), or of the supervisor of a node. */
void head_hear_guest(struct head *h, struct guest *g);
void head_hear_node(struct head *h, struct head_node *n);
void head_step(struct head *h);
/* head_ask.c: commands of the user */
int head_listen(struct head *h);
void head_asked(struct head *h);
void head_hear_asker(struct head *h, unsigned int i);
void head_answer_end(struct head *h);
/* launch.c: 0 or -errno. */
int launch(struct head *h);
bool launch_has_ended(struct head *h);
void launch_kill(struct head *h, int sig);
/* Tells the supervisors to end; why: the reason of a failure, or "". */
void head_stop(struct head *h, const char *why);

#endif
