#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause
# A user without root runs servers and tools and keeps files there. The administrator of a shared
# file system gives users a directory of their own.
. "$(dirname "$0")/functions.sh"

requires root
requires tool setpriv
for program in pvfs-test pvfs-cp pvfs-chown pvfs-mkdir pvfs-rm; do
	public $program
done
cp "$PVFS_BUILD"/mgr/pvfs-mgr "$PVFS_BUILD"/server/pvfs-iod "$tmp/public"
cp -r "$top/scripts" "$top/conf" "$tmp/public"
tree=$tmp/public/conf
joe() { as_user 1001 1002 '' env PVFS_BUILD="$tmp/public" "$@"; }

owner() { pvio stat "$1" | head -n 1 | cut -d' ' -f1,3,4; }

# all of it as joe: servers, a test, a tree in and out
install -d -o 1001 -g 1002 "$tmp/home" "$tmp/out"
state=$tmp/home/state
states+=("$state")
must joe "$tmp/public/scripts/cluster" start -d "$state" -n 2 --port 0 \
	--transport "${PVFS_TEST_SCHEME:-tcp}"
export PVFSTAB_FILE=$state/pvfstab
must joe pvfs-test -c -u -b 100000 -i 1 -f /pvfs/quickstart.test >"$tmp/test"
must joe pvfs-cp -a --verify "$tree" /pvfs/tree
must joe pvfs-cp -a --verify /pvfs/tree "$tmp/out/tree"
must diff -r "$tree" "$tmp/out/tree"
must joe pvfs-mkdir /pvfs/dir
must joe pvfs-rm -r /pvfs/tree
expect '40755 1001 1002' owner /pvfs

# over local, other users trust his servers because of the pvfstab; without it they use tcp, print
# this once, and pvfs-ping prints the reason
state=$tmp/home/near
states+=("$state")
must joe "$tmp/public/scripts/cluster" start -d "$state" -n 2 --port 0
PVFSTAB_FILE=$state/pvfstab must pvfs-ping >"$tmp/ping"
[ "$(grep -c " up .* local .*same host" "$tmp/ping")" = 3 ] ||
	fail "not all over local: $(cat "$tmp/ping")"
sed 's/,server_user=1001//' "$state/pvfstab" >"$tmp/pvfstab"
export PVFSTAB_FILE=$tmp/pvfstab
must pvfs-ping >"$tmp/ping" 2>&1
[ "$(grep -c " up .* tcp .*local: .*not trusted.*server_user=" "$tmp/ping")" = 3 ] ||
	fail "no reason: $(cat "$tmp/ping")"
must pvfs-df /pvfs >"$tmp/df" 2>&1
for said in "$tmp/ping" "$tmp/df"; do
	[ "$(grep -c "not trusted: .*write server_user=1001 in pvfstab" \
		"$said")" = 1 ] || fail "not said once: $(cat "$said")"
done
sed -i 's/pvfs port=/pvfs fabric=strict:local,port=/' "$tmp/pvfstab"
must_fail pvfs-ping
grep -q "^mgr .*down .* its user is not trusted: write server_user=" \
	"$tmp/output" || fail "strict: $(cat "$tmp/output")"

# in a directory that root gives him: a whole tree
start_shared() {
	state=$tmp/shared
	start_pvfs -n 2
	chmod 755 "$state"
}
start_shared
must_fail joe pvfs-mkdir /pvfs/joe
must pvfs-mkdir /pvfs/joe
must pvfs-cp -r "$tree" /pvfs/joe/conf
must pvfs-chown -R 1001:1002 /pvfs/joe
must joe pvfs-mkdir /pvfs/joe/dir
must joe pvfs-rm -r /pvfs/joe/conf
must_fail joe pvfs-chown 0 /pvfs/joe
