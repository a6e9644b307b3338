# SPDX-License-Identifier: MIT
"""A program whose threads are named: by themselves, by each other, by whom they come from. Says of each one, and of a child,
its tid and the name that the kernel has for it at the end."""
import ctypes
import os
import threading

SET_NAME = 15  # PR_SET_NAME
libc = ctypes.CDLL(None)
named = threading.Event()


def work():
    sum(i * i for i in range(20000))


def say():
    tid = threading.get_native_id()
    with open(f"/proc/self/task/{tid}/comm") as f:
        print(tid, f.read()[:-1], sep="\t", flush=True)


def heir():
    work()
    say()


def by_itself():
    libc.prctl(SET_NAME, b"itself longer than the kernel takes")
    work()
    t = threading.Thread(target=heir)
    t.start()
    t.join()
    say()


def by_another():
    named.wait()
    work()
    say()


another = threading.Thread(target=by_another)
another.start()
with open(f"/proc/self/task/{another.native_id}/comm", "wb", buffering=0) as comm:
    comm.write(b"another")
named.set()
another.join()
libc.prctl(SET_NAME, None)  # fails: the name stays
for what in (heir, by_itself):
    thread = threading.Thread(target=what)
    thread.start()
    thread.join()
libc.prctl(SET_NAME, b"first")
if os.fork() == 0:
    heir()
    os._exit(0)
os.wait()
heir()
