# SPDX-License-Identifier: MIT
"""Named parts of a Python program.

    tare regions -o region.tare -- python3 examples/region.py
    tare summarize region.tare

Where tare is not installed: PYTHONPATH=build/bindings/python TARE_LIBRARY=build/src/lib/libtare.so.
"""
import threading

import tare


@tare.region("primes")
def primes(limit):
    found = []
    for n in range(2, limit):
        if all(n % p for p in found):
            found.append(n)
            tare.integer(len(found), "found")
    return found


def work(limit):
    with tare.region("work", limit):
        primes(limit)


with tare.region("all"):
    threads = [threading.Thread(target=work, args=(limit,)) for limit in (500, 1000, 1500)]
    for t in threads:
        t.start()
    for t in threads:
        t.join()
print("recorded" if tare.recording() else "not recorded")
