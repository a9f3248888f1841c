/* SPDX-License-Identifier: BSD-2-Clause */
/* draw.c - see draw.h. */
#include "client/tools/monitor/top/draw.h"

#include <errno.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "client/tools/common/tool.h"

#define FILES 10u /* on a page */

struct sheet {
	FILE *out;
	const struct top_page *page;
	unsigned int rows; /* written */
};

static bool has_room(const struct sheet *s, unsigned int rows)
{
	return !s->page->rows || s->rows + rows <= s->page->rows;
}

/* Others chose the names of users and jobs, so control characters are masked. */
static void put_line(struct sheet *s, const char *fmt, ...)
	__attribute__((format(printf, 2, 3)));
static void put_line(struct sheet *s, const char *fmt, ...)
{
	char text[512];
	va_list ap;

	if (!has_room(s, 1))
		return;
	va_start(ap, fmt);
	vsnprintf(text, sizeof(text), fmt, ap);
	va_end(ap);
	if (s->page->columns && s->page->columns < strlen(text))
		text[s->page->columns] = '\0';
	tool_mask(text, strlen(text));
	fprintf(s->out, "%s%s", text, s->page->end);
	s->rows++;
}

static const char *human_text(double n, char *buf)
{
	return tool_human(n < 0 ? 0 : (uint64_t)n, buf);
}

static void put_rates(const struct top_rates *r, char *buf, size_t len)
{
	char in[32], out[32];

	snprintf(buf, len, "%9.0f %8.0f %8s %8s %9.1f", r->requests, r->errors,
		 human_text(r->in, in), human_text(r->out, out),
		 (double)r->mean_ns / 1e3);
}

/* A server of an earlier release counts nothing, but serves. */
static bool is_up(const struct top_server *server)
{
	return !server->err || server->err == ENOSYS;
}

static void draw_server(struct sheet *s, const struct top_server *server)
{
	char rates[96];

	if (server->err) {
		put_line(s, "%-8s %s", server->name, tool_cause(server->err));
		return;
	}
	put_rates(&server->rates, rates, sizeof(rates));
	put_line(s, "%-8s %s %9.1f", server->name, rates,
		 (double)server->rates.p99_ns / 1e3);
}

static void draw_user(struct sheet *s, const struct top_user *u)
{
	bool others = !strcmp(u->uid, "others"), direct = u->way[0];
	char rates[96], user[64];

	snprintf(user, sizeof(user), "%.*s%s", direct ? 7 : 8,
		 others ? "(others)" : owner_names_uid(s->page->owners, u->uid),
		 direct ? "*" : "");
	put_rates(&u->rates, rates, sizeof(rates));
	put_line(s, "%-8s %s %s", user, rates, u->job[0] ? u->job : "-");
}

static void draw_file(struct sheet *s, const struct top_file *f)
{
	char in[32], out[32];

	put_line(s, "%-16s %9.0f %8s %8s  %s", f->handle, f->rates.requests,
		 human_text(f->rates.in, in), human_text(f->rates.out, out),
		 f->name[0] ? f->name : "-");
}

/* Returns the number of lines reserved for files, below the users. */
static unsigned int files_room(const struct sheet *s, const struct top *top)
{
	unsigned int n = top->files < FILES ? top->files : FILES;
	unsigned int left = s->page->rows > s->rows ? s->page->rows - s->rows
						    : 0;

	if (!s->page->rows || !n)
		return n ? n + 2 : 0;
	return n + 2 < left / 2 ? n + 2 : left / 2;
}

static void draw_files(struct sheet *s, const struct top *top)
{
	if (!top->files)
		return;
	put_line(s, "%s", "");
	put_line(s, "%-16s %9s %8s %8s  %s", "file", "req/s", "in/s", "out/s",
		 "opened as");
	for (unsigned int i = 0; i < top->files && i < FILES; i++)
		draw_file(s, &top->file[i]);
}

static void draw_head(struct sheet *s, const struct top *top)
{
	struct top_rates sum = { 0 };
	char clock[16], in[32], out[32];
	time_t now = time(NULL);
	unsigned int up = 0;
	struct tm tm;

	strftime(clock, sizeof(clock), "%H:%M:%S", localtime_r(&now, &tm));
	for (unsigned int i = 0; i < top->servers; i++) {
		const struct top_server *server = &top->server[i];

		up += is_up(server);
		sum.requests += server->err ? 0 : server->rates.requests;
		sum.in += server->err ? 0 : server->rates.in;
		sum.out += server->err ? 0 : server->rates.out;
	}
	put_line(
		s,
		"pvfs-top %s  %u of %u servers up, %.0f requests/s, in %s/s, out %s/s",
		clock, up, top->servers, sum.requests, human_text(sum.in, in),
		human_text(sum.out, out));
}

static int by_need(const void *a, const void *b)
{
	const struct top_server *x = *(struct top_server *const *)a,
				*y = *(struct top_server *const *)b;

	if (!x->err != !y->err)
		return x->err ? -1 : 1;
	if (x->rates.requests != y->rates.requests)
		return x->rates.requests > y->rates.requests ? -1 : 1;
	return x < y ? -1 : x > y;
}

/*
 * All servers if they fit into half of the page; else those that are down, and the
 * busiest.
 */
static void draw_servers(struct sheet *s, const struct top *top)
{
	const struct top_server **order = calloc(top->servers, sizeof(*order));
	unsigned int most = s->page->rows ? s->page->rows / 2 : top->servers;

	put_line(s, "%-8s %9s %8s %8s %8s %9s %9s", "server", "req/s",
		 "errors/s", "in/s", "out/s", "mean us", "p99 us");
	for (unsigned int i = 0; order && i < top->servers; i++)
		order[i] = &top->server[i];
	if (order && top->servers > most)
		qsort(order, top->servers, sizeof(*order), by_need);
	for (unsigned int i = 0; order && i < top->servers && i < most; i++)
		draw_server(s, order[i]);
	free(order);
}

void draw(FILE *out, const struct top_page *page, const struct top *top)
{
	struct sheet s = { out, page, 0 };
	unsigned int files;

	draw_head(&s, top);
	draw_servers(&s, top);
	put_line(&s, "%s", "");
	put_line(&s, "%-8s %9s %8s %8s %8s %9s %s", "user", "req/s", "errors/s",
		 "in/s", "out/s", "mean us", "job");
	files = files_room(&s, top);
	for (unsigned int i = 0; i < top->users && has_room(&s, 1 + files); i++)
		draw_user(&s, &top->user[i]);
	draw_files(&s, top);
}
