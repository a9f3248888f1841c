/* SPDX-License-Identifier: BSD-2-Clause */
/* member_list.c - see member_list.h. */
#include "mgr/raft/member_list.h"

#include <endian.h>
#include <errno.h>
#include <stdint.h>
#include <string.h>

struct list_reader {
	const uint8_t *at;
	size_t left;
};

static int read_u64(struct list_reader *in, uint64_t *value)
{
	if (in->left < 8)
		return -EINVAL;
	memcpy(value, in->at, 8);
	*value = le64toh(*value);
	in->at += 8;
	in->left -= 8;
	return 0;
}

static int read_address(struct list_reader *in, const char **address)
{
	const uint8_t *end = memchr(in->at, 0, in->left);
	size_t len = end ? (size_t)(end - in->at) : 0;

	if (!len || len > MEMBER_ADDRESS_MAX)
		return -EINVAL;
	*address = (const char *)in->at;
	in->at += len + 1;
	in->left -= len + 1;
	return 0;
}

static int read_member(struct list_reader *in, struct raft_configuration *conf)
{
	const char *address;
	uint64_t id;
	int rc = read_u64(in, &id);

	rc = rc ? rc : read_address(in, &address);
	if (rc || !id || !in->left)
		return -EINVAL;
	rc = raft_configuration_add(conf, id, address, in->at[0]);
	in->at++;
	in->left--;
	if (rc == RAFT_NOMEM)
		return -ENOMEM;
	return rc ? -EINVAL : 0;
}

static int read_members(struct list_reader *in, struct raft_configuration *conf)
{
	uint64_t n;
	int rc;

	if (!in->left || in->at[0] != 1)
		return -EINVAL;
	in->at++;
	in->left--;
	rc = read_u64(in, &n);
	if (rc || !n || n > MEMBERS_MAX)
		return -EINVAL;
	while (!rc && n--)
		rc = read_member(in, conf);
	return rc;
}

/* Bytes of the list without its padding. */
static size_t content_size(const struct raft_configuration *conf)
{
	size_t size = 9;

	for (unsigned int i = 0; i < conf->n; i++)
		size += 8 + strlen(conf->servers[i].address) + 1 + 1;
	return size;
}

/* libraft leaves the padding as malloc() returned it. */
int member_list_encode(const struct raft_configuration *conf,
		       struct raft_buffer *buf)
{
	size_t size = content_size(conf);

	if (raft_configuration_encode(conf, buf))
		return -ENOMEM;
	if (buf->len > size)
		memset((uint8_t *)buf->base + size, 0, buf->len - size);
	return 0;
}

int member_list_decode(const void *bytes, size_t len,
		       struct raft_configuration *conf)
{
	struct list_reader in = { bytes, len };
	struct raft_configuration new;
	int rc;

	if (len > MEMBER_LIST_MAX)
		return -EINVAL;
	raft_configuration_init(&new);
	rc = read_members(&in, &new);
	/* Only padding may be left. */
	if (!rc && in.left > 7)
		rc = -EINVAL;
	if (rc) {
		raft_configuration_close(&new);
		return rc;
	}
	*conf = new;
	return 0;
}

struct raft_server *member_list_find(const struct raft_configuration *conf,
				     raft_id id)
{
	for (unsigned int i = 0; i < conf->n; i++)
		if (conf->servers[i].id == id)
			return &conf->servers[i];
	return NULL;
}

unsigned int member_list_voters(const struct raft_configuration *conf)
{
	unsigned int voters = 0;

	for (unsigned int i = 0; i < conf->n; i++)
		voters += conf->servers[i].role == RAFT_VOTER;
	return voters;
}

void member_list_wipe_padding(const struct raft_buffer *buf)
{
	struct raft_configuration conf;

	if (member_list_decode(buf->base, buf->len, &conf))
		return;
	if (buf->len > content_size(&conf))
		memset((uint8_t *)buf->base + content_size(&conf), 0,
		       buf->len - content_size(&conf));
	raft_configuration_close(&conf);
}
