/* SPDX-License-Identifier: BSD-2-Clause */
/* local_shm.c - creates, checks and maps the shared memory. */
#include <errno.h>
#include <fcntl.h>
#include <linux/magic.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <sys/vfs.h>
#include <unistd.h>

#include "common/util/process_limits.h"
#include "common/transport/local/shared/local_shm.h"

#define CTL_LEN 4096u

_Static_assert(sizeof(struct local_ctl) <= CTL_LEN, "one page of control");

static size_t file_len(uint32_t size)
{
	return CTL_LEN + 2 * (size_t)size;
}

static size_t map_len(uint32_t size)
{
	return CTL_LEN + 4 * (size_t)size;
}

static int set_len(int fd, size_t len)
{
	struct file_limit limit;
	int rc;

	file_limit_begin(&limit);
	rc = ftruncate(fd, (off_t)len) ? -errno : 0;
	file_limit_end(&limit, rc);
	return rc;
}

int local_memfd(const char *name, size_t len, unsigned int seals)
{
	int fd = memfd_create(name, MFD_CLOEXEC | MFD_ALLOW_SEALING), rc;

	if (fd < 0)
		return -errno;
	rc = set_len(fd, len);
	if (!rc && fcntl(fd, F_ADD_SEALS, F_SEAL_SHRINK | F_SEAL_GROW | seals))
		rc = -errno;
	if (!rc)
		return fd;
	close(fd);
	return rc;
}

/* Counts blocks, because the file may have pages after its end. */
bool local_memfd_is_small(int fd)
{
	struct stat st;

	return fcntl(fd, F_GET_SEALS) >= 0 && !fstat(fd, &st) &&
	       st.st_blocks <= (blkcnt_t)(LOCAL_MEMFD_MAX / S_BLKSIZE);
}

/* Requires tmpfs: memory of huge pages can be sealed too, but an access may find none free. */
int local_memfd_check(int fd, size_t len)
{
	const int sealed = F_SEAL_SHRINK | F_SEAL_GROW;
	struct statfs fs;
	struct stat st;
	int seals = fcntl(fd, F_GET_SEALS);

	if (seals < 0 || (seals & sealed) != sealed || fstat(fd, &st) ||
	    st.st_size < (off_t)len || st.st_size > (off_t)LOCAL_MEMFD_MAX ||
	    !local_memfd_is_small(fd) || fstatfs(fd, &fs) ||
	    fs.f_type != TMPFS_MAGIC)
		return -EPROTO;
	return 0;
}

static int map_at(uint8_t *at, size_t len, int fd, off_t off)
{
	void *p = mmap(at, len, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_FIXED,
		       fd, off);

	return p == MAP_FAILED ? -errno : 0;
}

/* Maps control, ring 0, ring 0 again, ring 1, ring 1 again. */
static int map_all(struct local_shm *shm, uint32_t size, int fd)
{
	uint8_t *p = mmap(NULL, map_len(size), PROT_NONE,
			  MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
	off_t second = (off_t)(CTL_LEN + size);
	uint8_t *ring = p + CTL_LEN;
	int rc;

	if (p == MAP_FAILED)
		return -errno;
	rc = map_at(p, CTL_LEN + size, fd, 0);
	if (!rc)
		rc = map_at(ring + size, size, fd, CTL_LEN);
	if (!rc)
		rc = map_at(ring + 2 * size, size, fd, second);
	if (!rc)
		rc = map_at(ring + 3 * size, size, fd, second);
	if (rc) {
		munmap(p, map_len(size));
		return rc;
	}
	shm->ctl = (struct local_ctl *)(void *)p;
	shm->ring[0] = ring;
	shm->ring[1] = ring + 2 * size;
	shm->size = size;
	return 0;
}

int local_shm_create(struct local_shm *shm, uint32_t size, int *out)
{
	int fd = local_memfd("pvfs-local", file_len(size), F_SEAL_SEAL), rc;

	if (fd < 0)
		return fd;
	rc = map_all(shm, size, fd);
	if (rc)
		goto close_fd;
	if (getrandom(shm->ctl->nonce, LOCAL_NONCE, GRND_NONBLOCK) !=
	    (ssize_t)LOCAL_NONCE) {
		rc = -EAGAIN;
		goto unmap;
	}
	*out = fd;
	return 0;
unmap:
	local_shm_unmap(shm);
close_fd:
	close(fd);
	return rc;
}

int local_shm_map(struct local_shm *shm, int fd)
{
	if (!local_memfd_check(fd, file_len(LOCAL_RING_BULK)))
		return map_all(shm, LOCAL_RING_BULK, fd);
	if (!local_memfd_check(fd, file_len(LOCAL_RING)))
		return map_all(shm, LOCAL_RING, fd);
	return -EPROTO;
}

void local_shm_unmap(struct local_shm *shm)
{
	if (shm->ctl)
		munmap(shm->ctl, map_len(shm->size));
	memset(shm, 0, sizeof(*shm));
}
