#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause
"""endless.py HOST PORT FSID LOG HANDLE: asks an iod for the largest ranges that offsets allow."""
import struct
import sys

from badclient import Client

FALLOCATE = 77                  # wire.h
KEEP, PUNCH = 1, 2
DAY = 86400 * 1000              # ms


def main():
    handle = int(sys.argv[5], 16)
    c = Client()
    got = c.login()
    if got[:2] != ("reply", 0):
        sys.exit(f"no login: {got[:2]}")
    c.sock.settimeout(60)
    for off in 0, 1 << 40:
        body = struct.pack("<QQQII", handle, off, (1 << 63) - 1 - off,
                           KEEP | PUNCH, 0)
        got = c.call(FALLOCATE, body, timeout=DAY)
        if got[:2] != ("reply", 0):
            sys.exit(f"{off}: {got[:2]}")


if __name__ == "__main__":
    main()
