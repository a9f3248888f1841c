/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * pvmanagers.c - asks a manager for its group, or changes it.
 *
 *	pvmanagers URI			a line for each member: its id, its address, "voter" or "-"
 *	pvmanagers URI remove ID	the same, after the member has left
 */
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <pvfs.h>

#define TIMEOUT_MS 10000

static int print_members(const struct pvfs_managers *state)
{
	for (unsigned int i = 0; i < state->n; i++)
		printf("%016llx %s %s\n",
		       (unsigned long long)state->member[i].id,
		       state->member[i].address,
		       state->member[i].flags & PVFS_MEMBER_VOTER ? "voter"
								  : "-");
	return 0;
}

int main(int argc, char **argv)
{
	bool removes = argc == 4 && !strcmp(argv[2], "remove");
	struct pvfs_managers state;
	struct pvfs_watch *watch;

	if (argc != 2 && !removes)
		return 2;
	if (pvfs_watch_open(NULL, argv[1], TIMEOUT_MS, &watch) ||
	    pvfs_watch_managers(
		    watch,
		    removes ? PVFS_MANAGERS_REMOVE : PVFS_MANAGERS_STATUS,
		    removes ? strtoull(argv[3], NULL, 16) : 0, &state)) {
		perror(argv[1]);
		return 1;
	}
	pvfs_watch_close(watch);
	return print_members(&state);
}
