# SPDX-License-Identifier: BSD-2-Clause
# new_host.sh - iods on a restarted host; sourced after functions.sh.

requires root
requires mounts

# new_host K: kills and restarts iod K in a state as after a loss of power, when a host has another
# boot_id. No data is really lost. Detaches its copies of all FUSE mounts, so that an unmount
# elsewhere does not wait for it.
let_go='import ctypes
for line in open("/proc/self/mountinfo"):
    if " - fuse" in line:
        ctypes.CDLL(None).umount2(line.split()[4].encode(), 2) # MNT_DETACH'
new_host() {
	cat /proc/sys/kernel/random/uuid >"$tmp/boot"
	must unshare -m --propagation private bash -c '
		old=$(</proc/sys/kernel/random/boot_id)
		mount --bind "$0/boot" /proc/sys/kernel/random/boot_id || exit
		python3 -c "$4" || exit
		sed -i "s/$old/$(<"$0/boot")/" "$3/run/iod$2.pid" || exit
		"$1" kill-iod "$2" -d "$3" && exec "$1" start-iod "$2" -d "$3"' \
		"$tmp" "$top/scripts/cluster" "$1" "$state" "$let_go"
	# for callers that expect the process on this host
	must sed -i "s/$(<"$tmp/boot")/$(</proc/sys/kernel/random/boot_id)/" \
		"$state/run/iod$1.pid"
}
