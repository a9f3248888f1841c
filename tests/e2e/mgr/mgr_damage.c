/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * mgr_damage.c - damages the name space of a stopped manager, for tests of pvfs-fsck:
 *
 * 	mgr_damage STORAGE links HANDLE N	sets the link count of the file to N
 * 	mgr_damage STORAGE forget HANDLE	removes the file, but not its name
 * 	mgr_damage STORAGE unname DIR NAME	removes the name, but not the file
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "mgr/db/dent.h"
#include "mgr/db/handle.h"
#include "mgr/db/inode.h"

static int damage(struct store *st, int argc, char **argv)
{
	uint64_t handle = handle_internal(st, strtoull(argv[3], NULL, 10));
	struct inode ino;
	int rc;

	if (!strcmp(argv[2], "forget"))
		return inode_del(st, handle);
	if (argc < 5)
		return -1;
	if (!strcmp(argv[2], "unname"))
		return dent_del(st, handle, argv[4], strlen(argv[4]));
	rc = inode_get(st, handle, &ino);
	ino.nlink = (uint32_t)atoi(argv[4]);
	return rc ? rc : inode_put(st, &ino);
}

int main(int argc, char **argv)
{
	struct log_file file = { .out = stderr, .prefix = "mgr_damage" };
	struct log log = { LOG_LV_WARN, log_to_file, &file };
	struct store_attr attr = { .cache_size = 8 << 20, .log = &log };
	struct store *st;

	if (argc < 4)
		return 2;
	attr.dir = argv[1];
	if (store_open(&attr, &st) || store_begin(st) ||
	    damage(st, argc, argv) || store_commit(st) || store_flush(st))
		return 1;
	store_close(st);
	return 0;
}
