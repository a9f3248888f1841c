/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * figure.h - the result of an experiment: figures with series of points, ratios with their goals
 * and the paper's numbers, and measurements that could not run.  It is printed as tables, written
 * as JSON, and drawn by gnuplot.
 *
 * A point keeps the figure of every round.  Its value is their median.  A ratio of two points is
 * the median of the ratios within each round.  Names given by pointer must live as long as the
 * result.  If there is no memory, the program ends.
 */
#ifndef FIGURE_H
#define FIGURE_H

#include <stdbool.h>
#include <stddef.h>

struct result;
struct figure;
struct series;

struct figure_desc {
	const char *name; /* "read": part of the pictures' names */
	const char *title;
	const char *x, *y; /* of the axes, with units */
	bool log_x; /* base 2 */
	bool bars; /* the points have labels */
};

struct result *result_new(const char *experiment, const char *paper);
void result_free(struct result *r);

/* The figure of that name, made at the first call; name and title are copied. */
struct figure *result_figure(struct result *r, const struct figure_desc *d);
/* The series of that name (copied), made at the first call. */
struct series *figure_series(struct figure *f, const char *name);
/* One round's figure at x; label (copied) may be NULL. */
void series_add(struct series *s, double x, const char *label, double value);
/* NAN when there is none. */
double series_median(const struct series *s, double x);
/* The median of num/den over the rounds where den is not 0, which an idle
 * server's processor time is; NAN unless both have points there. */
double series_ratio(const struct series *num, double num_x,
		    const struct series *den, double den_x);

struct goal {
	const char *unit; /* "x" for ratios, "us" */
	const char *paper; /* the paper's own figure, or NULL */
	double limit; /* 0: no goal */
	bool at_most; /* or at least */
};

/* series_ratio(), if there is one. */
void result_ratio(struct result *r, const struct goal *g,
		  const struct series *num, double num_x,
		  const struct series *den, double den_x, const char *what, ...)
	__attribute__((format(printf, 7, 8)));
/* A value that is no ratio. */
void result_value(struct result *r, const struct goal *g, double value,
		  const char *what, ...) __attribute__((format(printf, 4, 5)));
void result_missing(struct result *r, const char *what, const char *why, ...)
	__attribute__((format(printf, 3, 4)));

void result_print(const struct result *r);
/* DIR/EXPERIMENT.json: 0, or -1 after a message. */
int result_write(const struct result *r, const char *dir);
/*
 * DIR/EXPERIMENT-FIGURE.svg, -dark.svg and .png, or a message (as when there is no
 * gnuplot).
 */
void result_draw(const struct result *r, const char *dir);

#endif
