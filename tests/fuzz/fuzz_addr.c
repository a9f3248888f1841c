/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * fuzz_addr.c - a text that is accepted as an address is accepted again, with the same meaning,
 * after it was formatted.
 */
#include <errno.h>
#include <string.h>

#include "common/util/addr.h"
#include "tests/fuzz/fuzz.h"

static void check_good(const struct addr *a)
{
	char uri[ADDR_STRLEN];
	struct addr again;

	FUZZ_SURE(strlen(a->scheme) && strlen(a->scheme) < sizeof(a->scheme));
	FUZZ_SURE(strlen(a->host) && strlen(a->host) < sizeof(a->host));
	addr_format(a, uri, sizeof(uri));
	FUZZ_SURE(strlen(uri) < sizeof(uri) - 1);
	FUZZ_SURE(addr_parse(uri, 0, &again) == 0);
	FUZZ_SURE(!strcmp(a->scheme, again.scheme));
	FUZZ_SURE(!strcmp(a->host, again.host) && a->port == again.port);
}

void fuzz_one(const uint8_t *data, size_t len)
{
	char *uri = malloc(len + 1);
	struct addr a;
	int with, without;

	FUZZ_SURE(uri);
	for (size_t i = 0; i < len; i++)
		uri[i] = (char)data[i];
	uri[len] = '\0';
	without = addr_parse(uri, 0, &a);
	if (without == 0)
		check_good(&a);
	with = addr_parse(uri, 3000, &a);
	if (with == 0)
		check_good(&a);
	FUZZ_SURE(with == 0 || with == -EINVAL);
	/* with a default port, no address is rejected that is valid without one */
	FUZZ_SURE(without == -EINVAL || (without == 0 && with == 0));
	free(uri);
}

void fuzz_seeds(void)
{
	char longer[6 + 257];
	static const char *const uris[] = {
		"tcp://host:7000",	 "pvfs://10.0.0.7",
		"verbs://[::1]:1",	 "tcp://[fe80::1%eth0]:65535",
		"fault+tcp://a.b-c_d:0", "tcp://[::ffff:1.2.3.4]:80",
		"abcdefghijklmno://h:1", "abcdefghijklmnop://h:1",
	};

	for (unsigned int i = 0; i < sizeof(uris) / sizeof(uris[0]); i++)
		fuzz_seed(uris[i], strlen(uris[i]));
	memcpy(longer, "tcp://", 6);
	memset(longer + 6, 'h', sizeof(longer) - 6);
	for (size_t host = 254; host <= 257; host++)
		fuzz_seed(longer, 6 + host);
}
