# SPDX-License-Identifier: BSD-2-Clause
# history.sh - a round of the history test with a third of the clients over verbs, a third over TCP
# and a third that reads and writes the objects that iods of its host lend.  Sourced by run.sh.

# device_address: prints the IPv4 address of the network device to which the first RDMA device
# belongs.
device_address() {
	local device

	device=$(cat /sys/class/infiniband/*/ports/1/gid_attrs/ndevs/0 | head -n 1)
	ip -o -4 addr show dev "$device" | sed -n 's/.* inet \([0-9.]*\).*/\1/p'
}

# history_round SEED SECONDS: runs one round.  An emulated machine is slow, so deadlines and
# pauses are longer than elsewhere.
history_round() { # SEED SECONDS
	local said

	said=$(HISTORY_VERBS=$(device_address) HISTORY_KEEP=$tmp/history HISTORY_PACE=20000 \
		HISTORY_TIMEOUT=8 HISTORY_SESSION=10 PVFS_BUILD=$build \
		"$top/tests/history/round.sh" "$1" "$2") || { echo "$said"; return 1; }
	echo "$said"
	# a slow machine makes few calls; most of them are answered
	[[ $said =~ calls\ ([0-9]+)\ answered\ ([0-9]+) ]] &&
		[ "${BASH_REMATCH[1]}" -ge 20 ] &&
		[ $((BASH_REMATCH[2] * 2)) -ge "${BASH_REMATCH[1]}" ]
}

part_run() {
	step "history over verbs, tcp and local" history_round 1 40
}

part_end() { :; }
