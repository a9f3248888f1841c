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
		const char *name; /* name of the transport */
		const char *section; /* "small, NAME" */
		const char *dir; /* a directory on a mount that uses it */
	} ways[BENCH_WAYS_MAX];
	unsigned int nways;
	const char *disk; /* directory on the disk of the manager's database */
	pid_t servers[BENCH_SERVERS_MAX];
	unsigned int nservers;
	unsigned int rounds;
	uint64_t bytes; /* moved in one measurement */
	/* number of files that each client uses in a metadata measurement */
	unsigned int files;
	/* measure the bandwidth only with calls of this many bytes; 0: with all sizes */
	uint64_t call;
	/* measure the bandwidth only with this many clients; 0: with all numbers */
	unsigned int clients;
};

/* The result of one measurement. */
struct bench_result {
	double secs; /* seconds until the slowest client has ended */
	double client_cpu; /* seconds, all clients */
	double server_cpu; /* seconds, all servers */
	/* context switches of the threads of all iods */
	unsigned long long iod_switches;
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

/* Returns the CPU seconds that all servers have used so far. */
double bench_servers_cpu(const struct bench *b);
/* Returns the number of context switches of the threads of all iods so far. */
unsigned long long bench_iods_switches(const struct bench *b);
/* Returns the monotonic time in seconds. */
double bench_now(void);
double bench_median(double *v, unsigned int n);

/* ---- the limits: each returns a rate (bytes/s, 1/s) or seconds; <0 failed */
double bench_stream(uint64_t call, uint64_t bytes);
/*
 * As bench_stream(), but the receiver writes the data to a file of dir: a new one, or (over) one
 * that it overwrites.  No server of this kind can be faster.
 */
double bench_stored(uint64_t call, uint64_t bytes, const char *dir, bool over);
double bench_pingpong(size_t request, size_t answer, unsigned int n);
/*
 * Measures n round trips between two processes, at most 8192, with a pause of `pause` seconds
 * between them.  Returns the median.
 */
double bench_eventfd(double pause, unsigned int n);
double bench_flush(const char *dir, unsigned int n);

/*
 * The files of n clients: each has its own file, or a part of one file, or all use the same bytes
 * of one file.
 */
enum bench_layout { BENCH_OWN, BENCH_PARTS, BENCH_SAME };
enum bench_io { BENCH_WRITE_NEW, BENCH_WRITE, BENCH_READ };
struct bench_io_done {
	double secs; /* seconds of all calls, without the pauses */
	/* median seconds of a call; if there were many, of the last ones */
	double median;
	uint64_t calls;
	uint64_t inlined, fast, direct; /* pvfs_way_counters() */
};
struct bench_io_arg {
	enum bench_io io;
	enum bench_layout layout;
	bool pvfs; /* true: on PVFS; false: in the local directory */
	uint64_t call; /* bytes a call */
	uint64_t share; /* bytes a client */
	/*
	 * bytes of a client's file, which it goes over repeatedly until it has moved `share`; 0:
	 * share.  Not for new files
	 */
	uint64_t file;
	bool random; /* latency of 4 KiB calls: at random offsets */
	/* number of iods of the file, 0: all; and the first one */
	unsigned int pcount, base;
	/* measure for this many seconds; 0: until `share` is moved */
	double secs;
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
