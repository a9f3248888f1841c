/* SPDX-License-Identifier: BSD-2-Clause */
/* pvcalls.c - `pvcalls FILE` makes each POSIX call once on FILE and checks the result. */
/* declares the calls with and without 64 in their names */
#undef _FILE_OFFSET_BITS
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#define SURE(cond)                                                             \
	do {                                                                   \
		if (!(cond)) {                                                 \
			printf("%s:%d: not so: %s\n", __FILE__, __LINE__,      \
			       #cond);                                         \
			return 1;                                              \
		}                                                              \
	} while (0)

static int write_it(const char *path)
{
	int fd = open(path, O_CREAT | O_TRUNC | O_RDWR, 0640);

	SURE(fd >= 0);
	SURE(write(fd, "0123", 4) == 4 && write(fd, "4567", 4) == 4);
	SURE(pwrite(fd, "ab", 2, 8) == 2 && pwrite64(fd, "cd", 2, 10) == 2);
	SURE(lseek(fd, -1, SEEK_END) == 11 && write(fd, "DE", 2) == 2);
	SURE(fsync(fd) == 0 && close(fd) == 0);
	return 0;
}

static int read_it(const char *path)
{
	char have[16];
	int fd = open64(path, O_RDONLY);

	SURE(fd >= 0 && read(fd, have, 16) == 13);
	SURE(!memcmp(have, "01234567abcDE", 13) && read(fd, have, 16) == 0);
	SURE(pread(fd, have, 2, 8) == 2 && pread64(fd, have + 2, 9, 10) == 3);
	SURE(!memcmp(have, "abcDE", 5) && lseek64(fd, 4, SEEK_SET) == 4);
	SURE(read(fd, have, 3) == 3 && !memcmp(have, "456", 3));
	SURE(close(fd) == 0);
	return 0;
}

static int by_stream(const char *path)
{
	char have[20] = "";
	FILE *f = fopen(path, "r+");

	SURE(f && fread(have, 1, 19, f) == 13 && !fseek(f, 0, SEEK_END));
	SURE(fputs("xyz", f) >= 0 && !fseek(f, 12, SEEK_SET));
	SURE(fgets(have, sizeof(have), f) && !strcmp(have, "Exyz"));
	SURE(!fclose(f));
	return 0;
}

int main(int argc, char **argv)
{
	return argc != 2 || write_it(argv[1]) || read_it(argv[1]) ||
	       by_stream(argv[1]);
}
