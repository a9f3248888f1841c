#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause
# A punched range may be as long as offsets allow. No thread of an iod works on it until the
# deadline, which may be a day ahead.
E2E_IN_MEMORY=1 # disks have a limit
. "$(dirname "$0")/functions.sh"

requires tool python3
requires tcp
start_pvfs -n 1
expect ok pvio write /pvfs/file 0 1000000 1
object=$(find "$state/iod0/objects" -type f -printf '%f\n' | head -n 1)
must python3 "$e2e/endless.py" 127.0.0.1 "$(port_of iod.0)" \
	"$(conf_value filesystem id)" "$(log_of iod0)" "$object"
expect 0 bash -c "find $state/iod0/objects -type f -printf '%b\n'"
exit 0
