/* SPDX-License-Identifier: BSD-2-Clause */
/* bench_report.c - rows of medians, as a Markdown table and as JSON. */
#include <json-c/json.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/queue.h>

#include "tests/bench/bench_json.h"
#include "tests/bench/bench_report.h"

struct row {
	STAILQ_ENTRY(row) link;
	const char *section, *name;
	uint64_t call;
	unsigned int clients;
	double v[ROW_FIELDS][BENCH_ROUNDS_MAX];
	unsigned int n[ROW_FIELDS];
};

struct report {
	STAILQ_HEAD(, row) rows;
};

struct report *report_new(void)
{
	struct report *r = calloc(1, sizeof(*r));

	if (r)
		STAILQ_INIT(&r->rows);
	return r;
}

void report_free(struct report *r)
{
	struct row *row;

	while ((row = STAILQ_FIRST(&r->rows))) {
		STAILQ_REMOVE_HEAD(&r->rows, link);
		free(row);
	}
	free(r);
}

struct row *report_row(struct report *r, const char *section, const char *name,
		       uint64_t call, unsigned int clients)
{
	struct row *row = calloc(1, sizeof(*row));

	if (!row) {
		perror("row");
		exit(1);
	}
	row->section = section;
	row->name = name;
	row->call = call;
	row->clients = clients;
	STAILQ_INSERT_TAIL(&r->rows, row, link);
	return row;
}

void row_add(struct row *row, enum row_field field, double val)
{
	if (row->n[field] < BENCH_ROUNDS_MAX)
		row->v[field][row->n[field]++] = val;
}

double row_median(const struct row *row, enum row_field field)
{
	double v[BENCH_ROUNDS_MAX];

	memcpy(v, row->v[field], sizeof(v));
	return row->n[field] ? bench_median(v, row->n[field]) : 0;
}

void report_title(const char *what, const char *peer, const char *stored,
		  const char *local)
{
	printf("\n%s.\n\n", what);
	printf("| operation | call | clients | median | %s | %s | %s | client CPU | "
	       "server CPU |\n",
	       peer, stored, local);
	printf("|---|---:|---:|---:|---:|---:|---:|---:|---:|\n");
}

static void print_call(uint64_t call)
{
	if (!call)
		printf(" | ");
	else if (call >= 1u << 20)
		printf(" | %lluM", (unsigned long long)(call >> 20));
	else
		printf(" | %lluK", (unsigned long long)(call >> 10));
}

void row_print(struct row *row)
{
	double val = row_median(row, ROW_VALUE);

	printf("| %s", row->name);
	print_call(row->call);
	printf(" | %u | %.*f | %.2f | ", row->clients, val < 100 ? 2 : 0, val,
	       row_median(row, ROW_PEER));
	if (row->n[ROW_STORED])
		printf("%.2f", row_median(row, ROW_STORED));
	printf(" | ");
	if (row->n[ROW_LOCAL])
		printf("%.2f", row_median(row, ROW_LOCAL));
	printf(" | %.2f | %.2f |\n", row_median(row, ROW_CLIENT_CPU),
	       row_median(row, ROW_SERVER_CPU));
	fflush(stdout);
}

static struct json_object *row_json(const struct row *row)
{
	static const char *const keys[ROW_FIELDS] = {
		"value",    "of_peer",	  "of_stored",
		"of_local", "client_cpu", "server_cpu"
	};
	struct json_object *o = json_object_new_object();

	json_object_object_add(o, "section",
			       json_object_new_string(row->section));
	json_object_object_add(o, "operation",
			       json_object_new_string(row->name));
	json_object_object_add(o, "call_bytes",
			       json_object_new_uint64(row->call));
	json_object_object_add(o, "clients",
			       json_object_new_uint64(row->clients));
	for (int f = 0; f < ROW_FIELDS; f++)
		if (row->n[f])
			json_object_object_add(o, keys[f],
					       bench_json_rounds(row->v[f],
								 row->n[f]));
	return o;
}

static struct json_object *machine_json(const struct bench *b)
{
	struct json_object *o = bench_json_machine();

	json_object_object_add(o, "rounds", json_object_new_uint64(b->rounds));
	json_object_object_add(o, "bytes", json_object_new_uint64(b->bytes));
	json_object_object_add(o, "files", json_object_new_uint64(b->files));
	return o;
}

int report_write(struct report *r, const struct bench *b, const char *path)
{
	struct json_object *o = json_object_new_object();
	struct json_object *rows = json_object_new_array();
	struct row *row;
	int status;

	STAILQ_FOREACH(row, &r->rows, link)
		json_object_array_add(rows, row_json(row));
	json_object_object_add(o, "machine", machine_json(b));
	json_object_object_add(o, "rows", rows);
	status = json_object_to_file_ext(path, o, JSON_C_TO_STRING_PRETTY);
	if (status)
		perror(path);
	json_object_put(o);
	return status ? 1 : 0;
}
