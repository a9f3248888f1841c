#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause
# pvfs-doctor finds nothing on a healthy file system. Faults are planted one at a time, and it finds
# each, with the fix that repairs it. It changes nothing and always ends.
. "$(dirname "$0")/functions.sh"
requires root
requires tool setpriv
requires tool prlimit
requires tool unshare
requires tool ip
requires tool python3
unset PVFS_LOG

start_pvfs -n 2
host=$tmp/host conf=$state/pvfs.conf rdma=$tmp/host/sys/class/infiniband
planted=0

# ---- a healthy host: the machine's own settings do not count ----
put() { mkdir -p "$(dirname "$host/$1")" && printf '%s\n' "$2" >"$host/$1"; }
kernel() {
	put proc/meminfo 'MemTotal:       16384000 kB
MemAvailable:    8192000 kB
HugePages_Total:       0
HugePages_Free:        0
Hugepagesize:       2048 kB'
	put proc/sys/vm/dirty_bytes 0
	put proc/sys/vm/dirty_background_bytes 0
	put proc/sys/vm/dirty_ratio 20
	put proc/sys/vm/dirty_background_ratio 10
	put proc/sys/net/ipv4/tcp_congestion_control cubic
	put proc/sys/net/ipv4/tcp_rmem '4096 131072 6291456'
	put proc/sys/net/ipv4/tcp_wmem '4096 16384 4194304'
	put proc/sys/kernel/yama/ptrace_scope 1
	put etc/fstab '/dev/sda1 / ext4 defaults 0 1'
}
# port DEV N STATE LAYER GID NETDEV MTU
port() {
	local at=sys/class/infiniband/$1/ports/$2

	put "$at/state" "$3"
	put "$at/link_layer" "$4"
	put "$at/gids/0" "$5"
	put "$at/gid_attrs/ndevs/0" "$6"
	put "sys/class/net/$6/mtu" "$7"
}
roce() { port rxe0 1 '4: ACTIVE' Ethernet 0000:0000:0000:0000:0000:ffff:0a4d:0001 eth7 9000; }
daemons() {
	local k

	for k in mgr 0 1; do ln -sfn "/proc/$(cluster pid $k)" "$host/proc/$(cluster pid $k)"; done
}
kernel
mkdir -p "$host/dev/shm" "$host/dev/infiniband"
touch "$host/dev/fuse" "$host/dev/infiniband/rdma_cm"
mkdir "$host/proc/self"
ln -s /proc/self/limits /proc/self/status "$host/proc/self"
grep -v ' fuse.pvfs ' /proc/self/mounts >"$host/proc/self/mounts" # others' tests have some
daemons

# Skips the clock of the machine, and flushes, whose time depends on other programs.
doctor() { pvfs-doctor --root "$host" --skip clock,fsync "$@"; }
server() { doctor -c "$conf" "$@"; }
client() { doctor "$@"; }

# well COMMAND...: runs all checks and finds nothing
well() {
	"$@" >found 2>err || fail "$*: exit $?: $(cat found err)"
	grep -q ': 0 found, 0 not seen$' found || fail "$*: $(cat found)"
	[ ! -s err ] || fail "$*: $(cat err)"
}
# finds CHECK WHAT FIX COMMAND...: CHECK reports WHAT and FIX, and other checks report something
# only if they are in $also
also=
finds() {
	local check=$1 what=$2 fix=$3
	shift 3

	"$@" >found 2>err
	code=$?
	[ $code = 1 ] || fail "$check: exit $code, not 1: $(cat found err)"
	grep -A 1 -E "^found: $check(, [a-z0-9 ]*)?: .*$what" found | grep -qE "^    fix: .*$fix" ||
		fail "$check: no '$what' with the fix '$fix': $(cat found err)"
	! grep '^found: ' found | grep -vE "^found: ($check${also:+|$also})[:,]" ||
		fail "$check: more than that: $(cat found)"
	planted=$((planted + 1))
}
# Plants a fault in a file below $host, and removes the previous one.
with() {
	local file=$host/$1 value=$2
	shift 2

	cp "$file" kept
	printf '%s\n' "$value" >"$file"
	"$@"
	cp kept "$file"
}

well server
well client
if [ "${PVFS_TEST_SCHEME:-tcp}" = tcp ]; then
	expect 3 grep -c '^well: reach, .* over tcp in [0-9.]* us' <(server -v)
fi
server -j | python3 -c 'import json, sys; d = json.load(sys.stdin)
assert d["servers"] == 3 and d["findings"] == [] and d["not_seen"] == [] and d["well"]' ||
	fail "no JSON"
(well server) & a=$!
must mkdir two
(cd two && well server) || fail "two at once"
wait $a || fail "two at once"
find "$state" ! -path '*/log/*' -printf '%P %s %m %U %T@\n' | grep -v '__db\|^mgr/db' | sort >before
server >/dev/null
find "$state" ! -path '*/log/*' -printf '%P %s %m %U %T@\n' | grep -v '__db\|^mgr/db' | sort >after
must diff before after

# ---- the kernel ----
with proc/sys/vm/dirty_bytes 4194304 finds dirty 'wait for the disk' 'sysctl vm.dirty_background_bytes=' server
with proc/sys/vm/dirty_background_ratio 30 finds dirty 'not below' 'vm.dirty_bytes=' server
with proc/sys/vm/dirty_bytes 68719476736 finds dirty '64 GiB may be unwritten' 'vm.dirty_bytes=' server
with proc/sys/net/ipv4/tcp_congestion_control vegas finds tcp vegas 'congestion_control=cubic' server
with proc/sys/net/ipv4/tcp_rmem '4096 65536 131072' finds tcp '128 KiB under way .tcp_rmem' 'tcp_rmem=' client
with proc/meminfo 'MemTotal: 16384000 kB
MemAvailable: 8192000 kB
HugePages_Free: 4096
Hugepagesize: 2048 kB' finds huge-pages '8192 MiB' vm.nr_hugepages server
with proc/meminfo 'MemTotal: 16384000 kB
MemAvailable: 20480 kB' finds memory '20 MiB' cache_size client
with proc/sys/kernel/yama/ptrace_scope 3 finds ptrace 'ptrace_scope 3' kernel.yama.ptrace_scope=1 client
rmdir "$host/dev/shm"
finds shm 'No such file' 'mount -t tmpfs' client
small_disk "$host/dev/shm" 1
finds shm KiB remount,size= client
umount "$host/dev/shm" && unset 'mounts[-1]'

# a file that the kernel does not have
mv "$host/proc/meminfo" kept.meminfo
client >found
[ $? = 2 ] && grep -q '^not seen: memory: .*No such file' found || fail "$(cat found)"
mv kept.meminfo "$host/proc/meminfo"
# a file whose read never returns
rm "$host/proc/sys/net/ipv4/tcp_wmem" && mkfifo "$host/proc/sys/net/ipv4/tcp_wmem"
client -t 5 >found
[ $? = 2 ] && grep -q '^not seen: tcp: no answer within' found || fail "$(cat found)"
rm "$host/proc/sys/net/ipv4/tcp_wmem"
kernel

# ---- mounts ----
fstab='mgr:/ /mnt fuse.pvfs port=3000 0 0'
mv "$host/dev/fuse" "$host/dev/fuse.away"
with etc/fstab "$fstab" finds fuse 'dev/fuse' 'modprobe fuse' client
mv "$host/dev/fuse.away" "$host/dev/fuse"
with etc/fstab "$fstab" finds fuse 'no fusermount3' 'install fuse3' \
	"$(command -v env)" PATH=/nowhere "$(command -v pvfs-doctor)" --root "$host" --skip clock

# ---- RDMA ----
also='ways'
roce
mkdir -p "$rdma"
well pvfs-doctor --root "$host" --skip clock,fsync,ways -c "$conf"
port rxe0 1 '1: DOWN' Ethernet 0000:0000:0000:0000:0000:ffff:0a4d:0001 eth7 9000
finds rdma-port 'rxe0 port 1 is not up: 1: DOWN' 'ip link set' client
port rxe0 1 '2: INIT' InfiniBand fe80:0000:0000:0000:0002:c903:0000:0001 ib0 2044
finds rdma-port 'not up: 2: INIT' 'subnet manager' client
port rxe0 1 '4: ACTIVE' Ethernet 0000:0000:0000:0000:0000:0000:0000:0000 eth7 9000
finds rdma-gid 'no address .GID.' 'ip addr add .*eth7' client
port rxe0 1 '4: ACTIVE' Ethernet fe80:0000:0000:0000:0002:c903:0000:0001 eth7 9000
finds rdma-gid 'but a link-local' 'ip addr add .*eth7' client
roce
put sys/class/net/eth7/mtu 1500
finds rdma-mtu 'eth7 is 1500' 'ip link set eth7 mtu 9000' client
roce
port rxe1 1 '4: ACTIVE' Ethernet 0000:0000:0000:0000:0000:ffff:0a4d:0002 eth8 4200
finds rdma-mtu 'is 4200, that of rxe0 port 1 is 9000|is 9000, that of rxe1 port 1 is 4200' 'mtu 9000' client
rm -r "$rdma/rxe1" "$host/dev/infiniband/rdma_cm"
finds rdma-cm 'no connection manager' 'modprobe rdma_ucm' client
touch "$host/dev/infiniband/rdma_cm"
# without root's capability to lock memory
unlocked() { prlimit --memlock=65536 setpriv --bounding-set=-ipc_lock "$@"; }
finds memlock 'lock only 64 KiB' limits.conf unlocked \
	"$(command -v pvfs-doctor)" --root "$host" --skip clock
rm -r "$rdma"
also=

# ---- limits ----
finds descriptors 'may have 256' 'nofile' prlimit --nofile=256:256 "$(command -v pvfs-doctor)" \
	--root "$host" --skip clock
must prlimit --pid "$(cluster pid 1)" --nofile=1024:2048
finds descriptors 'pvfs-iod.*2048.*take 6144' LimitNOFILE server
must cluster stop-iod 1 # only a new one may have more again
must cluster start
daemons

# ---- storage ----
chmod 777 "$state/iod0"
finds storage 'iod.0. .*mode 0777' "chmod 700 $state/iod0" server
chmod 700 "$state/iod0"
mv "$state/iod1" "$state/away"
finds storage 'iod.1. .*is not there' 'mount its file system' server
mkdir "$state/iod1" && touch "$state/iod1/something"
finds storage 'holds files and no pvfs-stamp' 'correct storage' server
rm -r "$state/iod1" && cp -r "$state/iod0" "$state/iod1"
finds storage "iod.1. .*another server.*'index 0' instead of 'index 1'" 'mount the right disk' server
cp "$state/away/pvfs-stamp" "$state/iod1/" && sed -i 's/^version .*/version 9/' "$state/iod1/pvfs-stamp"
finds storage "another release: .*'version 9'" 'install that release' server
rm -r "$state/iod1" && touch "$state/iod1"
finds storage 'no folder' 'name a folder' server
rm "$state/iod1" && mv "$state/away" "$state/iod1"
with etc/fstab "/dev/sda1 / ext4 defaults 0 1
/dev/sdb1 $state/iod1/ xfs nofail 0 2" finds storage "$state/iod1, where .* not mounted" "mount $state/iod1, and start" server
well server
# over: mounts a folder over that of iod 1, with its stamp
over() {
	mount -t tmpfs -o "mode=700,$1" pvfs-e2e "$state/iod1" 2>err || skip "cannot mount: $(cat err)"
	mounts+=("$state/iod1")
	cp "$stamp" "$state/iod1/pvfs-stamp"
}
under() { umount "$state/iod1" && unset 'mounts[-1]'; }
stamp=$tmp/stamp
cp "$state/iod1/pvfs-stamp" "$stamp"
over size=1m
finds room 'iod.1. .* 0 MiB left' 'remove files' server
under
over size=100m,nr_inodes=20
finds room 'iod.1. .* 1[0-9] inodes left' nr_inodes server
under
over size=100m
must mount -o remount,ro "$state/iod1"
finds room 'read-only' 'remount,rw' server
under
dev=$(stat -c '%Hd:%Ld' "$state/iod0")
mkdir -p "$host/sys/dev/block"
ln -s ../../devices/sdz "$host/sys/dev/block/$dev"
put sys/fs/ext4/sdz/errors_count 3
finds errors 'counted 3 errors' 'e2fsck' server
rm -r "$host/sys/dev" "$host/sys/fs"

# ---- the key ----
key=$state/key
mv "$key" key.kept
finds key 'is not there' 'scp -p' server
cp key.kept "$key" && chmod 644 "$key"
also='same'
finds conf 'others can read' 'chmod 600' server
chmod 600 "$key"
echo nonsense >"$key"
finds key "$key" . server
tr 0-9a-f f0-9a-e <key.kept >"$key"
finds same 'does not take the key' 'scp -p the key' server
also=
cp key.kept "$key" && chown 1 "$key"
also=conf
finds key 'belongs to user 1, and' "chown 0 $key" server
also=
rm "$key" && mv key.kept "$key" && chmod 600 "$key"
well server

# ---- pvfs.conf ----
cp "$conf" conf.kept
port=$(port_of mgr) iod_port=$(port_of iod.1)
edit() { sed "$1" conf.kept >"$conf"; }
also='reach|same|key|storage'
edit 's/^id = .*/id = 00000000000000ab/'
finds same 'another file system' 'filesystem. id' server
edit "s|^id = |stripe_sise = 1\n&|"
finds conf stripe_sise 'pvfs.conf|unknown|spell|take|known' server
edit '/^\[iod.1\]/,$d'
finds iods 'has 1 iods, and the manager 2' 'copy the right' server
edit "s|:$iod_port\$|:1|"
also='iods|same|reach'
finds reach 'iod 1: nobody listens|nobody listens at .*:1' 'iod.1. address' server
finds iods 'iod.1. address' 'copy the right' server
edit "/^\[iod.1\]/,\$s|:$iod_port|:$(port_of iod.0)|;/^\[iod.1\]/,\$s|127.0.0.1|localhost|"
also='iods|reach'
finds same 'or is another server' 'or correct the address' server
edit "/^\[iod.1\]/,\$s|127.0.0.1|no-such-host.invalid|"
also='conf|iods|same'
finds host 'no-such-host.invalid' '/etc/hosts' server
edit "s|^key = .*|&\nauth = munge\nmunge_socket = $tmp/none|"
also='conf|ways'
finds munge "munged is not reached at $tmp/none" 'systemctl enable --now munge' server
also=
finds conf 'none.conf is not there' 'pvfs-mkconf' doctor -c "$tmp/none.conf"
cp conf.kept "$conf"
well server

# ---- pvfstab ----
tab() { echo "$1" >tab; PVFSTAB_FILE=$tmp/tab client; }
good="127.0.0.1:/ /pvfs pvfs port=$port,transport=${PVFS_TEST_SCHEME:-tcp}"
also='reach|host'
well tab "$good 0 0"
finds pvfstab 'tab:1: option "prot=1" is unknown' 'correct its name' tab "127.0.0.1:/ /pvfs pvfs prot=1 0 0"
finds use 'this server is an iod, not the manager' 'port= of the mount' \
	tab "127.0.0.1:/ /pvfs pvfs port=$iod_port,transport=${PVFS_TEST_SCHEME:-tcp} 0 0"
finds pvfstab 'third word' 'HOST:/' tab "127.0.0.1:/ /pvfs nfs port=1 0 0"
finds pvfstab 'names no manager' 'write HOST:/' tab "nothing /pvfs pvfs port=1 0 0"
finds pvfstab 'needs a key' 'key=FILE' tab "$good,auth=key 0 0"
also=
finds pvfstab 'not there' 'copy the servers' tab "$good,auth=key,key=$tmp/none 0 0"
cp "$state/key" key.mine && chown 1 key.mine
finds pvfstab 'key .*belongs to another user' 'chown it to root, or' tab "$good,auth=key,key=$tmp/key.mine 0 0"
chown 0 key.mine && chmod 644 key.mine
finds pvfstab 'key .*read or written by others' 'chmod 600' tab "$good,auth=key,key=$tmp/key.mine 0 0"
also='reach|host'
finds pvfstab 'key= has no effect' 'auth=key' tab "$good,key=$tmp/none 0 0"
finds pvfstab 'rdma_.* no effect' 'verbs in fabric=' tab "$good,fabric=tcp,rdma_sl=3 0 0"
finds pvfstab 'server_user= has no effect' 'local in fabric=' tab "$good,fabric=tcp,server_user=1001 0 0"
finds pvfstab 'calls fail after 2 s' 'longer timeout=' tab "$good,timeout=2,dead_peer=60 0 0"
finds pvfstab 'names no mount' 'write a line' tab '# nothing'
also=
finds pvfstab 'there is no' 'pvfs-mkconf --pvfstab' env PVFSTAB_FILE="$tmp/none" \
	"$(command -v pvfs-doctor)" --root "$host" --skip clock
finds reach 'nobody listens at .*:1$' 'start it: scripts/cluster .*port= in pvfstab' tab "127.0.0.1:/ /pvfs pvfs port=1,transport=tcp 0 0"
finds host 'no-such-host.invalid' '/etc/hosts' tab "no-such-host.invalid:/ /pvfs pvfs port=1 0 0"
also=

# a name service that never replies, or replies after a while that there is no such host
printf '%s\n' 'nameserver 127.0.0.1' 'options timeout:20' >resolv.conf
echo 'hosts: files dns' >nsswitch.conf
cat >names.py <<'END'
import socket, sys, threading, time
s = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
s.bind(("127.0.0.1", 53))
print(flush=True)
def answer(question, whom):
    time.sleep(float(sys.argv[1]))
    end = question.index(b"\0", 12) + 5
    s.sendto(question[:2] + b"\x81\x83\0\1\0\0\0\0\0\0" + question[12:end], whom)
while True:
    threading.Thread(target=answer, args=s.recvfrom(512), daemon=True).start()
END
# named SECONDS COMMAND...: runs the command with that name service
named() {
	rm -f ready
	unshare -mn bash -c 'ip link set lo up
		mount --bind resolv.conf /etc/resolv.conf && mount --bind nsswitch.conf /etc/nsswitch.conf ||
			exit 77
		python3 names.py "$1" >ready &
		shift
		until [ -s ready ]; do sleep 0.1; done
		"$@"; code=$?
		kill $!
		exit $code' bash "$@"
}
away() { named "$1" env PVFSTAB_FILE="$tmp/tab" "$(command -v pvfs-doctor)" --root "$host" --skip clock -t "$2"; }
echo "away.example:/ /pvfs pvfs port=1,transport=tcp 0 0" >tab
if named 1000 true; then
	finds host 'name service does not answer' /etc/resolv.conf away 1000 3
	finds host 'no address' /etc/hosts away 4 15 # later than its round trip may last
else
	say 'no name service of its own here'
fi

# routes to a server that drop all packets
routed() {
	unshare -n bash -c 'ip link set lo up && ip route add "$1" 192.0.2.1/32 || exit 77
		shift
		exec "$@"' bash "$@"
}
echo "192.0.2.1:/ /pvfs pvfs port=1,transport=tcp 0 0" >tab
for way in blackhole unreachable prohibit throw; do
	if routed $way true 2>err; then
		finds reach 'there is no way to .*192.0.2.1:1: ' 'ip route get 192.0.2.1: ' \
			routed $way env PVFSTAB_FILE="$tmp/tab" "$(command -v pvfs-doctor)" --root "$host" --skip clock -t 3
	else
		say "no route here that is $way: $(cat err)"
	fi
done

# ---- an unsynchronized or slow clock, and a slow disk ----
skewed() {
	env LD_PRELOAD="$PVFS_BUILD/tests/e2e/libpvskew.so" \
		ASAN_OPTIONS="${ASAN_OPTIONS:+$ASAN_OPTIONS:}verify_asan_link_order=0" \
		"$@"
}
also='reach'
echo "192.0.2.1:/ /pvfs pvfs port=1,transport=tcp 0 0" >tab # another host
finds clock "nobody sets this host's clock" chrony skewed env PVSKEW_UNSET=1 unshare -n \
	env PVFSTAB_FILE="$tmp/tab" "$(command -v pvfs-doctor)" --root "$host" -t 3
also=
well skewed "$(command -v pvfs-doctor)" --root "$host" --skip fsync -c "$conf"
finds ahead 'at least [0-9]{6,} s ahead' chrony skewed env PVSKEW_BEHIND=1000000 \
	"$(command -v pvfs-doctor)" --root "$host" --skip fsync -c "$conf"
finds fsync 'takes [0-9]* ms for a flush' 'write cache' skewed env PVSKEW_FLUSH=600 \
	"$(command -v pvfs-doctor)" --root "$host" -c "$conf"

# ---- servers ----
also='same|daemons|reach'
stand_still "$(cluster pid 1)"
finds reach "does not answer" 'kill -CONT' server
finds daemons 'pvfs-iod, process .* stands still' "kill -CONT $(cluster pid 1)" server
kill -CONT "$(cluster pid 1)"
stand_still "$(cluster pid mgr)"
finds daemons 'pvfs-mgr, process .* stands still' "kill -CONT $(cluster pid mgr)" server -t 5
kill -CONT "$(cluster pid mgr)"
must cluster stop-iod 1
finds reach 'nobody listens' 'systemctl start pvfs-iod@1' server
finds reach 'nobody listens' 'systemctl start pvfs-iod@1' client
must cluster stop-mgr
finds reach 'nobody listens' 'systemctl start pvfs-mgr' client
finds reach 'nobody listens' 'systemctl start pvfs-mgr' server
must cluster start
daemons
well server
# networks that a server does not serve: the cause is not the key
iod_alone() {
	rm -f alone.log
	"$PVFS_BUILD/server/pvfs-iod" --config "$1" --index 1 >alone.log 2>&1 &
	helpers+=($!)
	until_true 60 grep -q "$2" alone.log
}
iod_ends() {
	kill "${helpers[-1]}" && wait "${helpers[-1]}"
	unset 'helpers[-1]'
}
must cluster stop-iod 1
if [ "${PVFS_TEST_SCHEME:-tcp}" = tcp ]; then
	also=
	sed 's|^id = |allow = 192.0.2.1\n&|' "$conf" >allow.conf
	iod_alone allow.conf 'in none of the networks'
	finds reach 'refuses this client' 'network in .filesystem. allow' server
	iod_ends
fi
also='reach|same'
must cluster stop-mgr
iod_alone "$conf" waits:
finds reach 'takes no clients yet' 'it waits for, or give all the same pvfs.conf .*raise max_sessions' server
iod_ends
must cluster start
daemons
well server
# an unmounted disk: the iod finds an empty folder, stamps it, and ends
must cluster stop-iod 1
over size=100m
rm "$state/iod1/pvfs-stamp"
finds storage 'iod.1. .* is empty' "findmnt -T $state/iod1: mount" server
must_fail "$PVFS_BUILD/server/pvfs-iod" --config "$conf" --index 1
grep -q 'is empty, but this iod has held data' output || fail "$(cat output)"
finds storage 'iod.1. .* no manager has taken it in' "findmnt -T $state/iod1: mount" server
under
must cluster start
daemons
well server
# an iod of another release in place of ours
must cluster stop-iod 1
version=$(pvfs-doctor --version | cut -d ' ' -f 2)
sed "s/$version/9.9.9/g" "$PVFS_BUILD/server/pvfs-iod" >other-iod && chmod 755 other-iod
if [ ${#version} = 5 ]; then
	./other-iod --config "$conf" --index 1 >other.log 2>&1 &
	helpers+=($!)
	until_true 60 grep -q ready other.log
	finds version '9.9.9' 'one release' server
	kill "${helpers[-1]}" && wait "${helpers[-1]}"
	unset 'helpers[-1]'
fi
must cluster start
daemons
also=
well server
well client

# ---- a plain user ----
chmod 700 "$state"/iod? "$state/mgr"
public pvfs-doctor
as_user 1001 1002 '' pvfs-doctor --root "$host" --skip clock,fsync,conf -c "$conf" >found
[ $? = 2 ] || fail "a user: $(cat found)"
grep -q "^not seen: storage, iod 0: .*run it as root" found || fail "a user: $(cat found)"
grep -q '^not seen: key: .*root' found || fail "a user: $(cat found)"
chmod 600 key.mine && echo "$good,auth=key,key=$tmp/key.mine 0 0" >tab
as_user 1001 1002 '' env PVFSTAB_FILE="$tmp/tab" pvfs-doctor --root "$host" --skip clock >found 2>err
grep -A 1 '^found: pvfstab: key .*/key.mine: Permission denied$' found | grep -q '^    fix: run this as the user' ||
	fail "a key that he cannot read: $(cat found)"
! grep '^found: reach' found || fail "a key that he cannot read is no server that is away"
chmod 600 tab
as_user 1001 1002 '' env PVFSTAB_FILE="$tmp/tab" pvfs-doctor --root "$host" --skip clock >found 2>err
grep -A 1 '^found: pvfstab: .*/tab cannot be read: Permission denied$' found |
	grep -q '^    fix: correct its type, owner or mode' || fail "a table that he cannot read: $(cat found)"

# ---- usage ----
for bad in --what '-t 0' 'operand' '-c' '--skip clok' '--skip clock,fsyn'; do
	pvfs-doctor $bad >found 2>&1
	[ $? = 2 ] || fail "pvfs-doctor $bad: $(cat found)"
done
pvfs-doctor --list | grep -q '^rdma-gid ' || fail "no list"
say "$planted faults"
[ $planted -ge 25 ]
