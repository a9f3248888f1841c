/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * mpi_main.c - mpi_bench PROGRAM [OPTION...] FILE, see usage().  Prints one line of JSON to stdout.
 */
#include <getopt.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "tests/bench/huge.h"
#include "tests/bench/mpi/mpi_bench.h"

#define PAUSE_NS 200000

static const char usage[] =
	"usage: mpiexec.mpich -n RANKS mpi_bench PROGRAM [OPTION...] FILE\n"
	"programs:\n"
	"  tile   displays of 1024 x 768 elements, two in a row\n"
	"  bt     a cube of cells of 40 bytes, multipartitioned; ranks: n * n\n"
	"  block  blocks of -b bytes in turn\n"
	"  meta   collective create, set_size, close, open: medians\n"
	"  pointer  -s accesses by the shared pointer, and by a number under a lock\n"
	"options:\n"
	"  -w WAYS    of list,sieving,pieces,collective (list,pieces); for block\n"
	"             also native: libpvfs without MPI-IO; for bt with -k also\n"
	"             none: computing only\n"
	"  -r ROUNDS  (3)\n"
	"  -e BYTES   of an element of tile (24)\n"
	"  -b BYTES   of a block (4 MiB)\n"
	"  -g CELLS   of a side of bt's cube (64)\n"
	"  -s STEPS   of bt and block (4)\n"
	"  -n FILES   of meta (20)\n"
	"  -m         gaps in memory, too\n"
	"  -c         no check of the data\n"
	"  -k TIMES   bt: so many times BT's computing before each step, timed with\n"
	"             it; nothing is read\n"
	"  -y         what is written is flushed, too\n"
	"  -i K=V     a hint\n";

void die(const char *format, ...)
{
	va_list ap;

	va_start(ap, format);
	fprintf(stderr, "mpi_bench: ");
	vfprintf(stderr, format, ap);
	fputc('\n', stderr);
	va_end(ap);
	MPI_Abort(MPI_COMM_WORLD, 1);
	abort();
}

void sure(int code, const char *what)
{
	char text[MPI_MAX_ERROR_STRING];
	int len;

	if (code == MPI_SUCCESS)
		return;
	MPI_Error_string(code, text, &len);
	die("%s: %s", what, text);
}

void *memory(size_t len)
{
	void *mem = huge_alloc(len);

	if (!mem)
		die("no memory for %zu bytes", len);
	memset(mem, 0, len); /* touches the pages before the measurement */
	return mem;
}

MPI_Info hints(const struct options *o)
{
	char key[MPI_MAX_INFO_KEY];
	MPI_Info info;
	int i;

	MPI_Info_create(&info);
	for (i = 0; i < o->nhints; i++) {
		const char *eq = strchr(o->hint[i], '=');

		snprintf(key, sizeof(key), "%.*s", (int)(eq - o->hint[i]),
			 o->hint[i]);
		MPI_Info_set(info, key, eq + 1);
	}
	return info;
}

static int by_value(const void *a, const void *b)
{
	const double *x = a, *y = b;

	return *x < *y ? -1 : *x > *y;
}

double median(const double *v, int n)
{
	double *sorted = memory((size_t)n * sizeof(*v)), mid;

	memcpy(sorted, v, (size_t)n * sizeof(*v));
	qsort(sorted, (size_t)n, sizeof(*v), by_value);
	mid = sorted[n / 2];
	free(sorted);
	return mid;
}

/* Waits for the request asleep.  MPICH's own waits poll: see mpi_bench.h. */
static void finish(MPI_Request *request)
{
	const struct timespec pause = { .tv_nsec = PAUSE_NS };
	int done = 0;

	while (sure(MPI_Test(request, &done, MPI_STATUS_IGNORE), "MPI_Test"),
	       !done)
		nanosleep(&pause, NULL);
}

void barrier(void)
{
	MPI_Request request;

	sure(MPI_Ibarrier(MPI_COMM_WORLD, &request), "MPI_Ibarrier");
	finish(&request);
}

double slowest(double seconds)
{
	MPI_Request request;
	double all;

	sure(MPI_Iallreduce(&seconds, &all, 1, MPI_DOUBLE, MPI_MAX,
			    MPI_COMM_WORLD, &request),
	     "MPI_Iallreduce");
	finish(&request);
	return all;
}

/* ---- the command line ---- */

static _Noreturn void refuse(void)
{
	fputs(usage, stderr);
	MPI_Abort(MPI_COMM_WORLD, 2);
	exit(2);
}

static int number(const char *text, int max)
{
	char *end;
	long n = strtol(text, &end, 10);

	if (*end || n < 1 || n > max)
		refuse();
	return (int)n;
}

static void add_hint(struct options *o, char *hint)
{
	if (o->nhints == HINTS_MAX || !strchr(hint, '='))
		refuse();
	o->hint[o->nhints++] = hint;
}

static void option(struct options *o, int c)
{
	switch (c) {
	case 'w':
		o->ways = optarg;
		break;
	case 'r':
		o->rounds = number(optarg, ROUNDS_MAX);
		break;
	case 'e':
		o->elem = number(optarg, 1024);
		break;
	case 'b':
		o->block = number(optarg, 1 << 30);
		break;
	case 'g':
		o->grid = number(optarg, 256);
		break;
	case 's':
		o->steps = number(optarg, 1 << 20);
		break;
	case 'n':
		o->files = number(optarg, 100000);
		break;
	case 'm':
		o->strided = true;
		break;
	case 'c':
		o->verify = false;
		break;
	case 'k':
		o->work = number(optarg, 1000);
		break;
	case 'y':
		o->flush = true;
		break;
	case 'i':
		add_hint(o, optarg);
		break;
	default:
		refuse();
	}
}

static void parse(struct options *o, int argc, char **argv)
{
	int c;

	while ((c = getopt(argc, argv, "w:r:e:b:g:s:n:mck:yi:")) != -1)
		option(o, c);
	if (argc != optind + 2 || (o->work && strcmp(argv[optind], "bt")))
		refuse();
	o->verify = o->verify && !o->work;
	o->program = argv[optind];
	o->file = argv[optind + 1];
}

/* ---- the programs ---- */

static const struct program {
	const char *name;
	void (*pattern)(const struct options *o, struct pattern *p);
	void (*run)(const struct options *o, struct json_object *out);
} programs[] = {
	{ "tile", tile_pattern, NULL },	  { "bt", bt_pattern, NULL },
	{ "block", block_pattern, NULL }, { "meta", NULL, meta_run },
	{ "pointer", NULL, pointer_run },
};

static const struct program *find(const char *name)
{
	size_t i;

	for (i = 0; i < sizeof(programs) / sizeof(programs[0]); i++) {
		if (!strcmp(programs[i].name, name))
			return &programs[i];
	}
	refuse();
}

static void move(const struct options *o, const struct program *prog,
		 struct json_object *out)
{
	struct pattern p = { .first = 0 };

	prog->pattern(o, &p);
	json_object_object_add(out, "memory",
			       json_object_new_string(
				       o->strided ? "strided" : "contiguous"));
	drive(o, &p, out);
	if (p.view != MPI_BYTE)
		MPI_Type_free(&p.view);
	MPI_Type_free(&p.memory);
	free(p.buf);
}

int main(int argc, char **argv)
{
	struct options o = { .ways = "list,pieces",
			     .rounds = 3,
			     .elem = 24,
			     .block = 4 << 20,
			     .grid = 64,
			     .steps = 4,
			     .files = 20,
			     .verify = true };
	struct json_object *out = json_object_new_object();
	const struct program *prog;

	MPI_Init(&argc, &argv);
	MPI_Comm_rank(MPI_COMM_WORLD, &o.rank);
	MPI_Comm_size(MPI_COMM_WORLD, &o.ranks);
	parse(&o, argc, argv);
	prog = find(o.program);
	json_object_object_add(out, "program",
			       json_object_new_string(o.program));
	json_object_object_add(out, "ranks", json_object_new_int(o.ranks));
	if (prog->pattern)
		move(&o, prog, out);
	else
		prog->run(&o, out);
	if (!o.rank)
		puts(json_object_to_json_string(out));
	json_object_put(out);
	MPI_Finalize();
	return 0;
}
