# SPDX-License-Identifier: MIT
# The cost of reading a counter: in instructions (on x86 from the disassembly, elsewhere by the PMU) and in time.
"$BUILD/bench/read_cost"
case $(uname -m) in
x86_64) bench/count_instructions "$BUILD/bench/read_cost" ;;
esac
