# SPDX-License-Identifier: BSD-2-Clause
"""Copies ranges of files by copy_file_range, and keeps to a model of them.

usage: copy_range.py DIR SEED COPIES
Ranges begin at stripes (64 KiB), which iods copy from each other, or anywhere.
"""
import os
import random
import sys

STRIPE = 65536
MOST = 8 << 20


def at(rnd):
    off = rnd.randrange(MOST)
    return off // STRIPE * STRIPE + 77 if rnd.random() < 0.7 else off


def copy(fd, src, dst, off, length):
    """All of it, however many calls that takes; how much there was."""
    done = 0
    while done < length:
        n = os.copy_file_range(fd[src[0]], fd[dst], length - done,
                               src[1] + done, off + done)
        if not n:
            break
        done += n
    return done


def main():
    folder, rnd = sys.argv[1], random.Random(int(sys.argv[2]))
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
