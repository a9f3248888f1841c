/* SPDX-License-Identifier: BSD-2-Clause */
/* pvfs-cp - copies files and trees to, from, between and within mounts. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "client/tools/files/copy/copy.h"
#include "common/json/json_out.h"
#include "common/util/clock.h"

enum { OPT_VERIFY = 256, OPT_JSON };

static int set_option(void *arg, int opt, const char *val)
{
	struct copy_opts *o = arg;

	switch (opt) {
	case 'r':
	case 'R':
		o->recursive = true;
		return 0;
	case 'p':
		o->preserve = true;
		return 0;
	case 'a':
		o->recursive = o->preserve = o->xattrs = o->links = true;
		return 0;
	case 'N':
		o->no_clobber = true;
		return 0;
	case 'q':
		o->quiet = true;
		return 0;
	case 'v':
		o->verbose = true;
		return 0;
	case OPT_VERIFY:
		o->verify = true;
		return 0;
	case OPT_JSON:
		o->json = true;
		return 0;
	case 'j':
		o->threads = tool_number(val);
		return 0;
	case 'k':
		o->block = tool_number(val);
		return 0;
	case 's':
		o->meta.ssize = (int32_t)tool_number(val);
		return 0;
	case 'b':
		o->meta.base = (int32_t)tool_number(val);
		return 0;
	case 'n':
		o->meta.pcount = (int32_t)tool_number(val);
		return 0;
	default:
		return -1;
	}
}

static const struct tool_value values[] = {
	{ 'j', 1, COPY_THREADS_MAX, NULL },
	{ 'k', 65536, 1u << 28, NULL },
	{ 's', 64, 1u << 30, NULL },
	{ 'b', 0, 1023, NULL },
	{ 'n', 1, 1024, NULL },
	{ 0 },
};

static const struct option longs[] = {
	{ "recursive", no_argument, NULL, 'r' },
	{ "preserve", no_argument, NULL, 'p' },
	{ "archive", no_argument, NULL, 'a' },
	{ "no-clobber", no_argument, NULL, 'N' },
	{ "quiet", no_argument, NULL, 'q' },
	{ "verbose", no_argument, NULL, 'v' },
	{ "verify", no_argument, NULL, OPT_VERIFY },
	{ "json", no_argument, NULL, OPT_JSON },
	{ "jobs", required_argument, NULL, 'j' },
	{ "block", required_argument, NULL, 'k' },
	{ "stripe-size", required_argument, NULL, 's' },
	{ "base", required_argument, NULL, 'b' },
	{ "iods", required_argument, NULL, 'n' },
	{ 0 },
};

static const struct tool tool = {
	.name = "pvfs-cp",
	.usage =
		"[-aNpqrv] [--verify] [--json] [-j N] [-k SIZE] [-s SIZE] [-b IOD] [-n N] SOURCE... TARGET",
	.help = "Copies files and trees to, from, between and within PVFS mounts.\n"
		"  -r, --recursive        directories and what is in them\n"
		"  -p, --preserve         mode, owner, times, access control list\n"
		"  -a, --archive          -r -p, extended attributes, hard links\n"
		"  -N, --no-clobber       leave existing files alone\n"
		"      --verify           read everything back and compare checksums\n"
		"  -j, --jobs N           files (or 64M pieces) at a time (4)\n"
		"  -k, --block SIZE       bytes a call (4M)\n"
		"  -s, --stripe-size SIZE of new files\n"
		"  -b, --base IOD         first iod of new files\n"
		"  -n, --iods N           iods of new files\n"
		"  -q, --quiet            no progress line\n"
		"  -v, --verbose          a line for each file\n"
		"      --json             what was done, as JSON\n"
		"Holes stay holes.  A terminal gets a progress line, a pipe does not.\n",
	.shorts = "rRpaNqvj:k:s:b:n:",
	.ordinary = "cp(1)",
	.longs = longs,
	.values = values,
	.option = set_option,
};

/* into: attributes of the target, if it is a directory; or NULL. */
static void walk_sources(struct copy *c, struct copy_dirs *dirs, char **src,
			 int n, const char *target, const struct stat *into)
{
	struct copy_place *place = into ? copy_made_enter(c->made, into, NULL)
					: NULL;

	if (into && !place) {
		copy_failed(c, target);
		n = 0;
	}
	for (int i = 0; i < n; i++) {
		char *base = into ? tool_base(src[i]) : NULL;
		char *to = base ? tool_join(target, base) : strdup(target);

		if (to)
			copy_walk(c, dirs, src[i], to, place);
		else
			copy_failed(c, src[i]);
		free(to);
		free(base);
	}
	atomic_store(&c->walked, true);
}

static void copy_all(struct copy *c, char **src, int n, const char *target,
		     const struct stat *into)
{
	pthread_t threads[COPY_THREADS_MAX];
	unsigned int k = 0;
	struct copy_dirs dirs = { 0 };
	struct progress *p = progress_start(c);

	while (k < c->opt.threads &&
	       !pthread_create(&threads[k], NULL, copy_pieces, c))
		k++;
	if (k) {
		walk_sources(c, &dirs, src, n, target, into);
	} else {
		errno = EAGAIN;
		copy_failed(c, "threads");
	}
	copy_queue_close(c->queue);
	while (k)
		pthread_join(threads[--k], NULL);
	if (c->names)
		copy_links_finish(c, c->names);
	copy_dirs_finish(c, &dirs);
	progress_stop(p);
}

static void print_json(const struct copy *c, double secs)
{
	struct json_object *o;

	if (!c->opt.json)
		return;
	o = json_object_new_object();
	json_u64(o, "files", atomic_load(&c->files));
	json_u64(o, "files_found", atomic_load(&c->files_found));
	json_u64(o, "bytes", atomic_load(&c->bytes));
	json_u64(o, "verified", atomic_load(&c->verified));
	json_num(o, "seconds", secs);
	json_yes(o, "ok", !atomic_load(&c->failed));
	json_line(o);
}

static void end_interrupted(const struct copy *c)
{
	uint64_t parts = atomic_load(&c->unfinished);

	if (!atomic_load(&c->interrupted))
		return;
	tool_say(c->tool,
		 "interrupted: %llu files copied, %llu that were there before "
		 "are cut short; copy again",
		 (unsigned long long)atomic_load(&c->files),
		 (unsigned long long)parts);
	copy_signals_end(c);
}

int main(int argc, char **argv)
{
	struct copy c = { .tool = &tool,
			  .opt = { .threads = 4,
				   .block = 4u << 20,
				   .strict = true,
				   .meta = { -1, -1, -1, 0, 0 } } };
	int i = tool_options(&tool, argc, argv, &c.opt);
	uint64_t start = clock_now();
	struct stat st;
	bool into;

	copy_signals_begin();
	if (argc - i < 2)
		tool_usage(&tool);
	if (tool_need_path(&tool, argv + i, argc - i))
		return 1;
	into = !pvfs_stat(argv[argc - 1], &st) && S_ISDIR(st.st_mode);
	if (!into && argc - i > 2)
		return tool_say(&tool, "%s: not a directory", argv[argc - 1]);
	c.umask = umask(0);
	umask(c.umask);
	c.queue = copy_queue_new(256);
	if (!c.queue)
		return tool_fail(&tool, "queue");
	c.names = c.opt.links ? copy_links_new() : NULL;
	if (c.opt.links && !c.names)
		return tool_fail(&tool, "links");
	c.made = copy_made_new();
	if (!c.made)
		return tool_fail(&tool, "names");
	copy_signals_hear(&c);
	copy_all(&c, argv + i, argc - 1 - i, argv[argc - 1], into ? &st : NULL);
	copy_made_free(c.made);
	copy_queue_free(c.queue);
	print_json(&c, (double)(clock_now() - start) / 1e9);
	end_interrupted(&c);
	return tool_done(&tool, atomic_load(&c.failed));
}
