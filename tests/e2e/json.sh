#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause
# The JSON output of programs is strict JSON whatever the names are, and no name and no handle is
# lost.
. "$(dirname "$0")/functions.sh"
requires tool python3

# A mount, and files whose names are not UTF-8.
start_pvfs -n 2
mount=$'/pv\xfffs'
sed "s|/pvfs |$mount |" "$state/pvfstab" >"$tmp/tab"
names=(plain $'gr\xc3\xbcn' $'\xff\xfe' $'\xc0\xaf' $'\xed\xa0\x80' $'\xf4\x90\x80\x80' $'\xe2\x82'
	$'q"uote\\' $'tab\tline\n\x01\x7f' $'\xf0\x9f\x90\x8c')
for n in "${names[@]}"; do expect ok pvio write "/pvfs/$n" 0 10 1; done
export PVFSTAB_FILE=$tmp/tab
out=$tmp/json
mkdir "$out" "$tmp/made"
must pvfs-ls -j "$mount" >"$out/ls"
must pvfs-ls -Rj "$mount" >"$out/ls-R"
must pvfs-stat -j "${names[@]/#/$mount/}" >"$out/stat"
must pvfs-df -j >"$out/df"
must pvfs-ping -j >"$out/ping"
must pvfs-stats -j >"$out/stats"
must pvfs-evict -lj "$mount" >"$out/evict"
must pvfs-cp --json "$mount/plain" "$tmp/made/"$'\xff' >"$out/cp"
"$PVFS_BUILD/client/tools/pvfs-doctor" -j --skip clock >"$out/doctor"
must "$PVFS_BUILD/mgr/fsck/pvfs-fsck" -c "$state/pvfs.conf" --json >"$out/fsck"
python3 - "$out" "$mount" "${names[@]}" >"$tmp/output" 2>&1 <<'END' || fail "$(cat "$tmp/output")"
import json, os, sys

def wrong(text):
    raise ValueError(text)

def numbers(o, key=""):
    if isinstance(o, dict):
        for k in o:
            numbers(o[k], k)
            if k.endswith("_hex"):
                exact = bytes.fromhex(o[k])
                assert "\ufffd" in o[k[:-4]], o
                try:
                    exact.decode()
                    wrong(f"{k} of a name that is UTF-8")
                except UnicodeDecodeError:
                    pass
    elif isinstance(o, list):
        for part in o:
            numbers(part, key)
    else:
        assert key not in ("handle", "directory", "session") or isinstance(o, str), (key, o)

out, mount, *names = sys.argv[1:]
seen = {}
for name in sorted(os.listdir(out)):
    text = open(f"{out}/{name}", "rb").read().decode("utf-8")   # strictly
    lines = text.splitlines() if name.startswith("ls") else [text]
    seen[name] = [json.loads(line, parse_constant=wrong) for line in lines]
    assert seen[name], name
    numbers(seen[name])

def bytes_of(o, key):
    return bytes.fromhex(o[key + "_hex"]) if key + "_hex" in o else o[key].encode()

wanted = {os.fsencode(f"{mount}/{name}") for name in names}
for name in "ls", "ls-R":
    have = {bytes_of(o, "path") for o in seen[name]}
    assert wanted <= have, (name, wanted - have)
have = {bytes_of(o, "path"): o["handle"] for o in seen["stat"][0]}
assert wanted <= set(have), wanted - set(have)
for o in seen["ls"]:
    assert have[bytes_of(o, "path")] == o["handle"], o
assert any(int(handle) > 2**53 for handle in have.values()), have
END
