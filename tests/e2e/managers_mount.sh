#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause
# Programs use a file system with three managers through a mount and through pvfs-preload, and prove
# their identity by the key. The leader is killed, and another one hands over. No call fails, and
# all written data is there.
. "$(dirname "$0")/functions.sh"
. "$e2e/mounting.sh"
. "$e2e/preloading.sh"

PVFS_TEST_AUTH=${PVFS_TEST_AUTH:-key}
start_pvfs -n 2 --managers 3
mkdir "$tmp/point"
sed "h;s, /pvfs , $tmp/point ,;H;x" "$PVFSTAB_FILE" >"$tmp/pvfstab"
export PVFSTAB_FILE=$tmp/pvfstab
mount_at "$tmp/m"

# ---- programs ----

cat >"$tmp/worker.py" <<'PYTHON'
# DIR END: files that are written, renamed, read and removed in DIR, until END exists
import os, sys
top, end = sys.argv[1:]
os.mkdir(top)
n = 0
while not os.path.exists(end):
    n += 1
    data = b"%d\n" % n * 5000
    with open(f"{top}/new", "xb") as f:
        f.write(data)
        f.flush()
        os.fsync(f.fileno())
    os.rename(f"{top}/new", f"{top}/{n}")
    with open(f"{top}/{n}", "rb") as f:
        assert f.read() == data, n
    assert os.stat(f"{top}/{n}").st_size == len(data)
    if n > 3:
        os.unlink(f"{top}/{n - 3}")
    assert sorted(os.listdir(top)) == sorted(str(k) for k in range(max(1, n - 2), n + 1)), n
    print(n, flush=True)
PYTHON

load=()
lines() { wc -l <"$tmp/$1.out"; }
goes_on() {
	[ "$(lines "$1")" -ge "$2" ] && return
	kill -0 "${load[@]}" 2>/dev/null || fail "a program has ended: $(tail -n 4 "$tmp"/*.out)"
	return 1
}
all_go_on() {
	local name
	declare -A from=()

	for name in mounted preloaded; do from[$name]=$(($(lines $name) + 3)); done
	for name in mounted preloaded; do until_true 120 goes_on $name "${from[$name]}"; done
}

python3 "$tmp/worker.py" "$tmp/m/mounted" "$tmp/end" >"$tmp/mounted.out" 2>&1 &
load+=("$!")
past python3 "$tmp/worker.py" "$tmp/point/preloaded" "$tmp/end" >"$tmp/preloaded.out" 2>&1 &
load+=("$!")
helpers+=("${load[@]}")
all_go_on

for order in kill-mgr stop-mgr kill-mgr; do
	was=$(leader)
	must cluster $order "$was"
	all_go_on
	[ "$(leader)" != "$was" ] || fail "$order: $was leads"
	must cluster start-mgr "$was"
	until_true 60 follows "$was"
done

touch "$tmp/end"
for pid in "${load[@]}"; do
	wait "$pid" || fail "a program failed: $(tail -n 4 "$tmp"/*.out)"
done
helpers=()
[ "$(ls "$tmp/m/mounted" | wc -l)" = 3 ] || fail "mounted: $(ls "$tmp/m/mounted")"
[ "$(ls "$tmp/m/preloaded" | wc -l)" = 3 ] || fail "preloaded: $(ls "$tmp/m/preloaded")"
unmount "$tmp/m" "$daemon"
