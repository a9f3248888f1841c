/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * log_writer.h - the queue in front of the log on disk.
 *
 * 	event loop                               log thread, or a simulated disk
 * 	log_writer_submit() -- submitted() ----> log_writer_work()
 * 	log_writer_collect() <--- completed() ---'
 *
 * Jobs are written in order.  All waiting jobs are written as one batch, with one sync.  An error
 * is final: from then on no job completes, and the process must end.
 *
 * Threads: log_writer_work() is for one thread; completed() is called in it.  All other functions
 * are for the event loop.
 */
#ifndef LOG_WRITER_H
#define LOG_WRITER_H

#include <sys/queue.h>

#include "mgr/raft/entry_log.h"

struct log_writer;

/* The caller keeps the job, its records and their data until done() or drop() is called. */
struct log_job {
	const struct log_record *records;
	size_t n;
	/* once the records are durable, entries below it may be removed; 0: none */
	uint64_t cut;
	void (*done)(struct log_job *job); /* the records are durable */
	/* log_writer_close() found the job unfinished; may be NULL */
	void (*drop)(struct log_job *job);
	uint64_t space; /* private */
	STAILQ_ENTRY(log_job) link;
};

struct log_writer_attr {
	struct entry_log *el; /* log_writer_close() closes it */
	void (*submitted)(void *arg); /* log_writer_work() has work */
	void (*completed)(void *arg); /* log_writer_collect() has work */
	void *submitted_arg, *completed_arg;
};

/* On an error attr.el stays open. */
int log_writer_open(const struct log_writer_attr *attr, struct log_writer **lw);
/* log_writer_work() must not be running.  Calls drop() of all unfinished jobs. */
void log_writer_close(struct log_writer *lw);

void log_writer_submit(struct log_writer *lw, struct log_job *job);
/* Writes the waiting jobs, and makes the next segment if it is missing. */
void log_writer_work(struct log_writer *lw);
/* Calls done() of each durable job.  -errno: a write failed, which is final. */
int log_writer_collect(struct log_writer *lw);

/* Whether a job is unfinished. */
bool log_writer_is_busy(struct log_writer *lw);
/* Bytes of records, measured with entry_log_space(), that are certain to fit now. */
uint64_t log_writer_room(struct log_writer *lw);
/* Whether the last attempt to make a segment found the disk full or the log at its limit. */
bool log_writer_is_full(struct log_writer *lw);
/* Bytes on disk. */
uint64_t log_writer_size(struct log_writer *lw);

#endif
