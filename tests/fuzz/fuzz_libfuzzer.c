/* SPDX-License-Identifier: BSD-2-Clause */
/* fuzz_libfuzzer.c - connects a target to libFuzzer, with the seeds of fuzz_seeds(). */
#include <dirent.h>
#include <string.h>

#include "tests/fuzz/fuzz.h"

int LLVMFuzzerInitialize(int *argc, char ***argv);
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t len);

static const char *corpus; /* directory for the seeds; NULL: none */
static unsigned int count;

static int is_empty_dir(const char *path)
{
	DIR *dir = opendir(path);
	struct dirent *e;
	int n = 0;

	if (!dir)
		return 0;
	while ((e = readdir(dir)))
		n += e->d_name[0] != '.';
	closedir(dir);
	return n == 0;
}

void fuzz_seed(const void *data, size_t len)
{
	char path[4096];
	FILE *f;

	snprintf(path, sizeof(path), "%s/seed-%03u", corpus, count++);
	f = fopen(path, "w");
	FUZZ_SURE(f && fwrite(data, 1, len, f) == len);
	FUZZ_SURE(fclose(f) == 0);
}

/* Finds the corpus: the first directory on the command line, to which libFuzzer adds inputs. */
int LLVMFuzzerInitialize(int *argc, char ***argv)
{
	for (int i = 1; i < *argc && !corpus; i++) {
		if ((*argv)[i][0] != '-')
			corpus = (*argv)[i];
	}
	if (corpus && is_empty_dir(corpus))
		fuzz_seeds();
	return 0;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t len)
{
	fuzz_one(data, len);
	return 0;
}
