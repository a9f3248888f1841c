/* SPDX-License-Identifier: BSD-2-Clause */
/* perf_raw.c - finds the transports that can be used, and measures one. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include "tests/bench/perf_raw.h"
#include "common/transport/transport.h"

/* Measures in a separate process, which ends alone if the transport fails. */
static bool apart(bool (*fn)(const struct perf *, struct perf_result *),
		  const struct perf *p, struct perf_result *result)
{
	struct perf_result *there = mmap(NULL, sizeof(*there),
					 PROT_READ | PROT_WRITE,
					 MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	int status = 1;
	pid_t pid;

	if (there == MAP_FAILED)
		return false;
	fflush(NULL);
	pid = fork();
	if (pid == 0)
		_exit(fn(p, there) ? 0 : 1);
	if (pid < 0 || waitpid(pid, &status, 0) < 0)
		status = 1;
	if (WIFSIGNALED(status))
		fprintf(stderr, "pvfs-perf: %s died of signal %d\n",
			p->provider ?: "socket", WTERMSIG(status));
	*result = *there;
	munmap(there, sizeof(*there));
	return status == 0;
}

bool raw_measure(const struct perf *p, struct perf_result *result)
{
	return p->provider ? apart(perf_provider, p, result)
			   : apart(perf_socket, p, result);
}

bool raw_register(const struct perf *p, struct perf_result *result)
{
	return apart(perf_register, p, result);
}

static bool opens(const struct perf *p, struct perf_result *result)
{
	struct tp_dev *dev;
	int rc = tp_dev_open(p->provider, NULL, &dev);

	if (!rc)
		tp_dev_close(dev);
	result->rate = rc;
	return true;
}

/* Whether the provider can be opened on this host.  If not, adds a line about it to the result. */
static bool there_is(struct perf_run *run, const char *provider)
{
	struct perf p = { .provider = provider };
	struct perf_result result = { .rate = -ENODEV };
	int rc;

	apart(opens, &p, &result);
	rc = (int)result.rate;
	if (rc)
		result_missing(run->r, provider, "%s",
			       rc == -ENODEV ? "no RDMA device here"
					     : strerror(-rc));
	return !rc;
}

int raw_providers(struct perf_run *run, struct raw_providers *p)
{
	char *text = strdup(run->providers), *save = NULL, *word;

	p->n = 0;
	if (!text)
		return -1;
	for (word = strtok_r(text, ",", &save); word && p->n < PERF_LIST_MAX;
	     word = strtok_r(NULL, ",", &save)) {
		/* the report uses the name, so it is never freed */
		p->name[p->n] = strdup(word);
		if (p->name[p->n] && there_is(run, p->name[p->n]))
			p->n++;
	}
	free(text);
	return 0;
}
