"""A process gives up, for good, what untrusted code must not have: files, network, processes, memory.

This file imports nothing of the package, so that a worker can load it by itself and start fast. Each function takes
away one ability of the calling process and returns whether the system did so; the parent process decides whether that
is enough. The kernel does all of it, through system calls: Python code cannot undo it.
"""

from __future__ import annotations

import ctypes
import os
import platform
import signal
import struct
import sys
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import TypeAlias

# ------------------------------------------------------------------------------------------------------ files: Landlock

_RULESET, _ADD_RULE, _RESTRICT = 444, 445, 446  # the system calls of Landlock, the same on all processors
_NO_NEW_PRIVILEGES, _SECCOMP, _DUMPABLE = 38, 22, 4  # for prctl
EXECUTE, READ_FILE, READ_FOLDER = 1 << 0, 1 << 2, 1 << 3
"""The rights that `keep_files` may leave."""
_ACTIONS = (0, 13, 14, 15, 15, 16)  # how many actions on files each version of Landlock can refuse; later ones: as 5
_WITH_NETWORK, _WITH_SCOPES = 4, 6  # the first versions to refuse TCP; to refuse signals and abstract sockets outside


def landlock_version() -> int:
    """Return the version of Landlock on this system, or 0."""
    if not sys.platform.startswith("linux"):
        return 0
    return max(0, int(_system().syscall(_RULESET, None, ctypes.c_size_t(0), ctypes.c_uint32(1))))


def keep_files(left: Iterable[tuple[Path, int]], *, listens: bool = False) -> bool:
    """Leave this thread the given files and folders, each with its rights, and no other file, no TCP, no signal.

    With `listens` it may open ports, but connect to none. Every thread and process that it starts later is bound too.
    Returns whether the system enforces it.
    """
    version = landlock_version()
    if version == 0:
        return False
    system = _system()
    actions = (1 << _ACTIONS[min(version, len(_ACTIONS) - 1)]) - 1
    fields = [actions]
    if version >= _WITH_NETWORK:
        fields.append(2 if listens else 3)  # connecting; opening a port
    if version >= _WITH_SCOPES:
        fields.append(3)
    ruleset = struct.pack(f"={len(fields)}Q", *fields)
    rules = system.syscall(_RULESET, ruleset, ctypes.c_size_t(len(ruleset)), ctypes.c_uint32(0))
    if rules < 0:
        return False
    try:
        for path, allowed in left:
            try:
                opened = os.open(path, os.O_PATH | os.O_CLOEXEC)
            except (FileNotFoundError, PermissionError):  # it could not be read before either
                continue
            rule = struct.pack("=Qi", allowed, opened)
            system.syscall(_ADD_RULE, rules, ctypes.c_int(1), rule, ctypes.c_uint32(0))
            os.close(opened)
        system.prctl(_NO_NEW_PRIVILEGES, 1, 0, 0, 0)
        if system.syscall(_RESTRICT, rules, ctypes.c_uint32(0)) != 0:
            return False
        # A kernel that imitates Landlock does not enforce it: there the root folder can still be read.
        try:
            os.close(os.open(os.sep, os.O_RDONLY))
        except PermissionError:
            return True
        return False
    finally:
        os.close(rules)


# ------------------------------------------------------------------------------------------------ system calls: seccomp


# Computing, printing into a pipe and importing modules need these calls. Everything else is refused: sockets, new
# processes and threads, programs, signals to anybody, every change of a file or a limit.
CALLS = {
    **{"read": (0, 63), "write": (1, 64), "lseek": (8, 62), "pread64": (17, 67), "readv": (19, 65)},
    **{"futex": (202, 98), "mmap": (9, 222), "munmap": (11, 215), "mprotect": (10, 226), "mremap": (25, 216)},
    **{"madvise": (28, 233), "brk": (12, 214), "getrandom": (318, 278), "clock_gettime": (228, 113)},
    **{"clock_getres": (229, 114), "clock_nanosleep": (230, 115), "nanosleep": (35, 101), "gettimeofday": (96, 169)},
    **{"time": (201, None), "fstat": (5, 80), "stat": (4, None), "lstat": (6, None), "newfstatat": (262, 79)},
    **{"statx": (332, 291), "access": (21, None), "faccessat": (269, 48), "faccessat2": (439, 439)},
    **{"readlink": (89, None), "readlinkat": (267, 78), "getdents64": (217, 61), "getcwd": (79, 17), "dup": (32, 23)},
    **{"poll": (7, None), "ppoll": (271, 73), "select": (23, None), "pselect6": (270, 72)},
    **{"rt_sigaction": (13, 134), "rt_sigprocmask": (14, 135), "rt_sigreturn": (15, 139), "sigaltstack": (131, 132)},
    **{"sched_yield": (24, 124), "sched_getaffinity": (204, 123), "getcpu": (309, 168), "sysinfo": (99, 179)},
    **{"uname": (63, 160), "getrusage": (98, 165), "times": (100, 153), "getpid": (39, 172), "getppid": (110, 173)},
    **{"gettid": (186, 178), "getuid": (102, 174), "geteuid": (107, 175), "getgid": (104, 176), "getegid": (108, 177)},
    **{"set_robust_list": (273, 99), "rseq": (334, 293), "restart_syscall": (219, 128)},
    **{"exit": (60, 93), "exit_group": (231, 94)},
}
"""The calls that stay allowed, with their numbers on x86-64 and arm64; None if a processor has no such call."""
OPENAT, FCNTL, CLOSE = (257, 56), (72, 25), (3, 57)
"""Three calls that are allowed in part: opening for reading, commands on one descriptor, closing all but one."""
TIMER = {"setitimer": (38, 103)}
"""The further call for a process that bounds the processor time of its own steps."""
LAUNCHING = {
    **{"execve": (59, 221), "clone": (56, 220), "clone3": (435, 435), "vfork": (58, None), "fork": (57, None)},
    **{"wait4": (61, 260), "waitid": (247, 95), "pidfd_open": (434, 434), "dup2": (33, None), "dup3": (292, 24)},
    **{"pipe2": (293, 59), "eventfd2": (290, 19), "epoll_create1": (291, 20), "epoll_ctl": (233, 21)},
    **{"epoll_wait": (232, None), "epoll_pwait": (281, 22), "ioctl": (16, 29), "prctl": (157, 167)},
    **{"arch_prctl": (158, None), "set_tid_address": (218, 96), "close_range": (436, 436), "membarrier": (324, 283)},
}
"""The further calls for starting a program: those of its starter (monty's client, in Rust) and its own."""
SERVING = {
    **{"bind": (49, 200), "listen": (50, 201), "accept4": (288, 242), "recvfrom": (45, 207), "shutdown": (48, 210)},
    **{"getsockname": (51, 204), "getpeername": (52, 205), "setsockopt": (54, 208), "getsockopt": (55, 209)},
}
"""The further calls for answering connections; no `connect`, and no messages, which may name a receiver."""
SOCKET, SENDTO, CLONE, CLONE3 = (41, 198), (44, 206), (56, 220), (435, 435)
"""Four calls that are then allowed in part: TCP sockets, sending over a connection, and starting threads."""
PRLIMIT, WRITE = (302, 261), (1, 64)
"""Two calls that are then allowed in part: reading a limit, and writing a bounded number of bytes at once."""
_COLUMNS, _PROCESSORS = {"x86_64": 0, "aarch64": 1}, (0xC000003E, 0xC00000B7)
_WRITING = 0o1 | 0o2 | 0o100 | 0o1000  # O_WRONLY, O_RDWR, O_CREAT, O_TRUNC
_DESCRIPTOR_COMMANDS = (0, 1, 2, 3, 1030)  # F_DUPFD, F_GETFD, F_SETFD, F_GETFL, F_DUPFD_CLOEXEC: no signals, no locks
_INTERNET, _STREAM, _THREAD = 2, 1, 0x10000  # AF_INET, SOCK_STREAM, CLONE_THREAD
_SET_FLAGS = 4  # F_SETFL: a pipe that does not wait
_Step: TypeAlias = tuple[int, int, int, int]
_LOAD, _IF_EQUAL, _IF_ABOVE, _IF_ANY_BIT, _AND, _RETURN = 0x20, 0x15, 0x25, 0x45, 0x54, 0x06  # of the kernel's filters
_ALLOWED: _Step = (_RETURN, 0, 0, 0x7FFF0000)
_REFUSED: _Step = (_RETURN, 0, 0, 0x00050000 | 13)  # the call fails with EACCES
_UNKNOWN: _Step = (_RETURN, 0, 0, 0x00050000 | 38)  # with ENOSYS: the C library then takes the call before it
_NUMBER, _PROCESSOR = 0, 4  # the offsets of a call's number and of the processor, for a filter
_FIRST, _SECOND, _THIRD, _FIFTH = 16, 24, 32, 48  # and of its arguments


def filter_program(*, opens: bool, lifeline: int, more: Mapping[str, tuple[int, int]] | None = None) -> bytes | None:
    """Return a filter that allows the system calls for computing, `more`, and with `opens` opening files for reading.

    It is in the kernel's form, eight bytes for each step; None for an unknown processor. All other calls fail with
    `PermissionError`, and so does closing the lifeline, the pipe that the process ends with (`workers.tie`).
    """
    column = _column()
    if column is None:
        return None
    steps = [
        *_allowing(column, {**CALLS, **(more or {})}),
        *_closing(column, lifeline),
        *(_reading(column) if opens else []),
    ]
    return _packed(column, [*steps, *_commands(column, _DESCRIPTOR_COMMANDS)])


def server_program(*, lifeline: int) -> bytes | None:
    """Return a filter that also allows threads and answering over TCP, as `filter_program` does.

    The process can connect to nothing and start no other process.
    """
    column = _column()
    if column is None:
        return None
    steps = [*_allowing(column, {**CALLS, **SERVING}), *_closing(column, lifeline), *_reading(column)]
    steps += [(_IF_EQUAL, 0, 7, SOCKET[column]), (_LOAD, 0, 0, _FIRST), (_IF_EQUAL, 0, 3, _INTERNET)]
    steps += [(_LOAD, 0, 0, _SECOND), (_AND, 0, 0, 0xF), (_IF_EQUAL, 1, 0, _STREAM), _REFUSED, _ALLOWED]
    steps += [(_IF_EQUAL, 0, 6, SENDTO[column]), (_LOAD, 0, 0, _FIFTH), (_IF_EQUAL, 0, 3, 0)]
    steps += [(_LOAD, 0, 0, _FIFTH + 4), (_IF_EQUAL, 0, 1, 0), _ALLOWED, _REFUSED]
    steps += [(_IF_EQUAL, 0, 4, CLONE[column]), (_LOAD, 0, 0, _FIRST), (_IF_ANY_BIT, 0, 1, _THREAD), _ALLOWED, _REFUSED]
    # Its flags are in memory, where no filter looks.
    steps += [(_IF_EQUAL, 0, 1, CLONE3[column]), _UNKNOWN]
    return _packed(column, [*steps, *_commands(column, _DESCRIPTOR_COMMANDS)])


def launch_program(*, longest: int) -> bytes | None:
    """Return a filter that allows computing and starting a program, as `filter_program` does.

    The thread and its program may write at most `longest` bytes at once.
    """
    column = _column()
    if column is None:
        return None
    limit = PRLIMIT[column]
    calls = {name: numbers for name, numbers in CALLS.items() if numbers != WRITE} | LAUNCHING
    steps = [*_allowing(column, calls | {"close": CLOSE})]
    steps += [(_IF_EQUAL, 0, 6, WRITE[column]), (_LOAD, 0, 0, _THIRD + 4), (_IF_EQUAL, 0, 3, 0), (_LOAD, 0, 0, _THIRD)]
    steps += [(_IF_ABOVE, 1, 0, longest), _ALLOWED, _REFUSED]
    steps += [(_IF_EQUAL, 0, 6, limit), (_LOAD, 0, 0, _THIRD + 4), (_IF_EQUAL, 0, 3, 0), (_LOAD, 0, 0, _THIRD)]
    steps += [(_IF_EQUAL, 0, 1, 0), _ALLOWED, _REFUSED]  # limits may be read, not set
    return _packed(column, [*steps, *_reading(column), *_commands(column, (*_DESCRIPTOR_COMMANDS, _SET_FLAGS))])


def _column() -> int | None:
    """Return this processor's column of the tables of calls."""
    return _COLUMNS.get(platform.machine()) if sys.platform.startswith("linux") else None


def _allowing(column: int, calls: Mapping[str, tuple[int | None, int | None]]) -> Iterator[_Step]:
    """Yield the steps that allow some calls."""
    for numbers in calls.values():
        if (number := numbers[column]) is not None:
            yield (_IF_EQUAL, 0, 1, number)
            yield _ALLOWED


def _closing(column: int, lifeline: int) -> list[_Step]:
    """Return the steps that allow closing all descriptors but one."""
    return [(_IF_EQUAL, 0, 4, CLOSE[column]), (_LOAD, 0, 0, _FIRST), (_IF_EQUAL, 0, 1, lifeline), _REFUSED, _ALLOWED]


def _reading(column: int) -> list[_Step]:
    """Return the steps that allow opening files for reading."""
    opening = [(_IF_EQUAL, 0, 4, OPENAT[column]), (_LOAD, 0, 0, _THIRD), (_IF_ANY_BIT, 0, 1, _WRITING)]
    return [*opening, _REFUSED, _ALLOWED]


def _commands(column: int, commands: Sequence[int]) -> list[_Step]:
    """Return the steps that allow some commands on a descriptor."""
    most = len(commands)
    steps = [(_IF_EQUAL, 0, most + 3, FCNTL[column]), (_LOAD, 0, 0, _SECOND)]
    steps += [(_IF_EQUAL, most - place, 0, command) for place, command in enumerate(commands)]
    return [*steps, _REFUSED, _ALLOWED]


def _packed(column: int, steps: Iterable[_Step]) -> bytes:
    """Return a filter in the kernel's form: steps for this processor's numbers, which refuse all other calls."""
    begin = [(_LOAD, 0, 0, _PROCESSOR), (_IF_EQUAL, 1, 0, _PROCESSORS[column]), _REFUSED, (_LOAD, 0, 0, _NUMBER)]
    return b"".join(struct.pack("=HBBI", *step) for step in (*begin, *steps, _REFUSED))


def enforce(program: bytes | None) -> bool:
    """Have the kernel enforce a filter on this thread; return whether it does."""
    if program is None:
        return False

    class Program(ctypes.Structure):
        _fields_ = (("length", ctypes.c_ushort), ("steps", ctypes.c_char_p))

    system = _system()
    system.prctl(_NO_NEW_PRIVILEGES, 1, 0, 0, 0)
    filter_ = Program(len(program) // 8, program)
    return bool(system.prctl(_SECCOMP, 2, ctypes.byref(filter_), 0, 0) == 0)


# -------------------------------------------------------------------------------------------------------- user, network


def leave_network() -> bool:
    """Move this process to a new, empty network; return whether it did. Usually only an administrator may."""
    if not sys.platform.startswith("linux"):
        return False
    system = _system()
    new_network = 0x40000000
    return hasattr(system, "unshare") and bool(system.unshare(new_network) == 0)


def change_user(probes: Sequence[Path]) -> bool:
    """Turn the superuser's process into one of a user who owns nothing, if that user can read the probes.

    Returns whether it did; only the superuser can. If not, the superuser's process keeps its id but loses every
    privilege.
    """
    if not sys.platform.startswith("linux") or os.geteuid() != 0:
        return False
    _bind_privileges()
    # An id without an account; one for each process, since limits count by user.
    user = (1 << 30) + os.getpid()
    changed = False
    try:
        os.seteuid(user)
        try:
            is_able = all(any(probe.iterdir()) for probe in probes)
        finally:
            os.seteuid(0)
        if is_able:
            os.setgroups([])
            os.setresgid(user, user, user)
            os.setresuid(user, user, user)
            changed = True
    except OSError:
        # This user cannot read the probes, or a container has no such user.
        changed = False
    drop_privileges()
    _system().prctl(_DUMPABLE, 0, 0, 0, 0)
    return changed


def drop_privileges() -> None:
    """Take every privilege of the superuser from this thread and from all that it starts; it keeps its user id."""
    _bind_privileges()
    system = _system()
    system.prctl(_NO_NEW_PRIVILEGES, 1, 0, 0, 0)
    version, itself = 0x20080522, 0
    system.capset(struct.pack("=II", version, itself), bytes(24))


def _bind_privileges() -> None:
    """Deny every privilege to the programs that this thread starts. Only the superuser can do this."""
    system = _system()
    bounding, capabilities = 24, range(64)
    for capability in capabilities:
        system.prctl(bounding, capability, 0, 0, 0)


# -------------------------------------------------------------------------------------------------------------- limits


def limit_writing() -> bool:
    """Forbid writing to any file; pipes stay open. Returns whether the system enforces it."""
    if sys.platform == "win32":
        return False
    import resource

    # A write then fails instead of ending the process.
    signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
    resource.setrlimit(resource.RLIMIT_FSIZE, (0, 0))
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    return True


def limit_memory(more: int, *, begun: int = 0) -> bool:
    """Limit this process's address space to its present size and `more` bytes; return whether the system enforces it.

    `begun` stands in for the present size if the system does not report it.
    """
    if sys.platform == "win32":
        return False
    import resource

    statistics = Path("/proc/self/statm")
    if statistics.exists():
        begun = int(statistics.read_text().split()[0]) * resource.getpagesize()
    try:
        resource.setrlimit(resource.RLIMIT_AS, (begun + more, begun + more))
    except (ValueError, OSError):  # a system that has the limit and refuses to set it
        return False
    return True


def limit_processes() -> bool:
    """Forbid new processes and threads; return whether this process is bound by it: the superuser is not."""
    if sys.platform == "win32":
        return False
    import resource

    resource.setrlimit(resource.RLIMIT_NPROC, (0, 0))
    return os.getuid() != 0


def limit_use(seconds: int, descriptors: int) -> None:
    """Limit the processor time, in seconds, and the number of open descriptors."""
    import resource

    resource.setrlimit(resource.RLIMIT_CPU, (seconds, seconds))
    resource.setrlimit(resource.RLIMIT_NOFILE, (descriptors, descriptors))


def end_with(lifeline: int) -> None:
    """Start a thread that ends this process when the other end of a pipe closes, because its parent has died.

    On Linux the kernel does this at the parent's request (`workers.tie`); on Windows a child inherits no pipe.
    """
    if sys.platform.startswith("linux") or sys.platform == "win32":
        return
    import threading

    def watch() -> None:
        os.read(lifeline, 1)
        os.kill(os.getpid(), signal.SIGKILL)

    threading.Thread(target=watch, daemon=True).start()


# ----------------------------------------------------------------------------------------------------------- all of it


def shut(*, memory: int, left: Iterable[tuple[Path, int]], probes: Sequence[Path]) -> dict[str, bool]:
    """Give up memory, network, user, writing, processes, and all files but `left`; the caller filters system calls.

    Returns for each wall, by name, whether the system enforces it. `probes` are folders that the process must be able
    to read as another user.
    """
    walls = {
        "memory": limit_memory(memory),
        "own network": leave_network(),
        "own user": change_user(probes),
        "writing": limit_writing(),
        "process limit": limit_processes(),
    }
    os.chdir(os.sep)
    walls["landlock"] = keep_files(left)
    return walls


def _system() -> ctypes.CDLL:
    return ctypes.CDLL(None, use_errno=True)
