/* SPDX-License-Identifier: BSD-2-Clause */
/* figure_int.h - the structure of results, for the code that prints and draws them. */
#ifndef FIGURE_INT_H
#define FIGURE_INT_H

#include <sys/queue.h>

#include "tests/bench/bench.h"
#include "tests/bench/figure.h"

struct point {
	STAILQ_ENTRY(point) link;
	double x;
	char *label;
	double v[BENCH_ROUNDS_MAX];
	unsigned int n;
};

struct series {
	STAILQ_ENTRY(series) link;
	char *name;
	STAILQ_HEAD(points, point) points; /* x ascending */
};

struct figure {
	STAILQ_ENTRY(figure) link;
	struct figure_desc d;
	STAILQ_HEAD(, series) series;
};

struct finding {
	STAILQ_ENTRY(finding) link;
	char *what;
	struct goal goal;
	double value;
};

struct gap {
	STAILQ_ENTRY(gap) link;
	const char *what;
	char *why;
};

struct result {
	const char *experiment, *paper;
	STAILQ_HEAD(, figure) figures;
	STAILQ_HEAD(, finding) findings;
	STAILQ_HEAD(, gap) gaps;
};

struct point *series_point(const struct series *s, double x);
double point_median(const struct point *p);
bool goal_met(const struct finding *f);

#endif
