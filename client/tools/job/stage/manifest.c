/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * manifest.c - the list of the staged files; see stage.h.  While staging runs, the manifest is
 * NAME.part; manifest_close() renames it to NAME.  Staging begins with reading both files,
 * because a killed run leaves NAME.part.  Lines:
 *
 *	ok SIZE MTIME MODE HASH PATH
 *	missing PATH WHY
 */
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <uthash.h>

#include "client/tools/job/parts/link.h"
#include "client/tools/job/stage/stage.h"

struct manifest_entry {
	UT_hash_handle hh;
	struct stage_file file;
	char name[];
};

struct manifest {
	char path[JOB_PATH], part[JOB_PATH + 8];
	struct manifest_entry *known;
	FILE *out;
	int error; /* errno of the first write that failed */
};

static int add_known(struct manifest *m, const char *name,
		     const struct stage_file *f)
{
	size_t len = strlen(name);
	struct manifest_entry *k, *old;

	HASH_FIND(hh, m->known, name, len, old);
	if (old) {
		old->file = *f;
		return 0;
	}
	k = malloc(sizeof(*k) + len + 1);
	if (!k)
		return -ENOMEM;
	k->file = *f;
	memcpy(k->name, name, len + 1);
	HASH_ADD(hh, m->known, name, len, k);
	return 0;
}

/* Ignores a line that is cut off, or of another kind. */
static int parse_line(struct manifest *m, char *line)
{
	struct stage_file f;
	int at = 0;

	line[strcspn(line, "\n")] = '\0';
	if (sscanf(line, "ok %" SCNu64 " %" SCNd64 " %o %" SCNx64 " %n",
		   &f.size, &f.mtime, &f.mode, &f.hash, &at) != 4 ||
	    !at || link_unescape(line + at))
		return 0;
	return add_known(m, line + at, &f);
}

/* Rejects links and pipes, because others may make files there, too. */
static FILE *open_file(const char *path, int flags)
{
	int fd = open(path, flags | O_NOFOLLOW | O_CLOEXEC, 0666);
	struct stat st;
	FILE *f = NULL;

	if (fd < 0)
		return NULL;
	if (fstat(fd, &st) || !S_ISREG(st.st_mode))
		errno = EINVAL;
	else
		f = fdopen(fd, flags & O_WRONLY ? "w" : "r");
	if (!f)
		close(fd);
	return f;
}

static int load_file(struct manifest *m, const char *path)
{
	FILE *f = open_file(path, O_RDONLY | O_NONBLOCK);
	char *line = NULL;
	size_t room = 0;
	ssize_t n;
	int rc = 0;

	if (!f)
		return errno == ENOENT ? 0 : -errno;
	while (!rc && (n = getline(&line, &room, f)) > 0)
		if (line[n - 1] == '\n')
			rc = parse_line(m, line);
	free(line);
	fclose(f);
	return rc;
}

static void free_manifest(struct manifest *m)
{
	struct manifest_entry *k, *next;

	HASH_ITER(hh, m->known, k, next) {
		HASH_DEL(m->known, k);
		free(k);
	}
	free(m);
}

static void note_error(struct manifest *m, int written)
{
	if (written < 0 && !m->error)
		m->error = errno;
}

static void write_ok(struct manifest *m, const char *name,
		     const struct stage_file *f)
{
	char word[LINK_WORD];
	int n;

	link_escape(name, word);
	n = fprintf(m->out, "ok %" PRIu64 " %" PRId64 " %o %016" PRIx64 " %s\n",
		    f->size, f->mtime, f->mode, f->hash, word);
	note_error(m, n);
}

/*
 * Starts NAME.part with the entries of the earlier manifests, so that an interrupted run loses
 * none of them.
 */
static int begin_part(struct manifest *m)
{
	char fresh[JOB_PATH + 16];
	struct manifest_entry *k, *next;

	snprintf(fresh, sizeof(fresh), "%s.new", m->path);
	unlink(fresh);
	m->out = open_file(fresh, O_WRONLY | O_CREAT | O_EXCL);
	if (!m->out)
		return -errno;
	setvbuf(m->out, NULL, _IOLBF, 0);
	note_error(m, fputs("pvfs-job manifest 1\n", m->out));
	HASH_ITER(hh, m->known, k, next)
		write_ok(m, k->name, &k->file);
	return rename(fresh, m->part) ? -errno : 0;
}

int manifest_open(const char *path, struct manifest **out)
{
	struct manifest *m;
	int rc;

	if (strlen(path) >= JOB_PATH)
		return -ENAMETOOLONG;
	m = calloc(1, sizeof(*m));
	if (!m)
		return -ENOMEM;
	snprintf(m->path, sizeof(m->path), "%s", path);
	snprintf(m->part, sizeof(m->part), "%s.part", path);
	rc = load_file(m, m->path);
	if (!rc)
		rc = load_file(m, m->part);
	if (!rc)
		rc = begin_part(m);
	if (!rc) {
		*out = m;
		return 0;
	}
	if (m->out)
		fclose(m->out);
	free_manifest(m);
	return rc;
}

const struct stage_file *manifest_find(const struct manifest *m,
				       const char *name, const struct stat *st)
{
	struct manifest_entry *k;

	HASH_FIND(hh, m->known, name, strlen(name), k);
	return k && k->file.size == (uint64_t)st->st_size &&
			       k->file.mtime == stage_mtime(st)
		       ? &k->file
		       : NULL;
}

void manifest_ok(struct manifest *m, const char *name,
		 const struct stage_file *f)
{
	write_ok(m, name, f);
}

void manifest_missing(struct manifest *m, const char *name, const char *why)
{
	char word[LINK_WORD];

	link_escape(name, word);
	note_error(m, fprintf(m->out, "missing %s %s\n", word, why));
}

int manifest_close(struct manifest *m)
{
	int rc = -m->error;

	if (!rc && (fflush(m->out) || fsync(fileno(m->out))))
		rc = -errno;
	if (fclose(m->out) && !rc)
		rc = -errno;
	if (!rc && rename(m->part, m->path))
		rc = -errno;
	free_manifest(m);
	return rc;
}
