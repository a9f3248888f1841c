/* SPDX-License-Identifier: BSD-2-Clause */
/* perf_mpi.c - runs mpi_bench, with libmpio-pvfs.so as its MPI-IO. */
#include <errno.h>
#include <json-c/json.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "tests/bench/perf_mpi.h"

#define BENCH "tests/bench/mpi/mpi_bench"
#define LIBRARY "romio-adio/libmpio-pvfs.so"
#define SECONDS "120"
#define OUTPUT_MAX 65536
#define ARGS_MAX 32

static bool in_path(const char *name)
{
	char *path = strdup(getenv("PATH") ?: ""), *save = NULL, *dir;
	char file[4096];
	bool found = false;

	for (dir = path ? strtok_r(path, ":", &save) : NULL; dir && !found;
	     dir = strtok_r(NULL, ":", &save)) {
		snprintf(file, sizeof(file), "%s/%s", dir, name);
		found = access(file, X_OK) == 0;
	}
	free(path);
	return found;
}

/* Returns MPICH's program.  A plain mpiexec may be Open MPI's, which has other options. */
static const char *mpiexec_name(void)
{
	return in_path("mpiexec.mpich") ? "mpiexec.mpich" : "mpiexec.hydra";
}

static const char *lacking(const struct perf_run *run)
{
	char file[4096];

	if (!run->programs)
		return "no --programs DIR";
	snprintf(file, sizeof(file), "%s/%s", run->programs, BENCH);
	if (access(file, X_OK))
		return "mpi_bench was not built (meson's option mpi)";
	snprintf(file, sizeof(file), "%s/%s", run->programs, LIBRARY);
	if (access(file, R_OK))
		return "libmpio-pvfs.so was not built (meson's option "
		       "romio_source, see docs/mpi.md)";
	return in_path(mpiexec_name()) ? NULL
				       : "MPICH's mpiexec is not installed";
}

bool mpi_there(struct perf_run *run)
{
	const char *why = lacking(run);

	if (why)
		result_missing(run->r, "MPI-IO", "%s", why);
	return !why;
}

unsigned int mpi_rounds(const struct perf_run *run)
{
	return run->rounds < 3 ? run->rounds : 3;
}

const char *mpi_often(const struct perf_run *run, const char *often)
{
	return run->rounds > 1 ? often : "1";
}

/* Sets the name of the file that a job uses. */
static void name_file(const struct perf_run *run, const struct perf_target *t,
		      const struct mpi_job *job, char *file, size_t max)
{
	snprintf(file, max, "%s%s/perf-mpi-%s", t ? "pvfs:" : "",
		 t ? t->b.dir : run->local, job->program);
}

/* Called in the child process: executes the job and never returns. */
static void exec_job(const struct perf_run *run, const struct perf_target *t,
		     const struct mpi_job *job)
{
	char program[4096], library[4096], file[4096], ranks[16];
	const char *argv[ARGS_MAX] = { mpiexec_name(), "-n", ranks };
	unsigned int n = 3, i;

	snprintf(ranks, sizeof(ranks), "%u", job->ranks);
	snprintf(library, sizeof(library), "%s/%s", run->programs, LIBRARY);
	snprintf(program, sizeof(program), "%s/%s", run->programs, BENCH);
	name_file(run, t, job, file, sizeof(file));
	if (t) {
		argv[n++] = "-genv";
		argv[n++] = "LD_PRELOAD";
		argv[n++] = library;
	}
	argv[n++] = program;
	argv[n++] = job->program;
	for (i = 0; job->args[i]; i++)
		argv[n++] = job->args[i];
	argv[n++] = file;
	setenv("MPIEXEC_TIMEOUT", SECONDS, 1);
	execvp(argv[0], (char *const *)argv);
	perror("pvfs-perf: mpiexec");
	_exit(127);
}

/* Removes the job's file in run->local.  Files on PVFS are removed after the experiment. */
static void forget_plain(const struct perf_run *run, const struct mpi_job *job)
{
	char file[4096];

	name_file(run, NULL, job, file, sizeof(file));
	unlink(file);
}

static size_t read_all(int fd, char *buf, size_t max)
{
	size_t at = 0;
	ssize_t n;

	while (at < max && (n = read(fd, buf + at, max - at)) != 0) {
		if (n < 0 && errno != EINTR)
			break;
		at += n > 0 ? (size_t)n : 0;
	}
	return at;
}

struct json_object *mpi_run(const struct perf_run *run,
			    const struct perf_target *t,
			    const struct mpi_job *job)
{
	char *buf = calloc(1, OUTPUT_MAX + 1);
	struct json_object *o = NULL;
	int fd[2], status = 1;
	pid_t pid;

	if (!buf || pipe(fd)) {
		free(buf);
		return NULL;
	}
	fflush(NULL);
	pid = fork();
	if (pid == 0) {
		dup2(fd[1], STDOUT_FILENO);
		close(fd[0]);
		close(fd[1]);
		exec_job(run, t, job);
	}
	close(fd[1]);
	read_all(fd[0], buf, OUTPUT_MAX);
	close(fd[0]);
	if (pid > 0 && waitpid(pid, &status, 0) == pid && !status)
		o = json_tokener_parse(buf);
	if (!t)
		forget_plain(run, job);
	if (!o)
		fprintf(stderr, "pvfs-perf: mpi_bench %s failed\n%s\n",
			job->program, buf);
	free(buf);
	return o;
}

static double figure_of(struct json_object *o, bool write, const char *way,
			const char *key)
{
	struct json_object *side, *one, *v;

	if (!json_object_object_get_ex(o, write ? "write" : "read", &side) ||
	    !json_object_object_get_ex(side, way, &one) ||
	    !json_object_object_get_ex(one, key, &v))
		return -1;
	return json_object_get_double(v);
}

double mpi_rate(struct json_object *o, bool write, const char *way)
{
	return figure_of(o, write, way, "mb_per_s");
}

double mpi_accesses(struct json_object *o, bool write, const char *way)
{
	return figure_of(o, write, way, "per_s");
}

double mpi_seconds(struct json_object *o, bool write, const char *way)
{
	return figure_of(o, write, way, "seconds");
}
