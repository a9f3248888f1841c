# SPDX-License-Identifier: BSD-2-Clause
# servers.sh - the servers and clients of a round; sourced (bash).
#
# scripts/cluster is not used, because each server may have its own host (a network namespace), its
# own disk, and a shim.

declare -A pid=() stopped=() writer_of=() starts=()

# ours PID: returns whether it runs and is a child of this shell.  A pid may be reused after the
# process has ended.
ours() {
	local line

	read -r line 2>/dev/null <"/proc/$1/stat" || return 1
	line=${line##*) }
	# shellcheck disable=SC2086 # words
	set -- $line
	[ "$1" != Z ] && [ "$2" = $$ ]
}
# tell SIGNAL PID
tell() { ours "${2:-0}" && kill "-$1" "$2" 2>/dev/null; }

port_free() {
	! grep -q "#$1\$" /proc/net/unix &&
		! (exec 3<>"/dev/tcp/127.0.0.1/$1") 2>/dev/null
}

free_ports() {
	local i

	for _ in {1..50}; do
		port=$((22000 + ($$ * 7 + RANDOM) % 9000))
		for ((i = 0; i < ${#managers[@]} + iods; i++)); do
			port_free $((port + i)) || continue 2
		done
		return
	done
	fail "no free ports"
}

# Prints the host of a server or client; without namespaces all have the same host.
host_of() { echo "${HISTORY_VERBS:-127.0.0.1}"; }
# Replaces the (sub)shell.
on_host() { shift; exec "$@"; }

is_manager() { [[ $1 == m* ]]; }
store_of() { if is_manager "$1"; then echo "$dir/$1"; else echo "$dir/iod$1"; fi; }

# manager_conf SECTION MANAGER NUMBER
manager_conf() {
	printf '[%s]\naddress = pvfs://%s:%d\nstorage = %s\n' "$1" "$(host_of "$2")" \
		$((port + $3)) "$dir/$2/store"
}

write_managers() {
	local k

	if [ ${#managers[@]} = 1 ]; then manager_conf mgr mgr 0; else echo '[mgr]'; fi
	printf 'session_timeout = %s\n' "$session_timeout"
	for line in ${mgr_set:-}; do echo "$line"; done
	[ ${#managers[@]} = 1 ] || for k in "${!managers[@]}"; do
		manager_conf "mgr.$k" "m$k" "$k"
	done
}

write_conf() {
	local k line

	{
		printf '[filesystem]\nid = %016x\nkey = %s\n' $((seed + 1)) \
			"$dir/key"
		for line in ${fs_set:-}; do echo "$line"; done
		write_managers
		printf '[iod]\nsync = off\nthreads = 2\n'
		for line in ${iod_set:-}; do echo "$line"; done
		for ((k = 0; k < iods; k++)); do
			printf '[iod.%d]\naddress = pvfs://%s:%d\n' $k \
				"$(host_of $k)" $((port + ${#managers[@]} + k))
			printf 'storage = %s\n' "$dir/iod$k/store"
		done
	} >"$dir/pvfs.conf"
}

# write_tab GROUP FABRIC
write_tab() {
	local list k

	list=$(host_of "${managers[0]}")
	for ((k = 1; k < ${#managers[@]}; k++)); do
		list+=,$(host_of "m$k"):$((port + k))
	done
	echo "$list:/ /pvfs pvfs port=$port,fabric=$2,dead_peer=$dead_peer${tab_set:-} 0 0" \
		>"$dir/pvfstab.$1"
}

start_server() {
	local log=$dir/log/$1.log program=("$build/mgr/pvfs-mgr")

	case $1 in
	mgr)	;;
	m*)	program+=(--index "${1#m}") ;;
	*)	program=("$build/server/pvfs-iod" --index "$1") ;;
	esac
	touch "$log"
	ready_from[$1]=$(wc -l <"$log")
	on_host "$1" env ${shim:+LD_PRELOAD="$shim"} \
		HISTORY_SHIM="$dir/shim.$1" "${program[@]}" \
		--config "$dir/pvfs.conf" </dev/null >>"$log" 2>&1 &
	pid[$1]=$!
}
declare -A ready_from=()

is_ready() {
	tail -n +$((ready_from[$1] + 1)) "$dir/log/$1.log" |
		grep -q '^pvfs-[^:]*: info: ready:'
}

# leads MANAGER: returns whether its log says that it leads
leads() {
	local last

	last=$(grep -E ': info: (ready: mgr|follows manager|this manager does not lead)' \
		"$dir/log/$1.log" | tail -n 1)
	[[ $last == *' inodes, cache '* ]]
}

# ready SERVER...: waits until all are ready; returns 1 if one has ended or is too late
ready() {
	local s limit=$((SECONDS + 60))

	for s; do
		until is_ready "$s"; do
			ours "${pid[$s]}" || return 1
			[ $SECONDS -lt $limit ] || return 1
			pause 0.05
		done
	done
}

# Clients are assigned to the groups in turn.
start_client() {
	local n=${1#c}

	writers=$((writers + 1))
	writer_of[$1]=$writers
	PVFSTAB_FILE=$dir/pvfstab.g$((n % groups)) PVFS_TIMEOUT=$timeout \
		on_host "g$((n % groups))" "$client" run \
		"$dir/history/$writers" "$writers" "$seed" /pvfs/h "$until" \
		"$pace" ${shapes:-} </dev/null >>"$dir/log/$1.log" 2>&1 &
	pid[$1]=$!
}

# once MODE NAME SECONDS: runs a client alone
once() {
	writers=$((writers + 1))
	(
		export PVFSTAB_FILE=$dir/pvfstab.g0 PVFS_TIMEOUT=20
		on_host g0 timeout -k 5 $(($3 + 60)) "$client" "$1" \
			"$dir/history/$2" "$writers" "$seed" /pvfs/h \
			"$(later "$3")" 0 ${shapes:-}
	) </dev/null >>"$dir/log/$1.log" 2>&1
}

uptime_s() { read -r up _ </proc/uptime; }
later() {
	local up

	uptime_s
	echo "$((${up%.*} + $1)).${up#*.}"
}

# pause SECONDS: sleeps without a process
exec {never}<> <(:)
pause() { read -r -t "$1" -u $never || true; }
