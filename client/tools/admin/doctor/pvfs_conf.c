/* SPDX-License-Identifier: BSD-2-Clause */
/* pvfs_conf.c - pvfs.conf as pvfs-conf(8) judges it, and as the manager has it. */
#include <errno.h>
#include <libgen.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "client/tools/admin/doctor/checks.h"
#include <pvfs.h>
#include "common/comm/cluster/server_conf.h"
#include "client/tools/common/tool.h"

#define PROGRAM "pvfs-conf"

/* Searches this program's folder, the folders of servers' programs, and a build. */
static bool find_program(char path[PATH_MAX])
{
	static const char *const where[] = { ".", "../sbin", "../../conf",
					     "/usr/sbin", "/usr/local/sbin" };
	char self[PATH_MAX - 64];
	ssize_t n = readlink("/proc/self/exe", self, sizeof(self) - 1);

	self[n > 0 ? n : 0] = '\0';
	for (size_t i = 0; i < sizeof(where) / sizeof(where[0]); i++) {
		char copy[sizeof(self)];

		strcpy(copy, self);
		if (*where[i] == '/')
			snprintf(path, PATH_MAX, "%s/" PROGRAM, where[i]);
		else
			snprintf(path, PATH_MAX, "%s/%s/" PROGRAM,
				 dirname(copy), where[i]);
		if (!access(path, X_OK))
			return true;
	}
	return false;
}

/* Returns its output; NULL: it cannot be started. */
static FILE *start_check(const char *program, const char *conf, int *pid)
{
	int p[2];

	if (pipe(p))
		return NULL;
	*pid = fork();
	if (!*pid) {
		dup2(p[1], STDOUT_FILENO);
		close(p[0]);
		close(p[1]);
		execl(program, PROGRAM, "check", conf, (char *)NULL);
		_exit(127);
	}
	close(p[1]);
	if (*pid > 0)
		return fdopen(p[0], "r");
	close(p[0]);
	return NULL;
}

/*
 * Reads the output of the check up to its end.  The caller ignores these lines if the exit status
 * of the check is 0.
 */
static char *read_all(FILE *in)
{
	char *text = NULL;
	size_t len = 0;

	if (getdelim(&text, &len, '\0', in) > 0)
		return text;
	free(text);
	return NULL;
}

static void take_lines(const struct doctor *d, FILE *in, int pid)
{
	char *text = read_all(in), *save = NULL, *line;
	int status = 0;

	waitpid(pid, &status, 0);
	if (!WIFEXITED(status) || WEXITSTATUS(status) > 1)
		doctor_unseen(d, PROGRAM " check ended with status %d",
			      WEXITSTATUS(status));
	line = text && status ? strtok_r(text, "\n", &save) : NULL;
	for (; line; line = strtok_r(NULL, "\n", &save)) {
		const char *fix = conf_fix(line);

		doctor_find(d, fix, "%s", line);
	}
	free(text);
}

void check_conf(const struct doctor *d, const struct subject *s)
{
	char program[PATH_MAX];
	FILE *in;
	int pid;

	(void)s;
	if (access(d->conf, R_OK)) {
		if (errno == ENOENT)
			doctor_find(d,
				    "copy it from another server host, or let "
				    "pvfs-mkconf write one",
				    "%s is not there", d->conf);
		else
			doctor_unseen(d, "%s: %s", d->conf, strerror(errno));
		return;
	}
	in = find_program(program) ? start_check(program, d->conf, &pid) : NULL;
	if (!in) {
		doctor_unseen(d, PROGRAM " is not installed here (package "
					 "pvfs-server)");
		return;
	}
	take_lines(d, in, pid);
	fclose(in);
}

/* Compares the addresses of the iods in pvfs.conf with the manager's list. */
static void compare_iods(const struct doctor *d, const struct pvfs_server *list,
			 int n)
{
	for (int i = 1; i < n && i < (int)d->nsubjects; i++)
		if (strcmp(list[i].uri, d->subject[i].uri) != 0)
			doctor_find(d, SAME_FIX,
				    "[%s] address is %s here, and %s at the "
				    "manager",
				    d->subject[i].section, d->subject[i].uri,
				    list[i].uri);
	if (n != (int)d->nsubjects)
		doctor_find(d, SAME_FIX, "%s has %u iods, and the manager %d",
			    d->conf, d->nsubjects - 1, n - 1);
}

/* Clients use the addresses that the manager tells. */
void check_iods(const struct doctor *d, const struct subject *s)
{
	struct pvfs_server *list;
	struct pvfs_ping p;
	int n;

	(void)s;
	if (!d->nsubjects ||
	    pvfs_ping_mount(DOCTOR_MOUNT, d->subject[0].uri, 3000, &p))
		return; /* check_reach() reports the cause */
	n = tool_servers(DOCTOR_MOUNT, &list);
	if (n < 0) {
		doctor_unseen(d, "the manager does not tell its iods: %s",
			      strerror(errno));
		return;
	}
	compare_iods(d, list, n);
	free(list);
}

uint64_t conf_files(const struct doctor *d, const char *who)
{
	char err[DOCTOR_TEXT];
	struct conf_section in = { .name = strcmp(who, "pvfs-iod") ? "mgr"
								   : "iod",
				   .err = err,
				   .errlen = sizeof(err) };
	unsigned int sessions = 4096, objects = 1024;
	struct conf *file;

	if (server_conf_load(d->conf, &file, err, sizeof(err)))
		return 0;
	in.conf = file;
	conf_uint(&in, "max_sessions", 1, 1u << 24, &sessions);
	conf_uint(&in, "max_open", 1, 1u << 24, &objects);
	conf_free(file);
	return (uint64_t)sessions +
	       (strcmp(who, "pvfs-iod") ? 0 : 2 * (uint64_t)objects);
}
