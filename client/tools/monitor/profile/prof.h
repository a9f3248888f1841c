/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * prof.h - reads the files that PVFS_PROFILE makes programs write, and shows each process,
 * each file (summed over all processes), and the total.  Times are in ns; those of
 * transfers count from the start of the process.
 */
#ifndef PROF_H
#define PROF_H

#include <json-c/json.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include "common/profile/profile_record.h"

/* "0-100", ... */
extern const char *const prof_size_name[PROFILE_SIZES];

struct prof_file {
	char *name; /* "": unknown */
	char *id;
	uint64_t stripe, iods;
	unsigned int processes; /* number of processes that used the file */
	struct profile_record r;
};

struct prof_process {
	char *source; /* the file that it was read from */
	char *program, *host;
	int64_t pid, rank, ranks; /* of MPI; -1: unknown */
	double begun; /* seconds since the epoch */
	uint64_t run_ns, left_out;
	struct profile_record r; /* total of the process */
	struct prof_file *file;
	size_t files;
};

struct prof {
	struct prof_process *process; /* sorted by rank, if they have one */
	size_t processes;
	struct prof_file *file; /* of all processes, most bytes first */
	size_t files;
	struct profile_record sum;
};

/* ---- prof_read.c ---- */

/*
 * Reads o into *p, in which source is set.  0; or -1, and *why names the first wrong field
 * (static text).  Call prof_process_free() in both cases.
 */
int prof_parse(struct json_object *o, struct prof_process *p, const char **why);
/* The same for a text. */
int prof_parse_text(const char *text, size_t len, struct prof_process *p,
		    const char **why);
/* The same for a file; *why may also be of strerror(3). */
int prof_read(const char *path, struct prof_process *p, const char **why);
void prof_process_free(struct prof_process *p);

/* ---- prof_sum.c ---- */

/* Takes over *p.  -1: no memory, and *p is unchanged. */
int prof_add(struct prof *all, struct prof_process *p);
/* Call it after the last prof_add().  Computes file and sum.  -1: no memory. */
int prof_sum(struct prof *all);
void prof_free(struct prof *all);

uint64_t prof_bytes(const struct profile_record *r);
/* Returns the number of calls that read, or that write (way), including list calls. */
uint64_t prof_moves(const struct profile_record *r, int way);
/* Time for names and attributes, opens, closes and locks. */
uint64_t prof_meta_ns(const struct profile_record *r);
/* Time in all calls. */
uint64_t prof_busy_ns(const struct profile_record *r);
/* Returns the process with the longest time in calls; NULL: there is only one. */
const struct prof_process *prof_slowest(const struct prof *all);
/* Writes "rank 3", or "pid 17 on HOST", into buf; returns buf. */
const char *prof_who(const struct prof_process *p, char *buf, size_t room);

/* ---- prof_advice.c: improvements for a program ---- */

struct advice_line {
	const char *name; /* name of the rule; a static string */
	char text[1024];
};

/*
 * Sets *lines to the advice that applies; the caller frees it.  Returns the number of
 * lines; -1: no memory.
 */
int prof_advice(const struct prof *all, struct advice_line **lines);

/* most: at most this many files and processes are shown. */

/* most: limit of the files and processes that are shown. */
void prof_text(const struct prof *all, const struct advice_line *advice, int n,
	       size_t most);
struct json_object *prof_json(const struct prof *all,
			      const struct advice_line *advice, int n);
void prof_svg(const struct prof *all, FILE *out);

#endif
