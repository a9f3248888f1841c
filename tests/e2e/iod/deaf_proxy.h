/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * deaf_proxy.h - a proxy between a client and a server (tcp, this host), for one connection at a
 * time. It can drop the replies of the server.
 */
#ifndef DEAF_PROXY_H
#define DEAF_PROXY_H

#include <pthread.h>
#include <stdatomic.h>

struct deaf_proxy {
	int listener;
	int port; /* clients connect to this port */
	atomic_int server; /* the server's port; 0: connecting clients wait */
	atomic_bool deaf; /* data from the server is dropped */
	atomic_bool stop;
	pthread_t thread;
};

void deaf_proxy_start(struct deaf_proxy *p, int server);
void deaf_proxy_stop(struct deaf_proxy *p);

#endif
