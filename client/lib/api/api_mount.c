/* SPDX-License-Identifier: BSD-2-Clause */
/* api_mount.c - mounts, servers and layout, for tools; the version of the library. */
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

#include "client/lib/api.h"
#include "client/lib/api/api_int.h"

int pvfs_is_pvfs(const char *path)
{
	struct where w;

	where_find(&w, path);
	return w.fs != NULL;
}

int pvfs_is_pvfs_fd(int fd)
{
	struct file *f = process_file(fd);
	int is = f && f->fs;

	if (f)
		file_put(f);
	return is;
}

int pvfs_mount_point(unsigned int index, char *dir, size_t len)
{
	const struct mount *m = process_mount(index);

	if (!m)
		return api_int(-ENOENT);
	if (strlen(m->dir) >= len)
		return api_int(-ERANGE);
	if (!dir)
		return api_int(-EFAULT);
	strcpy(dir, m->dir);
	return 0;
}

/* The only transport that the mount permits, or NULL: several. */
static const char *only_of(const struct mount *m)
{
	return fabric_any(&m->mgr[0]) ? fabric_only(m->fabric)
				      : m->mgr[0].scheme;
}

/* Formats the address of a server.  If the mount permits only one transport, the URI names it. */
static void list_uri(const struct mount *m, const char *uri,
		     struct pvfs_server *out)
{
	const char *only = only_of(m);
	struct addr addr;

	snprintf(out->uri, sizeof(out->uri), "%s", uri);
	if (!only || addr_parse(uri, 0, &addr) || !fabric_any(&addr))
		return;
	snprintf(addr.scheme, sizeof(addr.scheme), "%s", only);
	addr_format(&addr, out->uri, sizeof(out->uri));
}

/* As many managers as fit.  They have one transport, which only the first one names. */
static struct pvfs_server manager_of(const struct mount *m)
{
	struct pvfs_server mgr = { .role = PVFS_MGR };
	char uri[ADDR_STRLEN];
	size_t len;

	list_uri(m, addr_format(&m->mgr[0], uri, sizeof(uri)), &mgr);
	len = strlen(mgr.uri);
	for (unsigned int i = 1; i < m->nmgrs; i++) {
		const char *host = strstr(addr_format(&m->mgr[i], uri,
						      sizeof(uri)),
					  "://") +
				   3;

		if (len + 1 + strlen(host) >= sizeof(mgr.uri))
			break;
		len += (size_t)sprintf(mgr.uri + len, ",%s", host);
	}
	return mgr;
}

int pvfs_manager(const char *path, struct pvfs_server *mgr)
{
	struct where w;

	where_find(&w, path);
	if (!w.fs)
		return api_int(-ENODEV);
	if (!mgr)
		return api_int(-EFAULT);
	*mgr = manager_of(w.fs->mount);
	return 0;
}

static void list_servers(const struct session *s, const struct mount *m,
			 struct pvfs_server *list, int max)
{
	int i;

	if (max < 1)
		return;
	list[0] = manager_of(m);
	for (i = 1; i < max && i <= (int)s->niods; i++) {
		list[i] = (struct pvfs_server){ .role = PVFS_IOD,
						.index = i - 1 };
		list_uri(m, s->uri[i - 1].uri, &list[i]);
	}
}

typedef int session_fn(struct fs *fs, struct session **s);

static int ask_servers(const char *path, session_fn *open,
		       struct pvfs_server *list, int max)
{
	struct session *s;
	struct where w;
	int rc;

	where_find(&w, path);
	if (!w.fs)
		return api_int(-ENODEV);
	if (max < 0 || (max && !list))
		return api_int(max < 0 ? -EINVAL : -EFAULT);
	rc = open(w.fs, &s);
	if (rc)
		return api_int(rc);
	list_servers(s, w.fs->mount, list, max);
	rc = (int)s->niods + 1;
	session_put(s);
	return rc;
}

int pvfs_servers(const char *path, struct pvfs_server *list, int max)
{
	return ask_servers(path, fs_session, list, max);
}

int pvfs_tool_servers(const char *path, struct pvfs_server *list, int max)
{
	return ask_servers(path, fs_session_as_tool, list, max);
}

/* ---- layout ---- */

/*
 * A struct pvfs_layout names iods that follow each other, and no ring.  The iods of a new ring do
 * so as well (mgr/copyset/copyset_design.h), until another iod takes the place of one of them.
 */
static int first_iod(struct session *s, const struct dist *dist, uint32_t *base)
{
	struct ring ring;
	int rc = copysets_learn(s, dist, &ring);

	*base = dist->base % s->niods;
	for (uint32_t k = 0; !rc && k < dist->pcount; k++)
		if (session_iod(s, dist, k) != (*base + k) % s->niods)
			rc = -EOPNOTSUPP;
	return rc;
}

static int do_layout(struct session *s, const struct target *t, void *arg)
{
	struct pvfs_layout *layout = arg;
	struct attr attr;
	uint32_t base;
	int rc = mgr_getattr(s, t, &attr);

	if (rc)
		return rc;
	if (!S_ISREG(attr.mode))
		return S_ISDIR(attr.mode) ? -EISDIR : -EINVAL;
	rc = first_iod(s, &attr.dist, &base);
	if (rc)
		return rc;
	*layout = (struct pvfs_layout){
		.handle = attr.handle,
		.base = base,
		.pcount = attr.dist.pcount,
		.ssize = attr.dist.ssize,
		.niods = s->niods,
	};
	return 0;
}

int pvfs_layout(const char *path, struct pvfs_layout *layout)
{
	struct where w;
	int rc = -EFAULT;

	if (layout)
		rc = where_run(&w, path, 0, do_layout, layout);
	return api_int(rc == WHERE_ORDINARY ? -ENODEV : rc);
}

int pvfs_locate(const struct pvfs_layout *layout, int64_t off, int64_t *local)
{
	struct dist dist;
	struct ring ring;

	if (!layout)
		return api_int(-EFAULT);
	dist = (struct dist){ .base = layout->base,
			      .pcount = layout->pcount,
			      .ssize = layout->ssize };
	if (off < 0 || dist_check(&dist, layout->niods))
		return api_int(-EINVAL);
	if (local)
		*local = (int64_t)dist_local(&dist, (uint64_t)off);
	ring = ring_of_iods(layout->niods);
	return (int)copyset_of(&dist, &ring, dist_server(&dist, (uint64_t)off));
}

const char *pvfs_version(void)
{
	return PVFS_VERSION;
}
