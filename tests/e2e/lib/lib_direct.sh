#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause
# Clients on a server's host read and write lent objects without a request, as far as the settings
# allow, also while the iods are stopped, and after their restart.
. "$(dirname "$0")/../functions.sh"
PATH=$PVFS_BUILD/tests/e2e/lib:$PATH

# lends N TEXT: N iods report that they lend objects
lends() {
	local how=${2:-}

	pvfs-ping >"$tmp/ping" || fail "$(cat "$tmp/ping")"
	[ "$(grep -c "; lends objects$how$" "$tmp/ping")" = "$1" ] ||
		fail "not $1 that lend$how: $(cat "$tmp/ping")"
}
start_pvfs -n 3
memory=no
[ "$(stat -f -c %T "$state")" = tmpfs ] && memory=yes
read=read
# data that bypassed the page cache is not in it
[[ ${PVFS_TEST_SET:-} != *engine* ]] || read=some
ways=$read
[ "$memory" = yes ] && ways=all
expect ok lib_direct /pvfs ways "$ways"
[ "$memory" = yes ] && lends 3 ', for writing too' || lends 3
PVFS_DIRECT=off lends 0 '.*'
# stranger WAY: a program of another user, who cannot kill the iods
stranger() {
	chmod 755 "$tmp" "$state"
	public lib_direct
	pvfs-mkdir -m 777 /pvfs/strange || fail "no folder for a stranger"
	expect ok as_user 12345 12345 '' lib_direct /pvfs/strange ways "$1"
}
strangers=none
[ "$memory" = yes ] && strangers=$read
[ "$(id -u)" != 0 ] || stranger "$strangers"
PVFS_DIRECT=off expect ok lib_direct /pvfs ways none
expect ok lib_direct /pvfs threads
if [ "$memory" = yes ]; then
	pids=()
	for i in mgr 0 1 2; do pids+=("$(cluster pid $i)"); done
	expect ok timeout 60 lib_direct /pvfs while "${pids[@]}"
	mkdir "$tmp/own"
	PVFS_TIMEOUT=2 expect ok timeout 60 lib_direct /pvfs closed "$tmp/own"
fi
cat >"$tmp/again" <<EOF
#!/bin/bash
for i in 0 1 2; do
	"$top/scripts/cluster" -d "$state" kill-iod \$i && "$top/scripts/cluster" -d "$state" start-iod \$i
done >/dev/null
EOF
chmod +x "$tmp/again"
expect ok timeout 120 lib_direct /pvfs restart "$tmp/again"
# loans of ended clients end with their sessions; only notes remain
cluster stop || fail "the servers do not stop"
[ -z "$(find "$state" -path '*/lent/*' ! -name .had -print -quit)" ] ||
	fail "files of borrowers are left"

for set in off:none read:$read; do
	sed -i '/^direct/d; s/^\[iod\]$/&\ndirect = '"${set%:*}"'/' \
		"$state/pvfs.conf"
	cluster start || fail "the servers do not start again"
	[ "$set" = off:none ] && lends 0 '.*' || lends 3
	expect ok lib_direct /pvfs ways "${set#*:}"
	cluster stop || fail "the servers do not stop"
done
[ "$(id -u)" = 0 ] || exit 0
state=$tmp/all
start_pvfs -n 3 --set iod.direct=all
stranger "$ways"
