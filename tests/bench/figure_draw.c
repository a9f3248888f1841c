/* SPDX-License-Identifier: BSD-2-Clause */
/* figure_draw.c - pictures by gnuplot: each figure as SVG and as PNG. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>

#include "figure_int.h"

/* A string of gnuplot's, in quotes. */
static void quoted(FILE *f, const char *s)
{
	putc('\'', f);
	for (; *s; s++)
		fputs(*s == '\'' ? "''" : (char[]){ *s, 0 }, f);
	putc('\'', f);
}

static void set(FILE *f, const char *what, const char *val)
{
	fprintf(f, "set %s ", what);
	quoted(f, val);
	fprintf(f, " noenhanced\n");
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

static void axes(FILE *f, const struct figure *fig)
{
	set(f, "title", fig->d.title);
	set(f, "xlabel", fig->d.x);
	set(f, "ylabel", fig->d.y);
	fprintf(f, "set grid ytics lt 1 lc rgb '#cccccc'\n"
		   "set border 3\nset tics nomirror\n"
		   "set key outside right top Left reverse\n"
		   "set yrange [0:*]\nset offsets graph 0.03, graph 0.03, "
		   "graph 0.05, 0\n");
	if (fig->d.bars)
		fprintf(f, "set style data histograms\n"
			   "set style fill solid 0.8 border -1\n"
			   "set xtics noenhanced\n");
	if (fig->d.log_x)
		fprintf(f, "set logscale x 2\nset format x '%%.0b%%B'\n");
	else if (!fig->d.bars)
		fprintf(f, "set xtics 1\n");
}

static void curves(FILE *f, const struct figure *fig)
{
	const struct series *s;
	int i = 0;

	fprintf(f, "plot ");
	STAILQ_FOREACH(s, &fig->series, link) {
		fprintf(f, "%s$s%d using %s", i ? ", " : "", i,
			fig->d.bars ? "2:xtic(3)"
				    : "1:2 with linespoints "
				      "lw 2 pt 7 ps 0.7");
		fprintf(f, " title ");
		quoted(f, s->name);
		fprintf(f, " noenhanced");
		i++;
	}
	fprintf(f, "\n");
}

static void script(FILE *f, const struct result *r, const struct figure *fig,
		   const char *dir)
{
	static const char *const kinds[][2] = {
		{ "svg size 860,420 background 'white'", "svg" },
		{ "pngcairo size 860,420", "png" },
	};
	char path[4096];

	data(f, fig);
	axes(f, fig);
	for (int i = 0; i < 2; i++) {
		snprintf(path, sizeof(path), "%s/%s-%s.%s", dir, r->experiment,
			 fig->d.name, kinds[i][1]);
		fprintf(f, "set terminal %s\nset output ", kinds[i][0]);
		quoted(f, path);
		fprintf(f, "\n");
		curves(f, fig);
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
