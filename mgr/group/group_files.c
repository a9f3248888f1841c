/* SPDX-License-Identifier: BSD-2-Clause */
/* group_files.c - the folder "raft" of a manager, while no member of it runs. */
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "common/util/random_id.h"
#include "mgr/group/group_int.h"

int group_sync_storage(const char *storage)
{
	int fd = open(storage, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	int rc = fd < 0 || fsync(fd) ? -errno : 0;

	if (fd >= 0)
		close(fd);
	return rc;
}

int group_open_folder(const char *storage, const struct log *log,
		      struct disk_folder *disk)
{
	char path[PATH_MAX + sizeof("/raft")];
	int rc = 0;

	snprintf(path, sizeof(path), "%s/raft", storage);
	if (!mkdir(path, 0700))
		rc = group_sync_storage(storage);
	else if (errno != EEXIST)
		rc = -errno;
	if (!rc)
		rc = disk_folder_open(path, disk);
	if (rc)
		log_error(log, "cannot open %s: %s", path, strerror(-rc));
	return rc;
}

int mgr_group_identity(const char *storage, const struct log *log,
		       uint64_t *group, uint64_t *id)
{
	struct disk_folder disk;
	int rc = group_open_folder(storage, log, &disk);

	if (rc)
		return rc;
	rc = member_identity(&disk, group, id);
	disk_folder_close(&disk);
	if (rc && rc != -ENOENT)
		log_error(log,
			  "%s/raft/vote: %s: remove this manager from the group "
			  "(pvfs-managers replace), and empty its storage",
			  storage, strerror(-rc));
	return rc;
}

int mgr_group_needs(const char *storage, const struct log *log, uint64_t *index)
{
	struct member_attr attr = { .log_limit = GROUP_LOG_LIMIT, .log = log };
	int rc = group_open_folder(storage, log, &attr.disk);

	if (rc)
		return rc;
	rc = member_snapshot_index(&attr, index);
	disk_folder_close(&attr.disk);
	if (rc)
		log_error(log, "cannot read %s/raft: %s", storage,
			  strerror(-rc));
	return rc;
}

int mgr_group_last(const char *storage, const struct log *log, uint64_t *index,
		   uint64_t *term)
{
	struct member_attr attr = { .log_limit = GROUP_LOG_LIMIT, .log = log };
	int rc = group_open_folder(storage, log, &attr.disk);

	if (rc)
		return rc;
	rc = member_last_entry(&attr, index, term);
	disk_folder_close(&attr.disk);
	if (rc)
		log_error(log, "cannot read %s/raft: %s", storage,
			  strerror(-rc));
	return rc;
}

static int force_member(struct member_attr *attr, const char *address,
			uint64_t group)
{
	struct member_address self = { 0, address };
	int rc = member_identity(&attr->disk, &attr->group, &attr->id);

	self.id = attr->id;
	return rc ? rc : member_force(attr, group, &self, 1);
}

int mgr_group_force(const char *storage, const struct log *log,
		    const char *address, uint64_t group)
{
	struct member_attr attr = { .log_limit = GROUP_LOG_LIMIT, .log = log };
	int rc = group_open_folder(storage, log, &attr.disk);

	if (rc)
		return rc;
	rc = force_member(&attr, address, group);
	disk_folder_close(&attr.disk);
	if (rc)
		log_error(log, "cannot change %s/raft: %s", storage,
			  strerror(-rc));
	return rc;
}

/* ---- a new group ---- */

int group_record_first(struct store *st, struct store_applied *applied)
{
	int rc = applied->index ? 0 : store_note_committed(st, 1, 1);

	if (!rc)
		rc = store_record_committed(st);
	if (!rc)
		rc = store_checkpoint(st, 0);
	if (!rc)
		rc = store_get_applied(st, applied);
	return rc ? rc : applied->index == 1 ? 0 : -EIO;
}

/*
 * Makes the database that of a manager in a group: its present rows count as entry 1 of the log.
 * Sets *applied.
 */
static int begin_log(const struct store_attr *attr,
		     struct store_applied *applied)
{
	struct store *st;
	int rc = store_open(attr, &st);

	if (rc)
		return rc;
	rc = store_get_applied(st, applied);
	if (!rc)
		rc = group_record_first(st, applied);
	store_close(st);
	return rc;
}

static int found_member(struct member_attr *attr, const char *storage,
			const char *address)
{
	struct member_address self = { 0, address };
	int rc = random_id(&attr->group);

	if (!rc)
		rc = random_id(&attr->id);
	self.id = attr->id;
	if (!rc)
		rc = group_open_folder(storage, attr->log, &attr->disk);
	if (rc)
		return rc;
	rc = member_found(attr, &self);
	disk_folder_close(&attr->disk);
	return rc;
}

int mgr_group_found(const char *storage, uint64_t cache_size,
		    const struct log *log, const char *address)
{
	const struct store_attr attr = { .dir = storage,
					 .cache_size = cache_size,
					 .log = log,
					 .replicated = true };
	struct member_attr member = { .log_limit = GROUP_LOG_LIMIT,
				      .log = log };
	struct store_applied applied;
	int rc = begin_log(&attr, &applied);

	if (!rc) {
		member.applied = applied.index;
		rc = found_member(&member, storage, address);
	}
	if (rc)
		log_error(log, "cannot begin a new group in %s: %s", storage,
			  strerror(-rc));
	return rc;
}
