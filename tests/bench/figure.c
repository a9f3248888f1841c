/* SPDX-License-Identifier: BSD-2-Clause */
/* figure.c - collects the results of an experiment. */
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tests/bench/figure_int.h"

static void *must(void *p)
{
	if (!p) {
		perror("pvfs-perf");
		exit(1);
	}
	return p;
}

static char *text(const char *fmt, va_list ap)
{
	char *s;

	return must(vasprintf(&s, fmt, ap) < 0 ? NULL : s);
}

struct result *result_new(const char *experiment, const char *paper)
{
	struct result *r = must(calloc(1, sizeof(*r)));

	r->experiment = experiment;
	r->paper = paper;
	STAILQ_INIT(&r->figures);
	STAILQ_INIT(&r->findings);
	STAILQ_INIT(&r->gaps);
	return r;
}

static void series_free(struct series *s)
{
	struct point *p;

	while ((p = STAILQ_FIRST(&s->points))) {
		STAILQ_REMOVE_HEAD(&s->points, link);
		free(p->label);
		free(p);
	}
	free(s->name);
	free(s);
}

static void figure_free(struct figure *f)
{
	struct series *s;

	while ((s = STAILQ_FIRST(&f->series))) {
		STAILQ_REMOVE_HEAD(&f->series, link);
		series_free(s);
	}
	free((char *)f->d.name);
	free((char *)f->d.title);
	free(f);
}

void result_free(struct result *r)
{
	struct figure *f;
	struct finding *n;
	struct gap *g;

	while ((f = STAILQ_FIRST(&r->figures))) {
		STAILQ_REMOVE_HEAD(&r->figures, link);
		figure_free(f);
	}
	while ((n = STAILQ_FIRST(&r->findings))) {
		STAILQ_REMOVE_HEAD(&r->findings, link);
		free(n->what);
		free(n);
	}
	while ((g = STAILQ_FIRST(&r->gaps))) {
		STAILQ_REMOVE_HEAD(&r->gaps, link);
		free(g->why);
		free(g);
	}
	free(r);
}

struct figure *result_figure(struct result *r, const struct figure_desc *d)
{
	struct figure *f;

	STAILQ_FOREACH(f, &r->figures, link)
		if (!strcmp(f->d.name, d->name))
			return f;
	f = must(calloc(1, sizeof(*f)));
	f->d = *d;
	f->d.name = must(strdup(d->name));
	f->d.title = must(strdup(d->title));
	STAILQ_INIT(&f->series);
	STAILQ_INSERT_TAIL(&r->figures, f, link);
	return f;
}

struct series *figure_series(struct figure *f, const char *name)
{
	struct series *s;

	STAILQ_FOREACH(s, &f->series, link)
		if (!strcmp(s->name, name))
			return s;
	s = must(calloc(1, sizeof(*s)));
	s->name = must(strdup(name));
	STAILQ_INIT(&s->points);
	STAILQ_INSERT_TAIL(&f->series, s, link);
	return s;
}

struct point *series_point(const struct series *s, double x)
{
	struct point *p;

	STAILQ_FOREACH(p, &s->points, link)
		if (p->x == x)
			return p;
	return NULL;
}

static struct point *new_point(struct series *s, double x, const char *label)
{
	struct point *p = must(calloc(1, sizeof(*p))), *at, *before = NULL;

	p->x = x;
	p->label = label ? must(strdup(label)) : NULL;
	STAILQ_FOREACH(at, &s->points, link)
		if (at->x < x)
			before = at;
	if (before)
		STAILQ_INSERT_AFTER(&s->points, before, p, link);
	else
		STAILQ_INSERT_HEAD(&s->points, p, link);
	return p;
}

void series_add(struct series *s, double x, const char *label, double value)
{
	struct point *p = series_point(s, x);

	if (!p)
		p = new_point(s, x, label);
	if (p->n < BENCH_ROUNDS_MAX)
		p->v[p->n++] = value;
}

double point_median(const struct point *p)
{
	double v[BENCH_ROUNDS_MAX];

	memcpy(v, p->v, sizeof(v));
	return bench_median(v, p->n);
}

double series_median(const struct series *s, double x)
{
	const struct point *p = series_point(s, x);

	return p ? point_median(p) : NAN;
}

static void add_finding(struct result *r, const struct goal *g, double value,
			char *what)
{
	struct finding *f = must(calloc(1, sizeof(*f)));

	f->what = what;
	f->goal = *g;
	f->value = value;
	STAILQ_INSERT_TAIL(&r->findings, f, link);
}

bool goal_met(const struct finding *f)
{
	return f->goal.at_most ? f->value <= f->goal.limit
			       : f->value >= f->goal.limit;
}

void result_value(struct result *r, const struct goal *g, double value,
		  const char *what, ...)
{
	va_list ap;

	va_start(ap, what);
	add_finding(r, g, value, text(what, ap));
	va_end(ap);
}

double series_ratio(const struct series *num, double num_x,
		    const struct series *den, double den_x)
{
	const struct point *a = series_point(num, num_x);
	const struct point *b = series_point(den, den_x);
	double v[BENCH_ROUNDS_MAX];
	unsigned int n = 0;

	if (!a || !b)
		return NAN;
	for (unsigned int i = 0; i < a->n && i < b->n; i++)
		if (b->v[i] > 0)
			v[n++] = a->v[i] / b->v[i];
	return n ? bench_median(v, n) : NAN;
}

void result_ratio(struct result *r, const struct goal *g,
		  const struct series *num, double num_x,
		  const struct series *den, double den_x, const char *what, ...)
{
	double ratio = series_ratio(num, num_x, den, den_x);
	va_list ap;

	if (isnan(ratio))
		return;
	va_start(ap, what);
	add_finding(r, g, ratio, text(what, ap));
	va_end(ap);
}

void result_missing(struct result *r, const char *what, const char *why, ...)
{
	struct gap *g = must(calloc(1, sizeof(*g)));
	va_list ap;

	g->what = what;
	va_start(ap, why);
	g->why = text(why, ap);
	va_end(ap);
	STAILQ_INSERT_TAIL(&r->gaps, g, link);
}
