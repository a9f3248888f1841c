#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause
# round - one round of the history test: servers, clients, a nemesis, a judge.
#
# round.sh SEED [SECONDS]
#
# PVFS_BUILD names the build.  HISTORY_PLAN is a file with a plan, instead of that of the seed.
# HISTORY_KEEP is a folder for the files of a failed round (default: build-test/history next to the
# sources).  Exit status 1: a violation, or a process ended that must not.  HISTORY_VERBS is the
# address of an RDMA device here; a third of the clients then use it, and another third TCP.
# HISTORY_TRUST=munge: with auth = munge and seal = auth.  HISTORY_AUTH=key: clients prove their
# identity, and need capabilities, which live for seconds.  HISTORY_MANAGERS=3: with three managers.
set -u

here=$(cd "$(dirname "$(readlink -f "$0")")" && pwd)
top=$(cd "$here/../.." && pwd)
build=${PVFS_BUILD:?a build folder}
client=$build/tests/history/history-client
seed=$1
length=${2:-30}
iods=3
managers=(mgr)
mgr_mib=112
# between two checkpoints, the log of the managers takes up to 48 MiB
[ "${HISTORY_MANAGERS:-1}" = 1 ] || managers=(m0 m1 m2) mgr_mib=192
iod_mib=64
mgr_set="dead_peer=4 lease=5"
iod_set="dead_peer=4"
shim=$build/tests/history/history-shim.so
clients=6
groups=3
timeout=${HISTORY_TIMEOUT:-2}
session_timeout=${HISTORY_SESSION:-3}
dead_peer=4
pace=${HISTORY_PACE:-4000}
shapes=${HISTORY_SHAPES:-}
writers=0
ending=
until=
why=
keep=${HISTORY_KEEP:-$top/build-test/history}

. "$here/servers.sh"
. "$here/nemesis.sh"
. "$here/operator.sh"
. "$here/trust.sh"

# Without root: one host, one disk, and no faults that need more.
kinds=(kill-iod kill-mgr kill-all stop-iod stop-mgr kill-client stop-client
	slow-flush bad-flush clock lose-slow)
if [ "$(id -u)" = 0 ] && [ -z "${HISTORY_PLAIN:-}${HISTORY_VERBS:-}" ]; then
	. "$here/hosts.sh"
	kinds+=(cut-iod cut-mgr cut-pair cut-pair deaf-iod fill-iod fill-mgr
		lose-full lose-cut)
fi

if [ ${#managers[@]} != 1 ]; then
	kinds+=(kill-mgr kill-follower stop-mgr stop-follower leave-mgr leave-mgr slow-mgr
		transfer transfer replace replace)
	! declare -F make_hosts >/dev/null || kinds+=(cut-mgr cut-follower deaf-mgr mute-mgr
		isolate-mgr isolate-mgr isolate-mgr fill-follower)
fi

fail() {
	why="$*"
	exit 1
}

at_exit() {
	local code=$? who

	# a child that gets a signal before it has reset its traps
	[ "$BASHPID" = $$ ] || return
	trap '' INT TERM
	for who in "${pid[@]}" ${fillers[@]+"${fillers[@]}"}; do
		tell KILL "$who"
	done
	end_trust
	wait 2>/dev/null
	[ -f "$dir/verdict" ] || verdict # of as much as there is
	result $code
	! declare -F remove_hosts >/dev/null || remove_hosts
	rm -rf "$dir"
	exit $code
}

verdict() {
	timeout 120 "$build/tests/history/history-check" $timeout \
		"$dir"/history/* >"$dir/verdict"
}

# Prints one line, and keeps the files of a failed round.
result() {
	local a faults=

	for a in "${!done_of[@]}"; do faults+=" $a=${done_of[$a]}"; done
	echo "round $seed: $([ "$1" = 0 ] && echo passed || echo "FAILED: ${why:-exit $1}")" \
		"$(tail -n 1 "$dir/verdict" 2>/dev/null) faults:$faults"
	[ "$1" != 0 ] || [ -n "${HISTORY_ALWAYS:-}" ] || return 0
	mkdir -p "$keep/$seed" && rm -rf "${keep:?}/$seed" &&
		mkdir -p "$keep/$seed" &&
		cp -r --sparse=always "$dir"/{plan,nemesis.log,log,history,pvfs.conf,verdict} \
			"$keep/$seed" 2>/dev/null
	head -n 60 "$dir/verdict" 2>/dev/null
	echo "kept: $keep/$seed"
}

dir=$(mktemp -d "${HISTORY_TMP:-/dev/shm}/pvfs-history.XXXXXX") || exit 1
trap at_exit EXIT
trap "exit 130" INT TERM
mkdir -p "$dir"/{log,history}
for k in "${managers[@]}"; do mkdir "$dir/$k"; done
if [ "${HISTORY_AUTH:-sys}" = key ]; then
	fs_set="auth=key key_user=$(id -u) ticket_life=4 capabilities=on"
	tab_set=,auth=key,key=$dir/key
	export PVFS_AUTH_LIBRARY=$build/client/lib/auth/libpvfs-auth.so
fi
for ((k = 0; k < iods; k++)); do mkdir "$dir/iod$k"; done

# Mounts: one by messages to other hosts; one on this host without loans; and one with loans.
write_tabs() {
	write_tab g1 auto
	if [ -n "${HISTORY_VERBS:-}" ]; then
		write_tab g0 strict:verbs
		write_tab g2 strict:tcp
	else
		write_tab g0 strict:tcp
		write_tab g2 auto,direct=off
	fi
}

begin() {
	local s

	if declare -F make_hosts >/dev/null; then
		make_hosts && make_disks || fail "no hosts or disks"
		port=3000
	else
		free_ports
	fi
	for s in $(server_names); do
		mkdir "$(store_of "$s")/store"
		head -c 4096 /dev/zero >"$dir/shim.$s"
		set_shim "$s" 0 0 0
	done
	begin_trust || fail "munged does not start"
	write_conf
	write_tabs
	for s in $(server_names); do start_server "$s"; done
	ready $(server_names) || fail "the servers do not start"
	once setup setup 60 || fail "setup failed: $(tail -n 1 "$dir/log/setup.log")"
}

work() {
	local c who limit

	if [ -n "${HISTORY_PLAN:-}" ]; then cp "$HISTORY_PLAN" "$dir/plan"
	else "$here/plan.sh" "$seed" "$length" $iods $clients "${kinds[@]}" >"$dir/plan"; fi
	until=$(later "$length")
	for ((c = 0; c < clients; c++)); do start_client c$c; done
	nemesis "$dir/plan"
	heal_all
	await_replacement
	limit=$((SECONDS + length + 60))
	ending=1
	for ((c = 0; c < clients; c++)); do
		while ours "${pid[c$c]:-0}"; do
			[ $SECONDS -lt $limit ] || fail "client c$c does not end"
			supervise
			pause 0.1
		done
	done
}

judge() {
	once look look 60 ||
		fail "not everything answers after healing: $(tail -n 1 "$dir/log/look.log")"
	verdict || fail "violations"
}

begin
work
judge
