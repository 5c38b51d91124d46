"""Ask valgrind's callgrind, from Python, for the instructions of some work: no compiler, no header, no help of torch.

A client request is a rotation of one register that changes nothing on a processor, and that valgrind knows. Its bytes
for x86-64 and the numbers of the requests are in valgrind.h and callgrind.h of valgrind 3.19.
"""

import ctypes
import mmap
import os
from typing import Any, Callable, Dict

#: A function of one argument in x86-64 code: the address of a request. Without valgrind it answers 0.
CODE = bytes.fromhex(
    "4889f8"  # mov rax, rdi: where the request is
    "31d2"  # xor edx, edx: the answer when nobody listens
    "48c1c703 48c1c70d 48c1c73d 48c1c733"  # rol rdi by 3, 13, 61 and 51: the mark
    "4887db"  # xchg rbx, rbx: this is a request
    "4889d0 c3"  # mov rax, rdx; ret
)
RUNNING_ON_VALGRIND = 0x1001
DUMP, ZERO, START, STOP = 0x43540000, 0x43540001, 0x43540004, 0x43540005  # callgrind's own


class Counter:
    """Counts the instructions of this process, of all its threads together."""

    def __init__(self, out_file: str) -> None:
        """`out_file` is what valgrind was given as --callgrind-out-file; it needs --instr-atstart=no too."""
        page = mmap.mmap(-1, mmap.PAGESIZE, prot=mmap.PROT_READ | mmap.PROT_WRITE | mmap.PROT_EXEC)
        page.write(CODE)
        address = ctypes.addressof(ctypes.c_char.from_buffer(page))
        self._page = page  # the code lives as long as this does
        self._call: Callable[[Any], int] = ctypes.CFUNCTYPE(ctypes.c_ulong, ctypes.c_void_p)(address)
        self._requests: Dict[int, Any] = {
            request: (ctypes.c_ulong * 6)(request) for request in (RUNNING_ON_VALGRIND, DUMP, ZERO, START, STOP)
        }
        self._out, self._dumps = out_file, 0

    def ask(self, request: int) -> int:
        """Return what valgrind answers; 0 where there is none."""
        return self._call(self._requests[request])

    def count(self, work: Callable[[], Any], times: int) -> float:
        """Return the instructions of one call of `work`, from so many, with the loop around them."""
        ask, zero, dump = self._call, self._requests[ZERO], self._requests[DUMP]
        each = range(times)
        ask(zero)
        for _ in each:
            work()
        ask(dump)
        self._dumps += 1
        name = f"{self._out}.{self._dumps}"
        with open(name, "rb") as file:
            file.seek(-64, os.SEEK_END)
            word, total = file.read().split()[-2:]
        os.unlink(name)
        if word != b"totals:":
            raise ValueError("valgrind wrote no total: " + name)
        return int(total) / times
