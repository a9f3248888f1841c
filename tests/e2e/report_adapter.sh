#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause
# scripts/report --adapter: a faulty device is reported before anything is measured. With a good
# one, all results are in one archive that describes the device.
. "$(dirname "$0")/functions.sh"
requires tool python3

export PVFS_SYSFS=$tmp/sys
device=$PVFS_SYSFS/class/infiniband/fake0
port=$device/ports/1
refused() {
	must_fail "$top/scripts/report" -o "$tmp/report" --adapter "$1"
	grep -q "$2" "$tmp/output" || fail "$1: $(cat "$tmp/output")"
	[ ! -e "$tmp/report" ] || fail "$1: it began"
}
refused fake0 "no such RDMA device; here are: none"
mkdir -p "$port/gid_attrs/ndevs"
refused other0 "no such RDMA device; here are: fake0"
refused ../infiniband "no such RDMA device"
echo "1: DOWN" >"$port/state"
refused fake0 "no port is ACTIVE: 1: DOWN"
echo "4: ACTIVE" >"$port/state"
refused fake0 "has no network device"
echo lo >"$port/gid_attrs/ndevs/0"
refused fake0 "lo has no address"

requires root
requires tool unshare
# in a network namespace that has the address
cat >"$tmp/inside" <<-'END'
	ip link set lo up && ip addr add 10.99.0.1/24 dev lo || exit 77
	"$1/scripts/report" --quick --only raw --transports tcp \
		--adapter fake0 -o "$2"
END
unshare -n bash "$tmp/inside" "$top" "$tmp/report" >"$tmp/log" 2>&1
case $? in
0)	;;
77)	skip "cannot give an address: $(tail -n 1 "$tmp/log")" ;;
*)	tail -n 20 "$tmp/log"; fail "scripts/report --adapter failed" ;;
esac
grep -q "fake0 is made by the kernel" "$tmp/report/index.html" ||
	fail "the page does not say what it is"
archive=$(ls "$tmp"/pvfs-report-fake0-*.tar.gz)
for file in index.html raw.json machine.txt; do
	tar -tzf "$archive" | grep -q "^pvfs-report-fake0-.*/$file$" ||
		fail "$file is not in $archive"
done
