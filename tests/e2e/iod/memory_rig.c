/* SPDX-License-Identifier: BSD-2-Clause */
/* memory_rig.c - an iod with its store in memory. */
#include <check.h>
#include <fcntl.h>
#include <ftw.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "tests/e2e/iod/iod_here.h"
#include "tests/e2e/iod/memory_rig.h"
#include "tests/run_suite.h"

static char dir[64];
static struct iod *iod;
struct addr addr;
struct iodc client, mgr;
char object[256];

void memory_setup(void)
{
	struct iod_conf conf;

	must(iodc_mkdir_memory(dir));
	iod_here_conf(&conf, dir);
	conf.threads = 2;
	iod_here_start(&conf, NULL, &iod, &addr);
	iodc_open(&client, &addr, WIRE_ROLE_CLIENT, 0);
	iodc_open_mgr(&mgr, &addr);
}

void memory_teardown(void)
{
	iodc_close(&client);
	iodc_close(&mgr);
	iod_stop(iod);
	iodc_rmdir(dir);
}

static int note_path(const char *path, const struct stat *sb, int type,
		     struct FTW *ftw)
{
	if (type == FTW_F && strstr(path, "/objects/"))
		strcpy(object, path);
	return 0;
}

void memory_find(void)
{
	nftw(dir, note_path, 16, FTW_PHYS);
}

int mapped(void)
{
	char line[512];
	FILE *f = fopen("/proc/self/maps", "r");
	int n = 0;

	while (fgets(line, sizeof(line), f))
		n += strstr(line, dir) && strstr(line, "/objects/");
	fclose(f);
	return n;
}

void fill(uint32_t len, unsigned int seed)
{
	uint32_t i;

	for (i = 0; i < len; i++)
		client.arena[i] = (uint8_t)(i * 7 + i / 251 + seed);
}

void put(uint32_t off, uint32_t len, unsigned int seed)
{
	fill(len, seed);
	ck_assert_int_eq(iodc_pwrite(&client, 1, off, len), 0);
}

void make(uint32_t len, unsigned int seed)
{
	put(0, len, seed);
	ck_assert_int_eq(mapped(), 0);
	memory_find();
}

void holds(uint32_t off, uint32_t len, unsigned int seed)
{
	uint8_t *is = malloc(len);
	int fd = open(object, O_RDONLY);

	ck_assert_int_eq(pread(fd, is, len, off), len);
	fill(len, seed);
	ck_assert_mem_eq(is, client.arena, len);
	close(fd);
	free(is);
}

int memory_main(Suite *s)
{
	char probe[64];

	if (!iodc_mkdir_memory(probe)) {
		fprintf(stderr, "SKIPPED: no tmpfs at /dev/shm\n");
		return 77;
	}
	iodc_rmdir(probe);
	return run_suite(s);
}
