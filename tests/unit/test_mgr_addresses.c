/* SPDX-License-Identifier: BSD-2-Clause */
/* test_mgr_addresses.c - from which addresses a manager may connect to an iod. */
#include <arpa/inet.h>
#include <check.h>
#include <errno.h>
#include <linux/ipv6.h>
#include <net/if.h>
#include <sched.h>
#include <stdio.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include "tests/run_suite.h"
#include "common/comm/cluster/mgr_addresses.h"

static const struct log silent;

static const struct {
	const char *hosts, *peer;
	bool trusted;
} cases[] = {
	{ "10.0.0.1", "tcp 10.0.0.1:40123", true },
	{ "10.0.0.1", "verbs 10.0.0.1:40123", true },
	{ "10.0.0.1", "tcp [::ffff:10.0.0.1]:40123", true },
	{ "10.0.0.1", "tcp 10.0.0.11:40123", false },
	{ "10.0.0.1", "tcp 10.0.0.2:40123", false },
	{ "10.0.0.1", "tcp 127.0.0.1:40123", false },
	{ "10.0.0.1, 10.0.1.1", "tcp 10.0.1.1:40123", true },
	{ "10.0.0.1 10.0.1.1", "tcp 10.0.0.1:40123", true },
	{ "127.0.0.2", "tcp 127.0.0.1:40123", true },
	{ "::1", "tcp 127.0.0.1:40123", true },
	{ "127.0.0.1", "tcp [::1]:40123", true },
	{ "fe80::1", "tcp [fe80::1]:40123", true },
	{ "fe80::1", "tcp [fe80::1%eth0]:40123", true },
	{ "fe80::1", "tcp [fe80::2]:40123", false },
	{ "", "tcp 10.0.0.1:40123", false },
	{ "", "tcp 127.0.0.1:40123", false },
	{ "10.0.0.1", "-", false },
	{ "10.0.0.1", "tcp ?", false },
	{ "10.0.0.1", "tcp ", false },
	{ "10.0.0.1", "tcp []:1", false },
	{ "10.0.0.1", "local pid 77 uid 0 at here:7000", true },
	{ "10.0.0.1", "local pid 77 uid 4000000 at here:7000", false },
};

START_TEST(test_peer)
{
	struct mgr_addresses *trust;

	ck_assert_int_eq(mgr_addresses_open(cases[_i].hosts, &silent, &trust),
			 0);
	ck_assert_msg(mgr_addresses_match(trust, cases[_i].peer) ==
			      cases[_i].trusted,
		      "'%s', '%s'", cases[_i].hosts, cases[_i].peer);
	mgr_addresses_close(trust);
}
END_TEST

START_TEST(test_own_user)
{
	struct mgr_addresses *trust;
	char peer[64];

	snprintf(peer, sizeof(peer), "local pid 77 uid %u at here:1",
		 (unsigned int)geteuid());
	ck_assert_int_eq(mgr_addresses_open("", &silent, &trust), 0);
	ck_assert(mgr_addresses_match(trust, peer));
	mgr_addresses_close(trust);
}
END_TEST

START_TEST(test_refused_hosts)
{
	struct mgr_addresses *trust = NULL;
	char label[80] = { 0 };

	/* longer than a name may be: the name service is not asked */
	memset(label, 'a', sizeof(label) - 1);
	ck_assert_int_eq(mgr_addresses_open("0.0.0.0", &silent, &trust),
			 -EINVAL);
	ck_assert_int_eq(mgr_addresses_open("10.0.0.1, ::", &silent, &trust),
			 -EINVAL);
	ck_assert_int_eq(mgr_addresses_open(label, &silent, &trust),
			 -EHOSTUNREACH);
	ck_assert_ptr_null(trust);
}
END_TEST

/* If there are too many hosts, that is reported. */
START_TEST(test_too_many_hosts)
{
	struct mgr_addresses *trust = NULL;
	char hosts[65 * 16] = "";
	int i;

	for (i = 0; i < 65; i++)
		sprintf(hosts + strlen(hosts), "10.9.8.%d ", i);
	ck_assert_int_eq(mgr_addresses_open(hosts, &silent, &trust), -EINVAL);
	ck_assert_ptr_null(trust);
	*strrchr(hosts, '1') = '\0'; /* without the last one */
	ck_assert_int_eq(mgr_addresses_open(hosts, &silent, &trust), 0);
	ck_assert(mgr_addresses_match(trust, "tcp 10.9.8.63:7"));
	mgr_addresses_close(trust);
}
END_TEST

#define OWN "10.9.9.9"
#define OWN_LINK "fe80::99"

static void set_sysctl(const char *name, const char *value)
{
	char path[128];
	FILE *f;

	snprintf(path, sizeof(path), "/proc/sys/net/%s", name);
	f = fopen(path, "w");
	if (!f)
		return; /* the kernel does not support it */
	fputs(value, f);
	fclose(f);
}

static int own_network(void)
{
	struct ifreq ifr = { .ifr_name = "lo" };
	struct sockaddr_in *in = (void *)&ifr.ifr_addr;
	struct in6_ifreq ifr6 = { .ifr6_prefixlen = 64, .ifr6_ifindex = 1 };
	int fd, fd6, rc;

	if (unshare(CLONE_NEWNET) && unshare(CLONE_NEWUSER | CLONE_NEWNET))
		return -1;
	fd = socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0);
	ifr.ifr_flags = IFF_UP;
	rc = ioctl(fd, SIOCSIFFLAGS, &ifr);
	strcpy(ifr.ifr_name, "lo:1");
	in->sin_family = AF_INET;
	inet_pton(AF_INET, OWN, &in->sin_addr);
	rc = rc ? rc : ioctl(fd, SIOCSIFADDR, &ifr);
	close(fd);
	fd6 = socket(AF_INET6, SOCK_DGRAM | SOCK_CLOEXEC, 0);
	inet_pton(AF_INET6, OWN_LINK, &ifr6.ifr6_addr);
	if (fd6 >= 0 && ioctl(fd6, SIOCSIFADDR, &ifr6))
		fprintf(stderr, "no IPv6 here\n");
	close(fd6);
	return rc;
}

static bool matches(const char *hosts, const char *peer)
{
	struct mgr_addresses *trust;
	bool trusted;

	ck_assert_int_eq(mgr_addresses_open(hosts, &silent, &trust), 0);
	trusted = mgr_addresses_match(trust, peer);
	mgr_addresses_close(trust);
	return trusted;
}

static const struct {
	const char *sysctl, *value;
} networks[] = {
	{ "ipv4/ip_nonlocal_bind", "0" },
	{ "ipv4/ip_nonlocal_bind", "1" },
	{ "ipv6/bindv6only", "1" },
	{ "ipv6/ip_nonlocal_bind", "1" },
	{ "ipv6/conf/all/disable_ipv6", "1" },
};

/*
 * Whatever address is bound, a manager on this host may connect over loopback, and no other
 * manager.
 */
START_TEST(test_own_addresses)
{
	if (own_network()) {
		fprintf(stderr, "SKIPPED: no network of its own\n");
		return;
	}
	set_sysctl(networks[_i].sysctl, networks[_i].value);
	ck_assert(matches(OWN, "tcp " OWN ":7"));
	ck_assert(matches(OWN, "tcp 127.0.0.1:7"));
	ck_assert(matches("192.0.2.8, " OWN, "tcp [::1]:7"));
	ck_assert(!matches("192.0.2.8", "tcp 127.0.0.1:7"));
	ck_assert(!matches("fe80::98", "tcp [::1]:7"));
	ck_assert(!matches("2001:db8::1", "tcp 127.0.0.1:7"));
}
END_TEST

START_TEST(test_link_local)
{
	if (own_network()) {
		fprintf(stderr, "SKIPPED: no network of its own\n");
		return;
	}
	ck_assert(matches(OWN_LINK "%lo", "tcp [::1]:7"));
	ck_assert(matches(OWN_LINK, "tcp 127.0.0.1:7"));
	ck_assert(matches("fe80::98%lo", "tcp [fe80::98%lo]:7"));
	ck_assert(matches("fe80::98", "tcp [fe80::98%lo]:7"));
	/* the same address on another link belongs to another host */
	ck_assert(!matches("fe80::98%lo", "tcp [fe80::98%other]:7"));
}
END_TEST

int main(void)
{
	Suite *s = suite_create("mgr_addresses");
	TCase *tc = tcase_create("mgr_addresses");

	tcase_add_loop_test(tc, test_peer, 0,
			    (int)(sizeof(cases) / sizeof(cases[0])));
	tcase_add_test(tc, test_own_user);
	tcase_add_test(tc, test_refused_hosts);
	tcase_add_test(tc, test_too_many_hosts);
	tcase_add_loop_test(tc, test_own_addresses, 0,
			    (int)(sizeof(networks) / sizeof(networks[0])));
	tcase_add_test(tc, test_link_local);
	suite_add_tcase(s, tc);
	return run_suite(s);
}
