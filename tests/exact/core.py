# SPDX-License-Identifier: MIT
"""Reads the program's threads from a core file. Source: elf(5), struct elf_prstatus of linux/elfcore.h."""
import struct

REGISTERS = ["r15", "r14", "r13", "r12", "rbp", "rbx", "r11", "r10", "r9", "r8", "rax", "rcx", "rdx", "rsi", "rdi", "orig_rax",
             "rip", "cs", "eflags", "rsp", "ss", "fs_base", "gs_base", "ds", "es", "fs", "gs"]
PT_NOTE, NT_PRSTATUS, NT_FPREGSET, NT_FILE, REGISTERS_AT, XMM_AT = 4, 1, 2, 0x46494c45, 112, 160


def notes(path):
    data = path.read_bytes()
    phoff, = struct.unpack_from("<Q", data, 32)
    size, count = struct.unpack_from("<HH", data, 54)
    for i in range(count):
        kind, _, at, _, _, length, _, _ = struct.unpack_from("<IIQQQQQQ", data, phoff + i * size)
        end = at + length
        while kind == PT_NOTE and at < end:
            name, desc, what = struct.unpack_from("<III", data, at)
            at += 12 + (name + 3 & ~3)
            yield what, data[at:at + desc]
            at += desc + 3 & ~3


def threads(path):
    """Registers by name, for every thread; the one that died is first. `xmm` has the low halves of the vector registers."""
    found = []
    for what, desc in notes(path):
        if what == NT_PRSTATUS:
            found.append(dict(zip(REGISTERS, struct.unpack_from("<27Q", desc, REGISTERS_AT)), signal=struct.unpack_from("<H", desc, 12)[0],
                              pid=struct.unpack_from("<I", desc, 32)[0]))
        elif what == NT_FPREGSET:
            found[-1]["xmm"] = struct.unpack_from("<32Q", desc, XMM_AT)[::2]
    return found


def files(path):
    """The names of the mapped files."""
    for what, desc in notes(path):
        if what == NT_FILE:
            count, = struct.unpack_from("<Q", desc)
            return set(desc[16 + 24 * count:].split(b"\0")[:-1])
    return set()


def file_at(path, address):
    """The name of the file mapped at the address, or None."""
    for what, desc in notes(path):
        if what == NT_FILE:
            count, = struct.unpack_from("<Q", desc)
            names = desc[16 + 24 * count:].split(b"\0")
            for i in range(count):
                start, end, _ = struct.unpack_from("<3Q", desc, 16 + 24 * i)
                if start <= address < end:
                    return names[i]
    return None
