/* SPDX-License-Identifier: BSD-2-Clause */
/* stage.c - pvfs-job stage-in and stage-out. */
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "client/tools/job/ask.h"
#include "common/util/clock.h"
#include "client/tools/files/copy/copy.h"
#include "client/tools/job/stage/team.h"
#include "client/tools/job/stage/walk.h"

#define AHEAD 4096u /* files that wait for a copier */
/*
 * After the deadline, the walk gets this much more time to list what is missing.  If the
 * servers do not answer, it cannot.
 */
#define NAME_MS 2000u
#define NAME_OVER_MS 200u

enum { OPT_MANIFEST = 256, OPT_WITHIN };

struct stage {
	const struct tool *tool;
	const char *id, *within;
	struct job job;
	uint8_t key[MAC_KEY_LEN];
	char src[PATH_MAX], dst[PATH_MAX], manifest_path[JOB_PATH];
	struct manifest *manifest;
	struct copy copy;
	struct walk *walk;
	struct team team;
	uint64_t number, same, missing, deadline;
	bool quiet, late, over;
	struct job_link head; /* ends with the job */
};

static int set_option(void *arg, int opt, const char *val)
{
	struct stage *s = arg;

	if (opt == 'i')
		s->id = val;
	else if (opt == 'q')
		s->quiet = true;
	else if (opt == OPT_WITHIN)
		s->deadline = clock_after_ms(1000 * tool_number(val));
	else if (snprintf(s->manifest_path, JOB_PATH - 8, "%s", val) >=
		 (int)JOB_PATH - 8)
		return -1;
	return 0;
}

static const struct tool_value values[] = { { OPT_WITHIN, 1, 1u << 30, NULL },
					    { 0 } };

static const struct option longs[] = {
	{ "id", required_argument, NULL, 'i' },
	{ "manifest", required_argument, NULL, OPT_MANIFEST },
	{ "within", required_argument, NULL, OPT_WITHIN },
	{ "quiet", no_argument, NULL, 'q' },
	{ 0 },
};

#define STAGE_HELP                                                                             \
	"The tree SRC becomes DST, copied by all nodes at a time, with modes and times, and\n" \
	"compared.  Files that are there and equal are not copied again.\n"                    \
	"  -i, --id ID            the job (PVFS_JOB_ID, SLURM_JOB_ID, or the only one)\n"      \
	"  --manifest FILE        what was copied, and what is missing\n"                      \
	"                         (pvfs-job-ID.stage-in or .stage-out, here)\n"                \
	"  --within S             ends after S seconds, whatever is missing\n"                 \
	"  -q, --quiet            no progress line\n"

static const struct tool tools[] = {
	{ .name = "pvfs-job stage-in",
	  .usage = "[-q] [-i ID] [--manifest FILE] [--within S] SRC DST",
	  .help = "Copies a tree to the job's file system.\n" STAGE_HELP,
	  .shorts = "i:q",
	  .longs = longs,
	  .values = values,
	  .option = set_option },
	{ .name = "pvfs-job stage-out",
	  .usage = "[-q] [-i ID] [--manifest FILE] [--within S] SRC DST",
	  .help = "Copies a tree from the job's file system.\n" STAGE_HELP,
	  .shorts = "i:q",
	  .longs = longs,
	  .values = values,
	  .option = set_option },
};

/* Copiers have other working directories. */
static int make_absolute(char *out, const char *path)
{
	char cwd[PATH_MAX];
	size_t len;

	if (path[0] != '/' && !getcwd(cwd, sizeof(cwd)))
		return -errno;
	if (snprintf(out, PATH_MAX, "%s%s%s", path[0] == '/' ? "" : cwd,
		     path[0] == '/' ? "" : "/", path) >= PATH_MAX)
		return -ENAMETOOLONG;
	for (len = strlen(out); len > 1 && out[len - 1] == '/'; len--)
		out[len - 1] = '\0';
	return 0;
}

/* Follows the user's own links to the ends; below them no link is followed. */
static void resolve_links(char *path)
{
	char real[PATH_MAX];

	if (!pvfs_is_pvfs(path) && realpath(path, real))
		strcpy(path, real);
}

static const char *name_of(const struct stage *s, const char *from)
{
	size_t len = strlen(s->src);

	return from[len] == '/' ? from + len + 1 : ".";
}

/* A file has ended. */
static void file_ended(void *arg, struct team_file *f,
		       const struct stage_file *is, bool same)
{
	struct stage *s = arg;
	const char *name = name_of(s, f->from);

	if (!is) {
		if (f->to[0]) /* else the walk has reported it */
			tool_say(s->tool, "%s -> %s: %s", f->from, f->to,
				 f->why);
		manifest_missing(s->manifest, name, f->why);
		s->missing++;
	} else {
		if (!f->known || f->hash != is->hash)
			manifest_ok(s->manifest, name, is);
		s->same += same;
		atomic_fetch_add(&s->copy.files, 1);
		atomic_fetch_add(&s->copy.bytes, is->size);
	}
	team_file_free(f);
}

static bool is_interrupted(const struct stage *s)
{
	return atomic_load(&s->copy.interrupted);
}

static const char *why_late(const struct stage *s)
{
	if (is_interrupted(s))
		return "interrupted";
	return s->over ? "the job has ended" : "no time was left";
}

static void check_time(struct stage *s)
{
	if (s->late)
		return;
	s->over = link_fill(&s->head) != 0;
	s->late = s->over || is_interrupted(s) || clock_now() >= s->deadline;
	if (s->late)
		team_give_up(&s->team, why_late(s));
}

/* Takes the files that the walk has found. */
static void queue_found(struct stage *s)
{
	struct team_file *f = NULL;

	while ((s->late || s->team.ntodo < AHEAD) && (f = walk_next(s->walk))) {
		const struct stage_file *known =
			manifest_find(s->manifest, name_of(s, f->from), &f->st);

		f->number = s->number++;
		f->known = known;
		f->hash = known ? known->hash : 0;
		if (f->why[0])
			file_ended(s, f, NULL, false);
		else
			team_give(&s->team, f);
	}
	if (s->late)
		team_give_up(&s->team, why_late(s));
}

static int request_copiers(struct stage *s)
{
	uint64_t deadline = clock_after_ms(5000);
	char *line;
	int rc;

	if (ask_open(&s->job, &s->head))
		return 1;
	rc = link_say(&s->head, "copy %u\n", s->team.port);
	while (!rc && !(rc = link_wait(&s->head, deadline, &line)))
		if (!strncmp(line, "end ", 4))
			return 0;
	return tool_say(s->tool, "the head of job %s does not answer",
			s->job.id);
}

static int read_key(struct stage *s)
{
	char path[JOB_PATH], text[80] = "";
	FILE *f;
	int rc = job_path(&s->job, "key", path);

	f = rc ? NULL : fopen(path, "re");
	if (!f || !fgets(text, sizeof(text), f))
		rc = -EIO;
	if (f)
		fclose(f);
	text[strcspn(text, "\n")] = '\0';
	if (!rc)
		rc = job_key_parse(text, s->key);
	return rc ? tool_say(s->tool, "%s: no key", path) : 0;
}

static void handle_events(struct stage *s)
{
	queue_found(s);
	/* takes from the walk only if there is room */
	team_turn(&s->team, s->team.ntodo < AHEAD ? walk_fd(s->walk) : -1, 200);
	check_time(s);
}

/*
 * After the deadline, an interruption or the end of the job: lists the files that the walk
 * still finds as missing, for a limited time.  If the walk does not finish in this time, or was
 * interrupted, one line stands for all other files.
 */
static void list_rest(struct stage *s)
{
	uint64_t deadline = clock_after_ms(s->over ? NAME_OVER_MS : NAME_MS);

	while (!walk_is_done(s->walk) && clock_now() < deadline) {
		queue_found(s);
		usleep(10000);
	}
	queue_found(s);
	if (walk_is_done(s->walk) && !is_interrupted(s))
		return;
	manifest_missing(s->manifest, ".",
			 "all other files: the search did not reach them");
	s->missing++;
}

static void finish_walk(struct stage *s)
{
	uint64_t deadline = s->late ? clock_after_ms(NAME_MS) : CLOCK_NEVER;

	walk_finish(s->walk);
	while (!walk_is_finished(s->walk) && !s->over &&
	       clock_now() < deadline) {
		team_turn(&s->team, walk_fd(s->walk), 50);
		queue_found(s);
		check_time(s);
		if (s->late && deadline == CLOCK_NEVER)
			deadline = clock_after_ms(NAME_MS);
	}
}

static int copy_tree(struct stage *s)
{
	struct progress *p;
	int rc = walk_start(&s->copy, s->src, s->dst, &s->walk);

	if (rc)
		return rc;
	p = progress_start(&s->copy);
	while (!s->late &&
	       (!walk_is_done(s->walk) || s->team.ntodo + s->team.nout))
		handle_events(s);
	if (s->late)
		list_rest(s);
	if (!s->over && !is_interrupted(s) && walk_is_done(s->walk))
		finish_walk(s);
	progress_stop(p);
	return 0;
}

/* Reported once for all files. */
static void report_unsupported(struct stage *s)
{
	unsigned int unsupported = s->team.unsupported |
				   atomic_load(&s->copy.unsupported);

	if (unsupported & COPY_NO_XATTRS)
		tool_say(s->tool,
			 "%s cannot hold all extended attributes: "
			 "some stay behind",
			 s->dst);
	if (unsupported & COPY_NO_ACLS)
		tool_say(s->tool,
			 "%s cannot hold access control lists: modes alone "
			 "say who may do what",
			 s->dst);
}

static int print_result(struct stage *s, int rc)
{
	report_unsupported(s);
	if (rc)
		tool_say(s->tool, "%s: %s", s->manifest_path, strerror(-rc));
	if (s->missing)
		tool_say(s->tool,
			 "%" PRIu64 " of %" PRIu64
			 " files are missing, %s names them",
			 s->missing, s->number, s->manifest_path);
	else if (!s->quiet)
		printf("%" PRIu64 " files, %" PRIu64 " of them were there\n",
		       s->number, s->same);
	return rc || s->missing || atomic_load(&s->copy.failed);
}

/*
 * Checks that exactly one of source and target is in the job's file system: with out the source,
 * otherwise the target.
 */
static int check_ends(struct stage *s, bool out)
{
	bool from = pvfs_is_pvfs(s->src), to = pvfs_is_pvfs(s->dst);

	if (from == out && to != out)
		return 0;
	return tool_say(s->tool, "%s is to lie %s /pvfs, and %s %s",
			out ? s->src : s->dst, "below", out ? s->dst : s->src,
			"not");
}

static int prepare_stage(struct stage *s, bool out, char **path)
{
	const struct env_opts none = { .mount = NULL };

	s->copy = (struct copy){ .tool = s->tool,
				 .opt = { .recursive = true,
					  .preserve = true,
					  .nofollow = true,
					  .xattrs = true,
					  .quiet = s->quiet,
					  .block = 4u << 20,
					  .meta = { -1, -1, -1, 0, 0 } } };
	if (job_find(&s->job, s->id, false) || env_set(&s->job, &none) ||
	    read_key(s))
		return 1;
	if (make_absolute(s->src, path[0]) || make_absolute(s->dst, path[1]))
		return tool_say(s->tool, "a path is too long");
	resolve_links(s->src);
	resolve_links(s->dst);
	if (!s->manifest_path[0])
		snprintf(s->manifest_path, JOB_PATH, "pvfs-job-%s.%s",
			 s->job.id, out ? "stage-out" : "stage-in");
	return check_ends(s, out);
}

/*
 * A walk that still waits for servers ends with this process: freeing it would wait for
 * them, too.
 */
static void leave_stage(struct stage *s, int rc)
{
	if (is_interrupted(s)) {
		fflush(NULL);
		tool_say(s->tool, "interrupted; stage again");
		copy_signals_end(&s->copy);
	}
	if (s->walk && !s->over && walk_is_finished(s->walk)) {
		walk_free(s->walk);
		return;
	}
	fflush(NULL);
	if (s->walk)
		_exit(rc ? rc : 1);
}

static int run_stage(struct stage *s)
{
	int rc = manifest_open(s->manifest_path, &s->manifest);

	if (rc)
		return tool_say(s->tool, "%s: %s", s->manifest_path,
				strerror(-rc));
	s->team.key = s->key;
	s->team.ended = file_ended;
	s->team.arg = s;
	copy_signals_hear(&s->copy);
	rc = team_open(&s->team, &s->job);
	if (rc)
		tool_say(s->tool, "copiers: %s", strerror(-rc));
	if (rc || request_copiers(s)) {
		manifest_close(s->manifest);
		copy_signals_end(&s->copy);
		return 1;
	}
	rc = copy_tree(s);
	if (rc)
		tool_say(s->tool, "the walk: %s", strerror(-rc));
	team_close(&s->team);
	rc = print_result(s, manifest_close(s->manifest)) || rc;
	leave_stage(s, rc);
	link_close(&s->head);
	return rc;
}

int cmd_stage(int argc, char **argv)
{
	bool out = !strcmp(argv[0], "stage-out");
	static struct stage s;
	int i;

	copy_signals_begin();
	s = (struct stage){ .tool = &tools[out], .deadline = CLOCK_NEVER };
	i = tool_options(s.tool, argc, argv, &s);
	if (argc - i != 2)
		tool_usage(s.tool);
	if (prepare_stage(&s, out, argv + i))
		return 1;
	return tool_done(s.tool, run_stage(&s));
}
