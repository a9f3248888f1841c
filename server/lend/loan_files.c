/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * loan_files.c - the two shared pages of a session: terms and marks.
 *
 * The client can change the marks and truncate their file.  So this process reads them with
 * pread() and never maps them.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "server/lend/loan_files.h"

#define NAME_LEN 32u
/* The terms of earlier releases end here. */
#define LEGACY_LEN sizeof(struct loan_page_terms)
#define NO_FILES ((struct loan_files){ .terms_fd = -1, .marks_fd = -1 })

static void format_name(uint64_t session, const char *kind, char *name)
{
	snprintf(name, NAME_LEN, "%016llx.%s", (unsigned long long)session,
		 kind);
}

static void remove_names(int dirfd, uint64_t session)
{
	char name[NAME_LEN];

	format_name(session, "marks", name);
	unlinkat(dirfd, name, 0);
	format_name(session, "terms", name);
	unlinkat(dirfd, name, 0);
}

void loan_files_unlink(int dirfd, const struct loan_files *f, uint64_t session)
{
	if (f->named)
		remove_names(dirfd, session);
}

void loan_terms_revoke(struct loan_page_terms *terms)
{
	unsigned int i;

	for (i = 0; i < LOAN_PAGE_OBJECTS; i++)
		if (atomic_load(&terms->word[i]) != LOAN_PAGE_ASIDE)
			atomic_store(&terms->word[i], 0);
	atomic_thread_fence(memory_order_seq_cst);
}

void loan_files_close(struct loan_files *f)
{
	if (f->terms)
		munmap(f->terms, f->legacy ? LEGACY_LEN : sizeof(*f->terms));
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

/* Allocates all blocks, so a full disk cannot fail a later access through the mapping. */
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

static int map_terms(int fd, size_t len, struct loan_terms **terms)
{
	void *p = mmap(NULL, len, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);

	if (p == MAP_FAILED)
		return -errno;
	*terms = p;
	return 0;
}

/* The client gets terms_fd, which is open for reading only. */
static int make_terms(int dirfd, uint64_t session, struct loan_files *f)
{
	char name[NAME_LEN];
	int fd, rc;

	format_name(session, "terms", name);
	fd = make_file(dirfd, name, sizeof(*f->terms));
	if (fd < 0)
		return fd;
	rc = map_terms(fd, sizeof(*f->terms), &f->terms);
	close(fd);
	if (rc)
		return rc;
	f->terms_fd = open_file(dirfd, name, O_RDONLY);
	return f->terms_fd < 0 ? f->terms_fd : 0;
}

static int make_named(int dirfd, uint64_t session, struct loan_files *f)
{
	char name[NAME_LEN];
	int rc;

	f->named = true;
	format_name(session, "marks", name);
	f->marks_fd = make_file(dirfd, name, sizeof(struct loan_page_file));
	rc = f->marks_fd < 0 ? f->marks_fd : make_terms(dirfd, session, f);
	if (rc && rc != -EEXIST)
		remove_names(dirfd, session);
	return rc;
}

/* ---- files without names ---- */

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

static int seal_memory(int fd, int more)
{
	return fcntl(fd, F_ADD_SEALS,
		     F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_SEAL | more)
		       ? -errno
		       : 0;
}

/* The seal keeps the client from mapping the terms for writing, although terms_fd is writable. */
static int make_unnamed(struct loan_files *f)
{
	int rc;

	f->marks_fd = make_memory("pvfs-marks", sizeof(struct loan_page_file));
	if (f->marks_fd < 0)
		return f->marks_fd;
	f->terms_fd = make_memory("pvfs-terms", sizeof(*f->terms));
	if (f->terms_fd < 0)
		return f->terms_fd;
	rc = map_terms(f->terms_fd, sizeof(*f->terms), &f->terms);
	if (!rc)
		rc = seal_memory(f->terms_fd, F_SEAL_FUTURE_WRITE);
	return rc ? rc : seal_memory(f->marks_fd, 0);
}

int loan_files_create(int dirfd, uint64_t session,
		      const struct borrower_process *process,
		      struct loan_files *out)
{
	struct loan_files f = NO_FILES;
	int rc = dirfd < 0 ? make_unnamed(&f) : make_named(dirfd, session, &f);

	if (rc) {
		loan_files_close(&f);
		return rc;
	}
	f.terms->lent.session = session;
	f.terms->lent.pid = process->pid;
	f.terms->lent.began = process->start_time;
	*out = f;
	return 0;
}

int loan_files_open(int dirfd, const char *terms, struct loan_files *out)
{
	struct loan_files f = NO_FILES;
	char name[NAME_LEN];
	struct stat sb;
	int rc;

	f.named = true;
	f.terms_fd = open_file(dirfd, terms, O_RDWR);
	if (f.terms_fd < 0)
		return f.terms_fd;
	rc = fstat(f.terms_fd, &sb) ? -errno : 0;
	if (!rc && sb.st_size < (off_t)LEGACY_LEN)
		rc = -ENODATA;
	f.legacy = !rc && sb.st_size < (off_t)sizeof(*f.terms);
	if (!rc)
		rc = map_terms(f.terms_fd,
			       f.legacy ? LEGACY_LEN : sizeof(*f.terms),
			       &f.terms);
	if (!rc) {
		format_name(f.terms->lent.session, "marks", name);
		f.marks_fd = open_file(dirfd, name, O_RDONLY);
		rc = f.marks_fd < 0 ? f.marks_fd : 0;
	}
	if (rc)
		loan_files_close(&f);
	else
		*out = f;
	return rc;
}

enum mark_action loan_files_mark_action(const struct loan_files *f,
					uint32_t index)
{
	return f->legacy ? MARK_WAIT : atomic_load(&f->terms->action[index]);
}

bool loan_files_read_marks(const struct loan_files *f,
			   struct loan_page_marks *marks)
{
	return pread(f->marks_fd, marks, sizeof(*marks), 0) ==
	       (ssize_t)sizeof(*marks);
}

bool loan_files_read_page(const struct loan_files *f,
			  struct loan_page_file *page)
{
	*page = (struct loan_page_file){ 0 };
	return pread(f->marks_fd, page, sizeof(*page), 0) >=
	       (ssize_t)sizeof(page->marks);
}

/* A client can hide its marks: if they cannot be read, all of them count as set. */
void loan_files_find_marks(const struct loan_files *f,
			   bool marked[LOAN_PAGE_OBJECTS])
{
	struct loan_page_marks marks;
	bool known = loan_files_read_marks(f, &marks);
	unsigned int i;
	uint32_t object;

	for (i = 0; i < LOAN_PAGE_OBJECTS; i++)
		marked[i] = !known;
	for (i = 0; known && i < LOAN_PAGE_INSIDE; i++) {
		object = atomic_load(&marks.inside[i].object);
		if (object && object <= LOAN_PAGE_OBJECTS)
			marked[object - 1] = true;
	}
}

bool loan_files_is_inside(const struct loan_files *f, uint32_t index)
{
	struct loan_page_marks marks;
	unsigned int i;

	if (!loan_files_read_marks(f, &marks))
		return true;
	for (i = 0; i < LOAN_PAGE_INSIDE; i++) {
		uint32_t object = atomic_load(&marks.inside[i].object);

		if (object &&
		    (index == LOAN_PAGE_OBJECTS || object == index + 1))
			return true;
	}
	return false;
}
