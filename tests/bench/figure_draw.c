/* SPDX-License-Identifier: BSD-2-Clause */
/* figure_draw.c - pictures by gnuplot: each figure as SVG, light and dark, and as PNG. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>

#include "tests/bench/figure_int.h"

/* Writes s as a quoted string of gnuplot. */
static void quoted(FILE *f, const char *s)
{
	putc('\'', f);
	for (; *s; s++)
		fputs(*s == '\'' ? "''" : (char[]){ *s, 0 }, f);
	putc('\'', f);
}

static void data(FILE *f, const struct figure *fig)
{
	const struct series *s;
	const struct point *p;
	int i = 0;

	STAILQ_FOREACH(s, &fig->series, link) {
		fprintf(f, "$s%d << EOD\n", i++);
		STAILQ_FOREACH(p, &s->points, link) {
			fprintf(f, "%g %g ", p->x, point_median(p));
			fprintf(f, "\"%s\"\n", p->label ? p->label : "");
		}
		fprintf(f, "EOD\n");
	}
}

#define COLOURS 8

/* The colours of a picture: one theme for light pages, and one for dark ones. */
struct theme {
	const char *terminal, *suffix;
	const char *back, *ink, *grid;
	const char *const *colours; /* colours of the series; they repeat */
};

/* Colours that people with red-green colour blindness can distinguish, too. */
static const char *const deep[COLOURS] = { "#0060a8", "#c04b00", "#007a5a",
					   "#9b4f96", "#b08000", "#3a9ed6",
					   "#5a5a5a", "#d0342c" };
static const char *const pale[COLOURS] = { "#5fb0f0", "#ff9a4d", "#3ecf9f",
					   "#d79ad2", "#e8c24a", "#9fd9ff",
					   "#b0b0b0", "#ff7a70" };

static const struct theme themes[] = {
	{ "svg", ".svg", "#ffffff", "#222222", "#dddddd", deep },
	{ "svg", "-dark.svg", "#1b1d20", "#e4e4e4", "#44484d", pale },
	{ "pngcairo", ".png", "#ffffff", "#222222", "#dddddd", deep },
};

#define THEMES (sizeof(themes) / sizeof(themes[0]))
static void titled(FILE *f, const char *what, const char *text,
		   const struct theme *t)
{
	fprintf(f, "set %s ", what);
	quoted(f, text);
	fprintf(f, " noenhanced tc rgb '%s'\n", t->ink);
}

/* Puts a label at each power of four.  At each power of two, labels would overlap. */
static void powers(FILE *f)
{
	static const char *const units[] = { "", "Ki", "Mi", "Gi" };

	fprintf(f, "set logscale x 2\nset xtics (");
	for (unsigned int i = 0; i < 20; i++)
		fprintf(f, "%s'%u%s' %llu", i ? ", " : "", 1u << 2 * i % 10,
			units[2 * i / 10], 1ull << 2 * i);
	fprintf(f, ")\n");
}

/* Gets the range of x.  If there is no point, least is above most. */
static void extent(const struct figure *fig, double *least, double *most)
{
	const struct series *s;
	const struct point *p;

	*least = INFINITY;
	*most = 0;
	STAILQ_FOREACH(s, &fig->series, link)
		STAILQ_FOREACH(p, &s->points, link) {
			*least = fmin(*least, p->x);
			*most = fmax(*most, p->x);
		}
}

/*
 * Sets the range of the x axis.  If it had no width, gnuplot would warn and choose an unsuitable
 * one.
 */
static void x_axis(FILE *f, const struct figure *fig)
{
	double least, most;

	extent(fig, &least, &most);
	if (fig->d.log_x)
		powers(f);
	else if (most < 100)
		fprintf(f, "set xtics 1\n");
	if (least == most && fig->d.log_x)
		fprintf(f, "set xrange [%g:%g]\n", most / 4, most * 4);
	else if (least == most)
		fprintf(f, "set xrange [%g:%g]\n", most - 1, most + 1);
}

static void axes(FILE *f, const struct figure *fig, const struct theme *t)
{
	titled(f, "title", fig->d.title, t);
	titled(f, "xlabel", fig->d.x, t);
	titled(f, "ylabel", fig->d.y, t);
	fprintf(f,
		"set grid ytics lt 1 lc rgb '%s'\n"
		"set border 3 lc rgb '%s'\nset tics nomirror tc rgb '%s'\n"
		"set key outside right top Left reverse tc rgb '%s'\n"
		"set yrange [0:*]\nset offsets graph 0.03, graph 0.03, "
		"graph 0.05, 0\n",
		t->grid, t->ink, t->ink, t->ink);
	if (fig->d.bars)
		fprintf(f, "set style data histograms\n"
			   "set style fill solid 1 noborder\n"
			   "set xtics noenhanced font ',10'\n");
	else
		x_axis(f, fig);
}

/* Draws series i.  If there are more series than colours, the colours repeat with another mark. */
static void curve(FILE *f, const struct figure *fig, const struct theme *t,
		  int i)
{
	const char *colour = t->colours[i % COLOURS];

	if (fig->d.bars)
		fprintf(f, "$s%d using 2:xtic(3) lc rgb '%s'", i, colour);
	else
		fprintf(f,
			"$s%d using 1:2 with linespoints lw 2 pt %d ps 0.7 "
			"lc rgb '%s'",
			i, i < COLOURS ? 7 : 5, colour);
}

static void curves(FILE *f, const struct figure *fig, const struct theme *t)
{
	const struct series *s;
	int i = 0;

	fprintf(f, "plot ");
	STAILQ_FOREACH(s, &fig->series, link) {
		fprintf(f, i ? ", " : "");
		curve(f, fig, t, i++);
		fprintf(f, " title ");
		quoted(f, s->name);
		fprintf(f, " noenhanced");
	}
	fprintf(f, "\n");
}

static void script(FILE *f, const struct result *r, const struct figure *fig,
		   const char *dir)
{
	char path[4096];

	data(f, fig);
	for (unsigned int i = 0; i < THEMES; i++) {
		const struct theme *t = &themes[i];

		snprintf(path, sizeof(path), "%s/%s-%s%s", dir, r->experiment,
			 fig->d.name, t->suffix);
		fprintf(f,
			"set terminal %s size 900,440 background '%s' "
			"font 'sans,12'\nset output ",
			t->terminal, t->back);
		quoted(f, path);
		fprintf(f, "\n");
		axes(f, fig, t);
		curves(f, fig, t);
	}
}

void result_draw(const struct result *r, const char *dir)
{
	const struct figure *fig;
	FILE *f;
	int rc;

	if (STAILQ_EMPTY(&r->figures))
		return;
	if (system("command -v gnuplot >/dev/null")) {
		fprintf(stderr, "pvfs-perf: no pictures: gnuplot is not "
				"installed (gnuplot-nox)\n");
		return;
	}
	f = popen("gnuplot", "w");
	if (!f) {
		perror("pvfs-perf: gnuplot");
		return;
	}
	STAILQ_FOREACH(fig, &r->figures, link) {
		if (STAILQ_EMPTY(&fig->series))
			continue;
		script(f, r, fig, dir);
		fprintf(f, "reset session\n");
	}
	rc = pclose(f);
	if (rc)
		fprintf(stderr, "pvfs-perf: no pictures: gnuplot %s %d\n",
			WIFEXITED(rc) ? "ended with" : "died of",
			WIFEXITED(rc) ? WEXITSTATUS(rc) : WTERMSIG(rc));
}
