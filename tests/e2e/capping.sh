# SPDX-License-Identifier: BSD-2-Clause
# capping.sh - clients that keep to no rules of capabilities, pvcaps; and keys that change.
# Sourced after functions.sh, used after start_pvfs.

bare_begins() { # TERM of the manager
	coproc bare { pvcaps "$(conf_value filesystem id)" "127.0.0.1:$(port_of mgr)" \
		"127.0.0.1:$(port_of iod.0)" "$state/key" "$1"; }
	bare_pid=$bare_PID
	exec {to}>&"${bare[1]}" {from}<&"${bare[0]}"
	eval "exec ${bare[1]}>&-"
}
bare_ends() {
	exec {to}>&- {from}<&-
	wait "$bare_pid" || fail "pvcaps: $?"
}
# order ORDER...: one of pvcaps's; says WANTED ORDER...: and its answer.
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
reload() { # N: all servers have read the key file, the N-th time
	local server

	for server in 0 1 mgr; do must kill -HUP "$(cluster pid $server)"; done
	for server in iod0 iod1 mgr; do until_true 30 key_is $server "$1"; done
}
key_is() { [ "$(grep -c 'key .*: .* is in use' "$(log_of "$1")")" -ge "$2" ]; }
