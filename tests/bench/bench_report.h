/* SPDX-License-Identifier: BSD-2-Clause */
/* bench_report.h - rows of medians, as a Markdown table and as JSON. */
#ifndef BENCH_REPORT_H
#define BENCH_REPORT_H

#include "tests/bench/bench.h"

enum row_field {
	ROW_VALUE,
	ROW_PEER, /* ratio to a measurement of the same section */
	ROW_STORED, /* ratio to a stream that is written to a file */
	ROW_LOCAL, /* ratio to local pwrite or pread */
	ROW_CLIENT_CPU,
	ROW_SERVER_CPU,
	ROW_FIELDS
};

struct report;
struct row;

struct report *report_new(void);
void report_free(struct report *r);
/* Adds a row, which exists as long as r.  Ends the program if there is no memory. */
struct row *report_row(struct report *r, const char *section, const char *name,
		       uint64_t call, unsigned int clients);
/* Adds the result of one round to a row. */
void row_add(struct row *row, enum row_field field, double val);
void report_title(const char *what, const char *peer, const char *stored,
		  const char *local);
void row_print(struct row *row);
double row_median(const struct row *row, enum row_field field);
/* Writes the report.  Returns 0, or 1 after a message. */
int report_write(struct report *r, const struct bench *b, const char *path);

/* Measures small calls on all of b->ways, and adds a table.  Returns 0, or -1 after a message. */
int bench_small(const struct bench *b, struct report *r);

#endif
