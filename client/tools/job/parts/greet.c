/* SPDX-License-Identifier: BSD-2-Clause */
/* greet.c - see greet.h. */
#include "client/tools/job/parts/greet.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "common/util/clock.h"
#include "common/util/random_id.h"

static void to_hex(const uint8_t *b, size_t n, char *out)
{
	for (size_t i = 0; i < n; i++)
		snprintf(out + 2 * i, 3, "%02x", b[i]);
}

static int from_hex(const char *text, uint8_t *b, size_t n)
{
	if (strspn(text, "0123456789abcdef") != 2 * n || text[2 * n])
		return -EPROTO;
	for (size_t i = 0; i < n; i++) {
		char two[3] = { text[2 * i], text[2 * i + 1] };

		b[i] = (uint8_t)strtoul(two, NULL, 16);
	}
	return 0;
}

void job_key_text(const uint8_t key[MAC_KEY_LEN], char out[65])
{
	to_hex(key, MAC_KEY_LEN, out);
}

int job_key_parse(const char *text, uint8_t key[MAC_KEY_LEN])
{
	return from_hex(text, key, MAC_KEY_LEN);
}

/* Computes what an end proves itself with; label differs between the two ends. */
static void make_proof(const uint8_t *key, const char *label, const char *kind,
		       unsigned int rank, const uint8_t *theirs,
		       const uint8_t *ours, uint8_t out[MAC_LEN])
{
	const uint32_t number = rank;
	const struct mac_field field[] = {
		{ kind, strlen(kind) },
		{ &number, sizeof(number) },
		{ theirs, GREET_NONCE },
		{ ours, GREET_NONCE },
	};

	mac_make(key, label, field, 4, out);
}

int greet_begin(struct greet *g, struct job_link *l)
{
	char text[2 * GREET_NONCE + 1];
	int rc = random_bytes(g->nonce, GREET_NONCE);

	if (rc)
		return rc;
	to_hex(g->nonce, GREET_NONCE, text);
	return link_say(l, "pvfs-job 1 %s\n", text);
}

int greet_check(const struct greet *g, struct job_link *l,
		const uint8_t key[MAC_KEY_LEN], const char *kind, char *line,
		unsigned int *rank)
{
	uint8_t nonce[GREET_NONCE], have[MAC_LEN], want[MAC_LEN];
	char k[16], n[2 * GREET_NONCE + 1], c[2 * MAC_LEN + 1];
	unsigned int r;

	if (sscanf(line, "hello %15s %u %32s %64s", k, &r, n, c) != 4 ||
	    from_hex(n, nonce, sizeof(nonce)) || from_hex(c, have, MAC_LEN))
		return -EPROTO;
	make_proof(key, "pvfs-job comes", k, r, g->nonce, nonce, want);
	if (strcmp(k, kind) || !mac_equal(have, want))
		return -EACCES;
	make_proof(key, "pvfs-job listens", k, r, nonce, g->nonce, want);
	to_hex(want, MAC_LEN, c);
	*rank = r;
	return link_say(l, "welcome %s\n", c);
}

static int check_welcome(const char *line, const uint8_t want[MAC_LEN])
{
	uint8_t have[MAC_LEN];

	if (strncmp(line, "welcome ", 8) || from_hex(line + 8, have, MAC_LEN))
		return -EPROTO;
	return mac_equal(have, want) ? 0 : -EACCES;
}

int greet_come(struct job_link *l, const uint8_t key[MAC_KEY_LEN],
	       const char *kind, unsigned int rank, uint64_t deadline)
{
	uint8_t theirs[GREET_NONCE], ours[GREET_NONCE], mac[MAC_LEN];
	char n[2 * GREET_NONCE + 1], c[2 * MAC_LEN + 1], *line;
	int rc = link_wait(l, deadline, &line);

	if (rc)
		return rc;
	if (strncmp(line, "pvfs-job 1 ", 11) ||
	    from_hex(line + 11, theirs, sizeof(theirs)))
		return -EPROTO;
	rc = random_bytes(ours, sizeof(ours));
	if (rc)
		return rc;
	make_proof(key, "pvfs-job comes", kind, rank, theirs, ours, mac);
	to_hex(ours, sizeof(ours), n);
	to_hex(mac, MAC_LEN, c);
	rc = link_say(l, "hello %s %u %s %s\n", kind, rank, n, c);
	make_proof(key, "pvfs-job listens", kind, rank, ours, theirs, mac);
	if (!rc)
		rc = link_wait(l, deadline, &line);
	return rc ? rc : check_welcome(line, mac);
}

static int connect_and_greet(struct job_link *l, const struct job_addr *at,
			     const uint8_t key[MAC_KEY_LEN], const char *kind,
			     unsigned int rank, uint64_t deadline)
{
	int fd = job_connect(at->ip, at->port, deadline), rc;

	if (fd < 0)
		return fd;
	rc = link_init(l, fd);
	if (!rc)
		rc = greet_come(l, key, kind, rank, deadline);
	if (rc)
		link_close(l);
	return rc;
}

int greet_meet(struct job_link *l, const struct job_addr *at,
	       const uint8_t key[MAC_KEY_LEN], const char *kind,
	       unsigned int rank, uint64_t deadline)
{
	int rc;

	while ((rc = connect_and_greet(l, at, key, kind, rank, deadline)) ==
		       -EPIPE &&
	       clock_now() < deadline)
		usleep(20000);
	return rc;
}
