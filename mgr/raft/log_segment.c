/* SPDX-License-Identifier: BSD-2-Clause */
/* log_segment.c - segments of the log, and the heads of batches in them. */
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>

#include "common/util/crc32c.h"
#include "mgr/raft/entry_log_int.h"

uint32_t batch_head_crc(const struct batch_head *head)
{
	return crc32c(0, head, offsetof(struct batch_head, crc));
}

size_t batch_room(uint32_t bytes)
{
	size_t room = (size_t)(bytes / LOG_SECTOR) * LOG_SECTOR_ROOM;

	return room < sizeof(struct batch_head)
		       ? 0
		       : room - sizeof(struct batch_head);
}

void segment_name(uint64_t number, char name[SEGMENT_NAME_MAX])
{
	snprintf(name, SEGMENT_NAME_MAX, "log.%08" PRIu64, number);
}

static int write_zeros(struct entry_log *el, int fd)
{
	static const uint8_t zeros[1 << 16];
	/* A full disk is found before much is written. */
	int rc = disk_folder_reserve(&el->disk, fd, el->segment_size);

	for (uint32_t at = 0; !rc && at < el->segment_size;) {
		uint32_t left = el->segment_size - at;
		uint32_t len = left < sizeof(zeros) ? left : sizeof(zeros);

		rc = disk_folder_write(&el->disk, fd, zeros, len, at);
		at += len;
	}
	return rc ? rc : disk_folder_sync(&el->disk, fd);
}

int segment_make(struct entry_log *el, uint64_t number)
{
	char name[SEGMENT_NAME_MAX];
	int fd, rc;

	segment_name(number, name);
	fd = disk_folder_open_file(&el->disk, SEGMENT_NEW_NAME, true);
	if (fd < 0)
		return fd;
	rc = write_zeros(el, fd);
	if (rc) {
		disk_folder_close_file(&el->disk, fd);
		disk_folder_remove(&el->disk, SEGMENT_NEW_NAME);
		return rc;
	}
	rc = disk_folder_install(&el->disk, SEGMENT_NEW_NAME, name);
	if (rc) {
		disk_folder_close_file(&el->disk, fd);
		return rc;
	}
	return fd;
}

int segments_add(struct entry_log *el, uint64_t number)
{
	if (el->n == el->room) {
		size_t room = el->room ? 2 * el->room : 16;
		struct log_segment *segments = reallocarray(el->segments, room,
							    sizeof(*segments));

		if (!segments)
			return -ENOMEM;
		el->segments = segments;
		el->room = room;
	}
	el->segments[el->n++] = (struct log_segment){ .number = number };
	return 0;
}
