#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause
# A default file system of scripts/cluster. The servers listen on every available transport. A
# client on the same host uses local and prints the reason. fabric= selects another transport, and
# with strict: no other one is used.
. "$(dirname "$0")/functions.sh"

PVFS_TEST_SCHEME=pvfs
start_pvfs -n 2
[[ $(conf_value mgr address) == pvfs://* ]] || fail "the manager's address"

# in_use WANTED: checks the transport to each of the three servers, and the reason
in_use() {
	must pvfs-ping >"$tmp/ping"
	[ "$(grep -c " up .* $1" "$tmp/ping")" = 3 ] || {
		cat "$tmp/ping"
		fail "not all over $1"
	}
}
# mount_with OPTION: writes another pvfstab for the same servers
mount_with() {
	sed "s/pvfs port=/pvfs $1,port=/" "$state/pvfstab" >"$tmp/pvfstab"
	export PVFSTAB_FILE=$tmp/pvfstab
}

for server in mgr iod0 iod1; do
	must grep -q "listens on: local, .*tcp" "$(log_of $server)"
done
in_use local
[ "$(grep -c "same host; auth = sys: other hosts are believed" "$tmp/ping")" = 3 ] || fail "no reason: $(cat "$tmp/ping")"
expect "local local local" \
	sh -c "pvfs-ping -j | grep -o '\"transport\": *\"[a-z]*\"' |
		cut -d'\"' -f4 | xargs"

mount_with fabric=tcp
in_use tcp
[ "$(grep -c "fabric= says so; auth = sys: other hosts are believed$" "$tmp/ping")" = 3 ] ||
	fail "no reason: $(cat "$tmp/ping")"
mount_with fabric=strict:local
in_use local
[ "$(grep -c "fabric= says so" "$tmp/ping")" = 3 ] ||
	fail "no reason: $(cat "$tmp/ping")"
# a list of transports: pvfs-ping uses it as programs do
mount_with fabric=tcp:local
in_use tcp
[ "$(grep -c "first of the fabric; auth = sys: other hosts are believed$" "$tmp/ping")" = 3 ] ||
	fail "no reason: $(cat "$tmp/ping")"
# and pvfs-df
PVFS_LOG=info must pvfs-df /pvfs >"$tmp/df" 2>&1
[ "$(grep -c "server .* over tcp" "$tmp/df")" = 3 ] ||
	fail "pvfs-df: $(cat "$tmp/df")"

# transport= applies to all servers, and to tools as to programs
comers() { grep -h ' opens session' "$state"/log/*.log | grep -c "$@"; }
sed "s/transport=pvfs/transport=tcp/" "$state/pvfstab" >"$tmp/pvfstab"
before=$(comers 'local pid')
tools=$(comers -v 'local pid')
must pvfs-ls /pvfs
in_use tcp
[ "$(grep -c " tcp://.* the address or fabric= says so" "$tmp/ping")" = 3 ] ||
	fail "no reason: $(cat "$tmp/ping")"
for tool in "pvfs-df /pvfs" pvfs-stats "pvfs-stats --inside" "pvfs-top -b -n 1" \
	"pvfs-evict -l /pvfs"; do
	$tool >"$tmp/output" 2>&1 || fail "$tool: $(cat "$tmp/output")"
done
"$PVFS_BUILD/client/tools/pvfs-doctor" --skip clock,mounted --verbose >"$tmp/output" 2>&1
grep -q "tcp://.*:$(port_of iod.1) over tcp" "$tmp/output" || fail "pvfs-doctor: $(cat "$tmp/output")"
[ "$(comers -v 'local pid')" -gt $((tools + 18)) ] || fail "nobody came over tcp"
[ "$(comers 'local pid')" = "$before" ] ||
	fail "over local: $(grep -h 'local pid.* opens session' "$state"/log/iod*.log | tail -3)"
mount_with fabric=foo
must_fail pvfs-ls /pvfs
grep -q 'pvfstab:[0-9]*: no transport "foo" in this build; use local.* tcp$' "$tmp/output" ||
	fail "no fix: $(cat "$tmp/output")"
# it is reported once, however many calls notice it
for tool in "pvfs-cp $0 /pvfs/x" "pvfs-df /pvfs" pvfs-ping; do
	must_fail $tool
	[ "$(grep -c 'no transport "foo"' "$tmp/output")" = 1 ] ||
		fail "$tool: $(cat "$tmp/output")"
done
mount_with fabric=foo:bar
must_fail pvfs-ls /pvfs
grep -q 'pvfstab:[0-9]*: fabric=.*: no transport to use (foo: [^;]*; bar: [a-z ]*): use' "$tmp/output" ||
	fail "no fix: $(cat "$tmp/output")"

if [ -z "$(ls /sys/class/infiniband 2>/dev/null)" ]; then
	mount_with fabric=strict:verbs
	must_fail pvfs-ping
	grep -q "verbs" "$tmp/output" || fail "no reason: $(cat "$tmp/output")"
	must_fail pvfs-ls /pvfs
	grep -q "fabric=strict:verbs" "$tmp/output" ||
		fail "no fix: $(cat "$tmp/output")"
fi

# An address with one transport: no other transport is used.
must pvfs-ping "tcp://127.0.0.1:$(port_of iod.0)" >"$tmp/ping"
grep -q "tcp .*the address or fabric= says so" "$tmp/ping" || fail "$(cat "$tmp/ping")"
