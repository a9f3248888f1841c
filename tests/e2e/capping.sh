# SPDX-License-Identifier: BSD-2-Clause
# capping.sh - clients that violate the rules of capabilities (pvcaps), and keys that change.
# Sourced after functions.sh, used after start_pvfs.

bare_begins() { # TERM of the manager; of several ones: that of the leader in their log
	local term=$1

	[ -z "${PVFS_TEST_MANAGERS:-}" ] ||
		term=$(pvfs-managers status -j /pvfs | sed -n 's/.*"term": *\([0-9]*\).*/\1/p' | head -n 1)
	coproc bare { pvcaps "$(conf_value filesystem id)" "127.0.0.1:$(port_of mgr)" \
		"127.0.0.1:$(port_of iod.0)" "$state/key" "$term"; }
	bare_pid=$bare_PID
	exec {to}>&"${bare[1]}" {from}<&"${bare[0]}"
	eval "exec ${bare[1]}>&-"
}
bare_ends() {
	exec {to}>&- {from}<&-
	wait "$bare_pid" || fail "pvcaps: $?"
}
# order ORDER...: sends an order to pvcaps. says WANTED ORDER...: checks the answer, too.
order() {
	local have

	echo "$*" >&"$to"
	read -r -t 60 have <&"$from" && echo "$have"
}
says() {
	local want=$1 have
	shift

	have=$(order "$@")
	[ "$have" = "$want" ] || fail "$*: '$have' instead of '$want'"
}
said() { # WANTED ORDER...: the same, as a condition
	[ "$(order "${@:2}")" = "$1" ]
}
# reload SERVER...: each server (0, 1, mgr: all managers) reads the key file again
said_key() { grep -c 'key .*: .* is in use' "$(log_of "$1")"; }
read_key() { [ "$(said_key "$1")" -gt "$2" ]; }
reload() {
	local server name
	declare -A had=()

	for server in ${*/mgr/$(managers)}; do
		name=${server/./}
		name=${name/#[01]/iod$server}
		had[$name]=$(said_key "$name")
		must kill -HUP "$(cluster pid "$server")"
	done
	for name in "${!had[@]}"; do until_true 30 read_key "$name" "${had[$name]}"; done
}
