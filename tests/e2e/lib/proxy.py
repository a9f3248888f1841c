#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause
"""proxy.py HOST PORT - stands between a client and a server, prints its own
port and obeys lines on stdin: pass; mute: what the server says is lost; cut:
nobody is connected and nobody gets in."""
import select
import socket
import sys

listener = socket.create_server(("127.0.0.1", 0))
server = (sys.argv[1], int(sys.argv[2]))
peer = {}       # socket -> the other one
clients = set()
mode = "pass"


def close(sock):
    for s in (sock, peer.pop(sock, None)):
        if s:
            peer.pop(s, None)
            clients.discard(s)
            s.close()


def accept():
    client, _ = listener.accept()
    if mode == "cut":
        client.close()
        return
    other = socket.create_connection(server)
    for s in (client, other):
        s.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
    peer[client], peer[other] = other, client
    clients.add(client)


def forward(sock):
    try:
        data = sock.recv(65536)
        if not data:
            close(sock)
        elif sock in clients or mode != "mute":
            peer[sock].sendall(data)
    except OSError:
        close(sock)


def obey():
    global mode
    line = sys.stdin.readline()
    if not line:
        sys.exit(0)
    mode = line.strip()
    if mode == "cut":
        for s in list(clients):
            close(s)
    print(mode, flush=True)


print(listener.getsockname()[1], flush=True)
while True:
    for s in select.select([listener, sys.stdin, *peer], [], [])[0]:
        if s is listener:
            accept()
        elif s is sys.stdin:
            obey()
        elif s in peer:
            forward(s)
