/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * list_regs.c - counts the registrations for a list of 768 pieces: with an allocation hint, in
 * groups, and without either. The pieces must be used in place (PVFS_LIST_PLACE).
 *
 * usage: list_regs FILE
 */
#include <pvfs.h>

#include "tests/e2e/lib/expect.h"

#include <sys/mman.h>
#include <unistd.h>

#define N 768
#define LEN 2048
#define STRIDE 8192 /* in memory and in the file; no page has two pieces */

static char *mem[N], *parent[N];
static size_t mem_len[N], parent_len[N];
static int64_t off[N], len[N];

static void pieces(char *area)
{
	for (int i = 0; i < N; i++) {
		mem[i] = area + (size_t)i * STRIDE;
		mem_len[i] = LEN;
		parent[i] = area;
		parent_len[i] = (size_t)N * STRIDE;
		off[i] = (int64_t)i * STRIDE;
		len[i] = LEN;
	}
}

static uint64_t registrations(int fd)
{
	struct pvfs_list_counters c;

	EXPECT(pvfs_list_counters(fd, &c) == 0);
	return c.registrations;
}

static uint64_t move(int fd, int write, int hints)
{
	uint64_t before = registrations(fd);

	EXPECT((write ? pvfs_write_list64 : pvfs_read_list64)(
		       fd, N, mem, mem_len, hints ? parent : NULL,
		       hints ? parent_len : NULL, N, off, len) == N * LEN);
	return registrations(fd) - before;
}

static uint64_t moved(const char *path, int write, int hints, const char *group)
{
	uint64_t n;
	int fd;

	/* a session reads the variable when it begins */
	EXPECT(setenv("PVFS_LIST_GROUP", group, 1) == 0);
	fd = pvfs_open(path, O_CREAT | O_RDWR, 0600);
	EXPECT(fd >= 0);
	n = move(fd, write, hints);
	EXPECT(pvfs_close(fd) == 0);
	return n;
}

int main(int argc, char **argv)
{
	char *area = mmap(NULL, (size_t)N * STRIDE, PROT_READ | PROT_WRITE,
			  MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	int group = argc == 2;

	EXPECT(argc == 2 || argc == 3);
	EXPECT(area != MAP_FAILED);
	pieces(area);
	for (int write = 1; write >= 0; write--) {
		uint64_t hints, none;

		hints = moved(argv[1], write, 1, group ? "on" : "off");
		none = moved(argv[1], write, 0, group ? "on" : "off");
		EXPECT(hints >= 1 && hints <= 6);
		if (group)
			EXPECT(none >= 1 && none <= 6);
		else
			EXPECT(none == N);
	}
	return 0;
}
