#!/bin/sh
# The cost of a measurement by tare bench: the marks in instructions, a whole bench in time.
set -eu

# Instructions of a function, including its ret.
count() {
	objdump -d --no-show-raw-insn "$BUILD/src/tare" --disassemble="$1" | awk '/^ *[0-9a-f]+:/ { n++; if ($2 == "ret") exit } END { print n + 0 }'
}
if [ "$(uname -m)" = x86_64 ]; then
	start=$(count mark_start_4) stop=$(count mark_stop_4)
	[ "$start" -gt 20 ] && [ "$stop" -gt 20 ] || exit 1
	printf 'start and stop of tare bench, four counters\t%d\tinstructions\t<= 60\tdisassembly; tests/bench/mark_test counts them\n' $((start + stop))
	"$BUILD/src/tare" bench --engine exact --format json --asm nop |
		awk '/"baseline": \{/ { getline; gsub(/[^0-9]/, ""); printf "the same in a result of the exact engine, before it is taken off\t%d\tinstructions\t<= 60\tits baseline, the same in every run\n", $0; exit }'
fi

# The median of nine.
for i in 1 2 3 4 5 6 7 8 9; do
	from=$(date +%s%N)
	"$BUILD/src/tare" bench --asm nop >/dev/null
	echo $((($(date +%s%N) - from) / 1000000))
done | sort -n | awk 'NR == 5 { printf "tare bench --asm nop: compiled, 100 runs in each set\t%d\tms\t\tmedian of nine, the compiler included\n", $0 }'
