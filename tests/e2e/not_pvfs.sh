#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause
# If another service has the port of a server, each program reports it once, immediately, and
# continues when the server is back.
. "$(dirname "$0")/functions.sh"
requires tcp
requires tool python3
start_pvfs -n 2

cat >service.py <<'END'
import socket, sys, threading
kind, port = sys.argv[1], int(sys.argv[2])
s = socket.socket()
s.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
s.bind(("127.0.0.1", port))
s.listen(50)
print(s.getsockname()[1], flush=True)
def serve(c):
    try:
        if kind == "ssh":
            c.sendall(b"SSH-2.0-OpenSSH_9.2p1\r\n")
            c.recv(1000)
        elif kind == "http":
            c.recv(1000)
            c.sendall(b"HTTP/1.1 400 Bad Request\r\nServer: nginx\r\n\r\n" + 300 * b"x")
        elif kind == "tls":
            c.recv(1000)
            c.sendall(b"\x15\x03\x01\x00\x02\x02\x46")
        elif kind == "echo":
            while data := c.recv(65536):
                c.sendall(data)
        c.close()
    except OSError:
        pass
while True:
    threading.Thread(target=serve, args=(s.accept()[0],), daemon=True).start()
END
# service KIND PORT: starts a service; $at is its port
service() {
	rm -f port
	python3 service.py "$1" "$2" >port &
	helpers+=($!)
	until_true 30 test -s port
	at=$(cat port)
}
service_ends() {
	kill "${helpers[-1]}" && wait "${helpers[-1]}" 2>/dev/null
	unset 'helpers[-1]'
}
# once COMMAND...: the command fails, and the library logs one line
once() {
	PVFSTAB_FILE=$tmp/tab must_fail timeout 60 "$@"
	[ "$(grep -c 'not a PVFS server' output)" = 1 ] || fail "$*: $(cat output)"
	! grep -E 'unknown operation|trying again|connection broken' output || fail "$*: more than that"
}

for kind in ssh http tls echo; do
	service $kind 0
	for with in transport=tcp, ''; do
		echo "127.0.0.1:/ /pvfs pvfs port=$at,${with}timeout=20 0 0" >tab
		once pvfs-ls /pvfs
		once pvfs-cp "$tmp/tab" /pvfs/tab
		once pvfs-ping
	done
	once pvfs-doctor --skip clock,mounted,users
	once pvfs-ping "127.0.0.1:$at"
	[ ! -c /dev/fuse ] || [ ! -x "$PVFS_BUILD/client/fuse/pvfs-fuse" ] || {
		mkdir -p "$tmp/m"
		once "$PVFS_BUILD/client/fuse/pvfs-fuse" /pvfs "$tmp/m" -f
	}
	service_ends
done

# another service has a server's port for a while: the manager logs it once, and continues
port=$(port_of iod.1)
must cluster stop
service ssh "$port"
"$PVFS_BUILD/mgr/pvfs-mgr" --config "$state/pvfs.conf" >alone.log 2>&1 &
manager=$!
helpers+=($manager)
says() { grep -q "iod 1 .*not a PVFS server" alone.log; }
until_true 60 says
sleep 1 # it goes on asking
expect 1 grep -c 'not a PVFS server' alone.log
kill $manager && wait $manager
unset 'helpers[-1]'
service_ends
must cluster start
echo some >data
must pvfs-cp --verify data /pvfs/data
