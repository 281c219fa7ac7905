"""Run as a script in a network namespace of its own: commands, and every address that any of them asks for.

    unshare --net python quiet_network.py COMMANDS.json LOG.json

There is no way out of the namespace: whatever is sent to another machine is routed to the loopback device, where it is
read. What names are looked up is read too, wherever the resolver stands. The commands, lists of arguments, run one
after another; a first one with the mark "beside" runs beside the others and is waited for.
"""

from __future__ import annotations

import ctypes
import fcntl
import json
import os
import socket
import struct
import subprocess
import sys
import threading
import time
from pathlib import Path

_SET_FLAGS, _ADD_ROUTE = 0x8914, 0x890B  # ioctl
_UP, _RUNNING = 0x1, 0x40
_ALL_PROTOCOLS, _OUTGOING = 3, 4
_DNS, _UDP, _TCP = 53, 17, 6


class _Route(ctypes.Structure):
    """The kernel's struct rtentry."""

    _fields_ = (
        ("pad1", ctypes.c_ulong),
        ("target", ctypes.c_ubyte * 16),
        ("gateway", ctypes.c_ubyte * 16),
        ("mask", ctypes.c_ubyte * 16),
        ("flags", ctypes.c_ushort),
        ("pad2", ctypes.c_short),
        ("pad3", ctypes.c_ulong),
        ("pad4", ctypes.c_void_p),
        ("metric", ctypes.c_short),
        ("device", ctypes.c_char_p),
        ("mtu", ctypes.c_ulong),
        ("window", ctypes.c_ulong),
        ("rtt", ctypes.c_ushort),
    )


def route_all_to_loopback() -> None:
    """Bring the loopback device up, and send all of IPv4 there."""
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as control:
        fcntl.ioctl(control, _SET_FLAGS, struct.pack("16sH14x", b"lo", _UP | _RUNNING))
        anywhere = (ctypes.c_ubyte * 16)(*struct.pack("=H14x", socket.AF_INET))
        route = _Route(target=anywhere, gateway=anywhere, mask=anywhere, flags=_UP, device=b"lo")
        system = ctypes.CDLL(None, use_errno=True)
        if system.ioctl(control.fileno(), ctypes.c_ulong(_ADD_ROUTE), ctypes.byref(route)) < 0:
            raise OSError(ctypes.get_errno(), "the route to the loopback device cannot be set")


def asked_for(packet: bytes) -> str | None:
    """Return what a packet asks another machine for, or a resolver; None for talk within this machine."""
    version = packet[0] >> 4
    if version == 4:
        head, protocol, target = (packet[0] & 15) * 4, packet[9], socket.inet_ntop(socket.AF_INET, packet[16:20])
        is_own = target.startswith("127.")
    else:
        head, protocol, target = 40, packet[6], socket.inet_ntop(socket.AF_INET6, packet[24:40])
        is_own = target == "::1" or target.startswith("ff02:")  # the kernel's own search for neighbours
    port = struct.unpack("!H", packet[head + 2 : head + 4])[0] if protocol in (_TCP, _UDP) else 0
    if port == _DNS and protocol == _UDP:
        return f"name {_name(packet[head + 20 :])}"
    return None if is_own else f"address {target} port {port}"


def _name(question: bytes) -> str:
    labels = []
    while question and question[0]:
        labels.append(question[1 : question[0] + 1].decode("ascii", "replace"))
        question = question[question[0] + 1 :]
    return ".".join(labels)


def listen(seen: list[str]) -> None:
    """Note whatever is asked for."""
    with socket.socket(socket.AF_PACKET, socket.SOCK_DGRAM, socket.htons(_ALL_PROTOCOLS)) as device:
        device.bind(("lo", 0))
        while True:
            packet, sender = device.recvfrom(65535)
            if sender[2] == _OUTGOING and (found := asked_for(packet)) is not None:
                seen.append(found)


def main() -> None:
    """Run the commands and write down what came of each."""
    commands = json.loads(Path(sys.argv[1]).read_text())
    route_all_to_loopback()
    seen: list[str] = []
    threading.Thread(target=listen, args=(seen,), daemon=True).start()
    time.sleep(0.2)
    ran: list[dict[str, object]] = []
    beside: subprocess.Popen[bytes] | None = None
    for command in commands:
        if command[0] == "beside":
            beside = subprocess.Popen(command[1:], env=os.environ)
            continue
        before = len(seen)
        done = subprocess.run(command, capture_output=True, text=True, errors="replace", check=False)
        asked = sorted(set(seen[before:]))
        ran.append({"command": command, "code": done.returncode, "said": done.stderr[-2000:], "asked": asked})
    if beside is not None:
        ran.append({"command": beside.args, "code": beside.wait(), "said": "", "asked": []})
    time.sleep(0.5)
    Path(sys.argv[2]).write_text(json.dumps({"ran": ran, "asked": sorted(set(seen))}))


if __name__ == "__main__":
    main()
