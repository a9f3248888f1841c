/* SPDX-License-Identifier: BSD-2-Clause */
/* filling.c - see filling.h. */
#include "mgr/filling.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "common/util/stamp.h"
#include "mgr/backup/backup.h"
#include "mgr/group/group.h"
#include "mgr/joining.h"
#include "mgr/peers/peers.h"

#define FOLDER "filling"
#define CALL_MS 30000u /* for a part */
#define RETRY_MS 2u /* until the thread has taken the last part */
#define PAUSE_MS 1000u /* after a failure */
#define INDEX_FILE "index" /* in the folder, written before "db" counts */
#define KEEP_FILE                                                              \
	"keep" /* in the folder: the copy does not replace a member's database */
#define OLD "db.old" /* in the storage */

struct filling {
	struct mgr *mgr;
	uint64_t index;
	bool keeps; /* the database that is there was in no group */
	char dir[PATH_MAX + sizeof("/" FOLDER)];
	struct rpc_peer *rpc;
	struct rpc_call call;
	struct rail_mem mem, *area;
	struct rpc_timer timer; /* the next step */
	void (*step)(struct filling *f);
	uint64_t msg[(sizeof(struct wire_hdr) + sizeof(struct wire_fetch) +
		      sizeof(struct wire_mem)) /
		     8];
	uint64_t offset; /* bytes of the stream that have arrived */
	size_t len, done; /* of data; of them, given to the thread */
	bool calls, closing;
	bool waits; /* for its turn, which is logged */
	/* the thread that writes the copy */
	pthread_t thread;
	bool threaded;
	int fd[2]; /* its end is the second one */
	atomic_bool ended;
	int rc;
	uint64_t applied; /* of the copy */
	uint8_t data[WIRE_FETCH_MAX];
};

/* ---- the thread ---- */

/*
 * Opens the copy once.  This runs the recovery of the database, and shows that the copy is
 * usable.  Sets f->applied.  -ESTALE: the copy lacks entries up to f->index.
 */
static int check_copy(struct filling *f)
{
	const struct store_attr attr = { .dir = f->dir,
					 .cache_size = f->mgr->conf.cache_size,
					 .log = f->mgr->log,
					 .replicated = true };
	struct store_applied applied = { 0 };
	struct store *st;
	int rc = store_open(&attr, &st);

	if (rc)
		return rc;
	rc = store_get_applied(st, &applied);
	store_close(st);
	f->applied = applied.index;
	if (!rc && applied.index < f->index)
		rc = -ESTALE;
	return rc;
}

/* Without the file, a copy is removed at the next start. */
static int note_index(const struct filling *f)
{
	int dirfd = open(f->dir, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	int db = openat(dirfd, "db", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	char text[24];
	int len = snprintf(text, sizeof(text), "%llu\n",
			   (unsigned long long)f->index);
	int rc = db < 0 || fsync(db) ? -errno : 0;

	if (!rc && f->keeps)
		rc = stamp_replace(dirfd, KEEP_FILE, "", 0);
	if (!rc)
		rc = stamp_replace(dirfd, INDEX_FILE, text, (size_t)len);
	if (db >= 0)
		close(db);
	if (dirfd >= 0)
		close(dirfd);
	return rc;
}

static void *write_copy(void *arg)
{
	struct filling *f = arg;

	f->rc = backup_receive(f->fd[1], f->dir, f->mgr->log);
	if (!f->rc)
		f->rc = check_copy(f);
	if (!f->rc)
		f->rc = note_index(f);
	close(f->fd[1]);
	f->fd[1] = -1;
	atomic_store(&f->ended, true);
	rpc_ctx_wake(f->mgr->ctx);
	return NULL;
}

/* ---- the steps, in the event loop ---- */

static void next_step(struct filling *f, void (*step)(struct filling *f),
		      unsigned int ms)
{
	f->step = step;
	rpc_timer_set(f->mgr->ctx, &f->timer, clock_after_ms(ms));
}

static void on_timer(struct rpc_timer *timer)
{
	struct filling *f = container_of(timer, struct filling, timer);

	f->step(f);
}

static void give_up(struct filling *f)
{
	mgr_group_give_up(f->mgr->group,
			  "this manager starts again to get another copy of "
			  "the database");
}

static void fail_filling(struct filling *f, const char *what, int rc)
{
	log_warn(f->mgr->log,
		 "cannot copy the database of %s: %s: %s; tries again",
		 f->rpc ? rpc_peer_name(f->rpc) : "the leader", what,
		 strerror(-rc));
	next_step(f, give_up, PAUSE_MS);
}

static void end_stream(struct filling *f)
{
	if (f->fd[0] >= 0)
		close(f->fd[0]);
	f->fd[0] = -1;
}

static void await_thread(struct filling *f)
{
	if (!atomic_load(&f->ended)) {
		next_step(f, await_thread, RETRY_MS);
	} else if (f->rc) {
		fail_filling(f, "write the copy", f->rc);
	} else {
		log_info(f->mgr->log,
			 "this manager has a copy of the database, %llu MiB, "
			 "up to entry %llu of the log",
			 (unsigned long long)f->offset >> 20,
			 (unsigned long long)f->applied);
		mgr_group_note_filled(f->mgr->group, f->index);
	}
}

static void fetch_part(struct filling *f);

static void pass_part(struct filling *f)
{
	ssize_t n;

	while (f->done < f->len) {
		n = send(f->fd[0], f->data + f->done, f->len - f->done,
			 MSG_NOSIGNAL | MSG_DONTWAIT);
		if (n < 0 && errno == EAGAIN) {
			next_step(f, pass_part, RETRY_MS);
			return;
		}
		if (n < 0) { /* the thread has ended, and has logged why */
			end_stream(f);
			await_thread(f);
			return;
		}
		f->done += (size_t)n;
	}
	fetch_part(f);
}

/* The leader sends one copy at a time. */
static void await_turn(struct filling *f)
{
	if (!f->waits)
		log_info(f->mgr->log,
			 "%s sends a copy of the database to another manager; "
			 "this manager waits for its turn",
			 rpc_peer_name(f->rpc));
	f->waits = true;
	next_step(f, fetch_part, PAUSE_MS);
}

static void on_part(struct rpc_call *call)
{
	struct filling *f = call->arg;
	const struct wire_fetch_rep *rep = call->reply.body;

	f->calls = false;
	if (call->status)
		rail_mem_drop(&f->mem);
	else
		rail_mem_fini(&f->mem);
	if (f->closing)
		return;
	if (call->status == -EBUSY && !f->offset) {
		await_turn(f);
		return;
	}
	if (call->status) {
		fail_filling(f, "fetch a part", call->status);
		return;
	}
	f->len = le32toh(rep->len);
	f->done = 0;
	f->offset += f->len;
	if (le32toh(rep->end)) {
		end_stream(f);
		next_step(f, await_thread, 0);
	} else {
		next_step(f, pass_part, 0);
	}
}

static size_t build_request(struct filling *f)
{
	const struct mgr_group *g = f->mgr->group;
	const struct wire_fetch body = { .group = htole64(mgr_group_number(g)),
					 .member = htole64(mgr_group_id(g)),
					 .offset = htole64(f->offset),
					 .len = htole32(sizeof(f->data)),
					 .nmem = htole32(1) };
	/* rpc adds the key */
	const struct wire_mem mem = { .addr = htole64((uintptr_t)f->data),
				      .len = htole32(sizeof(f->data)) };
	struct wire_out out;

	wire_begin(&out, f->msg, sizeof(f->msg));
	wire_put(&out, &body, sizeof(body));
	wire_put(&out, &mem, sizeof(mem));
	return (size_t)wire_end(&out, WIRE_FETCH, 0, 0);
}

static void fetch_part(struct filling *f)
{
	rail_mem_init(&f->mem, f->data, sizeof(f->data), TP_REMOTE_WRITE);
	f->area = &f->mem;
	f->call = (struct rpc_call){ .msg = f->msg,
				     .msg_len = build_request(f),
				     .area = &f->area,
				     .nareas = 1,
				     .pieces_at = sizeof(struct wire_hdr) +
						  sizeof(struct wire_fetch),
				     .npieces = 1,
				     .deadline = clock_after_ms(CALL_MS),
				     .quiet = true,
				     .done = on_part,
				     .arg = f };
	f->calls = true;
	rpc_call_start(f->rpc, &f->call);
}

/* ---- the folders ---- */

static int remove_files(int parent, const char *name)
{
	int fd = openat(parent, name, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	DIR *dir = fd < 0 ? NULL : fdopendir(fd);
	struct dirent *de;

	while (dir && (de = readdir(dir)))
		unlinkat(fd, de->d_name, 0);
	if (dir)
		closedir(dir);
	return unlinkat(parent, name, AT_REMOVEDIR) && errno != ENOENT ? -errno
								       : 0;
}

/* Removes the index first, so that the rest of the copy does not count after a crash. */
static int remove_copy(int storage)
{
	int fd = openat(storage, FOLDER, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	int rc = 0;

	if (fd < 0)
		return errno == ENOENT ? 0 : -errno;
	if (unlinkat(fd, INDEX_FILE, 0) && errno != ENOENT)
		rc = -errno;
	if (!rc && fsync(fd))
		rc = -errno;
	if (!rc)
		rc = remove_files(fd, "db");
	if (!rc)
		rc = remove_files(fd, "db.partial");
	close(fd);
	return rc ? rc : remove_files(storage, FOLDER);
}

/* The index that the copy was made for; 0: there is no complete copy. */
static uint64_t read_index(int storage)
{
	int fd = openat(storage, FOLDER "/" INDEX_FILE, O_RDONLY | O_CLOEXEC);
	char text[24] = "";
	ssize_t n = fd < 0 ? 0 : read(fd, text, sizeof(text) - 1);

	if (fd >= 0)
		close(fd);
	if (n <= 0 || faccessat(storage, FOLDER "/db", F_OK, 0))
		return 0;
	return strtoull(text, NULL, 10);
}

/* A database that was in no group is never deleted. */
static int put_aside(int storage, const struct log *log)
{
	int rc;

	if (faccessat(storage, "db", F_OK, 0))
		return errno == ENOENT ? 0 : -errno;
	rc = remove_files(storage, OLD);
	if (!rc && renameat(storage, "db", storage, OLD))
		rc = -errno;
	if (!rc)
		log_warn(log, "the database that was in no group is in " OLD
			      " now: remove it when it is of no use");
	return rc;
}

static int take_copy(int storage, const struct log *log)
{
	int rc = faccessat(storage, FOLDER "/" KEEP_FILE, F_OK, 0)
			 ? remove_files(storage, "db")
			 : put_aside(storage, log);

	if (!rc && renameat(storage, FOLDER "/db", storage, "db"))
		rc = -errno;
	if (!rc && fsync(storage))
		rc = -errno;
	if (!rc)
		log_info(log, "uses the copy of another manager's database "
			      "in place of its own");
	return rc;
}

static int finish_copy(int storage, const char *path, const struct log *log)
{
	uint64_t index = read_index(storage), needs = 0;
	int rc = index ? mgr_group_needs(path, log, &needs) : 0;

	if (!rc && index && needs >= index)
		rc = take_copy(storage, log);
	return rc ? rc : remove_copy(storage);
}

int filling_finish(const char *storage, const struct log *log)
{
	int fd = open(storage, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	int rc = fd < 0 ? -errno : finish_copy(fd, storage, log);

	if (fd >= 0)
		close(fd);
	if (rc && rc != -ENOENT)
		log_error(log,
			  "cannot use the copy of the database in %s/" FOLDER
			  ": %s; check this disk, then start the manager again",
			  storage, strerror(-rc));
	return rc == -ENOENT ? 0 : rc;
}

/* ---- start and end ---- */

/* Entries of a log are in every other database that is not empty. */
static int check_replaced(struct filling *f)
{
	struct store_applied applied = { 0 };
	int rc = store_get_applied(f->mgr->st, &applied);

	if (!rc && !applied.index)
		rc = ns_exists(f->mgr->st, &f->keeps);
	return rc;
}

static int start_thread(struct filling *f)
{
	int rc = socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, f->fd)
			 ? -errno
			 : 0;

	if (!rc)
		rc = -pthread_create(&f->thread, NULL, write_copy, f);
	f->threaded = !rc;
	return rc;
}

static int open_filling(struct filling *f, const char *uri)
{
	struct peers_attr attr;
	struct addr addr;
	int rc = addr_parse(uri, 0, &addr);

	joining_peers_attr(f->mgr, &attr);
	if (!rc)
		rc = peers_connect(&attr, &addr, uri, true, &f->rpc);
	if (!rc)
		rc = check_replaced(f);
	if (!rc)
		rc = remove_copy(f->mgr->dirfd);
	return rc ? rc : start_thread(f);
}

void filling_start(struct mgr *mgr, const char *uri, uint64_t index)
{
	struct filling *f;
	int rc;

	if (mgr->filling)
		return;
	f = calloc(1, sizeof(*f));
	if (!f) {
		mgr_group_give_up(mgr->group, "no memory for a copy of the "
					      "database");
		return;
	}
	f->mgr = mgr;
	f->index = index;
	f->fd[0] = f->fd[1] = -1;
	f->timer.fire = on_timer;
	snprintf(f->dir, sizeof(f->dir), "%s/" FOLDER, mgr->conf.storage);
	mgr->filling = f;
	log_info(mgr->log,
		 "this manager lacks entries that the others have deleted from "
		 "their logs: it gets a copy of the database of %s",
		 uri);
	rc = open_filling(f, uri);
	if (rc)
		fail_filling(f, "connect", rc);
	else
		next_step(f, fetch_part, 0);
}

void filling_close(struct mgr *mgr)
{
	struct filling *f = mgr->filling;

	if (!f)
		return;
	f->closing = true;
	rpc_timer_clear(mgr->ctx, &f->timer);
	if (f->rpc)
		rpc_peer_close(f->rpc, true);
	end_stream(f);
	if (f->threaded)
		pthread_join(f->thread, NULL);
	else if (f->fd[1] >= 0)
		close(f->fd[1]);
	free(f);
	mgr->filling = NULL;
}
