/* SPDX-License-Identifier: BSD-2-Clause */
/* pvfs-ping - whether each server answers, which one it is, and how far away. */
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "common/json/json_out.h"
#include <pvfs.h>
#include "client/tools/common/tool.h"

struct ping_args {
	bool json, header;
	uint64_t timeout_ms;
	struct json_object *list;
};

static int set_option(void *arg, int opt, const char *val)
{
	struct ping_args *a = arg;

	if (opt == 'j') {
		a->json = true;
		return 0;
	}
	a->timeout_ms = tool_number(val);
	return 0;
}

static const struct tool_value values[] = { { 't', 1, 3600000, NULL }, { 0 } };

static const struct option longs[] = {
	{ "json", no_argument, NULL, 'j' },
	{ "timeout", required_argument, NULL, 't' },
	{ 0 },
};

static const struct tool tool = {
	.name = "pvfs-ping",
	.usage = "[-j] [-t MS] [PATH | URI]...",
	.help = "Asks every server of the mounts that the PATHs lie on (none: all mounts of\n"
		"pvfstab), or a server by its URI: version, transport (TRANSPORT/SEAL\n"
		"where the connection is sealed), uptime, round trip.\n"
		"  -t, --timeout MS       wait at most MS milliseconds for each (5000)\n"
		"  -j, --json             one JSON array\n"
		"Exit status 1 when a server is down.\n",
	.shorts = "jt:",
	.longs = longs,
	.values = values,
	.option = set_option,
};

static void ping_json(struct ping_args *a, const char *who, const char *uri,
		      const struct pvfs_ping *p, int err)
{
	struct json_object *o = json_object_new_object();

	json_str(o, "server", who);
	json_str(o, "uri", uri);
	json_yes(o, "up", !err);
	json_str(o, "state", tool_state(err));
	if (err) {
		json_str(o, "error", tool_cause(err));
	} else {
		json_str(o, "version", p->version);
		json_str(o, "transport", p->transport);
		json_str(o, "reason", p->reason);
		json_str(o, "seal", p->seal);
		json_u64(o, "uptime_ns", p->uptime_ns);
		json_u64(o, "requests", p->requests);
		json_u64(o, "sessions", p->sessions);
		json_u64(o, "rtt_ns", p->rtt_ns);
		json_u64(o, "connect_ns", p->connect_ns);
	}
	json_object_array_add(a->list, o);
}

/* "tcp/auth"; returns buf. */
static const char *transport_text(const struct pvfs_ping *p, char *buf,
				  size_t len)
{
	bool sealed = strcmp(p->seal, "none") != 0;

	snprintf(buf, len, "%s%s%s", p->transport, sealed ? "/" : "",
		 sealed ? p->seal : "");
	return buf;
}

static void ping_text(struct ping_args *a, const char *who, const char *uri,
		      const struct pvfs_ping *p, int err)
{
	char over[sizeof(p->transport) + sizeof(p->seal)];

	if (a->header)
		printf("%-8s %-32s %-7s %-9s %-9s %9s %10s %12s  %s\n",
		       "server", "address", "state", "version", "transport",
		       "rtt us", "uptime s", "requests", "reason");
	a->header = false;
	if (err)
		printf("%-8s %-32s %-7s %s\n", who, uri, tool_state(err),
		       tool_cause(err));
	else
		tool_line(stdout,
			  "%-8s %-32s up      %-9s %-9s %9.1f %10.0f %12" PRIu64
			  "  %s\n",
			  who, uri, p->version,
			  transport_text(p, over, sizeof(over)),
			  (double)p->rtt_ns / 1e3, (double)p->uptime_ns / 1e9,
			  p->requests, p->reason);
	fflush(stdout);
}

/* path: the server is reached like its mount reaches it; NULL: by its address alone. */
static int ping_server(void *arg, const char *path, const char *who,
		       const char *uri)
{
	struct ping_args *a = arg;
	int err = 0, ms = (int)a->timeout_ms;
	struct pvfs_ping p = { 0 };

	if (path ? pvfs_ping_mount(path, uri, ms, &p)
		 : pvfs_ping_server(uri, ms, &p))
		err = errno;
	(a->json ? ping_json : ping_text)(a, who, uri, &p, err);
	return err != 0;
}

int main(int argc, char **argv)
{
	struct ping_args a = { .timeout_ms = 5000, .header = true };
	int i = tool_options(&tool, argc, argv, &a), status;

	a.list = json_object_new_array();
	status = tool_each_server(&tool, argv + i, ping_server, &a);
	if (a.json)
		json_line(a.list);
	else
		json_object_put(a.list);
	return tool_done(&tool, status);
}
