/* SPDX-License-Identifier: BSD-2-Clause */
/* backup_int.h - the stream from the manager to the command, and the folder of a copy. */
#ifndef BACKUP_INT_H
#define BACKUP_INT_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "mgr/backup/backup.h"

/* ---- the stream ---- */

#define BACKUP_SOCKET "backup.socket" /* in the storage directory */
#define BACKUP_FORMAT 1u /* of the stream */
#define BACKUP_NAME_MAX 63u /* bytes in the name of a file */
#define BACKUP_DATA_MAX (1u << 20) /* bytes in a frame */

enum backup_kind {
	BACKUP_BEGIN = 1, /* struct backup_begin */
	BACKUP_FILE, /* the name of the next file, without NUL */
	BACKUP_DATA, /* its next bytes */
	BACKUP_END, /* int32_t: 0 or -errno.  The last frame. */
};

/* Both ends are processes of one host. */
struct backup_frame {
	uint32_t kind;
	uint32_t len; /* of what follows */
};

struct backup_begin {
	uint32_t format; /* BACKUP_FORMAT */
	uint32_t stamp; /* STAMP_VERSION of the manager */
};

/* A socket, and its address in the directory dirfd: for bind() and connect(). */
struct sockaddr_un;
int backup_socket(int dirfd, struct sockaddr_un *address);

/* ---- the folder of a copy ---- */

struct backup_folder {
	uid_t uid; /* of new files; (uid_t)-1: whoever writes them */
	gid_t gid;
	/* private */
	const char *dir;
	int parent; /* dir */
	int dirfd; /* of the database in it */
	int fd; /* of the current file; -1: none */
	bool made; /* dir did not exist */
	bool foreign; /* a file could not be given to uid */
};

/* Begins a copy in dir; uid and gid are set.  -ENOTEMPTY: dir has files. */
int backup_folder_open(struct backup_folder *folder, const char *dir);
/* Functions of a struct store_sink whose arg is the folder. */
int backup_folder_file(void *arg, const char *name);
int backup_folder_data(void *arg, uint64_t offset, const void *bytes,
		       size_t len);
/* The copy is complete: makes it durable and names it "db". */
int backup_folder_publish(struct backup_folder *folder);
/* Makes the folder one that a manager starts on, with the stamp of the storage directory. */
int backup_folder_stamp(struct backup_folder *folder, int storage);
/* Removes all of the copy, also after backup_folder_publish(). */
void backup_folder_discard(struct backup_folder *folder);
void backup_folder_close(struct backup_folder *folder);

#endif
