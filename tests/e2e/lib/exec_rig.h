/* SPDX-License-Identifier: BSD-2-Clause */
/* exec_rig.h - what the parts of lib_exec share.  A part is the whole work of one program. */
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
	const char *name; /* the argument WHAT; NULL ends a table */
	void (*fn)(void);
};
extern const struct exec_part exec_open_parts[], exec_lock_parts[],
	exec_child_parts[];

extern unsigned char bytes[2 * N];
extern const char *dir; /* DIR */
extern char **arg; /* ARGUMENT... */
extern char **environ;

/* The path of a name in DIR; valid until the next call. */
const char *in_dir(const char *name);
int open_in(const char *name, int flags);
/* Returns argument i as a number. */
int num(int i);

/* ---- from one to the next ---- */

struct next {
	char *argv[ARGS_MAX];
	char text[ARGS_MAX][16];
	int n;
};
struct next next_of(const char *what);
/* Adds an argument. */
void with(struct next *next, int value);
char **argv_of(struct next *next);
/*
 * Replaces this program by the next part. The environment is not the one of the start, so it cannot
 * carry the state.
 */
void go_on(struct next *next);
/* Waits for a child, which must succeed. */
void reap(pid_t pid);
/* Runs the next part in a child. */
void run(struct next *next);

/* ---- locks ---- */

/* Calls pvfs_fcntl(2) with a struct flock. */
int set(int fd, int cmd, short type, off_t start, off_t len);
/* Takes a record lock of the process, one of the open file, and a lock of flock(2). */
void take_locks(int fd);
/* Returns whether another client fails to lock ten bytes of the file "locks" from start. */
bool locked(off_t start);
void until_free(off_t start);

/* ---- offsets ---- */

/* Checks that the offset of fd is at, and that the next n bytes are those of the pattern. */
void reads_on(int fd, size_t at, size_t n);

#endif
