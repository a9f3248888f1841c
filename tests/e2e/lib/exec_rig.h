/* SPDX-License-Identifier: BSD-2-Clause */
/* exec_rig.h - what the parts of lib_exec share; each part is a program's whole work. */
#ifndef EXEC_RIG_H
#define EXEC_RIG_H

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

#define N 100000u
#define SELF "/proc/self/exe"
#define ARGS_MAX 12

/* clang-format off */
#define PART(name) { #name, name }
/* clang-format on */

struct exec_part {
	const char *name; /* lib_exec NAME DIR [ARGUMENT...]; NULL ends a table */
	void (*fn)(void);
};
extern const struct exec_part exec_open_parts[], exec_lock_parts[],
	exec_child_parts[];

extern unsigned char bytes[2 * N];
extern const char *dir; /* DIR */
extern char **arg; /* ARGUMENT... */
extern char **environ;

/* Its path below DIR, until the next call. */
const char *in_dir(const char *name);
int open_in(const char *name, int flags);
/* Argument i. */
int num(int i);

/* ---- from one to the next ---- */

struct next {
	char *argv[ARGS_MAX];
	char text[ARGS_MAX][16];
	int n;
};
struct next next_of(const char *what);
/* One argument more. */
void with(struct next *next, int value);
char **argv_of(struct next *next);
/* With another environment than before: nothing is in there. */
void go_on(struct next *next);
/* The child succeeds. */
void reap(pid_t pid);
/* In a child. */
void run(struct next *next);

/* ---- locks ---- */

/* pvfs_fcntl(2)'s. */
int set(int fd, int cmd, short type, off_t start, off_t len);
/* One of the process, of the open file, of flock(2). */
void take_locks(int fd);
/* Another client cannot lock ten bytes of the file "locks" from there on. */
bool locked(off_t start);
void until_free(off_t start);

/* ---- offsets ---- */

/* At byte `at` of a pattern. */
void reads_on(int fd, size_t at, size_t n);

#endif
