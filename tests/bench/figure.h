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
	/* "read"; the file names of the pictures contain it */
	const char *name;
	const char *title;
	const char *x, *y; /* labels of the axes, with units */
	bool log_x; /* logarithmic axis, base 2 */
	bool bars; /* the points have labels */
};

struct result *result_new(const char *experiment, const char *paper);
void result_free(struct result *r);

/* Returns the figure of that name, and creates it at the first call.  Copies name and title. */
struct figure *result_figure(struct result *r, const struct figure_desc *d);
/* Returns the series of that name, which is copied, and creates it at the first call. */
struct series *figure_series(struct figure *f, const char *name);
/* Adds the value of one round at x.  Copies label, which may be NULL. */
void series_add(struct series *s, double x, const char *label, double value);
/* Returns the median at x; NAN: there is no point. */
double series_median(const struct series *s, double x);
/*
 * Returns the median of num/den over the rounds in which den is not 0.  (The processor time of an
 * idle server is 0.)  Returns NAN unless both series have points there.
 */
double series_ratio(const struct series *num, double num_x,
		    const struct series *den, double den_x);

struct goal {
	const char *unit; /* "x" for ratios, "us" */
	const char *paper; /* the paper's own figure, or NULL */
	double limit; /* 0: no goal */
	bool at_most; /* true: limit is the maximum; false: the minimum */
};

/* Adds series_ratio() to the result, if it is not NAN. */
void result_ratio(struct result *r, const struct goal *g,
		  const struct series *num, double num_x,
		  const struct series *den, double den_x, const char *what, ...)
	__attribute__((format(printf, 7, 8)));
/* Adds a value that is not a ratio. */
void result_value(struct result *r, const struct goal *g, double value,
		  const char *what, ...) __attribute__((format(printf, 4, 5)));
void result_missing(struct result *r, const char *what, const char *why, ...)
	__attribute__((format(printf, 3, 4)));

void result_print(const struct result *r);
/* Writes DIR/EXPERIMENT.json.  Returns 0, or -1 after a message. */
int result_write(const struct result *r, const char *dir);
/*
 * Draws DIR/EXPERIMENT-FIGURE.svg, -dark.svg and .png.  Prints a message if that fails, for example
 * because there is no gnuplot.
 */
void result_draw(const struct result *r, const char *dir);

#endif
