# SPDX-License-Identifier: BSD-2-Clause
# mount_sizes.py A B STEPS SEED COMMAND...: compares the size of a file, as two mounts report it,
# with a model.  The calls are random, through the mounts and in bypass of them.  COMMAND, followed
# by FILE and OFFSET, writes 8 KiB in bypass of the mounts.
import os, random, subprocess, sys

mounts, steps = sys.argv[1:3], int(sys.argv[3])
rnd, past = random.Random(int(sys.argv[4])), sys.argv[5:]
NAME = "sizes"
size, fds = 0, []
done = []

def written(end):
    global size
    size = max(size, end)

def any_fd():
    return rnd.choice(fds) if fds else None

def do_open():
    if len(fds) < 4:
        how = rnd.choice([0, os.O_APPEND])
        fds.append((os.open(os.path.join(rnd.choice(mounts), NAME),
                            os.O_RDWR | os.O_CREAT | how), how))

def do_close():
    if fds:
        os.close(fds.pop(rnd.randrange(len(fds)))[0])

def do_write():
    fd, data = any_fd() or (None, 0), b"x" * rnd.choice([1, 3000, 70000, 300000])
    if fd[0] is None:
        return
    if fd[1]:
        os.write(fd[0], data)
        written(size + len(data))
    else:
        off = rnd.choice([0, size, rnd.randrange(0, 600000)])
        os.pwrite(fd[0], data, off)
        written(off + len(data))

def do_cut():
    global size
    to = rnd.choice([0, size, rnd.randrange(0, 500000)])
    if fds and rnd.random() < 0.5:
        os.ftruncate(any_fd()[0], to)
    else:
        os.truncate(os.path.join(rnd.choice(mounts), NAME), to)
    size = to

def do_allocate():
    if fds:
        off = rnd.randrange(0, 500000)
        os.posix_fallocate(any_fd()[0], off, 5000)
        written(off + 5000)

def do_times():
    if fds:
        os.utime(any_fd()[0], ns=(10**18, 10**18 + rnd.randrange(10**9)))

def do_past():
    off = rnd.choice([size, rnd.randrange(0, 600000)])
    subprocess.run(past + [NAME, str(off)], check=True)
    written(off + 8192)

def told():
    for fd, _ in fds:
        yield os.fstat(fd).st_size
    for m in mounts:
        yield os.stat(os.path.join(m, NAME)).st_size

os.close(os.open(os.path.join(mounts[0], NAME), os.O_CREAT | os.O_WRONLY))
for step in range(steps):
    do = rnd.choices([do_open, do_close, do_write, do_cut, do_allocate, do_times, do_past],
                     [3, 3, 8, 1, 0.3, 1, 0.2])[0]
    do()
    done.append((do.__name__, size))
    have = list(told())
    if any(n != size for n in have):
        sys.exit("step %d: %s: told %s" % (step, done[-12:], have))
for fd, _ in fds:
    os.close(fd)
os.unlink(os.path.join(mounts[1], NAME))
