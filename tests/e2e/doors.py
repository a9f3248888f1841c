#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause
"""doors.py PORT FSID SESSION COUNT [seals] - a client without a ticket sends HELLO over tcp COUNT
times, as root and with this session number (hexadecimal; 0: its own).  Prints each status of the
replies, and its count.  With `seals`, the client claims that it can seal.  It is written from
wire.h and tcp_frame.h, as badclient.py.
"""
import collections
import random
import socket
import struct
import sys
import time

FT_SEAL = 0x80
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


def knock(port, fsid, session, seals, epoch=0x7fffff00):
    """Connects.  Returns the connection and the server's facts, or None if it was rejected."""
    sock = socket.create_connection(("127.0.0.1", port), 20)
    sock.sendall(frame(CONNECT, struct.pack(
        "<IHHIHHQQIII12x", 0x49535650, 2, 0, 0x42495650, 2, 1, fsid,
        session, epoch, 1 << 20, FT_SEAL if seals else 0)))
    op, accept = answer(sock)
    if op == ACCEPT:
        return sock, accept
    sock.close()
    return None


def connect(port, fsid, session, seals):
    """Connects.  Returns the connection, or None if it was rejected."""
    came = knock(port, fsid, session, seals)
    return came and came[0]


def ask(sock, op, session, body, slot=0, seq=0):
    """Sends one request, without waiting for its reply."""
    sock.sendall(frame(SEND, struct.pack(
        "<IHHIHHQQQII", 0x42495650, 2, op, 48 + len(body), slot, 0, session,
        seq, 0, 0, 0) + body))


def reply(sock):
    """Returns slot and status of the next reply."""
    op, data = answer(sock)
    while op != SEND:
        op, data = answer(sock)
    return struct.unpack_from("<H", data, 12)[0], \
        struct.unpack_from("<I", data, 44)[0]


def hello(sock, session):
    ask(sock, HELLO, session,
        struct.pack("<IIII", 0, 0, 0, 5) + b"doors\0\0\0")
    return reply(sock)[1]


def come(port, fsid, session, seals):
    session = session or random.getrandbits(63) | 1
    sock = connect(port, fsid, session, seals)
    for _ in range(200):
        if sock:
            break
        time.sleep(0.05)  # those before have not gone yet
        sock = connect(port, fsid, session, seals)
    if not sock:
        return "rejected"
    with sock:
        return hello(sock, session)


def main():
    seen = collections.Counter()
    for _ in range(int(sys.argv[4])):
        try:
            seen[come(int(sys.argv[1]), int(sys.argv[2], 16),
                      int(sys.argv[3], 16), "seals" in sys.argv)] += 1
        except (EOFError, ConnectionError):
            seen["closed"] += 1
    for what, count in seen.items():
        print(what, count)


if __name__ == "__main__":
    main()
