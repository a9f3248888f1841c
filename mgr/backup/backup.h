/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * backup.h - a copy of the database of a running manager.
 *
 * 	pvfs-mgr --backup DIR: backup_run()        the manager: a thread of backup_server_open()
 *
 * 	connects to STORAGE/backup.socket -------> accepts root and its own user
 * 	                                           store_copy()
 * 	writes DIR/db.partial <------------------- files of the database, then the result
 * 	renames it to DIR/db, writes the stamp
 *
 * The manager opens no file of DIR, so nobody can make it write anywhere.  The kernel identifies
 * the user, and no host on the network reaches the socket.
 */
#ifndef BACKUP_H
#define BACKUP_H

#include <stdint.h>

#include "common/util/log.h"
#include "mgr/db/store.h"

struct backup_server;

/*
 * Makes the socket in the storage directory dirfd, and serves one command at a time. A command that
 * comes meanwhile gets -EBUSY. If a command reads no data for 30 s, the manager ends the copy for
 * this command. st, log and dirfd must outlive the server. Returns 0 or -errno, which is not
 * logged.
 */
int backup_server_open(struct store *st, int dirfd, const struct log *log,
		       struct backup_server **server);
/* Ends a copy in progress. server may be NULL. */
void backup_server_close(struct backup_server *server);

/*
 * Copies the database of the manager that runs on `storage` of the file system fsid to dir,
 * durably. Makes dir, which must not exist or be empty. The stamp is written last: without it no
 * manager starts on dir. If root calls it, the files get the owner of the database. Returns 0, or
 * -errno, which is logged; then nothing remains of the copy.
 */
int backup_run(const char *storage, uint64_t fsid, const char *dir,
	       const struct log *log);

/* ---- for a copy that another manager gets ---- */

/*
 * Connects to the backup_server of this process whose storage directory is dirfd.  Returns a socket
 * that does not block, from which the copy is read as a stream of bytes, or -errno.
 */
int backup_connect(int dirfd);
/*
 * Reads such a stream from fd, a blocking descriptor, and makes dir/db of it, durably. dir must not
 * exist or be empty. Returns 0, or -errno, which is logged; then nothing remains of the copy.
 */
int backup_receive(int fd, const char *dir, const struct log *log);

#endif
