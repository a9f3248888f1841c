/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * pvblock.c - programs of all kinds work in a folder while its servers fail; measures their calls.
 *
 * 	pvblock DIR make		creates the files
 * 	pvblock DIR run LEDGER		runs until there is a byte on stdin; then prints for
 * 					each kind of program the number of calls, of failed
 * 					calls, and the longest call in ms; the exit status is 1
 * 					if a program does not return from its call
 * 	pvblock DIR check LEDGER	checks that the data of each acknowledged write is
 * 					there
 *
 * LEDGER is outside DIR. For each record it has the last begun and the last acknowledged write.
 */
#include <fcntl.h>
#include <inttypes.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "tests/e2e/pvblock.h"

#define PAUSE_US 20000 /* after a failed call */
#define BOUND_S 90 /* only against a hang */

static _Atomic bool *stop;

/* ---- one process for each kind ---- */

static void name_own(char own[32], size_t k)
{
	snprintf(own, 32, "own%zu", k);
}

/* Leaves DIR after each round, so that the mount is not busy while the program pauses. */
static bool once(const struct kind *kind, struct work *w, const char *dir)
{
	bool good = TIMED(w, !chdir(dir)) && kind->once(w);

	return !chdir("/") && good;
}

static int work(size_t k, struct place *mine, const char *dir)
{
	struct work w = { .mine = mine, .buf = aligned_alloc(4096, LARGE) };

	prctl(PR_SET_PDEATHSIG, SIGKILL);
	name_own(w.own, k);
	kinds_begin();
	while (w.buf && !atomic_load(stop))
		if (!once(&kinds[k], &w, dir))
			usleep(PAUSE_US);
	free(w.buf);
	return 0;
}

static bool ends(pid_t pid, uint64_t until)
{
	pid_t got;

	while (!(got = waitpid(pid, NULL, WNOHANG)) && now_ms() < until)
		usleep(PAUSE_US);
	return got == pid;
}

static int end_all(const struct place *places, const pid_t *pids)
{
	uint64_t until = now_ms() + BOUND_S * 1000;
	int rc = 0;

	for (size_t k = 0; k < KINDS; k++) {
		const struct place *p = &places[k];
		bool back = ends(pids[k], until);

		printf("%s %" PRIu64 " %" PRIu64 " %" PRIu64 "%s\n",
		       kinds[k].name, p->calls, p->failed,
		       back ? p->worst : now_ms() - p->began,
		       back ? "" : " does not come back");
		if (!back)
			rc = 1;
	}
	return rc;
}

static int run(const char *dir, struct place *places)
{
	pid_t pids[KINDS];
	char c;

	for (size_t k = 0; k < KINDS; k++) {
		places[k].calls = places[k].failed = places[k].worst = 0;
		pids[k] = fork();
		if (!pids[k])
			_exit(work(k, &places[k], dir));
	}
	if (read(0, &c, 1) < 0)
		perror("waiting for the end");
	atomic_store(stop, true);
	return end_all(places, pids);
}

/* ---- before and after ---- */

static int put(const char *name, size_t len)
{
	static const char zeros[LARGE];
	int fd = open(name, O_WRONLY | O_CREAT, 0644);
	bool good = fd >= 0 && write(fd, zeros, len) == (ssize_t)len;

	return fd >= 0 && !close(fd) && good ? 0 : -1;
}

static int make(void)
{
	int rc = put("large", LARGE) | put("lock", 0) | put("cut", 0);
	char own[32];

	for (size_t k = 0; k < KINDS; k++) {
		name_own(own, k);
		rc |= put(own, RECORDS * RECORD);
	}
	return rc ? 1 : 0;
}

/* A record has the content of the last acknowledged write, or of a later one that was begun. */
static bool record_kept(const struct place *p, const uint64_t *have,
			unsigned int i)
{
	for (size_t k = 0; k < RECORD / sizeof(*have); k++) {
		if (have[k] >= p->answered[i] && have[k] <= p->tried[i])
			continue;
		printf("record %u holds %" PRIu64 ", answered %" PRIu64
		       ", begun %" PRIu64 "\n",
		       i, have[k], p->answered[i], p->tried[i]);
		return false;
	}
	return true;
}

static bool kept(const struct place *p, size_t k)
{
	uint64_t have[RECORD / sizeof(uint64_t)];
	bool good = true;
	char own[32];
	int fd;

	name_own(own, k);
	fd = open(own, O_RDONLY);
	for (unsigned int i = 0; good && i < RECORDS; i++)
		good = pread(fd, have, RECORD, (off_t)i * RECORD) == RECORD &&
		       record_kept(p, have, i);
	return fd >= 0 && !close(fd) && good;
}

static int check(const struct place *places)
{
	for (size_t k = 0; k < KINDS; k++)
		if (!kept(&places[k], k)) {
			printf("%s: not as it was answered\n", kinds[k].name);
			return 1;
		}
	return 0;
}

static struct place *ledger(const char *path)
{
	size_t len = KINDS * sizeof(struct place) + sizeof(*stop);
	int fd = open(path, O_RDWR | O_CREAT, 0644);
	char *map = MAP_FAILED;

	if (fd >= 0 && !ftruncate(fd, (off_t)len))
		map = mmap(NULL, len, PROT_READ | PROT_WRITE, MAP_SHARED, fd,
			   0);
	if (fd >= 0)
		close(fd);
	if (map == MAP_FAILED)
		return NULL;
	stop = (void *)(map + KINDS * sizeof(struct place));
	atomic_store(stop, false);
	return (void *)map;
}

int main(int argc, char **argv)
{
	struct place *places = argc > 3 ? ledger(argv[3]) : NULL;

	if (places && !strcmp(argv[2], "run"))
		return run(argv[1], places);
	if (argc < 3 || chdir(argv[1]))
		return 2;
	if (!strcmp(argv[2], "make"))
		return make();
	return places ? check(places) : 2;
}
