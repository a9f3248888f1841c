/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * lend_files.c - terms and marks of a session.  The client may do anything to the
 * marks, also cut the file, so they are read and never mapped here.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "server/lend/lend_int.h"

#define NAME_LEN 32u
/* An earlier release had no more. */
#define OLD_LEN sizeof(struct lent_terms)
#define NO_FILES ((struct lend_files){ .terms_fd = -1, .marks_fd = -1 })

static void name_of(uint64_t session, const char *kind, char *name)
{
	snprintf(name, NAME_LEN, "%016llx.%s", (unsigned long long)session,
		 kind);
}

static void remove_names(int dirfd, uint64_t session)
{
	char name[NAME_LEN];

	name_of(session, "marks", name);
	unlinkat(dirfd, name, 0);
	name_of(session, "terms", name);
	unlinkat(dirfd, name, 0);
}

void lend_files_remove(int dirfd, const struct lend_files *f, uint64_t session)
{
	if (f->named)
		remove_names(dirfd, session);
}

void lend_terms_clear(struct lent_terms *terms)
{
	unsigned int i;

	for (i = 0; i < LENT_OBJECTS; i++)
		if (atomic_load(&terms->word[i]) != LENT_ASIDE)
			atomic_store(&terms->word[i], 0);
	atomic_thread_fence(memory_order_seq_cst);
}

void lend_files_close(struct lend_files *f)
{
	if (f->terms)
		munmap(f->terms, f->old ? OLD_LEN : sizeof(*f->terms));
	if (f->terms_fd >= 0)
		close(f->terms_fd);
	if (f->marks_fd >= 0)
		close(f->marks_fd);
	*f = NO_FILES;
}

static int open_file(int dirfd, const char *name, int flags)
{
	int fd = openat(dirfd, name, flags | O_CLOEXEC | O_NOFOLLOW, 0600);

	return fd < 0 ? -errno : fd;
}

/* Its pages are there: none is missing when the disk is full. */
static int make_file(int dirfd, const char *name, size_t len)
{
	int rc, fd = open_file(dirfd, name, O_RDWR | O_CREAT | O_EXCL);

	if (fd < 0)
		return fd;
	rc = posix_fallocate(fd, 0, (off_t)len);
	if (!rc)
		return fd;
	close(fd);
	return -rc;
}

static int map_terms(int fd, size_t len, struct lend_terms **terms)
{
	void *p = mmap(NULL, len, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);

	if (p == MAP_FAILED)
		return -errno;
	*terms = p;
	return 0;
}

/* The descriptor that is given away cannot write. */
static int make_terms(int dirfd, uint64_t session,
		      const struct lend_process *process, struct lend_files *f)
{
	char name[NAME_LEN];
	int fd, rc;

	name_of(session, "terms", name);
	fd = make_file(dirfd, name, sizeof(*f->terms));
	if (fd < 0)
		return fd;
	rc = map_terms(fd, sizeof(*f->terms), &f->terms);
	close(fd);
	if (rc)
		return rc;
	f->terms->lent.session = session;
	f->terms->lent.pid = process->pid;
	f->terms->lent.began = process->began;
	f->terms_fd = open_file(dirfd, name, O_RDONLY);
	return f->terms_fd < 0 ? f->terms_fd : 0;
}

static int make_named(int dirfd, uint64_t session,
		      const struct lend_process *process,
		      struct lend_files *out)
{
	struct lend_files f = NO_FILES;
	char name[NAME_LEN];
	int rc;

	f.named = true;
	name_of(session, "marks", name);
	f.marks_fd = make_file(dirfd, name, sizeof(struct lent_page));
	rc = f.marks_fd < 0 ? f.marks_fd : 0;
	if (!rc)
		rc = make_terms(dirfd, session, process, &f);
	if (rc) {
		lend_files_close(&f);
		if (rc != -EEXIST)
			remove_names(dirfd, session);
		return rc;
	}
	*out = f;
	return 0;
}

/* ---- without names ---- */

static int make_memory(const char *name, size_t len)
{
	int rc, fd = memfd_create(name, MFD_CLOEXEC | MFD_ALLOW_SEALING);

	if (fd < 0)
		return -errno;
	rc = posix_fallocate(fd, 0, (off_t)len);
	if (!rc)
		return fd;
	close(fd);
	return -rc;
}

static int seal(int fd, int more)
{
	return fcntl(fd, F_ADD_SEALS,
		     F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_SEAL | more)
		       ? -errno
		       : 0;
}

/* Nobody else can write to the terms, whatever the descriptor says. */
static int fill_unnamed(struct lend_files *f)
{
	int rc;

	f->marks_fd = make_memory("pvfs-marks", sizeof(struct lent_page));
	if (f->marks_fd < 0)
		return f->marks_fd;
	f->terms_fd = make_memory("pvfs-terms", sizeof(*f->terms));
	if (f->terms_fd < 0)
		return f->terms_fd;
	rc = map_terms(f->terms_fd, sizeof(*f->terms), &f->terms);
	if (!rc)
		rc = seal(f->terms_fd, F_SEAL_FUTURE_WRITE);
	return rc ? rc : seal(f->marks_fd, 0);
}

static int make_unnamed(uint64_t session, const struct lend_process *process,
			struct lend_files *out)
{
	struct lend_files f = NO_FILES;
	int rc = fill_unnamed(&f);

	if (rc) {
		lend_files_close(&f);
		return rc;
	}
	f.terms->lent.session = session;
	f.terms->lent.pid = process->pid;
	f.terms->lent.began = process->began;
	*out = f;
	return 0;
}

int lend_files_make(int dirfd, uint64_t session,
		    const struct lend_process *process, struct lend_files *out)
{
	return dirfd < 0 ? make_unnamed(session, process, out)
			 : make_named(dirfd, session, process, out);
}

int lend_files_find(int dirfd, const char *terms, struct lend_files *out)
{
	struct lend_files f = NO_FILES;
	char name[NAME_LEN];
	struct stat sb;
	int rc;

	f.named = true;
	f.terms_fd = open_file(dirfd, terms, O_RDWR);
	if (f.terms_fd < 0)
		return f.terms_fd;
	rc = fstat(f.terms_fd, &sb) ? -errno : 0;
	if (!rc && sb.st_size < (off_t)OLD_LEN)
		rc = -ENODATA;
	f.old = !rc && sb.st_size < (off_t)sizeof(*f.terms);
	if (!rc)
		rc = map_terms(f.terms_fd, f.old ? OLD_LEN : sizeof(*f.terms),
			       &f.terms);
	if (!rc) {
		name_of(f.terms->lent.session, "marks", name);
		f.marks_fd = open_file(dirfd, name, O_RDONLY);
		rc = f.marks_fd < 0 ? f.marks_fd : 0;
	}
	if (rc)
		lend_files_close(&f);
	else
		*out = f;
	return rc;
}

enum lend_kind lend_kind_of(const struct lend_files *f, uint32_t index)
{
	return f->old ? LEND_WAITS : atomic_load(&f->terms->kind[index]);
}

bool lend_marks_read(const struct lend_files *f, struct lent_marks *marks)
{
	return pread(f->marks_fd, marks, sizeof(*marks), 0) ==
	       (ssize_t)sizeof(*marks);
}

bool lend_page_read(const struct lend_files *f, struct lent_page *page)
{
	*page = (struct lent_page){ 0 };
	return pread(f->marks_fd, page, sizeof(*page), 0) >=
	       (ssize_t)sizeof(page->marks);
}

/* What cannot be read may be hidden. */
void lend_marked(const struct lend_files *f, bool marked[LENT_OBJECTS])
{
	struct lent_marks marks;
	bool known = lend_marks_read(f, &marks);
	unsigned int i;
	uint32_t object;

	for (i = 0; i < LENT_OBJECTS; i++)
		marked[i] = !known;
	for (i = 0; known && i < LENT_INSIDE; i++) {
		object = atomic_load(&marks.inside[i].object);
		if (object && object <= LENT_OBJECTS)
			marked[object - 1] = true;
	}
}

bool lend_inside(const struct lend_files *f, uint32_t index)
{
	struct lent_marks marks;
	unsigned int i;

	if (!lend_marks_read(f, &marks))
		return true;
	for (i = 0; i < LENT_INSIDE; i++) {
		uint32_t object = atomic_load(&marks.inside[i].object);

		if (object && (index == LENT_OBJECTS || object == index + 1))
			return true;
	}
	return false;
}
