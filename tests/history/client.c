/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * client.c - one client of the history test.
 *
 * 	history-client setup LOG WRITER SEED DIR UNTIL [PACE [SHAPE...]]
 * 	history-client run ...		makes random calls
 * 	history-client look ...		reads everything, until all reads succeed
 *
 * UNTIL is in seconds of CLOCK_BOOTTIME.  PACE is the mean pause in microseconds.  A SHAPE is
 * KIND=OBJECTS,BLOCKS,WEIGHT (plain, cut, tail, guard, names).
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <pvfs.h>

#include "tests/history/work.h"

#define LOG_SIZE (256u << 20) /* sparse until it is used */

static void give_up(const char *what)
{
	perror(what);
	exit(1);
}

/* ---- setup ---- */

static void setup_file(struct work *w, enum object_kind kind, unsigned int i)
{
	struct pvfs_filestat meta = { .base = (int)(i % 2), .ssize = STRIPE };
	uint32_t block, n, blocks = w->shape[kind].blocks;
	char path[4096];
	int fd;

	work_path(w, kind, i, path);
	fd = pvfs_open(path, O_RDWR | O_CREAT | O_EXCL | O_META, 0644, &meta);
	if (fd < 0 || pvfs_close(fd))
		give_up(path);
	if (kind == OBJ_TAIL)
		return;
	for (block = 0; block < blocks; block += n) {
		n = blocks - block < 64 ? blocks - block : 64;
		if (work_write(w, kind, i, block, n, 0) != (int)n)
			give_up(path);
	}
}

static void setup(struct work *w)
{
	unsigned int kind, i;
	char path[4096];

	if (pvfs_mkdir(w->dir, 0755) && errno != EEXIST)
		give_up(w->dir);
	for (kind = 0; kind < OBJ_NAMES; kind++)
		for (i = 0; i < w->shape[kind].objects; i++)
			setup_file(w, (enum object_kind)kind, i);
	for (i = 0; i < w->shape[OBJ_NAMES].objects; i++) {
		work_path(w, OBJ_NAMES, i, path);
		if (pvfs_mkdir(path, 0755))
			give_up(path);
	}
}

/* ---- run ---- */

static unsigned int weights(const struct work *w)
{
	unsigned int kind, sum = 0;

	for (kind = 0; kind < OBJ_KINDS; kind++)
		sum += w->shape[kind].weight;
	return sum;
}

static void run(struct work *w)
{
	static void (*const step[OBJ_KINDS])(struct work *, unsigned int) = {
		step_plain, step_cut, step_tail, step_guard, step_names,
	};
	unsigned int at, kind, sum = weights(w);

	while (!over(w)) {
		at = roll(w, sum);
		for (kind = 0; at >= w->shape[kind].weight; kind++)
			at -= w->shape[kind].weight;
		step[kind](w, roll(w, w->shape[kind].objects));
		/* after a failed call, some clients exit in an orderly way */
		if (w->failed && !roll(w, 4))
			exit(0);
		w->failed = false;
		pause_us(w, 2 * w->pace_us);
	}
}

/* ---- look ---- */

static bool look_file(struct work *w, enum object_kind kind, unsigned int i)
{
	uint32_t block, n, blocks = w->shape[kind].blocks;
	int rc;

	if (kind == OBJ_TAIL || kind == OBJ_CUT) {
		rc = work_size(w, kind, i);
		if (rc < 0)
			return false;
		if ((uint32_t)rc > blocks || kind == OBJ_TAIL)
			blocks = (uint32_t)rc;
	}
	for (block = 0; block < blocks; block += n) {
		n = blocks - block < 64 ? blocks - block : 64;
		if (work_read(w, kind, i, block, n) < 0)
			return false;
	}
	return true;
}

static bool look_names(struct work *w, unsigned int i)
{
	uint32_t name;
	int rc;

	for (name = 0; name < NAMES; name++) {
		rc = work_lookup(w, i, name);
		if (rc && rc != -ENOENT)
			return false;
	}
	return true;
}

static bool look_once(struct work *w, enum object_kind kind, unsigned int i)
{
	return kind == OBJ_NAMES ? look_names(w, i) : look_file(w, kind, i);
}

static void look(struct work *w)
{
	unsigned int kind, i;

	for (kind = 0; kind < OBJ_KINDS; kind++)
		for (i = 0; i < w->shape[kind].objects; i++)
			while (!look_once(w, (enum object_kind)kind, i)) {
				if (over(w))
					give_up("not all answers after healing");
				pause_us(w, 100000);
			}
}

/* ---- the command line ---- */

static const struct shape ordinary[OBJ_KINDS] = {
	[OBJ_PLAIN] = { 3, 64, 30 }, [OBJ_CUT] = { 3, 16, 25 },
	[OBJ_TAIL] = { 2, 0, 12 },   [OBJ_GUARD] = { 3, 4, 25 },
	[OBJ_NAMES] = { 3, 0, 25 },
};

static void read_shape(struct work *w, const char *arg)
{
	static const char *const name[OBJ_KINDS] = {
		"plain", "cut", "tail", "guard", "names",
	};
	unsigned int kind;
	struct shape *s;
	size_t len;

	for (kind = 0; kind < OBJ_KINDS; kind++) {
		s = &w->shape[kind];
		len = strlen(name[kind]);
		if (!strncmp(arg, name[kind], len) && arg[len] == '=' &&
		    sscanf(arg + len + 1, "%u,%u,%u", &s->objects, &s->blocks,
			   &s->weight) == 3 &&
		    s->objects <= OBJECTS_MAX && s->blocks <= VALUES_MAX)
			return;
	}
	fprintf(stderr, "%s: not a shape\n", arg);
	exit(2);
}

static void init(struct work *w, int argc, char **argv)
{
	int i, rc;

	memset(w->fd, -1, sizeof(w->fd));
	memcpy(w->shape, ordinary, sizeof(ordinary));
	rc = log_create(&w->log, argv[2], (uint16_t)atoi(argv[3]), LOG_SIZE);
	if (rc) {
		errno = -rc;
		give_up(argv[2]);
	}
	w->rng = strtoull(argv[4], NULL, 10) * 2654435761u + w->log.writer;
	w->dir = argv[5];
	w->until = (uint64_t)(strtod(argv[6], NULL) * 1e9);
	w->pace_us = argc > 7 ? (unsigned int)atoi(argv[7]) : 2000;
	for (i = 8; i < argc; i++)
		read_shape(w, argv[i]);
	w->buf = aligned_alloc(BLOCK, (size_t)VALUES_MAX * BLOCK);
	if (!w->buf)
		give_up("buffer");
}

int main(int argc, char **argv)
{
	static struct work w;

	if (argc < 7) {
		fprintf(stderr, "usage: see client.c\n");
		return 2;
	}
	init(&w, argc, argv);
	record_stops();
	if (!strcmp(argv[1], "setup"))
		setup(&w);
	else if (!strcmp(argv[1], "run"))
		run(&w);
	else
		look(&w);
	_exit(0);
}
