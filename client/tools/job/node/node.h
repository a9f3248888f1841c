/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * node.h - the supervisor of a node.  It has one thread, which waits in poll(2) for the head, its
 * daemons and signals.  It never waits in another place without a time limit.
 */
#ifndef JOB_NODE_H
#define JOB_NODE_H

#include "client/tools/job/parts/link.h"
#include "client/tools/job/parts/place.h"

enum { NODE_IOD, NODE_MGR, NODE_FUSE, NODE_DAEMONS };

extern const char *const node_program[NODE_DAEMONS];

struct node_daemon {
	pid_t pid; /* 0: not started */
	bool up, ended;
	char log[JOB_PATH];
};

struct node {
	struct job_conf conf;
	struct job_place place;
	struct job_link head;
	struct job_addr head_addr;
	uint8_t key[MAC_KEY_LEN];
	unsigned int rank, n;
	struct job_addr iod, mgr_here; /* of this node */
	int held[2]; /* sockets that hold the ports until the daemons listen */
	/* storage of iod and manager: descriptors of file systems in memory (memory.h); -1: none */
	int memory[2];
	int notify, signals, mount_lock;
	char notify_name[32];
	/* of all nodes, from the head */
	struct job_addr mgr, *peer;
	struct node_daemon d[NODE_DAEMONS];
	bool said_up, over;
	char why[256]; /* reason of its end */
};

/* node_start.c: 0, or 1 after a message. */
int node_open(struct node *n, int argc, char **argv);
/*
 * node_daemons.c: creates storage in memory and sets n->memory.  If the kernel does not permit
 * that, sets place.storage to a directory in /dev/shm, and n->memory stays -1.
 */
void node_make_memory(struct node *n);
void node_close_memory(struct node *n);
/* The name of a program that this host lacks, so that it cannot serve; or NULL. */
const char *node_missing_program(const struct node *n);
/* Start daemons and copiers.  0 or -errno. */
int node_serve(struct node *n, const char *fsid);
int node_mount(struct node *n);
int node_copy(struct node *n, unsigned int port);
/* node_daemons.c: handle a message of a daemon (ready), and the end of a child. */
void node_notified(struct node *n);
void node_child_ended(struct node *n);
/* node.c */
void node_end(struct node *n);

#endif
