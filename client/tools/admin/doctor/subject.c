/* SPDX-License-Identifier: BSD-2-Clause */
/* subject.c - finds the servers: from pvfs.conf, or from the managers. */
#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "client/tools/admin/doctor/checks.h"
#include "common/util/clock.h"
#include "common/comm/fabric/fabric.h"
#include <pvfs.h>
#include "common/comm/cluster/server_conf.h"

#define SERVERS_MAX 4096u

static void set_name(struct subject *s, bool mgr, uint32_t index)
{
	s->mgr = mgr;
	s->index = index;
	if (mgr) {
		strcpy(s->name, "mgr");
		strcpy(s->section, "mgr");
		return;
	}
	snprintf(s->name, sizeof(s->name), "iod %u", index);
	snprintf(s->section, sizeof(s->section), "iod.%u", index);
}

static void set_from_conf(struct subject *s, const struct conf *file,
			  const struct addr *addr)
{
	char err[DOCTOR_TEXT];
	const struct conf_section in = { file, s->section, err, sizeof(err) };

	s->addr = *addr;
	addr_format(addr, s->uri, sizeof(s->uri));
	strcpy(s->mount, DOCTOR_MOUNT);
	server_conf_storage(&in, s->storage);
}

/* All managers, for libpvfs, which finds the one that leads. */
static void set_managers(struct subject *s, const struct server_mgrs *all)
{
	char uri[ADDR_STRLEN];
	size_t len = strlen(s->uri);

	for (unsigned int i = 1; i < all->n; i++) {
		const char *host = strstr(addr_format(&all->addr[i], uri,
						      sizeof(uri)),
					  "://") +
				   3;

		if (len + 1 + strlen(host) < sizeof(s->uri))
			len += (size_t)sprintf(s->uri + len, ",%s", host);
	}
}

static int add_conf_servers(struct doctor *d, const struct conf *file,
			    const struct server_addrs *all)
{
	d->subject = calloc(all->niods + 1, sizeof(d->subject[0]));
	if (!d->subject)
		return -ENOMEM;
	for (uint32_t i = 0; i <= all->niods; i++) {
		set_name(&d->subject[i], !i, i ? i - 1 : 0);
		if (!i && all->mgrs.numbered)
			strcpy(d->subject[i].section, "mgr.0");
		set_from_conf(&d->subject[i], file,
			      i ? &all->iod[i - 1] : &all->mgrs.addr[0]);
	}
	set_managers(&d->subject[0], &all->mgrs);
	d->nsubjects = all->niods + 1;
	return 0;
}

/* pvfs-conf reports faults in these. */
static void read_filesystem(struct doctor *d, const struct conf *file)
{
	char err[DOCTOR_TEXT];
	const struct conf_section in = { file, "filesystem", err, sizeof(err) };
	const char *auth = conf_get(&in, "auth"),
		   *sock = conf_get(&in, "munge_socket"),
		   *seal = conf_get(&in, "seal");
	bool proves = auth && strcmp(auth, "sys") != 0;

	server_conf_fsid(&in, &d->fsid);
	server_conf_key(&in, d->key);
	snprintf(d->auth, sizeof(d->auth), "%s", auth ? auth : "");
	snprintf(d->seal, sizeof(d->seal), "%s",
		 seal	  ? seal
		 : proves ? "auth"
			  : "none");
	snprintf(d->munge_socket, sizeof(d->munge_socket), "%s",
		 sock ? sock : "");
}

int subjects_of_conf(struct doctor *d, char *err, size_t errlen)
{
	struct conf_section in = { .name = "mgr",
				   .err = err,
				   .errlen = errlen };
	struct server_addrs all;
	struct conf *file;
	int rc = server_conf_load(d->conf, &file, err, errlen);

	if (rc)
		return rc;
	in.conf = file;
	read_filesystem(d, file);
	rc = server_conf_addresses(&in, &all);
	if (!rc) {
		rc = add_conf_servers(d, file, &all);
		free(all.iod);
	}
	conf_free(file);
	return rc;
}

/* Servers of another user on this host run as the owner of their storage. */
static unsigned int server_user(const struct doctor *d)
{
	struct stat sb;

	for (unsigned int i = 0; i < d->nsubjects; i++)
		if (!stat(d->subject[i].storage, &sb))
			return sb.st_uid;
	return 0;
}

/* Writes how clients authenticate to the servers; check_munge() reports the rest. */
static int write_auth(const struct doctor *d, int fd)
{
	if (!strcmp(d->auth, "key"))
		return dprintf(fd, ",auth=key,key=%s", d->key);
	if (strcmp(d->auth, "munge") != 0 || munged_reach(d))
		return 0;
	return dprintf(fd, ",auth=munge%s%s",
		       d->munge_socket[0] ? ",munge_socket=" : "",
		       d->munge_socket);
}

/* Returns the transport of all servers' addresses, or FABRIC_ANY if they differ. */
static const char *scheme_of_all(const struct doctor *d)
{
	const char *scheme = d->subject[0].addr.scheme;

	for (unsigned int i = 1; i < d->nsubjects; i++)
		if (strcmp(d->subject[i].addr.scheme, scheme) != 0)
			return FABRIC_ANY;
	return scheme;
}

static int write_line(const struct doctor *d, int fd)
{
	const struct subject *mgr = &d->subject[0];
	const char *hosts = strstr(mgr->uri, "://") + 3;
	bool several = strchr(hosts, ',');
	int len = several ? (int)strlen(hosts)
			  : (int)(strrchr(hosts, ':') - hosts);
	int n = dprintf(fd,
			"%.*s:/ " DOCTOR_MOUNT
			" pvfs port=%u,transport=%s,timeout=5,server_user=%u",
			len, hosts, mgr->addr.port, scheme_of_all(d),
			server_user(d));

	if (n >= 0)
		n = write_auth(d, fd);
	if (n >= 0)
		n = dprintf(fd, " 0 0\n");
	return n < 0 ? -errno : 0;
}

int subjects_mount(const struct doctor *d)
{
	int fd = memfd_create("pvfstab", MFD_CLOEXEC), rc;
	char path[48];

	if (fd < 0)
		return -errno;
	rc = write_line(d, fd);
	snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
	if (!rc && setenv("PVFSTAB_FILE", path, 1))
		rc = -ENOMEM;
	return rc; /* the descriptor stays open for all checks */
}

/* ---- from pvfstab: in a child, because a manager may not answer ---- */

static void send_subject(int out, const char *mount,
			 const struct pvfs_server *server)
{
	struct subject s = { 0 };
	char first[ADDR_STRLEN];

	snprintf(first, sizeof(first), "%.*s", (int)strcspn(server->uri, ","),
		 server->uri);
	set_name(&s, server->role == PVFS_MGR, (uint32_t)server->index);
	if (addr_parse(first, 0, &s.addr))
		return;
	snprintf(s.uri, sizeof(s.uri), "%s", server->uri);
	snprintf(s.mount, sizeof(s.mount), "%s", mount);
	if (write(out, &s, sizeof(s)) != sizeof(s))
		_exit(1);
}

static void send_iods(int out, const char *mount)
{
	int n = pvfs_tool_servers(mount, NULL, 0);
	struct pvfs_server *list = n > 0 ? calloc((size_t)n, sizeof(*list))
					 : NULL;

	if (!list)
		return;
	n = pvfs_tool_servers(mount, list, n);
	for (int i = 1; i < n; i++)
		send_subject(out, mount, &list[i]);
	free(list);
}

static void send_subjects(int out)
{
	struct pvfs_server mgr;
	char dir[PATH_MAX];

	for (unsigned int i = 0; !pvfs_mount_point(i, dir, sizeof(dir)); i++)
		if (!pvfs_manager(dir, &mgr))
			send_subject(out, dir, &mgr);
	for (unsigned int i = 0; !pvfs_mount_point(i, dir, sizeof(dir)); i++)
		send_iods(out, dir);
	exit(0); /* libpvfs closes its sessions */
}

/* Gets the next one; false: there is none, or not in time. */
static bool receive_subject(int fd, uint64_t deadline, struct subject *s)
{
	size_t have = 0;
	ssize_t n = 1;

	while (have < sizeof(*s) && n > 0) {
		struct pollfd p = { .fd = fd, .events = POLLIN };
		uint64_t now = clock_now();

		if (now >= deadline ||
		    poll(&p, 1, (int)((deadline - now) / CLOCK_NS_PER_MS) + 1) <
			    1)
			return false;
		n = read(fd, (char *)s + have, sizeof(*s) - have);
		have += n > 0 ? (size_t)n : 0;
	}
	return have == sizeof(*s);
}

static int add_subject(struct doctor *d, const struct subject *s)
{
	struct subject *grown = reallocarray(d->subject, d->nsubjects + 1,
					     sizeof(*grown));

	if (!grown)
		return -ENOMEM;
	d->subject = grown;
	d->subject[d->nsubjects++] = *s;
	return 0;
}

int subjects_of_tab(struct doctor *d)
{
	uint64_t deadline = clock_after_ms(d->timeout_s * 1000);
	struct subject s;
	int p[2], pid, rc = 0;

	if (pipe(p))
		return -errno;
	pid = fork();
	if (!pid) {
		alarm(d->timeout_s + 5);
		send_subjects(p[1]);
	}
	close(p[1]);
	while (pid > 0 && !rc && d->nsubjects < SERVERS_MAX &&
	       receive_subject(p[0], deadline, &s))
		rc = add_subject(d, &s);
	close(p[0]);
	if (pid < 0)
		return -EAGAIN;
	if (clock_now() >= deadline)
		kill(pid, SIGKILL);
	waitpid(pid, NULL, clock_now() >= deadline ? WNOHANG : 0);
	return rc;
}
