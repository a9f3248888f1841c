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

static void out_flush(struct out *o)
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
static void out_put_format(struct out *o, const char *fmt, ...)
	__attribute__((format(printf, 2, 3)));

static void out_put_format(struct out *o, const char *fmt, ...)
{
	va_list ap;

	if (o->n > sizeof(o->buf) - sizeof(o->buf) / 8)
		out_flush(o);
	va_start(ap, fmt);
	o->n += (size_t)vsnprintf(o->buf + o->n, sizeof(o->buf) - o->n, fmt,
				  ap);
	va_end(ap);
}

static void out_put_text(struct out *o, const char *s)
{
	const char *at = s;
	size_t n;

	out_put_format(o, "\"");
	for (; *at; at += n ? n : 1) {
		n = utf8_char(at);
		if (!n)
			out_put_format(o, "\\ufffd");
		else if (*at == '"' || *at == '\\')
			out_put_format(o, "\\%c", *at);
		else if ((unsigned char)*at < 0x20 || *at == 0x7f)
			out_put_format(o, "\\u%04x", *at);
		else
			out_put_format(o, "%.*s", (int)n, at);
	}
	out_put_format(o, "\"");
}

static void out_put_number(struct out *o, const char *key, uint64_t value)
{
	out_put_format(o, ", \"%s\": %" PRIu64, key, value);
}

/* ---- a record ---- */

static void by_kind(struct out *o, const char *key,
		    const uint64_t value[PROFILE_KINDS])
{
	unsigned int i;

	out_put_format(o, ", \"%s\": {", key);
	for (i = 0; i < PROFILE_KINDS; i++)
		out_put_format(o, "%s\"%s\": %" PRIu64, i ? ", " : "",
			       profile_kind_name[i], value[i]);
	out_put_format(o, "}");
}

static void out_put_common(struct out *o, const char *key,
			   const struct profile_common top[PROFILE_COMMON])
{
	unsigned int i;

	out_put_format(o, ", \"%s\": [", key);
	for (i = 0; i < PROFILE_SHOWN && top[i].count; i++)
		out_put_format(o,
			       "%s{\"bytes\": %" PRId64 ", \"count\": %" PRIu64
			       "}",
			       i ? ", " : "", top[i].value, top[i].count);
	out_put_format(o, "]");
}

static void out_put_way(struct out *o, const char *key,
			const struct profile_way *w)
{
	unsigned int i;

	out_put_format(o, ", \"%s\": {\"bytes\": %" PRIu64 ", \"histogram\": [",
		       key, w->bytes);
	for (i = 0; i < PROFILE_SIZES; i++)
		out_put_format(o, "%s%" PRIu64, i ? ", " : "", w->sizes[i]);
	out_put_format(o, "]");
	out_put_number(o, "sequential", w->sequential);
	out_put_number(o, "consecutive", w->consecutive);
	out_put_number(o, "strided", w->strided);
	out_put_number(o, "unaligned", w->unaligned);
	out_put_number(o, "large", w->large);
	out_put_number(o, "large_unaligned", w->large_unaligned);
	out_put_common(o, "sizes", w->size);
	out_put_common(o, "strides", w->stride);
	out_put_format(o, "}");
}

static uint64_t ns_since_begin(const struct profile *p, uint64_t when)
{
	return when > p->begun ? when - p->begun : 0;
}

/* Written after another member. */
static void out_put_record(struct out *o, const struct profile *p,
			   const struct profile_record *r)
{
	by_kind(o, "calls", r->calls);
	by_kind(o, "ns", r->ns);
	out_put_number(o, "errors", r->errors);
	out_put_number(o, "list_pieces", r->pieces);
	out_put_way(o, "reads", &r->way[PROFILE_READS]);
	out_put_way(o, "writes", &r->way[PROFILE_WRITES]);
	out_put_format(o,
		       ", \"slowest\": {\"call\": \"%s\", \"ns\": %" PRIu64 "}",
		       profile_kind_name[r->slowest], r->slowest_ns);
	out_put_number(o, "first_ns", ns_since_begin(p, r->first));
	out_put_number(o, "last_ns", ns_since_begin(p, r->last));
}

/* ---- places ---- */

static bool record_is_used(const struct profile_record *r)
{
	unsigned int i;

	for (i = 0; i < PROFILE_KINDS; i++) {
		if (r->calls[i])
			return true;
	}
	return false;
}

static void out_put_file(struct out *o, const struct profile *p,
			 const struct profile_name *n,
			 const struct profile_record *r)
{
	static const char *const how[] = { "", "r", "w", "rw" };

	out_put_format(o, "{\"name\": ");
	out_put_text(o, n->name);
	out_put_format(o, ", \"name_cut\": %s", n->cut ? "true" : "false");
	/* as text, because JSON numbers may have only 53 bits */
	out_put_format(o, ", \"id\": \"%016" PRIx64 "-%016" PRIx64 "\"",
		       n->fsid, n->handle);
	out_put_format(o, ", \"opened\": \"%s\"",
		       how[atomic_load(&n->how) & 3u]);
	out_put_number(o, "stripe", n->ssize);
	out_put_number(o, "iods", n->pcount);
	out_put_record(o, p, r);
	out_put_format(o, "}");
}

static void out_put_files(struct out *o, struct profile *p,
			  struct profile_record *total)
{
	struct profile_record r;
	bool any = false;
	unsigned int i;

	out_put_format(o, ",\n\"files\": [");
	for (i = PROFILE_FIRST; i < PROFILE_FIRST + p->files; i++) {
		profile_sum(p, i, &r);
		if (!record_is_used(&r))
			continue;
		profile_record_add(total, &r);
		out_put_format(o, "%s", any ? ",\n" : "\n");
		out_put_file(o, p, &p->name[i], &r);
		any = true;
	}
	out_put_format(o, "]");
}

static void out_put_place(struct out *o, struct profile *p, const char *key,
			  unsigned int i, struct profile_record *total)
{
	struct profile_record r;

	profile_sum(p, i, &r);
	profile_record_add(total, &r);
	out_put_format(o, ",\n\"%s\": {\"files\": %" PRIu64, key,
		       i == PROFILE_REST ? p->left_out : 0);
	out_put_record(o, p, &r);
	out_put_format(o, "}");
}

static void out_put_process(struct out *o, const struct profile *p)
{
	const struct profile_rank rank = profile_rank();
	char host[256] = "";
	int64_t ms = p->wall / 1000000;

	gethostname(host, sizeof(host) - 1);
	out_put_format(o, "{\"pvfs_profile\": %d, \"program\": ", VERSION);
	out_put_text(o, program_invocation_short_name);
	out_put_format(o, ", \"pid\": %d, \"host\": ", (int)p->pid);
	out_put_text(o, host);
	if (rank.rank >= 0)
		out_put_format(o, ", \"rank\": %d", rank.rank);
	if (rank.ranks > 0)
		out_put_format(o, ", \"ranks\": %d", rank.ranks);
	out_put_format(o, ", \"begun\": %" PRId64 ".%03d", ms / 1000,
		       (int)(ms % 1000));
	out_put_number(o, "run_ns", clock_now() - p->begun);
}

int profile_json(struct profile *p, int fd)
{
	struct out o = { .fd = fd };
	struct profile_record total = { 0 };

	out_put_process(&o, p);
	out_put_files(&o, p, &total);
	out_put_place(&o, p, "names", PROFILE_NAMES, &total);
	out_put_place(&o, p, "left_out", PROFILE_REST, &total);
	out_put_format(&o, ",\n\"total\": {\"files\": %u", p->files);
	out_put_record(&o, p, &total);
	out_put_format(&o, "}}\n");
	out_flush(&o);
	return o.error;
}
