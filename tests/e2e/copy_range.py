# SPDX-License-Identifier: BSD-2-Clause
"""Copies ranges of files by copy_file_range, and compares them with a model.

usage: copy_range.py DIR SEED COPIES

Ranges begin at a stripe (64 KiB), so that the iods copy, or anywhere.
"""
import errno
import fcntl
import os
import random
import sys

STRIPE = 65536
MOST = 8 << 20


def at(rnd):
    off = rnd.randrange(MOST)
    return off // STRIPE * STRIPE + 77 if rnd.random() < 0.7 else off


def copy(fd, src, dst, off, length):
    """Copies the whole range by as many calls as necessary.  Returns the number of bytes."""
    done = 0
    while done < length:
        n = os.copy_file_range(fd[src[0]], fd[dst], length - done,
                               src[1] + done, off + done)
        if not n:
            break
        done += n
    return done


def set_append(fd, on):
    flags = fcntl.fcntl(fd, fcntl.F_GETFL)
    flags = flags | os.O_APPEND if on else flags & ~os.O_APPEND
    fcntl.fcntl(fd, fcntl.F_SETFL, flags)


def refused(src, dst):
    try:
        os.copy_file_range(src, dst, 10, 0, 0)
    except OSError as err:
        return err.errno == errno.EBADF
    return False


def appending(folder, flags):
    """With O_APPEND, copies are rejected; without it, they go to their offset."""
    src = os.open(f"{folder}/from", os.O_RDWR | os.O_CREAT)
    dst = os.open(f"{folder}/to", os.O_RDWR | os.O_CREAT | os.O_TRUNC | flags)
    model, data = bytearray(), os.urandom(6 * STRIPE)
    os.pwrite(src, data, 0)
    for step, n in enumerate((10, 3 * STRIPE, 1000, 4 * STRIPE, STRIPE)):
        set_append(dst, True)
        if not refused(src, dst):
            sys.exit("a copy to what is appended to")
        for _ in range(3):
            model += os.urandom(5)
            os.write(dst, model[-5:])
        set_append(dst, False)
        end = len(model) + step % 2 * 2 * STRIPE
        for off in (0, end // STRIPE * STRIPE):
            model.extend(bytes(max(off + n - len(model), 0)))
            model[off:off + n] = data[:n]
            if os.copy_file_range(src, dst, n, 0, off) != n:
                sys.exit("copied in parts")
        if os.pread(dst, 2 * MOST, 0) != model:
            sys.exit(f"step {step}: a copy is not where it should be")


def main():
    folder, rnd = sys.argv[1], random.Random(int(sys.argv[2]))
    for flags in (0, os.O_APPEND):
        appending(folder, flags)
    fd = [os.open(f"{folder}/copy.{k}", os.O_RDWR | os.O_CREAT)
          for k in range(3)]
    model = [bytearray() for _ in fd]
    for k in (0, 1):
        model[k] = bytearray(rnd.randbytes(rnd.randrange(1, MOST)))
        os.pwrite(fd[k], model[k], 0)
    for step in range(int(sys.argv[3])):
        src, dst = rnd.sample(range(3), 2)
        begin, off, length = at(rnd), at(rnd), rnd.randrange(1, MOST // 2)
        data = model[src][begin:begin + length]
        n = copy(fd, (src, begin), dst, off, length)
        if n != len(data):
            sys.exit(f"step {step}: {n} bytes instead of {len(data)}")
        if data and off > len(model[dst]):
            model[dst].extend(bytes(off - len(model[dst])))
        model[dst][off:off + n] = data
        have = os.pread(fd[dst], 2 * MOST, 0)
        if have != model[dst]:
            wrong = next((i for i, (a, b) in enumerate(zip(have, model[dst]))
                          if a != b), -1)
            sys.exit(f"step {step}: {src} at {begin} to {dst} at {off}, "
                     f"{n} bytes: {len(have)} instead of {len(model[dst])}, "
                     f"differs at {wrong}")


main()
