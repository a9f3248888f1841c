/* SPDX-License-Identifier: BSD-2-Clause */
/* backup_command.c - pvfs-mgr --backup: writes what the running manager sends to a folder. */
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include "common/util/clock.h"
#include "common/util/stamp.h"
#include "mgr/backup/backup_int.h"

#define PROGRESS_MS 5000

struct backup {
	const char *storage, *dir;
	const char *what; /* for messages about the progress */
	const struct log *log;
	uint64_t fsid;
	int dirfd; /* of the storage */
	int fd; /* connection to the manager; -1: none */
	struct backup_folder folder;
	uint64_t bytes, offset; /* received; of the current file */
	uint64_t report_at; /* clock_now() */
	uint8_t data[BACKUP_DATA_MAX + 1];
};

/* ---- the manager ---- */

static int open_storage(struct backup *b)
{
	struct stamp stamp = { .fsid = b->fsid, .role = "mgr" };
	char why[256] = "";
	int rc;

	b->dirfd = open(b->storage, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	rc = b->dirfd < 0 ? -errno
			  : stamp_look(b->dirfd, &stamp, why, sizeof(why));
	if (rc)
		log_error(b->log,
			  "no database in storage %s: %s; run this as root or "
			  "as the user of the manager, on its host",
			  b->storage, why[0] ? why : strerror(-rc));
	return rc;
}

static int connect_manager(struct backup *b)
{
	struct sockaddr_un address;
	int rc;

	b->fd = backup_socket(b->dirfd, &address);
	if (b->fd < 0)
		rc = -errno;
	else if (connect(b->fd, (void *)&address, sizeof(address)))
		rc = -errno;
	else
		return 0;
	log_error(
		b->log, "cannot ask the manager for its database: %s/%s: %s%s",
		b->storage, BACKUP_SOCKET, strerror(-rc),
		rc == -EACCES
			? "; run this as root or as the user of the manager"
			: "; does it run, and does it lead? A directory that no manager uses "
			  "is copied with cp -a");
	return rc;
}

/* ---- its stream ---- */

static int receive_bytes(struct backup *b, void *bytes, size_t len)
{
	uint8_t *at = bytes;
	ssize_t n;

	while (len) {
		n = recv(b->fd, at, len, 0);
		if (n < 0 && errno == EINTR)
			continue;
		if (n <= 0)
			return n ? -errno : -ECONNRESET;
		at += n;
		len -= (size_t)n;
	}
	return 0;
}

/* The data of the frame goes to b->data, with a NUL after it. */
static int receive_frame(struct backup *b, struct backup_frame *frame)
{
	int rc = receive_bytes(b, frame, sizeof(*frame));

	if (!rc && frame->len > BACKUP_DATA_MAX)
		rc = -EBADMSG;
	if (!rc)
		rc = receive_bytes(b, b->data, frame->len);
	if (rc)
		log_error(b->log,
			  "the manager did not send all of its database: %s; "
			  "its log says why",
			  strerror(-rc));
	else
		b->data[frame->len] = '\0';
	return rc;
}

/* The result of the manager. */
static int read_end(const struct backup *b, const struct backup_frame *frame)
{
	int32_t status = -EBADMSG;

	if (frame->len == sizeof(status))
		memcpy(&status, b->data, sizeof(status));
	if (status == -EBUSY)
		log_error(b->log,
			  "another backup of %s runs: wait until it has ended",
			  b->storage);
	else if (status == -ENOSPC)
		log_error(b->log,
			  "the disk of storage %s is nearly full: free space "
			  "there, then make the backup",
			  b->storage);
	else if (status)
		log_error(b->log,
			  "the manager cannot copy its database: %s; its log "
			  "says why",
			  strerror(-status));
	return status > 0 ? -EBADMSG : status;
}

static int read_begin(struct backup *b)
{
	struct backup_frame frame;
	struct backup_begin begin;
	int rc = receive_frame(b, &frame);

	if (rc)
		return rc;
	if (frame.kind == BACKUP_END) {
		rc = read_end(b, &frame);
		return rc ? rc : -EBADMSG;
	}
	if (frame.kind == BACKUP_BEGIN && frame.len == sizeof(begin)) {
		memcpy(&begin, b->data, sizeof(begin));
		if (begin.format == BACKUP_FORMAT &&
		    begin.stamp == STAMP_VERSION)
			return 0;
	}
	log_error(b->log,
		  "the manager that runs is of another release than this "
		  "program: restart it first");
	return -EPROTONOSUPPORT;
}

/* ---- the files ---- */

static void report_progress(struct backup *b)
{
	if (clock_now() < b->report_at)
		return;
	log_always(b->log, "%s: %" PRIu64 " MiB so far", b->what,
		   b->bytes >> 20);
	b->report_at = clock_after_ms(PROGRESS_MS);
}

/* The user of the manager may not choose where root writes. */
static bool is_plain_name(const char *name)
{
	return name[0] && name[0] != '.' && !strchr(name, '/') &&
	       strlen(name) <= BACKUP_NAME_MAX;
}

static int write_frame(struct backup *b, const struct backup_frame *frame)
{
	uint64_t at = b->offset;

	if (frame->kind == BACKUP_FILE && is_plain_name((char *)b->data)) {
		b->offset = 0;
		return backup_folder_file(&b->folder, (char *)b->data);
	}
	if (frame->kind != BACKUP_DATA)
		return -EBADMSG;
	b->offset += frame->len;
	b->bytes += frame->len;
	report_progress(b);
	return backup_folder_data(&b->folder, at, b->data, frame->len);
}

static int report_write(const struct backup *b, int rc)
{
	if (rc)
		log_error(b->log,
			  "cannot write the copy in %s: %s; it is removed",
			  b->dir, strerror(-rc));
	return rc;
}

static int write_files(struct backup *b)
{
	struct backup_frame frame;
	int rc;

	while (!(rc = receive_frame(b, &frame))) {
		if (frame.kind == BACKUP_END)
			return read_end(b, &frame);
		rc = report_write(b, write_frame(b, &frame));
		if (rc)
			break;
	}
	return rc;
}

static int open_folder(struct backup *b)
{
	struct stat st;
	int rc;

	b->folder.uid = (uid_t)-1;
	if (!geteuid() && b->dirfd >= 0 && !fstatat(b->dirfd, "db", &st, 0)) {
		b->folder.uid = st.st_uid;
		b->folder.gid = st.st_gid;
	}
	rc = backup_folder_open(&b->folder, b->dir);
	if (rc == -ENOTEMPTY)
		log_error(b->log,
			  "%s is not empty: name a new directory for the copy, "
			  "or remove an older or incomplete copy first",
			  b->dir);
	else if (rc)
		log_error(b->log, "cannot make the copy in %s: %s", b->dir,
			  strerror(-rc));
	return rc;
}

static int receive_copy(struct backup *b)
{
	int rc = read_begin(b);

	if (!rc)
		rc = write_files(b);
	return rc ? rc : report_write(b, backup_folder_publish(&b->folder));
}

static int copy_database(struct backup *b)
{
	int rc = connect_manager(b);

	if (!rc)
		rc = receive_copy(b);
	if (rc)
		return rc;
	return report_write(b, backup_folder_stamp(&b->folder, b->dirfd));
}

static void report_copy(const struct backup *b)
{
	if (b->folder.foreign)
		log_warn(b->log,
			 "the copy in %s does not belong to the user of the "
			 "manager: change its owner when you restore it",
			 b->dir);
	log_always(b->log,
		   "backup of the database in %s: %" PRIu64 " bytes in %s",
		   b->storage, b->bytes, b->dir);
}

static int make_copy(struct backup *b)
{
	int rc = open_folder(b);

	if (rc)
		return rc;
	rc = copy_database(b);
	if (rc) {
		backup_folder_discard(&b->folder);
	} else {
		backup_folder_close(&b->folder);
		report_copy(b);
	}
	return rc;
}

int backup_run(const char *storage, uint64_t fsid, const char *dir,
	       const struct log *log)
{
	struct backup *b = malloc(sizeof(*b));
	int rc;

	if (!b)
		return -ENOMEM;
	*b = (struct backup){ .storage = storage,
			      .dir = dir,
			      .what = "backup",
			      .log = log,
			      .fsid = fsid,
			      .fd = -1,
			      .report_at = clock_after_ms(PROGRESS_MS) };
	rc = open_storage(b);
	if (!rc)
		rc = make_copy(b);
	if (b->fd >= 0)
		close(b->fd);
	if (b->dirfd >= 0)
		close(b->dirfd);
	free(b);
	return rc;
}

static int receive_in_folder(struct backup *b)
{
	int rc = open_folder(b);

	if (rc)
		return rc;
	rc = receive_copy(b);
	if (rc)
		backup_folder_discard(&b->folder);
	else
		backup_folder_close(&b->folder);
	return rc;
}

int backup_receive(int fd, const char *dir, const struct log *log)
{
	struct backup *b = malloc(sizeof(*b));
	int rc;

	if (!b)
		return -ENOMEM;
	*b = (struct backup){ .storage = "the other manager",
			      .dir = dir,
			      .what = "filling the database",
			      .log = log,
			      .dirfd = -1,
			      .fd = fd,
			      .report_at = clock_after_ms(PROGRESS_MS) };
	rc = receive_in_folder(b);
	free(b);
	return rc;
}
