/* SPDX-License-Identifier: BSD-2-Clause */
/* fault_rule.h - rules in text, and the table that decides which rule acts. */
#ifndef FAULT_RULE_H
#define FAULT_RULE_H

#include <pthread.h>
#include <stdbool.h>
#include <time.h>

#include "common/transport/fault/fault.h"

#define FAULT_RULES_MAX 64

struct fault_counted {
	struct fault_rule rule;
	uint64_t seen; /* operations that fitted */
	uint64_t hits; /* those acted upon */
};

struct fault_table {
	pthread_mutex_t lock; /* protects all below */
	struct fault_counted rules[FAULT_RULES_MAX];
	unsigned int n;
	char *path; /* the control file, or NULL */
	struct timespec mtime; /* of the version in force */
	int64_t size; /* -1: the file did not exist */
};

/* An operation as the rules see it. */
struct fault_case {
	enum fault_op op;
	uint64_t len; /* bytes */
	uint16_t port; /* of the peer */
};

/* Returns 0; -EINVAL: the action is impossible for these operations, or a required ms is 0. */
int fault_rule_check(const struct fault_rule *rule);
/*
 * Parses text into at most max rules. Returns their number; -EINVAL: text is invalid, and err names
 * the wrong part; -ENOSPC: text has more than max rules.
 */
int fault_rule_parse(const char *text, struct fault_rule *rules,
		     unsigned int max, char *err, size_t errlen);
const char *fault_op_name(enum fault_op op);
const char *fault_action_name(enum fault_action action);

/* spec: rules, or @PATH, or NULL. -EINVAL as above, -ENOMEM. */
int fault_table_init(struct fault_table *t, const char *spec, char *err,
		     size_t errlen);
void fault_table_free(struct fault_table *t);
int fault_table_set(struct fault_table *t, const char *text, char *err,
		    size_t errlen);
int fault_table_add(struct fault_table *t, const struct fault_rule *rule);
uint64_t fault_table_hits(struct fault_table *t, int id);
/* Reads the control file if it changed. 0, or an error and err. */
int fault_table_refresh(struct fault_table *t, char *err, size_t errlen);
/* Counts the operation. True: *rule acts on it. */
bool fault_table_hit(struct fault_table *t, const struct fault_case *c,
		     struct fault_rule *rule);

#endif
