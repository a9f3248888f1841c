/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * mgr_model.h - a name space as an array of nodes: the model of test_mgr_model.c.  Names have one
 * letter.  Functions return what those of ns.h return.
 */
#ifndef MGR_MODEL_H
#define MGR_MODEL_H

#include <stdbool.h>
#include <stdint.h>

#define NODES 4096
#define NAMES 6

struct node {
	bool used;
	char type; /* 'd', 'f', 'l' */
	unsigned int nlink, mode;
	int parent;
	int child[NAMES]; /* of a directory, by name; -1: none */
	char target[64]; /* of a symbolic link */
	uint64_t handle;
	bool known, taint;
	unsigned int writers;
	uint64_t size, end;
	bool data;
};

struct spot {
	int dir, name; /* -1: the path ends in ".", ".." or "" */
	int node; /* -1: the name does not exist */
	/* type of the last component: 'n' name, '.', ':' for "..", '/' start */
	char last;
	bool slash;
};

extern struct node node[NODES];
extern unsigned int removes; /* expected number of REMOVE intents */

void model_reset(void);
int model_find(const char *path, bool follow, bool entry, struct spot *s);
int model_mkdir(const char *path);
int model_rmdir(const char *path);
int model_unlink(const char *path);
int model_symlink(const char *target, const char *path);
int model_link(const char *from, const char *to);
/* flags: WIRE_RN_*. */
int model_rename(const char *from, const char *to, uint32_t flags);
int model_open(const char *path, bool excl, int *n);
/* Ends one writer of node n, and removes the node if nothing holds it. */
void model_last_writer(int n);
void model_settle(int n);

#endif
