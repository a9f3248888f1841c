/* SPDX-License-Identifier: BSD-2-Clause */
/* figure_out.c - writes a result as tables and as JSON. */
#include <errno.h>
#include <json-c/json.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "tests/bench/bench_json.h"
#include "tests/bench/figure_int.h"

static void print_number(double v)
{
	if (isnan(v))
		printf(" %12s", "-");
	else
		printf(" %12.*f", v < 10 ? 2 : v < 100 ? 1 : 0, v);
}

static void print_x(const struct figure *f, const struct point *p)
{
	char text[32];

	snprintf(text, sizeof(text), "%.6gM", p->x / 1048576);
	if (p->label)
		printf("%-16s", p->label);
	else if (f->d.log_x && p->x >= 1048576)
		printf("%-16s", text);
	else
		printf("%-16.8g", p->x);
}

/*
 * Prints a row for each x of any series.  The rows have the order of the first series that has the
 * x.
 */
static void print_rows(const struct figure *f)
{
	const struct series *s, *t;
	const struct point *p;

	STAILQ_FOREACH(s, &f->series, link) {
		STAILQ_FOREACH(p, &s->points, link) {
			for (t = STAILQ_FIRST(&f->series); t != s;
			     t = STAILQ_NEXT(t, link))
				if (series_point(t, p->x))
					break;
			if (t != s)
				continue;
			print_x(f, p);
			STAILQ_FOREACH(t, &f->series, link)
				print_number(series_median(t, p->x));
			printf("\n");
		}
	}
}

static void print_figure(const struct figure *f)
{
	const struct series *s;

	printf("\n%s; %s\n%-16s", f->d.title, f->d.y, f->d.x);
	STAILQ_FOREACH(s, &f->series, link)
		printf(" %12s", s->name);
	printf("\n");
	print_rows(f);
}

static void print_finding(const struct finding *f)
{
	printf("%-58s %8.*f %s", f->what, f->value < 0.1 ? 4 : 2, f->value,
	       f->goal.unit);
	if (f->goal.limit > 0)
		printf(", goal %s %g: %s",
		       f->goal.at_most ? "<=" : ">=", f->goal.limit,
		       goal_met(f) ? "met" : "NOT MET");
	if (f->goal.paper)
		printf("; paper: %s", f->goal.paper);
	printf("\n");
}

void result_print(const struct result *r)
{
	const struct finding *n;
	const struct figure *f;
	const struct gap *g;

	STAILQ_FOREACH(f, &r->figures, link)
		print_figure(f);
	printf("\n");
	STAILQ_FOREACH(n, &r->findings, link)
		print_finding(n);
	STAILQ_FOREACH(g, &r->gaps, link)
		printf("did not run: %s: %s\n", g->what, g->why);
	fflush(stdout);
}

/* ---- JSON ---- */

static void put_text(struct json_object *o, const char *key, const char *val)
{
	if (val)
		json_object_object_add(o, key, json_object_new_string(val));
}

static void put_number(struct json_object *o, const char *key, double val)
{
	json_object_object_add(o, key,
			       isfinite(val) ? json_object_new_double(val)
					     : NULL);
}

static struct json_object *series_json(const struct series *s)
{
	struct json_object *o = json_object_new_object();
	struct json_object *all = json_object_new_array();
	const struct point *p;

	STAILQ_FOREACH(p, &s->points, link) {
		struct json_object *q = bench_json_rounds(p->v, p->n);

		put_number(q, "x", p->x);
		put_text(q, "label", p->label);
		json_object_array_add(all, q);
	}
	put_text(o, "name", s->name);
	json_object_object_add(o, "points", all);
	return o;
}

static struct json_object *figure_json(const struct result *r,
				       const struct figure *f)
{
	struct json_object *o = json_object_new_object();
	struct json_object *all = json_object_new_array();
	const struct series *s;
	char name[128];

	snprintf(name, sizeof(name), "%s-%s", r->experiment, f->d.name);
	put_text(o, "name", name);
	put_text(o, "title", f->d.title);
	put_text(o, "x", f->d.x);
	put_text(o, "y", f->d.y);
	STAILQ_FOREACH(s, &f->series, link)
		json_object_array_add(all, series_json(s));
	json_object_object_add(o, "series", all);
	return o;
}

static struct json_object *finding_json(const struct finding *f)
{
	struct json_object *o = json_object_new_object();

	put_text(o, "what", f->what);
	put_number(o, "value", f->value);
	put_text(o, "unit", f->goal.unit);
	put_text(o, "paper", f->goal.paper);
	if (f->goal.limit <= 0)
		return o;
	put_number(o, "goal", f->goal.limit);
	json_object_object_add(o, "at_most",
			       json_object_new_boolean(f->goal.at_most));
	json_object_object_add(o, "met", json_object_new_boolean(goal_met(f)));
	return o;
}

static struct json_object *gap_json(const struct gap *g)
{
	struct json_object *o = json_object_new_object();

	put_text(o, "what", g->what);
	put_text(o, "why", g->why);
	return o;
}

static struct json_object *result_json(const struct result *r)
{
	struct json_object *o = json_object_new_object();
	struct json_object *figures = json_object_new_array();
	struct json_object *findings = json_object_new_array();
	struct json_object *gaps = json_object_new_array();
	const struct finding *n;
	const struct figure *f;
	const struct gap *g;

	STAILQ_FOREACH(f, &r->figures, link)
		json_object_array_add(figures, figure_json(r, f));
	STAILQ_FOREACH(n, &r->findings, link)
		json_object_array_add(findings, finding_json(n));
	STAILQ_FOREACH(g, &r->gaps, link)
		json_object_array_add(gaps, gap_json(g));
	put_text(o, "experiment", r->experiment);
	put_text(o, "paper", r->paper);
	json_object_object_add(o, "machine", bench_json_machine());
	json_object_object_add(o, "figures", figures);
	json_object_object_add(o, "findings", findings);
	json_object_object_add(o, "missing", gaps);
	return o;
}

int result_write(const struct result *r, const char *dir)
{
	struct json_object *o = result_json(r);
	char path[4096];
	int rc;

	snprintf(path, sizeof(path), "%s/%s.json", dir, r->experiment);
	rc = json_object_to_file_ext(path, o, JSON_C_TO_STRING_PRETTY);
	if (rc)
		fprintf(stderr, "pvfs-perf: %s: %s\n", path, strerror(errno));
	json_object_put(o);
	return rc ? -1 : 0;
}
