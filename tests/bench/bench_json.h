/* SPDX-License-Identifier: BSD-2-Clause */
/* bench_json.h - JSON that all measurements write in the same form. */
#ifndef BENCH_JSON_H
#define BENCH_JSON_H

struct json_object;

/* Returns an object with "kernel" and "cpus" of this host. */
struct json_object *bench_json_machine(void);
/* Returns an object with the "median" and all "rounds" of the n values v. */
struct json_object *bench_json_rounds(const double *v, unsigned int n);

#endif
