/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * warm_lent.c - reads of shared blocks, while a program on the iods' host writes without a request.
 */
#include <sys/wait.h>
#include <unistd.h>

#include "tests/e2e/lib/quiet_fork.h"
#include "tests/e2e/lib/warm.h"

/* An order to a child, and its answer. */
struct order {
	uint64_t n; /* the value to write */
	uint64_t without; /* the number of writes that needed no request */
};

static void borrows(const char *name, const char *tab, int in, int out)
{
	struct order order;
	int fd;

	setenv("PVFSTAB_FILE", tab, 1);
	EXPECT(read(in, &order, sizeof(order)) == sizeof(order));
	fd = open_it(name, O_RDWR);
	do {
		order.without = without(fd);
		for (unsigned int i = 0; i < BLOCKS; i++)
			put(fd, i, order.n);
		order.without = without(fd) - order.without;
		EXPECT(write(out, &order, sizeof(order)) == sizeof(order));
	} while (read(in, &order, sizeof(order)) == sizeof(order));
	EXPECT(pvfs_close(fd) == 0);
	exit(0);
}

static pid_t start_borrower(const char *name, const char *tab, int *to,
			    int *from)
{
	int there[2], back[2];
	pid_t pid;

	EXPECT(pipe(there) == 0 && pipe(back) == 0);
	pid = quiet_fork();
	EXPECT(pid >= 0);
	if (pid == 0) {
		close(there[1]);
		borrows(name, tab, there[0], back[1]);
	}
	close(there[0]);
	close(back[1]);
	*to = there[1];
	*from = back[0];
	return pid;
}

static void let_write(int to, int from, struct order *order)
{
	EXPECT(write(to, order, sizeof(*order)) == sizeof(*order));
	EXPECT(read(from, order, sizeof(*order)) == sizeof(*order));
}

/* Reads until the block is shared, which it is as soon as no client borrows the object. */
static void until_shared(int fd, uint64_t n)
{
	unsigned long before = without(fd);

	for (unsigned int k = 0; without(fd) == before; k++) {
		EXPECT(k < 1000000);
		EXPECT(get(fd, 0) == n);
	}
}

void warm_lent(const char *name, const char *tab)
{
	int to, from, status, fd;
	pid_t pid = start_borrower(name, tab, &to, &from);
	struct order order;
	unsigned long before = 0;

	fd = open_it(name, O_RDWR | O_CREAT | O_TRUNC);
	fill_all(fd);
	until_shared(fd, 1);
	for (order.n = 2; order.n < 100; order.n++) {
		let_write(to, from, &order);
		EXPECT(order.n < 10 || order.without == BLOCKS);
		if (order.n == 10)
			before = without(fd);
		for (unsigned int i = 0; i < 3 * BLOCKS; i++)
			EXPECT(get(fd, i % BLOCKS) == order.n);
	}
	EXPECT(without(fd) == before);
	close(to);
	EXPECT(waitpid(pid, &status, 0) == pid && status == 0);
	until_shared(fd, 99);
	EXPECT(pvfs_close(fd) == 0);
	puts("ok");
}
