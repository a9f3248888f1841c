/* SPDX-License-Identifier: BSD-2-Clause */
/* report.c - findings, checks that could not look, and the exit status. */
#include "client/tools/admin/doctor/doctor.h"
#include "common/json/json_out.h"
#include "client/tools/common/tool.h"

struct tally {
	unsigned int checks, found, unseen;
	bool json, verbose;
	struct json_object *findings, *unseens, *notes;
};

static const char *kind_label(enum result_kind kind)
{
	if (kind == RESULT_FOUND)
		return "found:";
	return kind == RESULT_UNSEEN ? "not seen:" : "well:";
}

static void print_result(const struct check_run *run,
			 const struct check_result *result)
{
	tool_line(stdout, "%s %s%s%s: %s\n", kind_label(result->kind),
		  run->check->name, run->s ? ", " : "",
		  run->s ? run->s->name : "", result->what);
	if (result->fix[0])
		tool_line(stdout, "    fix: %s\n", result->fix);
}

static void add_json_result(struct tally *t, const struct check_run *run,
			    const struct check_result *result)
{
	struct json_object *o = json_object_new_object();

	json_str(o, "check", run->check->name);
	if (run->s) {
		json_str(o, "server", run->s->name);
		json_str(o, "uri", run->s->uri);
	}
	json_str(o, result->kind == RESULT_UNSEEN ? "why" : "what",
		 result->what);
	if (result->kind == RESULT_FOUND)
		json_str(o, "fix", result->fix);
	json_object_array_add(result->kind == RESULT_FOUND    ? t->findings
			      : result->kind == RESULT_UNSEEN ? t->unseens
							      : t->notes,
			      o);
}

static void report_run(struct tally *t, const struct check_run *run)
{
	struct check_result result;
	size_t at = 0;

	t->checks++;
	while (check_run_result(run, &at, &result)) {
		t->found += result.kind == RESULT_FOUND;
		t->unseen += result.kind == RESULT_UNSEEN;
		if (t->json)
			add_json_result(t, run, &result);
		else if (result.kind != RESULT_NOTE || t->verbose)
			print_result(run, &result);
	}
}

static void json_end(const struct doctor *d, struct tally *t)
{
	struct json_object *o = json_object_new_object();

	json_str(o, "of", d->conf ? d->conf : d->pvfstab);
	json_u64(o, "servers", d->nsubjects);
	json_u64(o, "checks", t->checks);
	json_object_object_add(o, "findings", t->findings);
	json_object_object_add(o, "not_seen", t->unseens);
	json_object_object_add(o, "well", t->notes);
	json_line(o);
}

int doctor_report(const struct doctor *d, const struct check_runs *runs,
		  bool as_json, bool verbose)
{
	struct tally t = { .json = as_json, .verbose = verbose };

	t.findings = as_json ? json_object_new_array() : NULL;
	t.unseens = as_json ? json_object_new_array() : NULL;
	t.notes = as_json ? json_object_new_array() : NULL;
	for (unsigned int i = 0; i < runs->n; i++)
		report_run(&t, &runs->run[i]);
	if (as_json)
		json_end(d, &t);
	else
		printf("%s: %u servers, %u checks: %u found, %u not seen\n",
		       d->conf ? d->conf : d->pvfstab, d->nsubjects, t.checks,
		       t.found, t.unseen);
	return t.found ? 1 : t.unseen ? 2 : 0;
}
