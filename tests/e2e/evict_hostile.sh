#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause
# Clients that violate all rules are evicted. Afterwards nothing that they kept gives them access to
# a file: numbers, tickets, capabilities, connections and lost replies, also at restarted servers.
. "$(dirname "$0")/functions.sh"
. "$e2e/capping.sh"
requires root

export PVFS_AUTH_LIBRARY=$PVFS_BUILD/client/lib/auth/libpvfs-auth.so
start_pvfs -n 2 --transport pvfs --set filesystem.auth=key --set filesystem.key_user=root
sed "s|transport=[a-z]*|transport=tcp,auth=key,key=$state/key|" "$state/pvfstab" >"$tmp/tab"
export PVFSTAB_FILE=$tmp/tab
for f in one two; do expect ok pvio write /pvfs/$f 0 100000 1; done
bare_begins 1

# a to d connect over local, e to h over tcp
for who in a e; do
	says ok open $who /one w
	says ok write $who $who
done
for who in b f; do
	says ok open $who /two r
	says ok read $who $who
done
for who in c g; do
	says ok open $who /two r
	says ok lose $who /lost.$who
done
expect "6 sessions evicted" pvfs-evict -u root /pvfs

# ended NAME: rejected with the capability that it shows, and with those that the iod remembers
ended() {
	local who

	for who in a e; do
		says ESTALE write $who $who
		says ESTALE write $who $who -
	done
	for who in b f; do says ESTALE read $who $who; done
}
ended
for who in a b e f; do says ok again $who; done
ended
# clients with the number of another session
for who in d h; do
	says EKEYREJECTED write $who a
	says EKEYREJECTED write $who e
	says EKEYREJECTED read $who f
	says ENOKEY write $who e -
	says EKEYREJECTED renew $who e
done
# at the manager
for who in a e; do
	says ESTALE open $who /two r
	says ESTALE renew $who $who
	says ESTALE claim $who b
done
for who in c g; do says ESTALE found $who; done

# ---- restarted servers ----

must cluster kill-iod 0
must cluster start-iod 0
for who in a b e f; do says ok again $who; done
ended
must cluster kill-mgr
must cluster start-mgr
for who in a e; do says ESTALE open $who /two r; done
for who in c g; do says ESTALE found $who; done
ended
bare_ends
expect ok pvio check /pvfs/one 0 100000 1
