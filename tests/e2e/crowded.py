#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause
"""crowded.py HOST PORT FSID LOG: a host tries to take all places of a server.

Another loopback address connects as often as it can, with and without HELLO.  Older connections
stay, and clients of other hosts are accepted.
"""
import socket
import struct
import sys

from badclient import Client, HOST, PORT, SEND, WAIT, frame, message

BYE = 4         # wire.h
CROWD = 300
EACH = 28       # of 32 max_sessions, for one host


class Other(Client):
    """Connects from another host."""

    def __init__(self):
        super().__init__()
        self.sock.close()
        self.sock = socket.create_connection((HOST, PORT), WAIT,
                                             source_address=("127.0.0.2", 0))
        self.port = self.sock.getsockname()[1]


def check(ok, *what):
    if not ok:
        sys.exit(" ".join(map(str, what)))


def resumed(got):
    return got[:2] == ("reply", 0) and struct.unpack_from("<I", got[2], 60)[0] & 1


def newcomer():
    c = Client()
    got = c.login()
    check(got[:2] == ("reply", 0), "a newcomer:", got[:2])
    c.send(frame(SEND, message(BYE, session=c.session)))
    check(c.answer() == ("closed",), "a newcomer does not leave")
    c.sock.close()


def main():
    away = Client()
    check(away.login()[:2] == ("reply", 0), "no login")
    away.sock.close()

    half = [Other() for _ in range(CROWD)]
    for c in half:
        c.send(b"\x01\x00\x00")
    newcomer()

    silent = []
    for _ in range(CROWD):
        silent.append(Other())
        got = silent[-1].connect()
        check(got == ("accept",), "a connect:", got)
    newcomer()

    loud, got = [], []
    for _ in range(CROWD):
        loud.append(Other())
        got.append(loud[-1].login()[:2])
    check(0 < got.count(("reply", 0)) <= EACH, "let in:", got.count(("reply", 0)))
    check(("reply", 11) in got, "others:", set(got))
    newcomer()

    back = Client(away.session)
    got = back.login(epoch=2)
    check(resumed(got), "it does not come back:", got[:2])
    for c in half + silent + loud + [back]:
        c.sock.close()


if __name__ == "__main__":
    main()
