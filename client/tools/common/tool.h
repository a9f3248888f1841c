/* SPDX-License-Identifier: BSD-2-Clause */
/* tool.h - the common parts of all command line tools: options, messages, numbers. */
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

/* ---- options ---- */

/* The value of an option: a number from min to max, unless want is set. */
struct tool_value {
	int opt; /* 0 ends a table */
	uint64_t min, max;
	const char *want; /* what is expected: "an octal mode" */
};

struct tool {
	const char *name; /* "pvfs-ls" */
	const char *usage; /* "[-l] PATH..." */
	const char *help; /* one line per option, for --help */
	const char *shorts; /* getopt(3) string */
	const struct option *longs; /* without --help and --version */
	/* command that does the same for a path that is not on PVFS */
	const char *ordinary;
	const struct tool_value *values; /* the permitted values */
	/*
	 * Called for each option.  Returns 0, or -1: the value is wrong.  tool_options() has
	 * already checked a value with a range, which tool_number() converts.
	 */
	int (*option)(void *arg, int opt, const char *val);
};

/*
 * Parses the options.  Answers --help and --version itself and exits.  Exits with 2
 * after a wrong option.  Returns the index of the first operand.
 */
int tool_options(const struct tool *tool, int argc, char **argv, void *arg);
/* Prints the usage line to stderr and exits with 2. */
void tool_usage(const struct tool *tool) __attribute__((noreturn));

/* ---- messages ---- */

/* Prints "NAME: WHAT: strerror" to stderr; returns 1, an exit status. */
int tool_fail(const struct tool *tool, const char *what);
/* Prints "NAME: message" to stderr; returns 1. */
int tool_say(const struct tool *tool, const char *fmt, ...)
	__attribute__((format(printf, 2, 3)));
/*
 * Called at the end of main(): returns status.  If writing to standard output has failed, prints a
 * message and returns 1.
 */
int tool_done(const struct tool *tool, int status);

/*
 * tool_line.c: printf(3) of a line that may contain names from other users.  If out is a terminal,
 * prints `?` for each unprintable character, except a newline at the end.
 */
void tool_line(FILE *out, const char *fmt, ...)
	__attribute__((format(printf, 2, 3)));
void tool_vline(FILE *out, const char *fmt, va_list ap)
	__attribute__((format(printf, 2, 0)));
/* Replaces each unprintable character in the first len bytes of text by `?`. */
void tool_mask(char *text, size_t len);

/* ---- mounts and servers ---- */

/* Prints that pvfstab(5) names no mount; returns 1. */
int tool_no_mount(const struct tool *tool);
/*
 * Checks that pvfstab(5) names a usable mount.  0; otherwise reports why not, and returns 1 as
 * tool_no_mount().
 */
int tool_need_mount(const struct tool *tool);
/*
 * Also checks that at least one of the n paths is on a PVFS mount.  (The library executes other
 * paths by the ordinary calls, so the tool would work on ordinary files only.)
 */
int tool_need_path(const struct tool *tool, char *const *path, int n);
/* Prints a message as tool_fail() does, for a path that should be on a mount and is not. */
int tool_off_mount(const struct tool *tool, const char *path);
/*
 * tool_servers.c: sets *list to the servers of the mount of path; the caller frees it.  Returns the
 * number of servers including the manager; or -1 with the errno of pvfs_tool_servers(), or ENOMEM.
 */
int tool_servers(const char *path, struct pvfs_server **list);
/*
 * Calls fn for each server of the mounts that the operands name, the manager first.  The operands
 * end with NULL.  An operand may be the URI of a server; then fn gets a path of NULL.  Without
 * operands, calls fn for the servers of all mounts.  If fn fails for a manager, skips its iods.
 * Returns an exit status: all results of fn or'ed, or 1 after a message.
 */
typedef int tool_server_fn(void *arg, const char *path, const char *who,
			   const char *uri);
int tool_each_server(const struct tool *tool, char **operand,
		     tool_server_fn *fn, void *arg);
/*
 * Explain an errno of pvfs_ping_mount() and the like: tool_state() with a word ("up" for
 * 0), tool_cause() with a sentence.  Static text, or of strerror(3).
 */
const char *tool_state(int err);
/* Whether the error means that the server has no room for another client. */
bool tool_full(int err);
const char *tool_cause(int err);

/* ---- numbers and modes ---- */

/*
 * Converts text, such as "64K" (K, M, G, T: powers of 1024), to *val.  Returns 0, or -1: text is
 * not a number from min to max.
 */
int tool_size(const char *text, uint64_t min, uint64_t max, uint64_t *val);
/* Converts a text that tool_size() accepts; else returns 0. */
uint64_t tool_number(const char *text);
/*
 * tool_mode.c: parses text, a mode as for chmod(1) ("755", "u=rwx,go-w"), into *mode.  now: the
 * present mode, with the file type.  Returns 0, or -1: text is not a mode.
 */
int tool_mode(const char *text, mode_t now, mode_t umask, mode_t *mode);
#define TOOL_MODE_WANT "a mode: octal, or as in u=rwx,g+s,o-w"
/* Writes n as "1.5G", with powers of 1024, into buf (16 bytes); returns buf. */
const char *tool_human(uint64_t n, char *buf);

/* ---- files and paths ---- */

/*
 * Returns true if a and b are the same object.  Both must come from pvfs_stat() and its like, whose
 * st_dev for a PVFS file does not depend on the mount.
 */
static inline bool tool_same_file(const struct stat *a, const struct stat *b)
{
	return a->st_dev == b->st_dev && a->st_ino == b->st_ino;
}

/* Returns DIR "/" NAME in new memory, which the caller frees; NULL: no memory. */
char *tool_join(const char *dir, const char *name);
/* Returns the last component of path, without trailing slashes, in new memory. */
char *tool_base(const char *path);

#endif
