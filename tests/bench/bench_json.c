/* SPDX-License-Identifier: BSD-2-Clause */
/* bench_json.c - the machine, and the rounds of one figure. */
#include <json-c/json.h>
#include <string.h>
#include <sys/utsname.h>
#include <unistd.h>

#include "tests/bench/bench.h"
#include "tests/bench/bench_json.h"

struct json_object *bench_json_machine(void)
{
	struct json_object *o = json_object_new_object();
	long cpus = sysconf(_SC_NPROCESSORS_ONLN);
	struct utsname u;

	uname(&u);
	json_object_object_add(o, "kernel", json_object_new_string(u.release));
	json_object_object_add(o, "cpus", json_object_new_int64(cpus));
	return o;
}

struct json_object *bench_json_rounds(const double *v, unsigned int n)
{
	struct json_object *o = json_object_new_object();
	struct json_object *all = json_object_new_array();
	double copy[BENCH_ROUNDS_MAX], mid = 0;

	for (unsigned int i = 0; i < n; i++)
		json_object_array_add(all, json_object_new_double(v[i]));
	memcpy(copy, v, n * sizeof(*v));
	if (n)
		mid = bench_median(copy, n);
	json_object_object_add(o, "median", json_object_new_double(mid));
	json_object_object_add(o, "rounds", all);
	return o;
}
