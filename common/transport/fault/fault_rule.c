/* SPDX-License-Identifier: BSD-2-Clause */
/* fault_rule.c - rules in text, and the rules in force: counting, replacing, reloading. */
#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "common/transport/fault/fault_priv.h"
#include "common/transport/fault/fault_rule.h"

#define COUNT(a) (sizeof(a) / sizeof((a)[0]))

static const struct {
	const char *name;
	unsigned int ops;
} op_names[] = {
	{ "send", FAULT_SEND },		  { "write", FAULT_WRITE },
	{ "write_imm", FAULT_WRITE_IMM }, { "read", FAULT_READ },
	{ "atomic", FAULT_ATOMIC },	  { "recv", FAULT_RECV },
	{ "post_recv", FAULT_POST_RECV }, { "connect", FAULT_CONNECT },
	{ "accept", FAULT_ACCEPT },	  { "mr_reg", FAULT_MR_REG },
	{ "post", FAULT_POST },		  { "any", FAULT_ANY },
};

#define WIRE (FAULT_POST | FAULT_RECV)
#define CONN (FAULT_CONNECT | FAULT_ACCEPT)

/* The operations that suit an action. */
static const struct {
	const char *name;
	unsigned int ops;
} actions[] = {
	[FAULT_DROP] = { "drop",
			 FAULT_SEND | FAULT_WRITE | FAULT_WRITE_IMM | CONN },
	[FAULT_DELAY] = { "delay", FAULT_POST | CONN },
	[FAULT_CORRUPT] = { "corrupt", (WIRE) & ~FAULT_ATOMIC },
	[FAULT_RESET] = { "reset", WIRE },
	[FAULT_FAIL] = { "fail", FAULT_POST | FAULT_POST_RECV | FAULT_CONNECT |
					 FAULT_MR_REG },
	[FAULT_REFUSE] = { "refuse", CONN },
	[FAULT_VANISH] = { "vanish", WIRE },
	[FAULT_KILL] = { "kill", FAULT_ANY },
	[FAULT_STALL] = { "stall", WIRE | CONN },
};

const char *fault_op_name(enum fault_op op)
{
	size_t i;

	for (i = 0; i < COUNT(op_names); i++)
		if (op_names[i].ops == op)
			return op_names[i].name;
	return "?";
}

const char *fault_action_name(enum fault_action action)
{
	return actions[action].name;
}

int fault_rule_check(const struct fault_rule *rule)
{
	bool timed = rule->action == FAULT_DELAY || rule->action == FAULT_STALL;

	if (rule->action >= COUNT(actions) || !rule->ops)
		return -EINVAL;
	if (rule->ops & ~actions[rule->action].ops)
		return -EINVAL;
	return rule->error > 0 || (timed && !rule->ms) ? -EINVAL : 0;
}

/* Parses "send,write" or a group; of a group only the operations that suit the action count. */
static int parse_ops(char *text, struct fault_rule *rule)
{
	unsigned int named = 0, meant = 0;
	char *name, *save = NULL;
	size_t i;

	name = strtok_r(text, ",", &save);
	for (; name; name = strtok_r(NULL, ",", &save)) {
		for (i = 0; i < COUNT(op_names); i++)
			if (!strcmp(name, op_names[i].name))
				break;
		if (i == COUNT(op_names))
			return -EINVAL;
		named |= op_names[i].ops;
		if (op_names[i].ops & (op_names[i].ops - 1)) /* a group */
			meant |= op_names[i].ops & actions[rule->action].ops;
		else
			meant |= op_names[i].ops;
	}
	rule->ops = meant;
	return named && meant ? 0 : -EINVAL;
}

static int parse_action(const char *name, struct fault_rule *rule)
{
	size_t i;

	for (i = 0; i < COUNT(actions); i++) {
		if (!strcmp(name, actions[i].name)) {
			rule->action = (enum fault_action)i;
			return 0;
		}
	}
	return -EINVAL;
}

static int parse_error(const char *name, struct fault_rule *rule)
{
	const char *known;
	int e;

	for (e = 1; e < 200; e++) {
		known = strerrorname_np(e);
		if (known && !strcmp(name, known)) {
			rule->error = -e;
			return 0;
		}
	}
	return -EINVAL;
}

static int parse_number(const char *text, uint64_t max, uint64_t *val)
{
	char *end;

	errno = 0;
	*val = strtoull(text, &end, 10);
	if (*text < '0' || *text > '9' || *end || errno || *val > max)
		return -EINVAL;
	return 0;
}

static int parse_numeric(const char *key, uint64_t val, struct fault_rule *rule)
{
	if (!strcmp(key, "after"))
		rule->after = val;
	else if (!strcmp(key, "every"))
		rule->every = val;
	else if (!strcmp(key, "count"))
		rule->count = val;
	else if (!strcmp(key, "min"))
		rule->min = val;
	else if (!strcmp(key, "at"))
		rule->at = val;
	else if (!strcmp(key, "ms") && val <= UINT32_MAX)
		rule->ms = (uint32_t)val;
	else if (!strcmp(key, "port") && val <= UINT16_MAX)
		rule->port = (uint16_t)val;
	else
		return -EINVAL;
	return 0;
}

static int parse_key(char *text, struct fault_rule *rule)
{
	char *value = strchr(text, '=');
	uint64_t val;
	int rc;

	if (!value)
		return -EINVAL;
	*value++ = '\0';
	if (!strcmp(text, "error")) {
		rc = parse_error(value, rule);
	} else if (!strcmp(text, "count") && !strcmp(value, "always")) {
		rule->count = FAULT_ALWAYS;
		rc = 0;
	} else {
		rc = parse_number(value, UINT64_MAX - 1, &val);
		if (!rc)
			rc = parse_numeric(text, val, rule);
	}
	value[-1] = '=';
	return rc;
}

/* Parses one rule. *wrong is the part that does not fit. */
static int parse_rule(char *text, struct fault_rule *rule, const char **wrong)
{
	char *save = NULL, *ops = strtok_r(text, ":", &save);
	char *action = strtok_r(NULL, ":", &save), *key;
	int rc;

	memset(rule, 0, sizeof(*rule));
	*wrong = action ? action : "no action";
	rc = action ? parse_action(action, rule) : -EINVAL;
	if (rc)
		return rc;
	*wrong = "the operations";
	rc = parse_ops(ops, rule);
	while (!rc && (key = strtok_r(NULL, ":", &save))) {
		*wrong = key;
		rc = parse_key(key, rule);
	}
	if (rc)
		return rc;
	*wrong = "the action does not go with the operations, or needs ms=";
	return fault_rule_check(rule);
}

/* Removes comments and blanks in place. */
static void strip_comments(char *text)
{
	char *to = text;

	for (; *text; text++) {
		if (*text == '#')
			while (text[1] && text[1] != '\n')
				text++;
		else if (*text != ' ' && *text != '\t' && *text != '\r')
			*to++ = *text;
	}
	*to = '\0';
}

int fault_rule_parse(const char *text, struct fault_rule *rules,
		     unsigned int max, char *err, size_t errlen)
{
	char *copy = strdup(text), *one, *save = NULL;
	const char *wrong = "";
	unsigned int n = 0;
	int rc = 0;

	if (!copy)
		return -ENOMEM;
	strip_comments(copy);
	one = strtok_r(copy, ";\n", &save);
	for (; one && !rc; one = strtok_r(NULL, ";\n", &save)) {
		rc = n < max ? parse_rule(one, &rules[n], &wrong) : -ENOSPC;
		if (!rc)
			n++;
	}
	if (rc == -EINVAL)
		snprintf(err, errlen,
			 "fault rule %u: %s; write OPS:ACTION[:KEY=VALUE]...",
			 n + 1, wrong);
	else if (rc)
		snprintf(err, errlen, "more than %u fault rules", max);
	free(copy);
	return rc ? rc : (int)n;
}

#define FILE_MAX 65536u /* bytes of a control file */

static void install_rules(struct fault_table *t, const struct fault_rule *rules,
			  unsigned int n)
{
	unsigned int i;

	memset(t->rules, 0, sizeof(t->rules));
	for (i = 0; i < n; i++)
		t->rules[i].rule = rules[i];
	t->n = n;
}

/* The caller holds the lock. */
static int replace_rules(struct fault_table *t, const char *text, char *err,
			 size_t errlen)
{
	struct fault_rule rules[FAULT_RULES_MAX];
	int n = fault_rule_parse(text, rules, FAULT_RULES_MAX, err, errlen);

	if (n < 0)
		return n;
	install_rules(t, rules, (unsigned int)n);
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
		rc = replace_rules(t, spec, err, errlen);
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
	rc = replace_rules(t, text, err, errlen);
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

static int load_file(struct fault_table *t, char *err, size_t errlen)
{
	char *text = malloc(FILE_MAX);
	FILE *f = fopen(t->path, "re");
	size_t n;
	int rc = -ENOMEM;

	if (text && f) {
		n = fread(text, 1, FILE_MAX - 1, f);
		text[n] = '\0';
		rc = replace_rules(t, text, err, errlen);
	} else {
		snprintf(err, errlen, "cannot read %s", t->path);
	}
	if (f)
		fclose(f);
	free(text);
	return rc;
}

/* The caller holds the lock. */
static int reload_if_changed(struct fault_table *t, char *err, size_t errlen)
{
	struct stat st;

	if (stat(t->path, &st)) {
		if (t->size != -1)
			install_rules(t, NULL, 0);
		t->size = -1;
		return 0;
	}
	if (t->size == st.st_size && t->mtime.tv_sec == st.st_mtim.tv_sec &&
	    t->mtime.tv_nsec == st.st_mtim.tv_nsec)
		return 0;
	t->size = st.st_size;
	t->mtime = st.st_mtim;
	return load_file(t, err, errlen);
}

int fault_table_refresh(struct fault_table *t, char *err, size_t errlen)
{
	int rc;

	if (!t->path) /* only init sets it */
		return 0;
	pthread_mutex_lock(&t->lock);
	rc = reload_if_changed(t, err, errlen);
	pthread_mutex_unlock(&t->lock);
	return rc;
}

static bool rule_fits(const struct fault_rule *r, const struct fault_case *c)
{
	return (r->ops & c->op) && c->len >= r->min &&
	       (!r->port || r->port == c->port);
}

/* Whether the rule acts on the operation that was just counted in `seen`. */
static bool is_due(const struct fault_counted *r)
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
		if (!rule_fits(&r->rule, c))
			continue;
		r->seen++;
		if (hit || !is_due(r))
			continue;
		r->hits++;
		*rule = r->rule;
		hit = true;
	}
	pthread_mutex_unlock(&t->lock);
	return hit;
}

bool fault_dev_hit(struct tp_dev *dev, enum fault_op op, uint64_t len,
		   uint16_t port, struct fault_rule *rule)
{
	struct fault_dev *d = fault_dev(dev);
	struct fault_case c = { op, len, port };
	char err[160] = "";

	if (fault_table_refresh(&d->table, err, sizeof(err)))
		log_error(dev->log, "%s: %s", d->table.path, err);
	if (!fault_table_hit(&d->table, &c, rule))
		return false;
	log_info(dev->log, "fault: %s of %llu bytes, peer port %u: %s",
		 fault_op_name(op), (unsigned long long)len, port,
		 fault_action_name(rule->action));
	if (rule->action == FAULT_KILL)
		raise(SIGKILL);
	return true;
}
