# SPDX-License-Identifier: BSD-2-Clause
# hosts.sh - three managers on hosts of their own, which the history test makes; sourced (bash).
# The iod and the client share the host g0.

history=$top/tests/history
dir=$tmp conf=$tmp/pvfs.conf managers=(m0 m1 m2) iods=1 groups=1 seed=1 session_timeout=60 dead_peer=30
port=3000 shim=''
. "$history/servers.sh"
. "$history/hosts.sh"

fail() {
	echo "$*" >&2
	exit 1
}
place() { case $1 in 0) echo g0 ;; *) echo "$1" ;; esac; }

start() {
	mkdir -p "$dir/log" "$dir"/{m0,m1,m2,iod0}/store
	make_hosts || fail "no network namespaces"
	write_conf
	write_tab g0 tcp
	export PVFSTAB_FILE=$dir/pvfstab.g0
	client=(nsenter "--net=/run/netns/$(ns g0)" --)
	start_server 0
	for k in "${managers[@]}"; do start_server "$k"; done
	ready 0 "${managers[@]}" || fail "the servers do not start: $(tail -n 3 "$dir"/log/*)"
}

stop() {
	kill "${pid[@]}" 2>/dev/null || true
	wait "${pid[@]}" || true
	remove_hosts || true
}

cut_leader() {
	local m

	m=m$(leader)
	lose "$m" ingress 1
	lose "$m" egress 1
	sleep 6
	mend "$m" ingress 1
	mend "$m" egress 1
}
