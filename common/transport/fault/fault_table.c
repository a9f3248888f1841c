/* SPDX-License-Identifier: BSD-2-Clause */
/* fault_table.c - the rules in force: counting, replacing, reloading. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "common/transport/fault/fault_rule.h"

#define FILE_MAX 65536u /* bytes of a control file */

static void install(struct fault_table *t, const struct fault_rule *rules,
		    unsigned int n)
{
	unsigned int i;

	memset(t->rules, 0, sizeof(t->rules));
	for (i = 0; i < n; i++)
		t->rules[i].rule = rules[i];
	t->n = n;
}

/* The caller holds the lock. */
static int replace(struct fault_table *t, const char *text, char *err,
		   size_t errlen)
{
	struct fault_rule rules[FAULT_RULES_MAX];
	int n = fault_rule_parse(text, rules, FAULT_RULES_MAX, err, errlen);

	if (n < 0)
		return n;
	install(t, rules, (unsigned int)n);
	return 0;
}

int fault_table_init(struct fault_table *t, const char *spec, char *err,
		     size_t errlen)
{
	int rc = 0;

	memset(t, 0, sizeof(*t));
	t->size = -1;
	if (spec && spec[0] == '@') {
		t->path = strdup(spec + 1);
		if (!t->path)
			return -ENOMEM;
	} else if (spec) {
		rc = replace(t, spec, err, errlen);
	}
	if (rc)
		return rc;
	return -pthread_mutex_init(&t->lock, NULL);
}

void fault_table_free(struct fault_table *t)
{
	pthread_mutex_destroy(&t->lock);
	free(t->path);
}

int fault_table_set(struct fault_table *t, const char *text, char *err,
		    size_t errlen)
{
	int rc;

	pthread_mutex_lock(&t->lock);
	rc = replace(t, text, err, errlen);
	pthread_mutex_unlock(&t->lock);
	return rc;
}

int fault_table_add(struct fault_table *t, const struct fault_rule *rule)
{
	int rc = fault_rule_check(rule);

	if (rc)
		return rc;
	pthread_mutex_lock(&t->lock);
	if (t->n < FAULT_RULES_MAX) {
		memset(&t->rules[t->n], 0, sizeof(t->rules[0]));
		t->rules[t->n].rule = *rule;
		rc = (int)++t->n;
	} else {
		rc = -ENOSPC;
	}
	pthread_mutex_unlock(&t->lock);
	return rc;
}

uint64_t fault_table_hits(struct fault_table *t, int id)
{
	uint64_t hits = 0;

	pthread_mutex_lock(&t->lock);
	if (id >= 1 && id <= (int)t->n)
		hits = t->rules[id - 1].hits;
	pthread_mutex_unlock(&t->lock);
	return hits;
}

static int load(struct fault_table *t, char *err, size_t errlen)
{
	char *text = malloc(FILE_MAX);
	FILE *f = fopen(t->path, "re");
	size_t n;
	int rc = -ENOMEM;

	if (text && f) {
		n = fread(text, 1, FILE_MAX - 1, f);
		text[n] = '\0';
		rc = replace(t, text, err, errlen);
	} else {
		snprintf(err, errlen, "cannot read %s", t->path);
	}
	if (f)
		fclose(f);
	free(text);
	return rc;
}

/* The caller holds the lock. */
static int reload(struct fault_table *t, char *err, size_t errlen)
{
	struct stat st;

	if (stat(t->path, &st)) {
		if (t->size != -1)
			install(t, NULL, 0);
		t->size = -1;
		return 0;
	}
	if (t->size == st.st_size && t->mtime.tv_sec == st.st_mtim.tv_sec &&
	    t->mtime.tv_nsec == st.st_mtim.tv_nsec)
		return 0;
	t->size = st.st_size;
	t->mtime = st.st_mtim;
	return load(t, err, errlen);
}

int fault_table_refresh(struct fault_table *t, char *err, size_t errlen)
{
	int rc;

	if (!t->path) /* only init sets it */
		return 0;
	pthread_mutex_lock(&t->lock);
	rc = reload(t, err, errlen);
	pthread_mutex_unlock(&t->lock);
	return rc;
}

static bool fits(const struct fault_rule *r, const struct fault_case *c)
{
	return (r->ops & c->op) && c->len >= r->min &&
	       (!r->port || r->port == c->port);
}

/* Whether the rule hits the operation just counted in seen. */
static bool due(const struct fault_counted *r)
{
	uint64_t every = r->rule.every ? r->rule.every : 1;
	uint64_t count = r->rule.count ? r->rule.count : 1;

	if (r->seen <= r->rule.after || r->hits >= count)
		return false;
	return (r->seen - r->rule.after) % every == 0;
}

bool fault_table_hit(struct fault_table *t, const struct fault_case *c,
		     struct fault_rule *rule)
{
	struct fault_counted *r;
	bool hit = false;

	pthread_mutex_lock(&t->lock);
	for (r = t->rules; r < t->rules + t->n; r++) {
		if (!fits(&r->rule, c))
			continue;
		r->seen++;
		if (hit || !due(r))
			continue;
		r->hits++;
		*rule = r->rule;
		hit = true;
	}
	pthread_mutex_unlock(&t->lock);
	return hit;
}
