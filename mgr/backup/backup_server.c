/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * backup_server.c - the manager's end of pvfs-mgr --backup: a thread that copies the store to a
 * command.  Requests of clients continue meanwhile.
 */
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <poll.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include "common/util/clock.h"
#include "common/util/stamp.h"
#include "mgr/backup/backup_int.h"

#define BACKLOG 8
#define STALL_MS 30000 /* for a command that takes no data */
#define TICK_MS 200 /* until other commands are refused */

struct backup_server {
	struct store *st;
	const struct log *log;
	int dirfd; /* of the storage directory */
	int listener;
	int stop; /* eventfd */
	pthread_t thread;
};

/* A copy to one command. */
struct delivery {
	struct backup_server *server;
	int fd;
	uint64_t bytes;
	int error; /* of the connection: nothing more is sent */
};

int backup_socket(int dirfd, struct sockaddr_un *address)
{
	/* the directory may have a longer name than an address */
	*address = (struct sockaddr_un){ .sun_family = AF_UNIX };
	snprintf(address->sun_path, sizeof(address->sun_path),
		 "/proc/self/fd/%d/" BACKUP_SOCKET, dirfd);
	return socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
}

int backup_connect(int dirfd)
{
	struct sockaddr_un address;
	int fd = backup_socket(dirfd, &address);

	if (fd < 0)
		return -errno;
	if (!connect(fd, (void *)&address, sizeof(address)) &&
	    !fcntl(fd, F_SETFL, O_NONBLOCK))
		return fd;
	close(fd);
	return -ENOTCONN;
}

/* ---- to the command ---- */

/* Whether the server was stopped, within the time. */
static bool is_stopped(const struct backup_server *server, int ms)
{
	struct pollfd p = { .fd = server->stop, .events = POLLIN };

	return poll(&p, 1, ms) > 0;
}

/* The answer fits into the empty buffer of a new connection. */
static void refuse_command(int fd, int32_t status)
{
	struct {
		struct backup_frame frame;
		int32_t status;
	} end = { { BACKUP_END, sizeof(status) }, status };

	send(fd, &end, sizeof(end), MSG_NOSIGNAL | MSG_DONTWAIT);
	close(fd);
}

static void refuse_others(const struct backup_server *server)
{
	int fd;

	while ((fd = accept4(server->listener, NULL, NULL, SOCK_CLOEXEC)) >= 0)
		refuse_command(fd, -EBUSY);
}

static int wait_for_room(const struct delivery *to)
{
	struct pollfd p[] = { { .fd = to->fd, .events = POLLOUT },
			      { .fd = to->server->stop, .events = POLLIN } };
	uint64_t end = clock_after_ms(STALL_MS);

	while (!poll(p, 2, TICK_MS)) {
		refuse_others(to->server);
		if (clock_now() >= end)
			return -ETIMEDOUT;
	}
	return p[1].revents ? -ECANCELED : 0;
}

static int send_bytes(struct delivery *to, const void *bytes, size_t len)
{
	const uint8_t *at = bytes;
	ssize_t n;

	while (len && !to->error) {
		n = send(to->fd, at, len, MSG_NOSIGNAL | MSG_DONTWAIT);
		if (n < 0) {
			to->error = errno == EAGAIN ? wait_for_room(to)
						    : -errno;
		} else {
			at += n;
			len -= (size_t)n;
		}
	}
	return to->error;
}

static int send_frame(struct delivery *to, enum backup_kind kind,
		      const void *bytes, size_t len)
{
	const struct backup_frame frame = { kind, (uint32_t)len };

	refuse_others(to->server);
	if (!to->error && is_stopped(to->server, 0))
		to->error = -ECANCELED;
	send_bytes(to, &frame, sizeof(frame));
	return send_bytes(to, bytes, len);
}

static int send_file(void *arg, const char *name)
{
	return send_frame(arg, BACKUP_FILE, name, strlen(name));
}

static int send_data(void *arg, uint64_t offset, const void *bytes, size_t len)
{
	struct delivery *to = arg;

	to->bytes += len;
	return send_frame(to, BACKUP_DATA, bytes, len);
}

/* ---- one command ---- */

static int copy_store(struct delivery *to)
{
	const struct backup_begin begin = { BACKUP_FORMAT, STAMP_VERSION };
	const struct store_sink sink = { send_file, send_data, to };
	int32_t status = send_frame(to, BACKUP_BEGIN, &begin, sizeof(begin));

	if (!status)
		status = store_copy(to->server->st, &sink);
	send_frame(to, BACKUP_END, &status, sizeof(status));
	return to->error ? to->error : status;
}

static void serve_command(struct backup_server *server, int fd)
{
	struct delivery to = { .server = server, .fd = fd };
	uint64_t begun = clock_now();
	int rc;

	log_info(server->log, "backup: begins");
	rc = copy_store(&to);
	close(fd);
	if (rc == -ECANCELED)
		log_info(server->log, "backup: given up: the manager stops");
	else if (rc)
		log_warn(server->log, "backup: not complete: %s",
			 rc == -ETIMEDOUT ? "pvfs-mgr --backup took no data"
					  : strerror(-rc));
	else
		log_info(server->log,
			 "backup: %" PRIu64 " bytes in %" PRIu64 " ms",
			 to.bytes,
			 (uint64_t)((clock_now() - begun) / CLOCK_NS_PER_MS));
}

/* The mode of the socket lets in the same users. */
static bool is_allowed(int fd)
{
	struct ucred user;
	socklen_t len = sizeof(user);

	return !getsockopt(fd, SOL_SOCKET, SO_PEERCRED, &user, &len) &&
	       (!user.uid || user.uid == geteuid());
}

static void accept_command(struct backup_server *server)
{
	int fd = accept4(server->listener, NULL, NULL, SOCK_CLOEXEC);

	if (fd < 0)
		is_stopped(server, TICK_MS); /* too many descriptors are open */
	else if (is_allowed(fd))
		serve_command(server, fd);
	else
		refuse_command(fd, -EPERM);
}

static void *server_main(void *arg)
{
	struct backup_server *server = arg;
	struct pollfd p[] = { { .fd = server->listener, .events = POLLIN },
			      { .fd = server->stop, .events = POLLIN } };

	while (poll(p, 2, -1) >= 0 && !p[1].revents)
		accept_command(server);
	return NULL;
}

/* ---- open and close ---- */

/* The lock of the directory is ours, so a socket that is there is of an earlier process. */
static int listen_there(struct backup_server *server)
{
	struct sockaddr_un address;

	unlinkat(server->dirfd, BACKUP_SOCKET, 0);
	server->listener = backup_socket(server->dirfd, &address);
	if (server->listener < 0 ||
	    bind(server->listener, (void *)&address, sizeof(address)) ||
	    fchmodat(server->dirfd, BACKUP_SOCKET, 0600, 0) ||
	    fcntl(server->listener, F_SETFL, O_NONBLOCK) ||
	    listen(server->listener, BACKLOG))
		return -errno;
	return 0;
}

static void free_server(struct backup_server *server)
{
	if (server->listener >= 0) {
		unlinkat(server->dirfd, BACKUP_SOCKET, 0);
		close(server->listener);
	}
	if (server->stop >= 0)
		close(server->stop);
	free(server);
}

int backup_server_open(struct store *st, int dirfd, const struct log *log,
		       struct backup_server **out)
{
	struct backup_server *server = malloc(sizeof(*server));
	int rc;

	if (!server)
		return -ENOMEM;
	*server = (struct backup_server){
		.st = st, .log = log, .dirfd = dirfd, .listener = -1
	};
	server->stop = eventfd(0, EFD_CLOEXEC);
	rc = server->stop < 0 ? -errno : listen_there(server);
	if (!rc)
		rc = -pthread_create(&server->thread, NULL, server_main,
				     server);
	if (rc) {
		free_server(server);
		return rc;
	}
	*out = server;
	return 0;
}

void backup_server_close(struct backup_server *server)
{
	if (!server)
		return;
	eventfd_write(server->stop, 1);
	pthread_join(server->thread, NULL);
	free_server(server);
}
