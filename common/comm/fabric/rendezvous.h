/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * rendezvous.h - the setting `rendezvous`: which end moves the bulk data of a request.
 *
 *	server		always the server
 *	adaptive	the client when the server is loaded, if both ends have
 *			this setting: bulk_int.h, part_transfer.h
 */
#ifndef RENDEZVOUS_H
#define RENDEZVOUS_H

#include <stdbool.h>

#define RENDEZVOUS_WANT "server or adaptive"

/* Returns 0, or -EINVAL and changes nothing. */
int rendezvous_parse(const char *text, bool *adaptive);

#endif
