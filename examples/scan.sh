#!/bin/sh
# SPDX-License-Identifier: MIT
# What does this processor count that its tables do not name? Scan, list the events of which the meaning is sure, and count the first of them.
#
#	sh scan.sh COMMAND [ARG...]
#
# Some seconds; a second time only what was not counted yet. Without a core PMU it says so.
[ $# -gt 0 ] || { echo "usage: scan.sh COMMAND [ARG...]" >&2; exit 2; }

if ! found=$(tare scan --format csv); then
	echo "nothing was scanned: see above" >&2
	exit 0
fi

# select,umask,state,documented,meaning,sure,...
sure=$(printf '%s\n' "$found" | awk -F, '$3 == "live" && $4 == "" && $6 == "certain" { print $1, $2 }' |
	while read -r select umask; do printf 'scan.0x%02x.0x%02x\n' "$select" "$umask"; done)
[ -n "$sure" ] || { echo "every event whose meaning is sure has a name already"; exit 0; }

for event in $sure; do
	tare events explain "$event"
done
set -- -e "$(printf '%s\n' "$sure" | head -n 1):u" -- "$@"
for table in "${XDG_DATA_HOME:-$HOME/.local/share}"/tare/scan/*.txt; do
	set -- --event-file "$table" "$@"
done
tare stat "$@"
