/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * lists.c - random list calls on a PVFS file and on an ordinary file, compared with an array.
 *
 * usage: lists SEED CASES PVFS-FILE ORDINARY-FILE
 *
 * The array is the model: it handles one byte after the other, in the order of the list. It does
 * not know stripes, messages or sorting.
 */
#include <pvfs.h>

#include "tests/e2e/lib/expect.h"

#include <stdbool.h>
#include <unistd.h>

#define FILE_MAX (3u << 20)
#define MEM_MAX (1u << 20)
#define PIECES 3000u

enum { PVFS, ORDINARY, SIDES };

static unsigned int seed;
static unsigned int step;
static char trace[256];

/* the expected content of the file */
static unsigned char model[FILE_MAX];
static int64_t size;
static struct fpart part;

/* the current list */
static bool writes;
static int64_t pos[PIECES];
static int64_t len[PIECES];
static unsigned int nfile;
static size_t at[PIECES], mlen[PIECES]; /* offsets in the arena */
static unsigned int nmem;
static int64_t total;

static int fd[SIDES];
static char *arena[SIDES], *expected;

static uint32_t roll(uint32_t below)
{
	return (uint32_t)rand_r(&seed) % below;
}

static void differ(const char *what, int64_t have, int64_t want)
{
	fprintf(stderr, "case %u (%s): %s: %ld instead of %ld\n", step, trace,
		what, (long)have, (long)want);
	exit(1);
}

/* ---- random lists ---- */

static void add_file(int64_t off, int64_t n)
{
	if (nfile == PIECES || off + n > FILE_MAX / 8 || total + n > MEM_MAX)
		return;
	pos[nfile] = off;
	len[nfile++] = n;
	total += n;
}

static void rows(unsigned int n2)
{
	int64_t off = roll(20000), n = 1 + roll(roll(2) ? 200 : 4000);
	int64_t stride = n + roll(3000), stride2 = roll(100000);
	unsigned int i, k, n1 = 1 + roll(n2 > 1 ? 30 : 900);

	for (k = 0; k < n2; k++) {
		for (i = 0; i < n1; i++)
			add_file(off + k * stride2 + i * stride, n);
	}
}

static void scattered(void)
{
	unsigned int i, n = 1 + roll(roll(2) ? 8 : 700);
	int64_t max = 1 + roll(roll(4) ? 500 : 40000);

	for (i = 0; i < n; i++)
		add_file(roll(FILE_MAX / 8), roll(8) ? 1 + roll(max) : 0);
}

static void rising(void)
{
	unsigned int i, n = 1 + roll(600);
	int64_t off = 0, max = 1 + roll(2000);

	for (i = 0; i < n; i++) {
		off += roll(max);
		add_file(off, 1 + roll(max));
		off += len[nfile ? nfile - 1 : 0];
	}
}

/* Divides the total into pieces of the arena, in increasing order or not. */
static void random_memory(void)
{
	int64_t left = total, n, max = 1 + roll(roll(2) ? 300 : 300000);
	size_t to = roll(100);
	bool again = !roll(6);

	for (nmem = 0; left; nmem++) {
		n = nmem == PIECES - 1 ? left : 1 + roll(max);
		if (n > left)
			n = left;
		if (again && roll(4) == 0)
			to = roll(10000);
		if (to + n > MEM_MAX)
			to = 0;
		at[nmem] = to;
		mlen[nmem] = n;
		to += n + (roll(2) ? 0 : roll(400));
		left -= n;
	}
	for (unsigned int i = nmem; !roll(3) && i-- > 1;) {
		unsigned int j = roll(i + 1);
		size_t a = at[i], m = mlen[i];

		at[i] = at[j];
		mlen[i] = mlen[j];
		at[j] = a;
		mlen[j] = m;
	}
}

static void random_list(void)
{
	uint32_t kind = roll(4);

	nfile = 0;
	total = 0;
	if (kind == 0)
		rows(1);
	else if (kind == 1)
		rows(2 + roll(8));
	else if (kind == 2)
		scattered();
	else
		rising();
	random_memory();
	writes = roll(2);
	snprintf(trace, sizeof(trace),
		 "%s kind %u, %u file and %u memory pieces, %ld bytes, part %ld "
		 "%ld %ld",
		 writes ? "write" : "read", kind, nfile, nmem, (long)total,
		 (long)part.offset, (long)part.gsize, (long)part.stride);
	if (getenv("LISTS_TRACE"))
		fprintf(stderr, "%u: %s\n", step, trace);
}

/* ---- the model ---- */

static int64_t file_off(int64_t p)
{
	if (part.gsize)
		p = p / part.gsize * part.stride + p % part.gsize;
	return part.offset + p;
}

/* Transfers one byte in the model.  Returns false if a read is beyond the end of the file. */
static bool model_byte(int64_t p, size_t mem)
{
	int64_t off = file_off(p);

	if (writes) {
		EXPECT(off < FILE_MAX);
		model[off] = (unsigned char)expected[mem];
		if (off >= size)
			size = off + 1;
		return true;
	}
	if (off >= size)
		return false;
	expected[mem] = (char)model[off];
	return true;
}

static int64_t model_list(void)
{
	unsigned int i, k = 0;
	int64_t done = 0;
	size_t in = 0;
	bool whole = true;

	for (i = 0; i < nfile; i++) {
		for (int64_t b = 0; b < len[i]; b++) {
			while (in == mlen[k]) {
				k++;
				in = 0;
			}
			whole = model_byte(pos[i] + b, at[k] + in) && whole;
			done += whole;
			in++;
		}
	}
	return done;
}

/* ---- the calls ---- */

static char *mem[PIECES], *parent[PIECES];
static size_t plen[PIECES];

static void addresses(char *base, int hints)
{
	for (unsigned int i = 0; i < nmem; i++) {
		mem[i] = base + at[i];
		parent[i] = hints == 2 ? mem[i] : base;
		plen[i] = hints == 2 ? mlen[i] : MEM_MAX;
	}
}

static int64_t call64(int side, int hints)
{
	ssize_t (*fn)(int, size_t, char *const[], const size_t[], char *const[],
		      const size_t[], size_t, const int64_t[],
		      const int64_t[]) = writes ? pvfs_write_list64
						: pvfs_read_list64;

	return fn(fd[side], nmem, mem, mlen, hints ? parent : NULL,
		  hints ? plen : NULL, nfile, pos, len);
}

static int64_t call32(int side, int hints)
{
	static int mlen32[PIECES], plen32[PIECES];
	static int32_t len32[PIECES];
	unsigned int i;

	for (i = 0; i < nmem; i++) {
		mlen32[i] = (int)mlen[i];
		plen32[i] = (int)plen[i];
	}
	for (i = 0; i < nfile; i++)
		len32[i] = (int32_t)len[i];
	if (hints)
		return (writes ? pvfs_write_list_hints
			       : pvfs_read_list_hints)(fd[side], (int)nmem, mem,
						       mlen32, parent, plen32,
						       (int)nfile, pos, len32);
	return (writes ? pvfs_write_list
		       : pvfs_read_list)(fd[side], (int)nmem, mem, mlen32,
					 (int)nfile, pos, len32);
}

static void one_list(int side, int64_t want)
{
	int hints = (int)roll(3);
	int64_t n;

	addresses(arena[side], hints);
	n = roll(2) ? call64(side, hints) : call32(side, hints);
	if (n < 0)
		differ(strerrorname_np(errno), n, want);
	if (n != want)
		differ(side == PVFS ? "PVFS" : "ordinary", n, want);
	for (size_t i = 0; memcmp(arena[side], expected, MEM_MAX); i++) {
		if (arena[side][i] != expected[i])
			differ(side == PVFS ? "PVFS memory" : "ordinary memory",
			       (long)i, -1);
	}
}

static void same_file(int side)
{
	static unsigned char whole[FILE_MAX + 1];
	struct fpart none = { 0 };
	int64_t n;

	EXPECT(pvfs_ioctl(fd[side], SETPART, &none) == 0);
	n = pvfs_pread(fd[side], whole, sizeof(whole), 0);
	if (n != size)
		differ("size", n, size);
	for (int64_t i = 0; n && memcmp(whole, model, (size_t)n); i++) {
		if (whole[i] != model[i])
			differ(side == PVFS ? "PVFS file" : "ordinary file", i,
			       -1);
	}
}

static void change_file(void)
{
	part = (struct fpart){ 0 };
	if (roll(3) == 0) {
		part.offset = roll(70000);
		part.gsize = 1 + roll(5000);
		part.stride = part.gsize + roll(3 * (uint32_t)part.gsize);
	}
	if (roll(4) == 0) {
		int64_t to = roll(FILE_MAX / 4);

		if (to < size)
			memset(model + to, 0, (size_t)(size - to));
		size = to;
		for (int s = 0; s < SIDES; s++)
			EXPECT(pvfs_ftruncate(fd[s], size) == 0);
	}
}

static void one_case(void)
{
	int64_t want;

	if (step % 4 == 0)
		change_file();
	random_list();
	for (size_t i = 0; i < MEM_MAX; i += 1 + roll(256))
		arena[PVFS][i] = (char)roll(256);
	memcpy(arena[ORDINARY], arena[PVFS], MEM_MAX);
	memcpy(expected, arena[PVFS], MEM_MAX);
	want = model_list();
	for (int s = 0; s < SIDES; s++) {
		EXPECT(pvfs_ioctl(fd[s], SETPART, &part) == 0);
		one_list(s, want);
	}
	if (step % 8 == 7) {
		same_file(PVFS);
		same_file(ORDINARY);
	}
}

int main(int argc, char **argv)
{
	static const int32_t ssize[] = { 64, 100, 4096, 65536 };
	struct pvfs_filestat meta = { -1, -1, 65536, 0, 0 };
	unsigned int cases;

	EXPECT(argc == 5);
	seed = (unsigned int)atoi(argv[1]);
	cases = (unsigned int)atoi(argv[2]);
	meta.ssize = ssize[roll(4)];
	meta.pcount = 1 + (int32_t)roll(3);
	for (int s = 0; s < SIDES; s++) {
		fd[s] = pvfs_open(argv[3 + s], O_CREAT | O_RDWR | O_META, 0644,
				  &meta);
		EXPECT(fd[s] >= 0);
		arena[s] = malloc(MEM_MAX);
	}
	expected = malloc(MEM_MAX);
	for (step = 0; step < cases; step++)
		one_case();
	for (int s = 0; s < SIDES; s++) {
		EXPECT(pvfs_close(fd[s]) == 0);
		free(arena[s]);
	}
	free(expected);
	return 0;
}
