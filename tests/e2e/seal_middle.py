#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause
"""seal_middle.py - an attacker between a client and a server over tcp.

usage: seal_middle.py PORT DEED-FILE    forwards to 127.0.0.1:PORT, prints its own port
       seal_middle.py --sniff TEXT FILE counts how often TEXT passes over lo, and writes the
                                        number to FILE, which exists once it has started

DEED-FILE contains a word, which is read for each unit that passes (frames, after SEALED records).
`pass` forwards.  Once in each connection, at its second record: flip, cut, repeat, reorder, inject.
In each connection: strip (nobody wants to seal), unask (the manager's CHALLENGE does not say that
it seals), unhere (it does not say that the connection is sealed in place), apart (nobody can do
that), bare (an unsealed frame), change ("heard" becomes "wrong" if it is readable).  Changes that
only the derived keys detect, in connections of clients without a proof: hail (an unknown feature),
hello (another uid), reply (other credits).  longer: the length of one reply (not to HELLO) is 256
bytes too large; longer_asked: that of one request.  seq and seq_asked: one frame has a wrong bit in
its seq.  connect and accept: one has a wrong bit in its epoch, or in its number of slots.  Then the
word becomes pass.
"""
import asyncio
import os
import signal
import socket
import struct
import sys
import time

SEALED = 16                     # enum tcp_op
CONNECT, ACCEPT, SEND = 1, 2, 4
CHECKED = 2                     # of imm: id is a check
OF_HELLO = 24                   # epoch of wire_connect, credits of wire_accept
CHECK = 12                      # struct tcp_check, which follows each head but those of hellos
HELLO, PRIVATE = 8, 32          # of tcp, of wire_connect and wire_accept
WIRE_HELLO, CHALLENGE = 1, 47
FT_SEAL, FT_HERE, FT_NONE = 0x80, 0x10000, 0x80000000
CH_SEAL, CH_HERE = 0x2, 0x4
HEADER, F_PROOF = 48, 0x2       # of the flags' second byte
SEQ = 24                        # of the header


REPLACED = ("hello", "reply", "unhere", "unask", "change")  # an attacker corrects the check


def crc32c(data):
    crc = 0xffffffff
    for byte in data:
        crc ^= byte
        for _ in range(8):
            crc = crc >> 1 ^ (0x82f63b78 if crc & 1 else 0)
    return crc ^ 0xffffffff


def new_check(head, covered):
    check = struct.pack("<II", len(covered), crc32c(covered))
    return check + struct.pack("<I", crc32c(head + check))


def clear(data, at, bits):
    value, = struct.unpack_from("<I", data, at)
    struct.pack_into("<I", data, at, value & ~bits)


def flip(data, at, bits):
    value, = struct.unpack_from("<I", data, at)
    struct.pack_into("<I", data, at, value ^ bits)


class Way:
    """One direction of a connection."""

    def __init__(self, reader, writer, deed, done, answers):
        self.reader, self.writer, self.deed = reader, writer, deed
        self.done = done
        self.answers = answers
        self.records = 0
        self.kept = b""
        self.check = 0

    async def frame(self):
        head = await self.reader.readexactly(16)
        op, _, nseg, length, imm = struct.unpack_from("<BBHII", head)
        check = await self.reader.readexactly(self.check)
        if op in (CONNECT, ACCEPT):
            self.check = CHECK * (imm & 1)
        if op == SEALED:
            if self.deed() == "bare" and not self.answers:
                bare = struct.pack("<BBHIII", SEND, 0, 0, 0, 0, 0)
                self.writer.write(bare + (new_check(bare, b"") if check else b""))
            self.writer.write(head + check)
            return False
        payload = bytearray(await self.reader.readexactly(
            nseg * 16 + (0 if op == 7 else length)))
        if self.deed() == "strip" and op in (CONNECT, ACCEPT) and \
                len(payload) >= HELLO + PRIVATE + 16:
            clear(payload, HELLO + PRIVATE, FT_SEAL)
        if self.deed() in ("apart", "hail") and op == CONNECT and \
                len(payload) >= HELLO + PRIVATE + 16:
            if self.deed() == "apart":
                clear(payload, HELLO + PRIVATE, FT_HERE)
            else:
                flip(payload, HELLO + PRIVATE, FT_NONE)
        if self.deed() in ("strip", "apart", "hail") and op in (CONNECT, ACCEPT) and imm & CHECKED:
            head = head[:12] + struct.pack("<I", crc32c(head[:12] + bytes(4) + payload))
        if self.deed() == ("accept" if self.answers else "connect") and op in (CONNECT, ACCEPT):
            self.done()
            payload[HELLO + OF_HELLO + 3] ^= 0x40
        if op == SEND and len(payload) > HEADER and \
                payload[6] == WIRE_HELLO and not payload[15] & F_PROOF:
            if self.deed() == "hello" and not self.answers:
                flip(payload, HEADER, 1)
            if self.deed() == "reply" and self.answers:
                flip(payload, HEADER + 8, 3)
        if self.deed() == "unhere" and self.answers and op == SEND and \
                len(payload) > 64 and payload[6] == CHALLENGE:
            clear(payload, 48 + 12, CH_HERE)
        if self.deed() == "unask" and self.answers and op == SEND and \
                len(payload) > 64 and payload[6] == CHALLENGE:
            clear(payload, 48 + 12, CH_SEAL)
        if self.deed() == "change":
            payload = payload.replace(b"heard", b"wrong")
        if self.deed() == ("longer" if self.answers else "longer_asked") and op == SEND and \
                len(payload) >= HEADER and payload[6] != WIRE_HELLO:
            self.done()
            head = struct.pack("<BBHI", op, 0, nseg, length ^ 0x100) + head[8:]
        if self.deed() == ("seq" if self.answers else "seq_asked") and op == SEND and \
                len(payload) >= HEADER and payload[6] != WIRE_HELLO:
            self.done()
            payload[SEQ + 2] ^= 1
        if check and self.deed() in REPLACED and op == SEND:
            check = new_check(head, payload[:struct.unpack_from("<I", check)[0]])
        self.writer.write(head + check + payload)
        return True

    async def record(self):
        head = await self.reader.readexactly(8)
        length, _ = struct.unpack("<II", head)
        data = bytearray(head + await self.reader.readexactly(length + 16))
        self.records += 1
        deed = self.deed() if self.records == 2 else "pass"
        if deed == "flip":
            data[len(data) // 2] ^= 1
        elif deed == "cut":
            self.writer.write(data[:len(data) // 2])
            raise EOFError
        elif deed == "repeat":
            self.writer.write(data)
        elif deed == "reorder":
            self.kept = bytes(data)
            return
        elif deed == "inject":
            self.writer.write(head + bytes(length + 16))
        self.writer.write(data)
        if self.kept:
            self.writer.write(self.kept)
            self.kept = b""

    async def run(self):
        while await self.frame():
            await self.writer.drain()
        while True:
            await self.record()
            await self.writer.drain()


async def serve(port, path):
    def deed():
        with open(path) as f:
            return f.read().strip()

    def done():
        with open(path, "w") as f:
            f.write("pass\n")

    async def meet(reader, writer):
        try:
            inner, outer = await asyncio.open_connection("127.0.0.1", port)
        except OSError:
            writer.close()
            return
        ways = [asyncio.ensure_future(Way(reader, outer, deed, done, False).run()),
                asyncio.ensure_future(Way(inner, writer, deed, done, True).run())]
        await asyncio.wait(ways, return_when=asyncio.FIRST_COMPLETED)
        for way in ways:
            way.cancel()
        await asyncio.gather(*ways, return_exceptions=True)
        for end in (outer, writer):
            end.close()

    server = await asyncio.start_server(meet, "127.0.0.1", 0)
    print(server.sockets[0].getsockname()[1], flush=True)
    await server.serve_forever()


def sniff(text, path):
    found = 0
    s = socket.socket(socket.AF_PACKET, socket.SOCK_RAW, socket.htons(3))
    s.setsockopt(socket.SOL_SOCKET, 33, 64 << 20)  # SO_RCVBUFFORCE
    s.bind(("lo", 0))
    with open(path, "w") as f:
        f.write("0\n")
    ended = []
    signal.signal(signal.SIGTERM, lambda *_: ended.append(time.monotonic()))
    s.settimeout(0.05)
    while not ended or time.monotonic() < ended[0] + 3:
        try:  # also what was there when it was told to end
            found += s.recv(1 << 17).count(text)
        except socket.timeout:
            if ended:
                break
    with open(path + ".new", "w") as f:
        f.write("%d\n" % found)
    os.rename(path + ".new", path)


if sys.argv[1] == "--sniff":
    sniff(sys.argv[2].encode(), sys.argv[3])
else:
    try:
        asyncio.run(serve(int(sys.argv[1]), sys.argv[2]))
    except KeyboardInterrupt:
        pass
