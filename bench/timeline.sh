# SPDX-License-Identifier: MIT
# Reading recordings of regions: 2,000,000 intervals with an empty body under 64 labels. CPU time (user and system), best of
# five, and the largest resident memory. measureme 12.0.3 took 0.36 s and 125 MiB to summarise such a file of its own, 4.4 s and
# 369 MiB to compare five of them, on another machine.
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
tare=$BUILD/src/tare

# Seconds and MiB of a command: the minimum and the maximum of five runs.
cost() {
	for i in 1 2 3 4 5; do
		"$BUILD/bench/usage" "$dir/usage" "$@" >/dev/null && cat "$dir/usage"
	done | awk 'NR == 1 || $1 < s { s = $1 } $2 > m { m = $2 } END { printf "%.3f %.1f", s, m / 1024 }'
}

rows() { # WHAT SECONDS_BOUND MIB_BOUND HOW COMMAND...
	what=$1 seconds=$2 mib=$3 how=$4
	shift 4
	set -- $(cost "$@")
	printf '%s\t%s\t%s\t%s\t%s\n' "$what" "$1" s "$seconds" "$how"
	printf '%s, memory\t%s\t%s\t%s\t%s\n' "$what" "$2" MiB "$mib" "$how"
}

for i in 1 2 3 4 5; do
	$tare regions -q -o "$dir/$i.tare" -- "$BUILD/bench/regions_make" 2000000
	"$BUILD/bench/measureme_make" "$dir/$i.mm" 2000000 1 1 $i
done
rows 'summarize, 2 M intervals' '<= 0.08' '<= 16' 'one counter, one thread' $tare summarize --format csv "$dir/1.tare"
rows 'aggregate, 5 runs of 2 M intervals' '<= 0.6' '<= 64' 'the same; all points of all runs side by side' $tare aggregate --format csv "$dir"/?.tare
rows 'summarize, .mm_profdata of 2 M intervals' '' '' 'as measureme writes it, 64 MB' $tare summarize --format csv "$dir/1.mm"
rows 'aggregate, 5 .mm_profdata of 2 M intervals' '' '' 'the same' $tare aggregate --format csv "$dir"/?.mm
