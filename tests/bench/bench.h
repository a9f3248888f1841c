/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * bench.h - measures the file system and its limits in one run.  The limits are a plain TCP
 * loopback stream, local pwrite and pread on the same kind of store, a TCP ping-pong and the disk's
 * flush.  Figures are medians over rounds.  Ratios are taken within a round, because the machine's
 * speed drifts between rounds.
 */
#ifndef BENCH_H
#define BENCH_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#define BENCH_CLIENTS_MAX 64
#define BENCH_ROUNDS_MAX 32
#define BENCH_SERVERS_MAX 64
#define BENCH_WAYS_MAX 4

struct bench {
	const char *dir; /* a directory on a PVFS mount */
	const char *local; /* a memory-backed directory */
	struct bench_way {
		const char *name; /* of a transport */
		const char *section; /* "small, NAME" */
		const char *dir; /* a directory on a mount that uses it */
	} ways[BENCH_WAYS_MAX];
	unsigned int nways;
	const char *disk; /* where the mgr's database lies */
	pid_t servers[BENCH_SERVERS_MAX];
	unsigned int nservers;
	unsigned int rounds;
	uint64_t bytes; /* moved in one measurement */
	unsigned int files; /* of a metadata measurement, a client */
	uint64_t call; /* bandwidth of calls of so many bytes only; 0: all */
	unsigned int clients; /* bandwidth of so many clients only; 0: all */
};

/* The result of one measurement. */
struct bench_result {
	double secs; /* until the slowest client is done */
	double client_cpu; /* seconds, all clients */
	double server_cpu; /* seconds, all servers */
	unsigned long long iod_switches; /* of iods' threads, to others */
};

/*
 * Runs fn in n child processes.  They start together once every fn(.., false) has returned, so
 * preparation is not measured.  fn returns 0 or an exit status.  Returns 0, or -1 if a client
 * failed.
 */
struct bench_task {
	int (*fn)(const struct bench *b, void *arg, unsigned int rank, bool go);
	void *arg;
};
int bench_run(const struct bench *b, unsigned int n,
	      const struct bench_task *task, struct bench_result *res);

/* CPU seconds of all servers so far. */
double bench_servers_cpu(const struct bench *b);
/* How often threads of iods gave their processor up so far. */
unsigned long long bench_iods_switches(const struct bench *b);
/* Monotonic seconds. */
double bench_now(void);
double bench_median(double *v, unsigned int n);

/* ---- the limits: each returns a rate (bytes/s, 1/s) or seconds; <0 failed */
double bench_stream(uint64_t call, uint64_t bytes);
/*
 * The same with a receiver that writes the data to a file of dir, either new or overwritten.  This
 * is the limit for every server of this kind.
 */
double bench_stored(uint64_t call, uint64_t bytes, const char *dir, bool over);
double bench_pingpong(size_t request, size_t answer, unsigned int n);
/* A round trip between two processes, pause seconds apart: the median of n,
 * at most 8192. */
double bench_eventfd(double pause, unsigned int n);
double bench_flush(const char *dir, unsigned int n);

/* Where n clients work: in a file each, in a part each of one file, or all in the same
 * bytes of one file. */
enum bench_layout { BENCH_OWN, BENCH_PARTS, BENCH_SAME };
enum bench_io { BENCH_WRITE_NEW, BENCH_WRITE, BENCH_READ };
struct bench_io_done {
	double secs; /* of all calls, without the pauses */
	double median; /* seconds of a call; of the last ones, if many */
	uint64_t calls;
	uint64_t inlined, fast, direct; /* pvfs_way_counters() */
};
struct bench_io_arg {
	enum bench_io io;
	enum bench_layout layout;
	bool pvfs; /* or the local directory */
	uint64_t call; /* bytes a call */
	uint64_t share; /* bytes a client */
	uint64_t file; /* bytes of its file, gone over again until share is
			* moved; 0: share.  Not of a new file */
	bool random; /* 4 KiB latency: any place */
	unsigned int pcount, base; /* iods of the file, and the first; 0: all */
	double secs; /* go on for so long; 0: as long as the share lasts */
	double pause; /* seconds of sleep before each call */
	struct bench_io_done *done; /* for each client, in shared memory */
};
int bench_io_client(const struct bench *b, void *arg, unsigned int rank,
		    bool go);

enum bench_meta { BENCH_CREATE, BENCH_STAT, BENCH_UNLINK, BENCH_READDIR };
struct bench_meta_arg {
	enum bench_meta op;
	unsigned int files;
};
int bench_meta_client(const struct bench *b, void *arg, unsigned int rank,
		      bool go);

#endif
