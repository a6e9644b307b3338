# SPDX-License-Identifier: MIT
# The cost of a region in time, in file size and in instructions.
room=$(mktemp -d)
"$BUILD/bench/region_cost" time "$room/region.tare"
[ ! -x "$BUILD/src/exact-run" ] || "$BUILD/src/exact-run" -r -o /dev/null -- "$BUILD/bench/region_cost" instructions "$room/region.tare"
rm -rf "$room"
