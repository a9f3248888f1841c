#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause
"""in_core.py PID HEX... - looks for these bytes, raw and as text, in the memory of the process that
a core file would contain.  Prints how often each is found there, and then how often in the rest of
its memory.
"""
import re
import sys

LARGEST = 1 << 30  # what is larger is a sanitizer's


def mappings(pid):
    start = None
    with open("/proc/%s/smaps" % pid) as file:
        for line in file:
            found = re.match(r"([0-9a-f]+)-([0-9a-f]+) r", line)
            if found:
                start, end = int(found[1], 16), int(found[2], 16)
            elif re.match(r"[0-9a-f]+-", line):
                start = None
            elif line.startswith("Rss:") and not int(line.split()[1]):
                start = None
            elif line.startswith("VmFlags:") and start is not None:
                yield start, end, "dd" in line.split()


def contents(pid):
    with open("/proc/%s/mem" % pid, "rb", 0) as memory:
        for start, end, left_out in mappings(pid):
            if end - start > LARGEST:
                continue
            try:
                memory.seek(start)
                yield memory.read(end - start), left_out
            except (OSError, OverflowError):
                continue  # of the kernel


def main():
    words = [bytes.fromhex(word) for word in sys.argv[2:]]
    words += [word.encode() for word in sys.argv[2:]]
    found = [0, 0]
    for data, left_out in contents(sys.argv[1]):
        found[left_out] += sum(data.count(word) for word in words)
    print(*found)


if __name__ == "__main__":
    main()
