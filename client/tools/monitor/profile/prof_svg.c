/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * prof_svg.c - a picture: sizes of transfers, what each process moved, and when.  It
 * has colours for light and dark mode.
 */
#include <inttypes.h>

#include "client/tools/monitor/profile/prof.h"
#include "client/tools/common/tool.h"

#define WIDTH 760
#define LEFT 150
#define BAR 540
#define ROW 22
#define ROWS_MOST 64u

static const char style[] =
	"<style>svg{background:#fff;color:#1b1f24}"
	"text{font:12px sans-serif;fill:currentColor}"
	".h{font-weight:bold}.r{fill:#2f6fb3}.w{fill:#c2622d}"
	".n{text-anchor:end}"
	"@media(prefers-color-scheme:dark){svg{background:#16191d;"
	"color:#e4e7eb}.r{fill:#6aa9ea}.w{fill:#eb9662}}</style>\n";

static void put_escaped(FILE *out, const char *s)
{
	for (; *s; s++) {
		if (*s == '<' || *s == '>' || *s == '&' || *s == '"')
			fprintf(out, "&#%d;", *s);
		else if ((unsigned char)*s < 0x20 || *s == 0x7f)
			fputc('?', out);
		else
			fputc(*s, out);
	}
}

static void put_title(FILE *out, int y, const char *text)
{
	fprintf(out, "<text class=\"h\" x=\"10\" y=\"%d\">", y);
	put_escaped(out, text);
	fprintf(out, "</text>\n");
}

static void put_label(FILE *out, int y, const char *text)
{
	fprintf(out, "<text class=\"n\" x=\"%d\" y=\"%d\">", LEFT - 8, y + 14);
	put_escaped(out, text);
	fprintf(out, "</text>\n");
}

static double bar_width(uint64_t n, uint64_t of)
{
	return of ? BAR * (double)n / (double)of : 0;
}

/* Draws the two bars of a row, reads above writes, with their values as tooltips. */
static void draw_bars(FILE *out, int y, uint64_t reads, uint64_t writes,
		      uint64_t most)
{
	fprintf(out,
		"<rect class=\"r\" x=\"%d\" y=\"%d\" width=\"%.1f\" height=\"8\">"
		"<title>read: %" PRIu64 "</title></rect>"
		"<rect class=\"w\" x=\"%d\" y=\"%d\" width=\"%.1f\" height=\"8\">"
		"<title>written: %" PRIu64 "</title></rect>\n",
		LEFT, y + 1, bar_width(reads, most), reads, LEFT, y + 10,
		bar_width(writes, most), writes);
}

static int draw_histogram(FILE *out, int y, const struct profile_record *r)
{
	uint64_t most = 0;
	unsigned int i;

	put_title(out, y,
		  "transfers by size in bytes: reads (blue), writes (orange)");
	for (i = 0; i < PROFILE_SIZES; i++) {
		if (r->way[0].sizes[i] > most)
			most = r->way[0].sizes[i];
		if (r->way[1].sizes[i] > most)
			most = r->way[1].sizes[i];
	}
	y += 8;
	for (i = 0; i < PROFILE_SIZES; i++, y += ROW) {
		put_label(out, y, prof_size_name[i]);
		draw_bars(out, y, r->way[0].sizes[i], r->way[1].sizes[i], most);
	}
	return y + ROW;
}

static size_t rows_shown(const struct prof *all)
{
	return all->processes < ROWS_MOST ? all->processes : ROWS_MOST;
}

static int draw_bytes(FILE *out, int y, const struct prof *all)
{
	uint64_t most = 0;
	char who[320];
	size_t i;

	put_title(out, y, "bytes that each process read and wrote");
	for (i = 0; i < all->processes; i++) {
		const struct profile_record *r = &all->process[i].r;

		if (r->way[0].bytes > most)
			most = r->way[0].bytes;
		if (r->way[1].bytes > most)
			most = r->way[1].bytes;
	}
	y += 8;
	for (i = 0; i < rows_shown(all); i++, y += ROW) {
		const struct prof_process *p = &all->process[i];

		put_label(out, y, prof_who(p, who, sizeof(who)));
		draw_bars(out, y, p->r.way[0].bytes, p->r.way[1].bytes, most);
	}
	return y + ROW;
}

/* Returns the start of a process, in ns after the first one. */
static double start_ns(const struct prof_process *p, double first)
{
	return (p->begun - first) * 1e9;
}

static void draw_span(FILE *out, int y, double from, double to, double all)
{
	double x = all > 0 ? BAR * from / all : 0;
	double width = all > 0 ? BAR * (to - from) / all : 0;

	fprintf(out,
		"<rect class=\"w\" x=\"%.1f\" y=\"%d\" width=\"%.1f\" "
		"height=\"14\"><title>%.3f to %.3f s</title></rect>\n",
		LEFT + x, y + 3, width < 1 ? 1 : width, from / 1e9, to / 1e9);
}

static int draw_timeline(FILE *out, int y, const struct prof *all)
{
	double first = all->process[0].begun, end = 0, last;
	char who[320];
	size_t i;

	for (i = 0; i < all->processes; i++) {
		if (all->process[i].begun < first)
			first = all->process[i].begun;
	}
	for (i = 0; i < all->processes; i++) {
		last = start_ns(&all->process[i], first) +
		       (double)all->process[i].run_ns;
		if (last > end)
			end = last;
	}
	put_title(out, y, "from each process' first transfer to its last");
	y += 8;
	for (i = 0; i < rows_shown(all); i++, y += ROW) {
		const struct prof_process *p = &all->process[i];
		double base = start_ns(p, first);

		put_label(out, y, prof_who(p, who, sizeof(who)));
		if (p->r.last)
			draw_span(out, y, base + (double)p->r.first,
				  base + (double)p->r.last, end);
	}
	fprintf(out, "<text x=\"%d\" y=\"%d\">0</text>", LEFT, y + 14);
	fprintf(out, "<text class=\"n\" x=\"%d\" y=\"%d\">%.3f s</text>\n",
		LEFT + BAR, y + 14, end / 1e9);
	return y + ROW;
}

void prof_svg(const struct prof *all, FILE *out)
{
	int height = 130 + ROW * (int)(PROFILE_SIZES + 2 * rows_shown(all) + 3),
	    y = 24;

	fprintf(out,
		"<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"%d\" "
		"height=\"%d\" viewBox=\"0 0 %d %d\">\n%s",
		WIDTH, height, WIDTH, height, style);
	put_title(out, y, all->process[0].program);
	y = draw_histogram(out, y + 28, &all->sum);
	y = draw_bytes(out, y + 10, all);
	y = draw_timeline(out, y + 10, all);
	if (all->processes > ROWS_MOST)
		fprintf(out,
			"<text x=\"10\" y=\"%d\">the first %u of %zu</text>\n",
			y + 16, ROWS_MOST, all->processes);
	fprintf(out, "</svg>\n");
}
