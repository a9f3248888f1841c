/* SPDX-License-Identifier: BSD-2-Clause */
/* prof_json.c - the summary for scripts, with the names that the profiles have. */
#include "common/json/json_out.h"
#include "client/tools/monitor/profile/prof.h"

static void by_kind(struct json_object *o, const char *key,
		    const uint64_t value[PROFILE_KINDS])
{
	struct json_object *m = json_object_new_object();
	unsigned int i;

	for (i = 0; i < PROFILE_KINDS; i++)
		json_u64(m, profile_kind_name[i], value[i]);
	json_object_object_add(o, key, m);
}

static void add_common(struct json_object *o, const char *key,
		       const struct profile_common c[PROFILE_COMMON])
{
	struct json_object *list = json_object_new_array(), *m;
	unsigned int i;

	for (i = 0; i < PROFILE_SHOWN && c[i].count; i++) {
		m = json_object_new_object();
		json_object_object_add(m, "bytes",
				       json_object_new_int64(c[i].value));
		json_u64(m, "count", c[i].count);
		json_object_array_add(list, m);
	}
	json_object_object_add(o, key, list);
}

static void add_way(struct json_object *o, const char *key,
		    const struct profile_way *w)
{
	struct json_object *m = json_object_new_object();
	struct json_object *sizes = json_object_new_array();
	unsigned int i;

	for (i = 0; i < PROFILE_SIZES; i++)
		json_object_array_add(sizes,
				      json_object_new_uint64(w->sizes[i]));
	json_u64(m, "bytes", w->bytes);
	json_object_object_add(m, "histogram", sizes);
	json_u64(m, "sequential", w->sequential);
	json_u64(m, "consecutive", w->consecutive);
	json_u64(m, "strided", w->strided);
	json_u64(m, "unaligned", w->unaligned);
	json_u64(m, "large", w->large);
	json_u64(m, "large_unaligned", w->large_unaligned);
	add_common(m, "sizes", w->size);
	add_common(m, "strides", w->stride);
	json_object_object_add(o, key, m);
}

static struct json_object *add_record(struct json_object *o,
				      const struct profile_record *r)
{
	struct json_object *slowest = json_object_new_object();

	by_kind(o, "calls", r->calls);
	by_kind(o, "ns", r->ns);
	json_u64(o, "meta_ns", prof_meta_ns(r));
	json_u64(o, "busy_ns", prof_busy_ns(r));
	json_u64(o, "errors", r->errors);
	json_u64(o, "list_pieces", r->pieces);
	add_way(o, "reads", &r->way[PROFILE_READS]);
	add_way(o, "writes", &r->way[PROFILE_WRITES]);
	json_str(slowest, "call", profile_kind_name[r->slowest]);
	json_u64(slowest, "ns", r->slowest_ns);
	json_object_object_add(o, "slowest", slowest);
	json_u64(o, "first_ns", r->first);
	json_u64(o, "last_ns", r->last);
	return o;
}

static struct json_object *process_json(const struct prof *all,
					const struct prof_process *p)
{
	struct json_object *o = json_object_new_object();

	json_str(o, "source", p->source);
	json_str(o, "program", p->program);
	json_str(o, "host", p->host);
	json_object_object_add(o, "pid", json_object_new_int64(p->pid));
	if (p->rank >= 0)
		json_u64(o, "rank", (uint64_t)p->rank);
	if (p->ranks >= 0)
		json_u64(o, "ranks", (uint64_t)p->ranks);
	json_num(o, "begun", p->begun);
	json_u64(o, "run_ns", p->run_ns);
	json_u64(o, "left_out", p->left_out);
	json_yes(o, "is_slowest", p == prof_slowest(all));
	return add_record(o, &p->r);
}

static struct json_object *file_json(const struct prof_file *f)
{
	struct json_object *o = json_object_new_object();

	json_str(o, "name", f->name);
	json_str(o, "id", f->id);
	json_u64(o, "stripe", f->stripe);
	json_u64(o, "iods", f->iods);
	json_u64(o, "processes", f->processes);
	return add_record(o, &f->r);
}

struct json_object *prof_json(const struct prof *all,
			      const struct advice_line *advice, int n)
{
	struct json_object *o = json_object_new_object();
	struct json_object *processes = json_object_new_array();
	struct json_object *files = json_object_new_array();
	struct json_object *lines = json_object_new_array(), *m;
	size_t i;

	for (i = 0; i < all->processes; i++)
		json_object_array_add(processes,
				      process_json(all, &all->process[i]));
	for (i = 0; i < all->files; i++)
		json_object_array_add(files, file_json(&all->file[i]));
	for (i = 0; i < (size_t)n; i++) {
		m = json_object_new_object();
		json_str(m, "rule", advice[i].name);
		json_str(m, "text", advice[i].text);
		json_object_array_add(lines, m);
	}
	json_object_object_add(o, "processes", processes);
	json_object_object_add(o, "files", files);
	json_object_object_add(o, "total",
			       add_record(json_object_new_object(), &all->sum));
	json_object_object_add(o, "advice", lines);
	return o;
}
