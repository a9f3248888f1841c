#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause
# A file system on several hosts, which are network namespaces connected to a switch. Clients use
# local on a server's host and tcp elsewhere. A cable that is unplugged for a while only delays
# calls. If a host is gone, the calls that need it fail at their deadline, and its connections are
# closed.
. "$(dirname "$0")/functions.sh"
. "$e2e/hosts.sh"

make_hosts mgr iod0 iod1 client
configure
sed 's/timeout=60/timeout=4/' pvfstab >impatient
serve_all

# ---- each way is the best one ----

must on client pvfs-ping >ping
[ "$(grep -c ' up .* tcp ' ping)" = 3 ] || fail "not tcp: $(cat ping)"
grep -q 'same host' ping && fail "another host is not this one: $(cat ping)"
must on iod0 pvfs-ping >ping
grep -q '10.83.0.2.* up .* local ' ping || fail "not local: $(cat ping)"
[ "$(grep -c ' up .* tcp ' ping)" = 2 ] || fail "not tcp: $(cat ping)"

head -c 30000000 /dev/urandom >data
must on client pvfs-cp -q --verify data /pvfs/one
must on iod0 pvfs-cp -q /pvfs/one back
must cmp data back
must on iod1 pvfs-cp -q --verify data /pvfs/two
expect "$(sha256sum <data)" on client sh -c 'pvfs-cat /pvfs/two | sha256sum'

# ---- a cable is out for a while ----

copy() {
	local i

	for i in 1 2 3 4 5 6; do
		on client pvfs-cp -q --verify data /pvfs/copy$i || return 1
	done
}
copy & copy=$!
sleep 0.5
for host in iod1 mgr client; do
	cable $host down
	sleep 1.5
	cable $host up
done
wait $copy || fail "the copies did not survive"
must on client pvfs-cp -q /pvfs/copy6 back
must cmp data back

# ---- a host is gone ----

expect ok on client pvio write /pvfs/before 0 1000000 1
# an idle client with an open file
mkfifo pipe
nsenter --net="/run/netns/$net-client" pvfs-cat /pvfs/one >pipe 2>/dev/null &
helpers+=($!)
exec 5<pipe
must head -c 1000000 <&5 >/dev/null
cable iod1 down
PVFSTAB_FILE=$tmp/impatient \
	expect ETIMEDOUT on client pvio check /pvfs/before 0 1000000 1
grep -q '10.83.0.3' stderr || fail "iod 1 is not named: $(cat stderr)"
# names and other stripes do not need it
PVFSTAB_FILE=$tmp/impatient expect before \
	on client sh -c 'pvfs-ls /pvfs | grep before'
must on client pvfs-ping 10.83.0.2:7000 >ping
# both sides close its connections, an idle one and a busy one
until_true 60 grep -q 'connection closed: Connection timed out' \
	"$(log_of iod1)"
until_true 60 grep -q 'iod 1.*connection lost' "$(log_of mgr)"

# ---- and back ----

cable iod1 up
expect ok on client pvio check /pvfs/before 0 1000000 1
must on client pvfs-cp -q --verify data /pvfs/after
