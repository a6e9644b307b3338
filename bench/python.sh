# SPDX-License-Identifier: MIT
# The cost of a Python region that is not recorded: time, and instructions by the exact engine (the difference between 20,000 and 10,000 regions).
export TARE_LIBRARY=$BUILD/src/lib/libtare.so
program='
import sys, time, tare
kept = tare.region("kept")
def none(n):
	for _ in range(n):
		pass
def made(n):
	for _ in range(n):
		with tare.region("x"):
			pass
def reused(n):
	for _ in range(n):
		with kept:
			pass
def best(f, n=100000):
	times = []
	for _ in range(21):
		began = time.perf_counter_ns()
		f(n)
		times.append((time.perf_counter_ns() - began) / n)
	return min(times)
if len(sys.argv) > 2:
	globals()[sys.argv[1]](int(sys.argv[2]))
else:
	print(f"{best(globals()[sys.argv[1]]) - best(none):.0f}", "with" if tare._region else "without")
'
instructions() { # FUNCTION TIMES
	"$BUILD/src/tare" stat --engine exact --deterministic -e instructions:u --format csv -o - -- python3 -S -c "$program" "$1" "$2" 2>/dev/null |
		awk -F, '$2 == "instructions:u" { print $3 }'
}
for module in bindings/python "$BUILD/bindings/python"; do
	export PYTHONPATH=$module
	for what in made reused; do
		set -- $(python3 -S -c "$program" $what)
		bound=
		[ "$2" = without ] || bound='<= 200'
		printf 'a region of Python that is off, %s, %s the extension\t%s\tns\t%s\tbest of 21 loops of 100,000, less an empty loop\n' $what $2 "$1" "$bound"
		few=$(instructions $what 10000) many=$(instructions $what 20000)
		none=$(instructions none 10000) more=$(instructions none 20000)
		[ -z "$few" ] || printf 'the same\t%s\tinstructions\t\tby the exact engine\n' $(((many - few - more + none) / 10000))
	done
done
