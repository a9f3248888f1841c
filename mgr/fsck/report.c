/* SPDX-License-Identifier: BSD-2-Clause */
/* report.c - prints the problems, as text or as JSON. */
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>

#include "common/json/json_out.h"
#include "mgr/fsck/fsck.h"

static const char *const kind_name[] = {
	[ORPHAN] = "orphan",	 [STRAY] = "stray", [DANGLING] = "dangling",
	[NAMELESS] = "nameless", [LINKS] = "links",
};

static void print_object(const struct problem *p)
{
	printf("%s: object %" PRIu64, kind_name[p->kind], p->handle);
	if (p->copyset)
		printf(" of copyset %u", p->copyset);
	printf(" at iod %u", p->iod);
}

static void print_problem(const struct problem *p)
{
	switch (p->kind) {
	case ORPHAN:
		print_object(p);
		printf(": its file does not exist");
		break;
	case STRAY:
		print_object(p);
		printf(": its file is not on this iod");
		break;
	case DANGLING:
		printf("dangling: '%s' in directory %" PRIu64 ": its file "
		       "%" PRIu64 " does not exist",
		       p->name, p->dir, p->handle);
		break;
	case NAMELESS:
		printf("nameless: no directory names file %" PRIu64, p->handle);
		break;
	case LINKS:
		printf("links: file %" PRIu64 " has %u links and says %u",
		       p->handle, p->found, p->stored);
		break;
	}
	puts(p->repaired ? "; removed" : "");
}

static void print_text(const struct fsck *f, const struct problem_list *all)
{
	for (size_t i = 0; i < all->n; i++)
		print_problem(&all->p[i]);
	printf("%" PRIu64 " files, %" PRIu64 " directories, %" PRIu64
	       " objects on %u iods: %zu problems\n",
	       f->files, f->dirs, f->objects, f->conf.niods, all->n);
}

static struct json_object *problem_to_json(const struct problem *p)
{
	struct json_object *o = json_object_new_object();

	json_str(o, "kind", kind_name[p->kind]);
	json_id(o, "handle", p->handle);
	if (p->kind == ORPHAN || p->kind == STRAY)
		json_u64(o, "iod", p->iod);
	if (p->copyset)
		json_u64(o, "copyset", p->copyset);
	if (p->kind == DANGLING) {
		json_id(o, "directory", p->dir);
		json_str(o, "name", p->name);
	}
	if (p->kind == LINKS) {
		json_u64(o, "found", p->found);
		json_u64(o, "stored", p->stored);
	}
	json_yes(o, "repaired", p->repaired);
	return o;
}

static void print_json(const struct fsck *f, const struct problem_list *all)
{
	struct json_object *o = json_object_new_object();
	struct json_object *list = json_object_new_array();

	json_u64(o, "files", f->files);
	json_u64(o, "directories", f->dirs);
	json_u64(o, "objects", f->objects);
	for (size_t i = 0; i < all->n; i++)
		json_object_array_add(list, problem_to_json(&all->p[i]));
	json_object_object_add(o, "problems", list);
	puts(json_object_to_json_string_ext(o, JSON_C_TO_STRING_PRETTY));
	json_object_put(o);
}

int fsck_print_report(const struct fsck *f, const struct problem_list *all,
		      bool json)
{
	if (json)
		print_json(f, all);
	else
		print_text(f, all);
	if (!fflush(stdout) && !ferror(stdout))
		return 0;
	log_error(f->log, "standard output: a write failed");
	return -EIO;
}
