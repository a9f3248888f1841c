/* SPDX-License-Identifier: BSD-2-Clause */
/* bench_report.h - rows of medians, as a Markdown table and as JSON. */
#ifndef BENCH_REPORT_H
#define BENCH_REPORT_H

#include "tests/bench/bench.h"

enum row_field {
	ROW_VALUE,
	ROW_PEER, /* ratio to the peer of the section */
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
/* A new row; lives as long as r.  Exits when there is no memory. */
struct row *report_row(struct report *r, const char *section, const char *name,
		       uint64_t call, unsigned int clients);
/* One round's figure. */
void row_add(struct row *row, enum row_field field, double val);
void report_title(const char *what, const char *peer, const char *stored,
		  const char *local);
void row_print(struct row *row);
double row_median(const struct row *row, enum row_field field);
/* 0, or 1 after a message. */
int report_write(struct report *r, const struct bench *b, const char *path);

/* Small calls on all of b->ways, a table: 0, or -1 after a message. */
int bench_small(const struct bench *b, struct report *r);

#endif
