/* SPDX-License-Identifier: BSD-2-Clause */
/* bench_json.h - JSON that all measurements write in the same form. */
#ifndef BENCH_JSON_H
#define BENCH_JSON_H

struct json_object;

/* { "kernel", "cpus" } */
struct json_object *bench_json_machine(void);
/* { "median", "rounds": [...] } of n values. */
struct json_object *bench_json_rounds(const double *v, unsigned int n);

#endif
