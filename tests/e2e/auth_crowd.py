#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause
"""auth_crowd.py PORT FSID CLIENTS EACH - many clients of a manager with auth = munge send their
CHALLENGEs and AUTHs before they read a reply.  CLIENTS is their number; each sends as many requests
as its slots allow, and at most EACH.  Prints "all are there", and after all replies each status of
CHALLENGE and AUTH with its count.
"""
import collections
import os
import random
import sys

import doors

CHALLENGE, AUTH, MUNGE = 47, 48, 2
PORT, FSID, CLIENTS, EACH = int(sys.argv[1]), int(sys.argv[2], 16), \
    int(sys.argv[3]), int(sys.argv[4])
WORD = b"MUNGE:none of munged's:"
AUTH_BODY = doors.struct.pack("<II", MUNGE, len(WORD)) + WORD + \
    bytes(-len(WORD) % 8)

seen = collections.Counter()
waiting = []
for _ in range(CLIENTS):
    session = random.getrandbits(63) | 1
    sock = doors.connect(PORT, FSID, session, True)
    if not sock or doors.hello(sock, session):
        sys.exit("no session of nobody")
    for slot in range(EACH):
        doors.ask(sock, CHALLENGE, session, os.urandom(64), slot, 1)
        status = doors.reply(sock)[1]
        seen["CHALLENGE %d" % status] += 1
        if status:
            break
        doors.ask(sock, AUTH, session, AUTH_BODY, slot, 2)
        waiting.append(sock)
print("all are there", flush=True)
for sock in waiting:
    seen["AUTH %d" % doors.reply(sock)[1]] += 1
for what, count in sorted(seen.items()):
    print(what, count)
