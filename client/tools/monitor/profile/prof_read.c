/* SPDX-License-Identifier: BSD-2-Clause */
/* prof_read.c - reads a profile's JSON, and checks each field. */
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "client/tools/monitor/profile/prof.h"

#define VERSION 1
#define BYTES_MOST (64 << 20)
#define FILES_MOST 65536u
#define DEPTH 16

/* ---- fields: the first wrong one is remembered ---- */

struct reader {
	const char *why; /* NULL: no error so far */
};

static struct json_object *get_member(struct reader *r, struct json_object *o,
				      const char *key, enum json_type type)
{
	struct json_object *m = NULL;

	if (!r->why && (!json_object_object_get_ex(o, key, &m) ||
			json_object_get_type(m) != type)) {
		r->why = key;
		m = NULL;
	}
	return m;
}

static uint64_t get_number(struct reader *r, struct json_object *o,
			   const char *key)
{
	struct json_object *m = get_member(r, o, key, json_type_int);

	if (m && json_object_get_int64(m) < 0)
		r->why = key;
	return m && !r->why ? json_object_get_uint64(m) : 0;
}

static int64_t signed_number(struct reader *r, struct json_object *o,
			     const char *key)
{
	struct json_object *m = get_member(r, o, key, json_type_int);

	return m ? json_object_get_int64(m) : 0;
}

/* -1: absent. */
static int64_t get_optional(struct reader *r, struct json_object *o,
			    const char *key)
{
	uint64_t n;

	if (!json_object_object_get_ex(o, key, NULL))
		return -1;
	n = get_number(r, o, key);
	if (n > INT32_MAX)
		r->why = key;
	return r->why ? -1 : (int64_t)n;
}

static char *get_string(struct reader *r, struct json_object *o,
			const char *key)
{
	struct json_object *m = get_member(r, o, key, json_type_string);
	char *s = m ? strdup(json_object_get_string(m)) : NULL;

	if (m && !s)
		r->why = "no memory";
	return s;
}

static void by_kind(struct reader *r, struct json_object *o, const char *key,
		    uint64_t value[PROFILE_KINDS])
{
	struct json_object *m = get_member(r, o, key, json_type_object);
	unsigned int i;

	for (i = 0; m && i < PROFILE_KINDS; i++)
		value[i] = get_number(r, m, profile_kind_name[i]);
}

/* ---- records ---- */

static void read_histogram(struct reader *r, struct json_object *o,
			   uint64_t sizes[PROFILE_SIZES])
{
	struct json_object *m = get_member(r, o, "histogram", json_type_array);
	unsigned int i;

	if (m && json_object_array_length(m) != PROFILE_SIZES)
		r->why = "histogram";
	for (i = 0; m && !r->why && i < PROFILE_SIZES; i++) {
		struct json_object *n = json_object_array_get_idx(m, i);

		if (json_object_get_type(n) != json_type_int ||
		    json_object_get_int64(n) < 0)
			r->why = "histogram";
		else
			sizes[i] = json_object_get_uint64(n);
	}
}

static void read_common(struct reader *r, struct json_object *o,
			const char *key,
			struct profile_common top[PROFILE_COMMON])
{
	struct json_object *m = get_member(r, o, key, json_type_array), *c;
	size_t i;

	if (m && json_object_array_length(m) > PROFILE_SHOWN)
		r->why = key;
	for (i = 0; m && !r->why && i < json_object_array_length(m); i++) {
		c = json_object_array_get_idx(m, i);
		if (json_object_get_type(c) != json_type_object) {
			r->why = key;
			return;
		}
		top[i].value = signed_number(r, c, "bytes");
		top[i].count = get_number(r, c, "count");
	}
}

static void read_way(struct reader *r, struct json_object *o, const char *key,
		     struct profile_way *w)
{
	struct json_object *m = get_member(r, o, key, json_type_object);

	if (!m)
		return;
	w->bytes = get_number(r, m, "bytes");
	read_histogram(r, m, w->sizes);
	w->sequential = get_number(r, m, "sequential");
	w->consecutive = get_number(r, m, "consecutive");
	w->strided = get_number(r, m, "strided");
	w->unaligned = get_number(r, m, "unaligned");
	w->large = get_number(r, m, "large");
	w->large_unaligned = get_number(r, m, "large_unaligned");
	read_common(r, m, "sizes", w->size);
	read_common(r, m, "strides", w->stride);
}

static void read_slowest(struct reader *r, struct json_object *o,
			 struct profile_record *rec)
{
	struct json_object *m = get_member(r, o, "slowest", json_type_object);
	struct json_object *call = m ? get_member(r, m, "call",
						  json_type_string)
				     : NULL;
	unsigned int i;

	if (!call)
		return;
	rec->slowest_ns = get_number(r, m, "ns");
	for (i = 0; i < PROFILE_KINDS; i++) {
		if (!strcmp(json_object_get_string(call),
			    profile_kind_name[i])) {
			rec->slowest = (enum profile_kind)i;
			return;
		}
	}
	r->why = "slowest";
}

static void read_record(struct reader *r, struct json_object *o,
			struct profile_record *rec)
{
	by_kind(r, o, "calls", rec->calls);
	by_kind(r, o, "ns", rec->ns);
	rec->errors = get_number(r, o, "errors");
	rec->pieces = get_number(r, o, "list_pieces");
	read_way(r, o, "reads", &rec->way[PROFILE_READS]);
	read_way(r, o, "writes", &rec->way[PROFILE_WRITES]);
	read_slowest(r, o, rec);
	rec->first = get_number(r, o, "first_ns");
	rec->last = get_number(r, o, "last_ns");
}

static void parse_file(struct reader *r, struct json_object *o,
		       struct prof_file *f)
{
	if (json_object_get_type(o) != json_type_object) {
		r->why = "files";
		return;
	}
	f->name = get_string(r, o, "name");
	f->id = get_string(r, o, "id");
	f->stripe = get_number(r, o, "stripe");
	f->iods = get_number(r, o, "iods");
	f->processes = 1;
	read_record(r, o, &f->r);
}

static void parse_files(struct reader *r, struct json_object *o,
			struct prof_process *p)
{
	struct json_object *m = get_member(r, o, "files", json_type_array);
	size_t i, n = m ? json_object_array_length(m) : 0;

	if (n > FILES_MOST)
		r->why = "files";
	if (!n || r->why)
		return;
	p->file = calloc(n, sizeof(*p->file));
	if (!p->file) {
		r->why = "no memory";
		return;
	}
	p->files = n;
	for (i = 0; i < n && !r->why; i++)
		parse_file(r, json_object_array_get_idx(m, i), &p->file[i]);
}

/* ---- the whole profile ---- */

static double get_seconds(struct reader *r, struct json_object *o,
			  const char *key)
{
	struct json_object *m = get_member(r, o, key, json_type_double);

	return m ? json_object_get_double(m) : 0;
}

static void parse_sums(struct reader *r, struct json_object *o,
		       struct prof_process *p)
{
	struct json_object *m = get_member(r, o, "total", json_type_object);

	if (m)
		read_record(r, m, &p->r);
	m = get_member(r, o, "left_out", json_type_object);
	if (m)
		p->left_out = get_number(r, m, "files");
}

int prof_parse(struct json_object *o, struct prof_process *p, const char **why)
{
	struct reader r = { NULL };

	p->rank = p->ranks = -1;
	if (json_object_get_type(o) != json_type_object ||
	    get_number(&r, o, "pvfs_profile") != VERSION || r.why) {
		*why = "it is no profile of PVFS_PROFILE";
		return -1;
	}
	p->program = get_string(&r, o, "program");
	p->host = get_string(&r, o, "host");
	p->pid = get_optional(&r, o, "pid");
	p->rank = get_optional(&r, o, "rank");
	p->ranks = get_optional(&r, o, "ranks");
	p->begun = get_seconds(&r, o, "begun");
	p->run_ns = get_number(&r, o, "run_ns");
	parse_files(&r, o, p);
	parse_sums(&r, o, p);
	*why = r.why;
	return r.why ? -1 : 0;
}

int prof_parse_text(const char *text, size_t len, struct prof_process *p,
		    const char **why)
{
	struct json_tokener *t = json_tokener_new_ex(DEPTH);
	struct json_object *o;
	int rc;

	if (!t || len > BYTES_MOST) {
		*why = t ? "it is too large for a profile" : "no memory";
		if (t)
			json_tokener_free(t);
		return -1;
	}
	json_tokener_set_flags(t, JSON_TOKENER_VALIDATE_UTF8);
	o = json_tokener_parse_ex(t, text, (int)len);
	*why = json_tokener_get_error(t) == json_tokener_continue
		       ? "it ends in the middle"
		       : json_tokener_error_desc(json_tokener_get_error(t));
	json_tokener_free(t);
	if (!o)
		return -1;
	rc = prof_parse(o, p, why);
	json_object_put(o);
	return rc;
}

/* Returns the text of a file, which the caller frees; NULL with errno. */
static char *read_text(int fd, size_t *len)
{
	struct stat st;
	char *text;
	ssize_t n = 0;

	if (fstat(fd, &st))
		return NULL;
	if (!S_ISREG(st.st_mode) || st.st_size > BYTES_MOST) {
		errno = S_ISREG(st.st_mode) ? EFBIG : EINVAL;
		return NULL;
	}
	text = malloc((size_t)st.st_size + 1);
	*len = 0;
	while (text && *len < (size_t)st.st_size) {
		n = read(fd, text + *len, (size_t)st.st_size - *len);
		if (n <= 0)
			break;
		*len += (size_t)n;
	}
	if (n < 0) {
		free(text);
		return NULL;
	}
	return text;
}

int prof_read(const char *path, struct prof_process *p, const char **why)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK), rc = -1;
	char *text = NULL;
	size_t len;

	if (fd >= 0)
		text = read_text(fd, &len);
	if (!text)
		*why = strerror(errno);
	if (fd >= 0)
		close(fd);
	p->source = strdup(path);
	if (text)
		rc = prof_parse_text(text, len, p, why);
	free(text);
	return rc;
}

void prof_process_free(struct prof_process *p)
{
	size_t i;

	for (i = 0; i < p->files; i++) {
		free(p->file[i].name);
		free(p->file[i].id);
	}
	free(p->file);
	free(p->source);
	free(p->program);
	free(p->host);
}
