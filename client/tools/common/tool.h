/* SPDX-License-Identifier: BSD-2-Clause */
/* tool.h - what all command line tools share: options, messages, numbers. */
#ifndef TOOL_H
#define TOOL_H

#include <getopt.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <sys/stat.h>
#include <sys/types.h>

struct pvfs_server;

/* What an option takes: a number from min to max, unless want says else. */
struct tool_value {
	int opt; /* 0 ends a table */
	uint64_t min, max;
	const char *want; /* "an octal mode" */
};

struct tool {
	const char *name; /* "pvfs-ls" */
	const char *usage; /* "[-l] PATH..." */
	const char *help; /* one line an option, for --help */
	const char *shorts; /* getopt(3) string */
	const struct option *longs; /* without --help and --version */
	const char *ordinary; /* what to use where there is no mount */
	const struct tool_value *values; /* of options that are refused */
	/* An option was met: 0, or -1: a wrong value.  Values that are to be
	 * numbers are: tool_number() tells which. */
	int (*option)(void *arg, int opt, const char *val);
};

/*
 * Parses the options; answers --help and --version itself and exits.
 * A wrong option exits with 2.  Returns the index of the first operand.
 */
int tool_options(const struct tool *tool, int argc, char **argv, void *arg);
/* Prints the usage line to stderr and exits with 2. */
void tool_usage(const struct tool *tool) __attribute__((noreturn));
/* "NAME: WHAT: strerror" to stderr; returns 1, an exit status. */
int tool_fail(const struct tool *tool, const char *what);
/* "NAME: message" to stderr; returns 1. */
int tool_say(const struct tool *tool, const char *fmt, ...)
	__attribute__((format(printf, 2, 3)));

/*
 * tool_line.c: printf(3) of a line with text that others chose.  On a terminal `?`
 * stands for what does not print, but for a newline at the end.
 */
void tool_line(FILE *out, const char *fmt, ...)
	__attribute__((format(printf, 2, 3)));
void tool_vline(FILE *out, const char *fmt, va_list ap)
	__attribute__((format(printf, 2, 0)));
/* `?` for each character of the first len bytes of text that does not print. */
void tool_mask(char *text, size_t len);

/* Says that pvfstab(5) names no mount; returns 1. */
int tool_no_mount(const struct tool *tool);
/* 0 if it names one that can be used, else tool_no_mount(). */
int tool_need_mount(const struct tool *tool);
/*
 * The same, and one of the n paths must lie on a mount: the library passes
 * others on to the ordinary calls, and nobody means this tool to change
 * nothing but ordinary files.
 */
int tool_need_path(const struct tool *tool, char *const *path, int n);
/* As tool_fail() for a path that should lie on a mount. */
int tool_off_mount(const struct tool *tool, const char *path);
/*
 * The servers of the mount that path lies on, in *list, free() it.  How many,
 * at least the manager; -1 with errno as of pvfs_servers(), or ENOMEM.
 */
int tool_servers(const char *path, struct pvfs_server **list);
/*
 * tool_each.c: fn for each server of the mounts that the operands, up to NULL, lie on,
 * the manager first, or for a server by its URI (path is NULL then); without operands for
 * those of all mounts.  The iods of a mount are left out when its manager's fn has
 * failed.  An exit status: that of some fn that was not 0, or 1 after a line.
 */
typedef int tool_server_fn(void *arg, const char *path, const char *who,
			   const char *uri);
int tool_each_server(const struct tool *tool, char **operand,
		     tool_server_fn *fn, void *arg);
/*
 * tool_state.c: what an errno of pvfs_ping_mount() and its like says of a server, in a
 * word, "up" for 0, and in a sentence; static, or of strerror(3).
 */
const char *tool_state(int err);
/* The server has no room for this client. */
bool tool_full(int err);
const char *tool_cause(int err);
/* The end of main(): status, or 1 after a word if standard output was not
 * taken. */
int tool_done(const struct tool *tool, int status);

/* "64K" -> 65536 (K, M, G, T: powers of 1024); -1 if it is not a number
 * between min and max. */
int tool_size(const char *text, uint64_t min, uint64_t max, uint64_t *val);
/* Of a text that tool_size() takes; else 0. */
uint64_t tool_number(const char *text);
/*
 * tool_mode.c: *mode from text as chmod(1) reads it ("755", "u=rwx,go-w") for
 * what has the mode now, its type included.  -1: it is no mode.
 */
int tool_mode(const char *text, mode_t now, mode_t umask, mode_t *mode);
#define TOOL_MODE_WANT "a mode: octal, or as in u=rwx,g+s,o-w"
/* "1.5G" with a power of 1024, into buf (16 bytes); returns buf. */
const char *tool_human(uint64_t n, char *buf);

/*
 * One object, by whatever names: both are of pvfs_stat() and its like, which give one st_dev to
 * a file of PVFS, through a mount of this host as well.
 */
static inline bool tool_same_file(const struct stat *a, const struct stat *b)
{
	return a->st_dev == b->st_dev && a->st_ino == b->st_ino;
}

/* DIR "/" NAME in new memory, NULL when there is none; free() it. */
char *tool_join(const char *dir, const char *name);
/* The last component of path, without trailing slashes, in new memory. */
char *tool_base(const char *path);

#endif
