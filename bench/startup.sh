# SPDX-License-Identifier: MIT
# Start-up of tare stat compared with perf stat, and the files it reads.
"$BUILD/bench/startup" "$BUILD/src/tare"

# No per-CPU file is read unless -a is given: list the opened files.
if command -v strace >/dev/null; then
	trace=$(mktemp)
	strace -f -e trace=openat -o "$trace" "$BUILD/src/tare" stat -o /dev/null -e task-clock,page-faults -- true
	files=$(grep -cE '"/(sys|proc)/' "$trace" || true)
	rm -f "$trace"
	printf 'files of /sys and /proc opened by the same\t%s\t\t<= 2\tby strace\n' "$files"
fi
