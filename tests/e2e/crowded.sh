#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause
# A host that takes as many places of a server as it can does not keep other hosts out, and ends no
# disconnected session of others.
. "$(dirname "$0")/functions.sh"

requires tool python3
requires tcp
start_pvfs -n 1 --set mgr.max_sessions=32 --set iod.max_sessions=32
fsid=$(conf_value filesystem id)
expect ok pvio write /pvfs/file 0 100000 1
for who in mgr iod.0; do
	python3 "$e2e/crowded.py" 127.0.0.1 "$(port_of "$who")" "$fsid" \
		"$(log_of "${who/./}")" >out 2>&1 || fail "$who: $(cat out)"
	expect ok pvio check /pvfs/file 0 100000 1
	grep -q 'its host has 28 of them; raise host_sessions' "$(log_of "${who/./}")" ||
		fail "$who does not say why"
done
exit 0
