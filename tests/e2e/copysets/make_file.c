/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * make_file.c - make_file FSID PORT PATH: creates an empty file as a client that knows copysets.
 * Prints its handle, as in the names of its objects, and the copyset of its first stripe.
 */
#include <stdio.h>
#include <stdlib.h>

#include "common/dist/copyset.h"
#include "tests/e2e/mgr/mgrc.h"

int main(int argc, char **argv)
{
	struct addr addr = { .scheme = "tcp", .host = "127.0.0.1" };
	struct mgrc c = { .features = WIRE_FT_COPIES };
	struct mgrc_file f;

	must(argc == 4);
	c.fsid = strtoull(argv[1], NULL, 16);
	addr.port = (uint16_t)strtoul(argv[2], NULL, 10);
	mgrc_open(&c, &addr, 0);
	must(!mgrc_open_file(&c, argv[3], WIRE_O_CREAT | WIRE_O_WRITE, &f));
	must(!mgrc_release(&c, &f, 0, 0));
	printf("%016llx %u\n", (unsigned long long)le64toh(f.attr.handle),
	       COPYSET_FIRST + le32toh(f.attr.dist.base));
	mgrc_close(&c, true);
	return 0;
}
