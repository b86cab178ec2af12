"""Counts the air time and the payload of the transfers of `BLEBenchmarks air` with tshark.

airtime.py PATH-OF-BLEBenchmarks

The benchmark writes a capture of each transfer. tshark decodes it, and this script adds up the packets that a host
received in the measured time: each takes its own air time, that of the empty packet in return, and two pauses of
150 µs. It prints a line of JSON for each transfer with the payload of values that tshark finds, the figure of the
benchmark, and the share of the time that the radio was used. The exit status is 1 if the two payloads differ by more
than 2 %. It takes about three minutes.
"""

import json
import pathlib
import subprocess
import sys
import tempfile

# The pause between two packets, in µs.
PAUSE = 150
# Octets of a packet besides its payload: preamble, access address, header and check.
OVERHEAD = {"2m": 2 + 4 + 2 + 3, "1m": 1 + 4 + 2 + 3}
MICROSECONDS = {"2m": 4, "1m": 8}
# Octets of an ATT packet before its value: of notifications, write commands, read responses and read blob responses.
BEFORE_VALUE = {0x1B: 3, 0x52: 3, 0x0B: 1, 0x0D: 1}
FIELDS = ("frame.time_epoch", "bthci_acl.length", "btatt.opcode", "btl2cap.length")


def received(capture):
    """Returns time, length, ATT opcode and length of the L2CAP payload of each received packet."""
    words = ["tshark", "-r", str(capture), "-Y", "bthci_acl && hci_h4.direction == 1", "-T", "fields"]
    for field in FIELDS:
        words += ["-e", field]
    lines = subprocess.run(words, check=True, capture_output=True, text=True).stdout.splitlines()
    for line in lines:
        time, length, opcode, payload = line.split("\t")
        yield float(time), int(length), int(opcode.split(",")[0] or "0", 0), int(payload.split(",")[0] or "0")


def count(capture, phy, is_encrypted, seconds):
    """Returns the payload of values in Mbit/s, and the share of the time for which the radio is used, in percent."""
    packets = list(received(capture))
    begin = packets[-1][0] - seconds
    values, busy = 0, 0
    for time, length, opcode, payload in packets:
        if time <= begin:
            continue
        busy += (2 * OVERHEAD[phy] + length + (4 if is_encrypted else 0)) * MICROSECONDS[phy] + 2 * PAUSE
        if opcode in BEFORE_VALUE:
            values += payload - BEFORE_VALUE[opcode]
    return values * 8 / seconds / 1e6, busy / seconds / 1e4


def main():
    program = pathlib.Path(sys.argv[1]).resolve()
    failed = False
    with tempfile.TemporaryDirectory() as folder:
        printed = subprocess.run([program, "air", "--captures", folder], check=True, capture_output=True, text=True)
        for line in printed.stdout.splitlines():
            result = json.loads(line)
            name = result["workload"]
            kind, _, phy, *rest = name.removeprefix("air-").split("-")
            for interval in (6, 12, 24, 80):
                said = result[f"mbit_s_{interval * 1.25}_ms"]
                seconds = 60 if kind == "reads" else 2
                capture = pathlib.Path(folder) / f"{name}-{interval}.pcapng"
                payload, share = count(capture, phy, bool(rest), seconds)
                row = {"workload": name, "interval_ms": interval * 1.25, "mbit_s": said, "air_percent": round(share, 1)}
                if kind != "channel":
                    row["mbit_s_tshark"] = round(payload, 3)
                    failed |= abs(payload - said) > 0.02 * said
                print(json.dumps(row), flush=True)
    return 1 if failed else 0


if __name__ == "__main__":
    if len(sys.argv) != 2:
        sys.exit(__doc__)
    sys.exit(main())
