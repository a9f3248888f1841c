#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause
"""badclient.py HOST PORT FSID LOG: a client that breaks every rule.

Each case opens a connection, sends something wrong and waits for the server's rejection: the end of
the connection, a reject, or an error reply.  The server's LOG must name the connection.  The client
is written from wire.h and tcp_frame.h without their code, so it also checks the layout.
"""
import os
import random
import socket
import struct
import sys
import time

HOST, PORT, FSID, LOG = sys.argv[1], int(sys.argv[2]), int(sys.argv[3], 16), \
    sys.argv[4]
WAIT = 20       # seconds: only against a hang

# tcp_frame.h
CONNECT, ACCEPT, REJECT, SEND, WRITE, WRITE_IMM, READ = 1, 2, 3, 4, 5, 6, 7
FETCH_ADD, NAK, BYE = 9, 12, 13
# wire.h
WIRE_MAGIC, WIRE_VERSION = 0x42495650, 2
HELLO, PING, GETATTR, MKDIR, UNLINK = 1, 2, 17, 21, 23
READ_DATA, IOD_WRITE, GETSIZE = 64, 65, 68
F_REPLY, F_REPLAY = 1, 2
MAGIC_TCP = 0x49535650


def frame(op, payload=b"", segs=(), imm=0, ident=0, length=None, zero=0,
          nseg=None):
    body = b"".join(struct.pack("<QII", *s) for s in segs)
    if length is None:
        length = sum(s[2] for s in segs) if segs else len(payload)
    return struct.pack("<BBHIII", op, zero, len(segs) if nseg is None
                       else nseg, length, imm, ident) + body + payload


def private(magic=WIRE_MAGIC, version=WIRE_VERSION, role=1, fsid=FSID,
            session=None, epoch=1, reply_max=1 << 20):
    return struct.pack("<IHHQQII", magic, version, role, fsid,
                       session or random.getrandbits(63) | 1, epoch,
                       reply_max)


def hello(priv, magic=None, version=2):
    return frame(CONNECT, struct.pack("<IHH", magic or MAGIC_TCP, version, 0)
                 + priv)


def pad(data):
    return data + b"\0" * (-len(data) % 8)


def boot_ns():
    return time.clock_gettime_ns(time.CLOCK_BOOTTIME)


def message(op, body=b"", seq=1, slot=0, session=0, flags=0, length=None,
            magic=WIRE_MAGIC, version=WIRE_VERSION, credits=0, timeout=5000):
    size = 48 + len(body) if length is None else length
    return struct.pack("<IHHIHHQQQII", magic, version, op, size, slot, flags,
                       session, seq, boot_ns() + timeout * 10**6, credits,
                       0) + body


def hello_body(ngroups=0, groups=b"", name=b"badclient", name_len=None):
    return struct.pack("<IIII", os.getuid(), os.getgid(), ngroups,
                       len(name) if name_len is None else name_len) + \
        pad(groups) + pad(name)


def path_body(path=b"x", dirh=0, flags=0, path_len=None):
    return struct.pack("<QII", dirh, flags,
                       len(path) if path_len is None else path_len) + pad(path)


class Client:
    """One connection.  The session stays the same over a reconnect."""

    def __init__(self, session=None):
        self.session = session or random.getrandbits(63) | 1
        self.sock = socket.create_connection((HOST, PORT), WAIT)
        self.port = self.sock.getsockname()[1]
        self.seq = {}

    def send(self, data):
        try:
            self.sock.sendall(data)
        except OSError:
            pass                # closed already: seen by answer()

    def take(self, n):
        data = b""
        while len(data) < n:
            more = self.sock.recv(n - len(data))
            if not more:
                raise EOFError
            data += more
        return data

    def answer(self):
        """Returns ("closed",), ("reject", status), ("nak", why) or ("reply", ...)."""
        try:
            op, _, nseg, length, imm, _ = struct.unpack("<BBHIII",
                                                        self.take(16))
            data = self.take(length)
        except (EOFError, ConnectionError):
            return ("closed",)
        if op == ACCEPT:
            return ("accept",)
        if op == REJECT:
            return ("reject", struct.unpack("<IHH", data[8:16])[2]
                    if len(data) >= 16 else 0)
        if op in (NAK, BYE):
            return ("closed",)
        status = struct.unpack_from("<I", data, 44)[0]
        return ("reply", status, data)

    def connect(self, **fields):
        self.send(hello(private(session=self.session, **fields)))
        return self.answer()

    def call(self, op, body=b"", slot=0, seq=None, **fields):
        if seq is None:
            seq = self.seq[slot] = self.seq.get(slot, 0) + 1
        self.send(frame(SEND, message(op, body, seq=seq, slot=slot,
                                      session=self.session, **fields)))
        return self.answer()

    def login(self, **fields):
        got = self.connect(**fields)
        if got[0] != "accept":
            return got
        return self.call(HELLO, hello_body())


def raw(*chunks):
    def case():
        c = Client()
        for chunk in chunks:
            c.send(chunk)
        return c, c.answer()
    return case


def connecting(**fields):
    def case():
        c = Client()
        return c, c.connect(**fields)
    return case


def logged_in(*args, **fields):
    def case():
        c = Client()
        got = c.login()
        if got[:2] != ("reply", 0):
            return c, ("no hello", got[:2])
        return c, c.call(*args, **fields)
    return case


def framed(data):
    def case():
        c = Client()
        got = c.login()
        if got[:2] != ("reply", 0):
            return c, ("no hello", got[:2])
        c.send(data)
        return c, c.answer()
    return case


def first_is(op, body):
    def case():
        c = Client()
        c.connect()
        return c, c.call(op, body)
    return case


def io_body(nreg, nmem, data_len, total, regions=(), mem=(), data=b""):
    return struct.pack("<QQIIII", 5, total, 0, nreg, nmem, data_len) + \
        b"".join(struct.pack("<QQ", *r) for r in regions) + \
        b"".join(struct.pack("<QII", *m) for m in mem) + pad(data)


def cases():
    rnd = random.Random(7)
    ok = private()
    for i in range(12):
        yield f"random bytes {i}", raw(rnd.randbytes(rnd.choice(
            [16, 17, 100, 5000])))
    yield "an HTTP request", raw(b"GET / HTTP/1.1\r\nHost: x\r\n\r\n")
    yield "silence after half a head", raw(b"\x01\x00\x00")
    yield "another transport magic", raw(hello(ok, magic=0x12345678))
    yield "another transport version", raw(hello(ok, version=99))
    yield "a first frame of 4 GiB", raw(frame(CONNECT, length=0xffffffff))
    yield "SEND before CONNECT", raw(frame(SEND, message(PING)))
    yield "no private data", raw(hello(b""))
    yield "short private data", raw(hello(ok[:20]))
    yield "another wire magic", connecting(magic=1)
    yield "another wire version", connecting(version=77)
    yield "no such role", connecting(role=99)
    yield "another file system", connecting(fsid=FSID ^ 1)
    yield "a reply buffer of 0", connecting(reply_max=0)
    yield "PING before HELLO", first_is(PING, b"")
    yield "HELLO with 1,000,000 groups", first_is(
        HELLO, hello_body(ngroups=1000000))
    yield "HELLO with a long name", first_is(
        HELLO, hello_body(name_len=5000))
    yield "a message shorter than its header", framed(frame(SEND, b"\0" * 20))
    yield "an empty message", framed(frame(SEND, b""))
    yield "another magic", logged_in(PING, magic=3)
    yield "another version", logged_in(PING, version=9)
    yield "length above the message", logged_in(PING, length=4000)
    yield "length below the message", logged_in(
        GETATTR, path_body(), length=50)
    yield "credits in a request", logged_in(PING, credits=1)
    yield "a reply", logged_in(PING, flags=F_REPLY)
    yield "no such operation", logged_in(999)
    yield "slot 60000", logged_in(PING, slot=60000)
    yield "path beyond the message", logged_in(
        GETATTR, path_body(path_len=4000))
    yield "path with NUL", logged_in(GETATTR, path_body(b"a\0b"))
    yield "path_len 2^32-1", logged_in(
        GETATTR, path_body(path_len=0xffffffff))
    yield "a message of 1 MiB", logged_in(
        GETATTR, path_body(b"x" * (1 << 20)))
    yield "regions beyond the message", logged_in(
        IOD_WRITE, io_body(64, 0, 0, 0))
    yield "region count 2^31", logged_in(
        READ_DATA, io_body(1 << 31, 0, 0, 0))
    yield "sums that differ", logged_in(
        IOD_WRITE, io_body(1, 0, 8, 9, [(0, 9)], (), b"12345678"))
    yield "a region that overflows", logged_in(
        IOD_WRITE, io_body(1, 0, 8, 8, [(2 ** 64 - 4, 8)], (), b"12345678"))
    yield "RDMA Write to the server", framed(
        frame(WRITE, b"x" * 64, [(4096, 1, 64)]))
    yield "RDMA Read from the server", framed(
        frame(READ, b"", [(4096, 1, 64)], ident=1))
    yield "a fetch-add at the server", framed(
        frame(FETCH_ADD, b"\0" * 16, [(4096, 1, 8)], length=16))
    yield "more segments than a frame has", framed(
        frame(WRITE, b"", (), nseg=60000, length=64))
    yield "no such transport operation", framed(frame(200))
    yield "half a message, then gone", half


def half():
    c = Client()
    c.login()
    c.send(frame(SEND, message(PING))[:30])
    c.sock.shutdown(socket.SHUT_WR)
    return c, c.answer()


def refused(got):
    return got[0] in ("closed", "reject") or \
        (got[0] == "reply" and got[1] != 0)


def logged(port):
    until = time.monotonic() + 10
    while time.monotonic() < until:
        with open(LOG, errors="replace") as log:
            if f":{port}" in log.read():
                return True
        time.sleep(0.05)
    return False


def replays(role):
    """A repeated request is executed once and gets the same reply."""
    c = Client()
    if c.login()[:2] != ("reply", 0):
        return "no login"
    op, body = MKDIR, struct.pack("<QII", 0, 0o755, 9) + pad(b"replayed!")
    if role != "mgr":
        op, body = GETSIZE, struct.pack("<IIQ", 1, 0, 4711)
    first = c.call(op, body, slot=1)
    if first[:2] != ("reply", 0):
        return f"first: {first[:2]}"
    d = Client(c.session)       # the old connection is still open
    if d.login(epoch=2)[:2] != ("reply", 0):
        return "no login again"
    d.seq[1] = 0
    again = d.call(op, body, slot=1, flags=F_REPLAY)
    if again[:2] != ("reply", 0) or again[2][48:] != first[2][48:]:
        return f"replay: {again[:2]}"
    old = d.call(PING, slot=1, seq=2)
    if old[:2] != ("reply", 0):
        return f"next: {old[:2]}"
    stale = d.call(op, body, slot=1, seq=1, flags=F_REPLAY)
    if not refused(stale):
        return f"an old seq was answered: {stale[:2]}"
    return None


def main():
    bad = 0
    for name, run in cases():
        try:
            c, got = run()
        except (OSError, struct.error) as error:
            c, got = None, ("no end", str(error))
        verdict = ""
        if not refused(got):
            verdict = "  <-- NOT REFUSED"
        elif not name.startswith("half") and c and got[0] != "reply" and \
                not logged(c.port):
            verdict = f"  <-- NOT LOGGED (:{c.port})"
        bad += bool(verdict)
        print(f"{name}: {' '.join(map(str, got[:2]))}{verdict}", flush=True)
        if c:
            c.sock.close()
    why = replays("mgr" if "mgr" in os.path.basename(LOG) else "iod")
    print(f"replay: {why or 'executed once'}")
    return bad or bool(why)


if __name__ == "__main__":
    sys.exit(main())
