#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause
# Failures end with an error within a short time: wrong options, servers that are unavailable or
# stopped, a pvfs-fuse that is stopped or killed. Acknowledged changes stay.
. "$(dirname "$0")/functions.sh"
. "$e2e/mounting.sh"

start_pvfs -n 2
m=$tmp/m
mkdir "$m"
port=$(port_of mgr)
spec=127.0.0.1:/
reach=port=$port,transport=${PVFS_TEST_SCHEME:-tcp}${proof:+,$proof}

says() { grep -q -- "$1" "$tmp/output" || fail "no word of '$1': $(cat "$tmp/output")"; }
# gone PID...: the processes have ended; the limit is only against a hang
gone() { ! kill -0 "$1" 2>/dev/null; }

# ---- wrong from the beginning: said, and nothing is mounted ----
must_fail "$fuse" $spec "$m" -o $reach,cache=all
says 'write cache=none or open'
must_fail "$fuse" $spec "$m" -o $reach,wibble=1
says 'wibble=1.* is unknown'
must_fail "$fuse" $spec "$tmp/nowhere" -o $reach
says 'nowhere: No such file'
: >"$tmp/file"
must_fail "$fuse" $spec "$tmp/file" -o $reach
says 'file: Not a directory'
must_fail "$fuse" /pvfs "$m" -o cahe=open
says '"cahe=open": none of pvfs-fuse'
must_fail "$fuse" /elsewhere "$m"
says 'no mount point of'
must_fail "$fuse" $spec "$m" -o port=1,transport=tcp,timeout=1
says 'pvfs-fuse: error'
mountpoint -q "$m" && fail "mounted in spite of that"

# ---- where a user has mounted already libfuse says "Permission denied", and no more ----
if ! unshare -m --propagation private true 2>err; then
	say "no mount of another user was tried: $(cat err)"
elif command -v setpriv >/dev/null && command -v fusermount3 >/dev/null && [ -e /etc/mtab ]; then
	install -D -m 755 "$fuse" "$tmp/public/pvfs-fuse"
	install -d -o daemon "$tmp/his"
	must mknod -m 666 "$tmp/fuse" c 10 229
	export tmp
	export -f as_user
	must_fail unshare -m --propagation private bash -c '
		his() { as_user "$(id -u daemon)" "$(id -g daemon)" "" "$@"; }
		mount --bind "$tmp/fuse" /dev/fuse && his pvfs-fuse "$@" || exit
		echo once
		his pvfs-fuse "$@" && echo twice
		his fusermount3 -u "$tmp/his" && exit 1' - $spec "$tmp/his" -o $reach
	says once
	says 'his: something is mounted there already'
	! grep twice "$tmp/output" || fail "mounted twice"
fi

# ---- as mount(8) calls it; ready when it returns; busy is busy ----
# (and keeps nothing of its caller's open: cat ends)
timeout 60 "$fuse" $spec "$m" -n -o rw,$reach,timeout=3,_netdev | timeout 60 cat ||
	fail "its output stays open"
shown+=("$m")
echo kept >"$m/f"
(cd "$m" && ! umount "$m" 2>/dev/null) || fail "unmounted while in use"
until_true 30 umount "$m"

# ---- servers are unavailable: an error by the deadline, and calls succeed afterwards ----
must "$fuse" $spec "$m" -o $reach,timeout=2
cluster kill-mgr
must_fail timeout 20 cat "$m/f"
says 'Connection timed out'
cluster start-mgr
until_true 20 grep -q kept "$m/f"
stand_still "$(cluster pid 0)" "$(cluster pid 1)"
must_fail timeout 20 dd if=/dev/zero of="$m/g" bs=1M count=2
says 'Connection timed out'
kill -CONT "$(cluster pid 0)" "$(cluster pid 1)"
until_true 20 dd if=/dev/zero of="$m/g" bs=1M count=2 status=none
until_true 30 umount "$m"

# ---- and one deadline for a call, though the kernel asks twice ----
# waits: how many requests ended by their deadline since.
waits() { tail -n +$((before + 1)) "$state/log/once.log" | grep -c ' by its deadline'; }
# once WHAT COMMAND...: the command fails, and exactly one request timed out
once() {
	local what=$1
	shift

	before=$(wc -l <"$state/log/once.log")
	must_fail timeout 60 "$@"
	[ "$(waits)" = 1 ] || fail "$what waited $(waits) times"
}
"$fuse" $spec "$m" -f -o $reach,timeout=2 >>"$state/log/once.log" 2>&1 &
guard=$!
until_true 20 mountpoint -q "$m"
mkdir "$m/d"
must stat "$m/d" >"$tmp/output"
stand_still "$(cluster pid mgr)"
once 'a known name' stat "$m/d"
kill -CONT "$(cluster pid mgr)"
head -c 10000 /dev/zero >"$m/page"
stand_still "$(cluster pid 0)" "$(cluster pid 1)"
once 'a page' python3 -c 'import mmap, os, sys
fd = os.open(sys.argv[1], os.O_RDONLY)
m = mmap.mmap(fd, 4096, mmap.MAP_PRIVATE, mmap.PROT_READ)
print(m[0])' "$m/page"
kill -CONT "$(cluster pid 0)" "$(cluster pid 1)"
until_true 20 cat "$m/page" >"$tmp/output"
until_true 30 umount "$m"
wait $guard

# ---- stopped: its guard ends it, and waiting programs get an error ----
begin() {
	"$fuse" $spec "$m" -f -o $reach,timeout=2 >>"$state/log/stopped.log" 2>&1 &
	guard=$!
	until_true 20 mountpoint -q "$m"
	server=$(pgrep -P $guard)
}
ended() {
	until_true 20 gone "$server"
	wait $guard
	until_true 30 umount "$m"
}
# stopped PID...: both processes exit, and a concurrent reader gets an error
stopped() {
	stand_still "$@"
	cat "$m/f" >"$tmp/output" 2>&1 &
	reader=$!
	until_true 20 gone $reader
	wait $reader && fail "read from a pvfs-fuse that was stopped"
	ended
}
begin
stopped "$server"
begin
stopped $guard "$server"

# ---- it ends with its guard, and ^Z at a terminal stops neither ----
begin
kill -KILL $guard
ended
begin
kill -TSTP $guard "$server"
must timeout 60 grep -q kept "$m/f"
until_true 30 umount "$m"
wait $guard

# ---- killed in the middle of writes: acknowledged data is there, and locks of
# programs that died with it, or live on, are not ----
"$fuse" $spec "$m" -f -o $reach >>"$state/log/killed.log" 2>&1 &
guard=$!
until_true 20 mountpoint -q "$m"
(
	k=0
	while echo "line $k" >>"$m/lines"; do
		k=$((k + 1))
		echo $k >"$tmp/acknowledged"
	done
) 2>/dev/null &
writer=$!
until_true 20 grep -q .. "$tmp/acknowledged"
exec 7>>"$m/locked"
must flock -n 7
must_fail flock -n "$m/locked" true
kill -KILL "$(pgrep -P $guard)"
until_true 20 gone $writer
wait $guard
must_fail ls "$m"
umount -l "$m" || fail "what was killed stays mounted"
mount_at "$m"
must flock -n "$m/locked" true
exec 7>&-
n=$(cat "$tmp/acknowledged")
must cmp <(head -n "$n" "$m/lines") <(seq -f 'line %g' 0 $((n - 1)))
unmount "$m" $daemon
