#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause
"""doors.py PORT FSID SESSION COUNT [seals] - somebody who has no ticket says HELLO over
tcp, COUNT times, as root and by that session (hexadecimal; 0: one of his own).  Prints
each status that a server answered him, and how often; `seals`: he says that he can.
It is written from wire.h and tcp_frame.h, as badclient.py.
"""
import collections
import random
import socket
import struct
import sys

PORT, FSID, SESSION, COUNT = int(sys.argv[1]), int(sys.argv[2], 16), \
    int(sys.argv[3], 16), int(sys.argv[4])
FT_SEAL = 0x80 if "seals" in sys.argv else 0
CONNECT, ACCEPT, SEND, HELLO = 1, 2, 4, 1


def frame(op, payload):
    return struct.pack("<BBHIII", op, 0, 0, len(payload), 0, 0) + payload


def take(sock, n):
    data = b""
    while len(data) < n:
        more = sock.recv(n - len(data))
        if not more:
            raise EOFError
        data += more
    return data


def answer(sock):
    op, _, _, length, _, _ = struct.unpack("<BBHIII", take(sock, 16))
    return op, take(sock, length)


def come():
    session = SESSION or random.getrandbits(63) | 1
    with socket.create_connection(("127.0.0.1", PORT), 20) as sock:
        sock.sendall(frame(CONNECT, struct.pack(
            "<IHHIHHQQIII12x", 0x49535650, 2, 0, 0x42495650, 2, 1, FSID,
            session, 0x7fffff00, 1 << 20, FT_SEAL)))
        op, _ = answer(sock)
        if op != ACCEPT:
            return "rejected"
        sock.sendall(frame(SEND, struct.pack(
            "<IHHIHHQQQII", 0x42495650, 2, HELLO, 72, 0, 0, session, 0, 0, 0,
            0) + struct.pack("<IIII", 0, 0, 0, 5) + b"doors\0\0\0"))
        op, data = answer(sock)
        while op != SEND:
            op, data = answer(sock)
        return struct.unpack_from("<I", data, 44)[0]


seen = collections.Counter()
for _ in range(COUNT):
    try:
        seen[come()] += 1
    except (EOFError, ConnectionError):
        seen["closed"] += 1
for what, count in seen.items():
    print(what, count)
