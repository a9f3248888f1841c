/* SPDX-License-Identifier: BSD-2-Clause */
/* profile_json.c - the profile as one JSON object; pvfs-profile(1) describes its fields. */
#include <errno.h>
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "client/lib/profile/profile_int.h"
#include "common/json/utf8.h"

#define VERSION 1

/* ---- text ---- */

struct out {
	int fd, error;
	size_t n;
	char buf[4096];
};

static void flush(struct out *o)
{
	size_t at = 0;
	ssize_t n;

	while (!o->error && at < o->n) {
		n = write(o->fd, o->buf + at, o->n - at);
		if (n >= 0)
			at += (size_t)n;
		else if (errno != EINTR)
			o->error = -errno;
	}
	o->n = 0;
}

/* Writes a short text: less than an eighth of buf. */
static void say(struct out *o, const char *fmt, ...)
	__attribute__((format(printf, 2, 3)));

static void say(struct out *o, const char *fmt, ...)
{
	va_list ap;

	if (o->n > sizeof(o->buf) - sizeof(o->buf) / 8)
		flush(o);
	va_start(ap, fmt);
	o->n += (size_t)vsnprintf(o->buf + o->n, sizeof(o->buf) - o->n, fmt,
				  ap);
	va_end(ap);
}

static void text(struct out *o, const char *s)
{
	const char *at = s;
	size_t n;

	say(o, "\"");
	for (; *at; at += n ? n : 1) {
		n = utf8_char(at);
		if (!n)
			say(o, "\\ufffd");
		else if (*at == '"' || *at == '\\')
			say(o, "\\%c", *at);
		else if ((unsigned char)*at < 0x20 || *at == 0x7f)
			say(o, "\\u%04x", *at);
		else
			say(o, "%.*s", (int)n, at);
	}
	say(o, "\"");
}

static void number(struct out *o, const char *key, uint64_t value)
{
	say(o, ", \"%s\": %" PRIu64, key, value);
}

/* ---- a record ---- */

static void by_kind(struct out *o, const char *key,
		    const uint64_t value[PROFILE_KINDS])
{
	unsigned int i;

	say(o, ", \"%s\": {", key);
	for (i = 0; i < PROFILE_KINDS; i++)
		say(o, "%s\"%s\": %" PRIu64, i ? ", " : "",
		    profile_kind_name[i], value[i]);
	say(o, "}");
}

static void common(struct out *o, const char *key,
		   const struct profile_common top[PROFILE_COMMON])
{
	unsigned int i;

	say(o, ", \"%s\": [", key);
	for (i = 0; i < PROFILE_SHOWN && top[i].count; i++)
		say(o, "%s{\"bytes\": %" PRId64 ", \"count\": %" PRIu64 "}",
		    i ? ", " : "", top[i].value, top[i].count);
	say(o, "]");
}

static void way(struct out *o, const char *key, const struct profile_way *w)
{
	unsigned int i;

	say(o, ", \"%s\": {\"bytes\": %" PRIu64 ", \"histogram\": [", key,
	    w->bytes);
	for (i = 0; i < PROFILE_SIZES; i++)
		say(o, "%s%" PRIu64, i ? ", " : "", w->sizes[i]);
	say(o, "]");
	number(o, "sequential", w->sequential);
	number(o, "consecutive", w->consecutive);
	number(o, "strided", w->strided);
	number(o, "unaligned", w->unaligned);
	number(o, "large", w->large);
	number(o, "large_unaligned", w->large_unaligned);
	common(o, "sizes", w->size);
	common(o, "strides", w->stride);
	say(o, "}");
}

static uint64_t since(const struct profile *p, uint64_t when)
{
	return when > p->begun ? when - p->begun : 0;
}

/* Written after another member. */
static void record(struct out *o, const struct profile *p,
		   const struct profile_record *r)
{
	by_kind(o, "calls", r->calls);
	by_kind(o, "ns", r->ns);
	number(o, "errors", r->errors);
	number(o, "list_pieces", r->pieces);
	way(o, "reads", &r->way[PROFILE_READS]);
	way(o, "writes", &r->way[PROFILE_WRITES]);
	say(o, ", \"slowest\": {\"call\": \"%s\", \"ns\": %" PRIu64 "}",
	    profile_kind_name[r->slowest], r->slowest_ns);
	number(o, "first_ns", since(p, r->first));
	number(o, "last_ns", since(p, r->last));
}

/* ---- places ---- */

static bool used(const struct profile_record *r)
{
	unsigned int i;

	for (i = 0; i < PROFILE_KINDS; i++) {
		if (r->calls[i])
			return true;
	}
	return false;
}

static void file(struct out *o, const struct profile *p,
		 const struct profile_name *n, const struct profile_record *r)
{
	static const char *const how[] = { "", "r", "w", "rw" };

	say(o, "{\"name\": ");
	text(o, n->name);
	say(o, ", \"name_cut\": %s", n->cut ? "true" : "false");
	/* as text, because JSON numbers may have only 53 bits */
	say(o, ", \"id\": \"%016" PRIx64 "-%016" PRIx64 "\"", n->fsid,
	    n->handle);
	say(o, ", \"opened\": \"%s\"", how[atomic_load(&n->how) & 3u]);
	number(o, "stripe", n->ssize);
	number(o, "iods", n->pcount);
	record(o, p, r);
	say(o, "}");
}

static void files(struct out *o, struct profile *p,
		  struct profile_record *total)
{
	struct profile_record r;
	bool any = false;
	unsigned int i;

	say(o, ",\n\"files\": [");
	for (i = PROFILE_FIRST; i < PROFILE_FIRST + p->files; i++) {
		profile_sum(p, i, &r);
		if (!used(&r))
			continue;
		profile_record_add(total, &r);
		say(o, "%s", any ? ",\n" : "\n");
		file(o, p, &p->name[i], &r);
		any = true;
	}
	say(o, "]");
}

static void place(struct out *o, struct profile *p, const char *key,
		  unsigned int i, struct profile_record *total)
{
	struct profile_record r;

	profile_sum(p, i, &r);
	profile_record_add(total, &r);
	say(o, ",\n\"%s\": {\"files\": %" PRIu64, key,
	    i == PROFILE_REST ? p->left_out : 0);
	record(o, p, &r);
	say(o, "}");
}

static void who(struct out *o, const struct profile *p)
{
	const struct profile_rank rank = profile_rank();
	char host[256] = "";
	int64_t ms = p->wall / 1000000;

	gethostname(host, sizeof(host) - 1);
	say(o, "{\"pvfs_profile\": %d, \"program\": ", VERSION);
	text(o, program_invocation_short_name);
	say(o, ", \"pid\": %d, \"host\": ", (int)p->pid);
	text(o, host);
	if (rank.rank >= 0)
		say(o, ", \"rank\": %d", rank.rank);
	if (rank.ranks > 0)
		say(o, ", \"ranks\": %d", rank.ranks);
	say(o, ", \"begun\": %" PRId64 ".%03d", ms / 1000, (int)(ms % 1000));
	number(o, "run_ns", clock_now() - p->begun);
}

int profile_json(struct profile *p, int fd)
{
	struct out o = { .fd = fd };
	struct profile_record total = { 0 };

	who(&o, p);
	files(&o, p, &total);
	place(&o, p, "names", PROFILE_NAMES, &total);
	place(&o, p, "left_out", PROFILE_REST, &total);
	say(&o, ",\n\"total\": {\"files\": %u", p->files);
	record(&o, p, &total);
	say(&o, "}}\n");
	flush(&o);
	return o.error;
}
