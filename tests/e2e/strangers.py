#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause
"""strangers.py PORT FSID COUNT - COUNT clients without a ticket get a session of nobody each, and
stay connected until the end of stdin.  Prints how many of them were accepted.
"""
import random
import sys

import doors

PORT, FSID = int(sys.argv[1]), int(sys.argv[2], 16)
inside = []
for _ in range(int(sys.argv[3])):
    session = random.getrandbits(63) | 1
    sock = doors.connect(PORT, FSID, session, True)
    if sock and not doors.hello(sock, session):
        inside.append(sock)
print(len(inside), flush=True)
sys.stdin.read()
