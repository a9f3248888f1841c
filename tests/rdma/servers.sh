# SPDX-License-Identifier: BSD-2-Clause
# servers.sh - starts a manager and iods that use verbs.  Sourced by the parts that need them.

state=$tmp/state
export PVFS_BUILD=$build PATH=$build/client/tools:$build/tests/e2e:$build/tests/e2e/lib:$PATH
export PVFSTAB_FILE=$state/pvfstab
export MPIEXEC_PORT_RANGE=9100:9999
# MPI processes exchange messages over TCP: over Soft-RoCE, UCX does not end
export UCX_TLS=self,sm,tcp

. "$top/tests/e2e/metric.sh"

cluster() { "$top/scripts/cluster" "$@" -d "$state"; }

log_of() { echo "$state/log/$1.log"; }

# servers_start [OPTION...]: starts the servers.  The manager reaches the iods over verbs only;
# clients may choose verbs or TCP.  Clients that ask for it move the data of all large transfers
# themselves.
servers_start() {
	cluster start -n 3 --port 0 --set mgr.fabric=strict:verbs \
		--set iod.fabric=verbs:tcp --set iod.rendezvous=adaptive \
		--set iod.rendezvous_above=0 --set iod.words=on "$@" \
		|| return 1
	grep 'verbs: .* GID .*MTU' "$(log_of mgr)" ||
		{ echo "mgr.log does not tell the GID and the MTU"; return 1; }
	grep -q 'listens on: verbs$' "$(log_of mgr)" &&
		grep -q 'listens on: verbs, tcp' "$(log_of iod2)"
}

part_end() {
	cluster stop >/dev/null 2>&1
}
