/* SPDX-License-Identifier: BSD-2-Clause */
/* slow_names.c - replaces getaddrinfo() of libc. */
#include <dlfcn.h>
#include <netdb.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#include "tests/unit/slow_names.h"

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t changed = PTHREAD_COND_INITIALIZER;
static bool held;
static unsigned int asked, waiting, inside;
static char answer[64];

int getaddrinfo(const char *host, const char *port,
		const struct addrinfo *hints, struct addrinfo **list);

static int (*real(void))(const char *, const char *, const struct addrinfo *,
			 struct addrinfo **)
{
	return (int (*)(const char *, const char *, const struct addrinfo *,
			struct addrinfo **))dlsym(RTLD_NEXT, "getaddrinfo");
}

static bool is_slow(const char *host)
{
	size_t len = host ? strlen(host) : 0;

	return len > 5 && !strcmp(host + len - 5, ".test");
}

/* Looks up the name when the test permits it. */
static bool look_up(char found[sizeof(answer)])
{
	pthread_mutex_lock(&lock);
	asked++;
	inside++;
	waiting++;
	pthread_cond_broadcast(&changed);
	while (held)
		pthread_cond_wait(&changed, &lock);
	waiting--;
	memcpy(found, answer, sizeof(answer));
	inside--;
	pthread_cond_broadcast(&changed);
	pthread_mutex_unlock(&lock);
	return *found;
}

int getaddrinfo(const char *host, const char *port,
		const struct addrinfo *hints, struct addrinfo **list)
{
	char found[sizeof(answer)];

	if (!is_slow(host))
		return real()(host, port, hints, list);
	if (hints && hints->ai_flags & AI_NUMERICHOST)
		return EAI_NONAME;
	return look_up(found) ? real()(found, port, hints, list) : EAI_NONAME;
}

void slow_names_hold(void)
{
	pthread_mutex_lock(&lock);
	held = true;
	asked = 0;
	pthread_mutex_unlock(&lock);
}

void slow_names_go(const char *host)
{
	pthread_mutex_lock(&lock);
	held = false;
	snprintf(answer, sizeof(answer), "%s", host ? host : "");
	pthread_cond_broadcast(&changed);
	pthread_mutex_unlock(&lock);
}

static unsigned int get(const unsigned int *n)
{
	unsigned int val;

	pthread_mutex_lock(&lock);
	val = *n;
	pthread_mutex_unlock(&lock);
	return val;
}

unsigned int slow_names_asked(void)
{
	return get(&asked);
}

unsigned int slow_names_waiting(void)
{
	return get(&waiting);
}

void slow_names_until_asked(unsigned int n)
{
	pthread_mutex_lock(&lock);
	while (asked < n)
		pthread_cond_wait(&changed, &lock);
	pthread_mutex_unlock(&lock);
}

void slow_names_until_over(void)
{
	pthread_mutex_lock(&lock);
	while (inside)
		pthread_cond_wait(&changed, &lock);
	pthread_mutex_unlock(&lock);
}
