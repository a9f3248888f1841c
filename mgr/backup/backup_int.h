/* SPDX-License-Identifier: BSD-2-Clause */
/* backup_int.h - the stream from the manager to the command, and the folder of a copy. */
#ifndef BACKUP_INT_H
#define BACKUP_INT_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "mgr/backup/backup.h"

/* ---- the stream ---- */

#define BACKUP_SOCKET "backup.socket" /* name in the storage directory */
#define BACKUP_FORMAT 1u /* version of the stream's format */
#define BACKUP_NAME_MAX 63u /* maximum bytes in the name of a file */
#define BACKUP_DATA_MAX (1u << 20) /* maximum bytes in a frame */

enum backup_kind {
	BACKUP_BEGIN = 1, /* contains a struct backup_begin */
	BACKUP_FILE, /* contains the name of the next file, without NUL */
	BACKUP_DATA, /* contains the next bytes of the file */
	BACKUP_END, /* contains an int32_t, 0 or -errno; the last frame */
};

/* Both ends are processes of one host. */
struct backup_frame {
	uint32_t kind;
	uint32_t len; /* bytes that follow this head */
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
	/* owner of new files; (uid_t)-1 means the user of the process */
	uid_t uid;
	gid_t gid;
	/* private */
	const char *dir;
	int parent; /* descriptor of dir */
	int dirfd; /* descriptor of the database's folder in dir */
	int fd; /* descriptor of the current file; -1 if there is none */
	bool made; /* this call made dir */
	bool foreign; /* a file could not get the owner uid */
};

/* Begins a copy in dir. The caller has set uid and gid. Returns -ENOTEMPTY if dir has files. */
int backup_folder_open(struct backup_folder *folder, const char *dir);
/* These are the functions of a struct store_sink whose arg is the folder. */
int backup_folder_file(void *arg, const char *name);
int backup_folder_data(void *arg, uint64_t offset, const void *bytes,
		       size_t len);
/* Called when the copy is complete: makes it durable and names it "db". */
int backup_folder_publish(struct backup_folder *folder);
/* Writes the stamp of the storage directory, so that a manager can start on the folder. */
int backup_folder_stamp(struct backup_folder *folder, int storage);
/* Removes the whole copy, also after backup_folder_publish(). */
void backup_folder_discard(struct backup_folder *folder);
void backup_folder_close(struct backup_folder *folder);

#endif
