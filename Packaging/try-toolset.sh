#!/bin/bash
# Installs, uses and purges the modules for toolchains in a clean Debian: try-toolset.sh BLED-DEB SWIFT-DEB
#
# Run it in there as root, in a container, a machine or a folder that is for nothing else. It needs Swift's toolchain in
# PATH, but no systemd, no radio and no network.
set -euo pipefail

step() { echo "== $*"; }
fail() { echo "FAILED: $*" >&2; exit 1; }
toolchain=$(dirname "$(dirname "$(realpath "$(command -v swiftc)")")")
folder=/usr/lib/corebluetooth-swift
# Every path of ours outside the toolchain, and every file of the toolchain with its size and permissions.
state() {
    find / -xdev \( -iname '*corebluetooth*' -o -iname '*blesimulation*' \) -not -path '/var/lib/dpkg/*' \
        -not -path "$1" -not -path "$place/*" 2> /dev/null | sort
    find "$toolchain/bin" "$toolchain/lib" -printf '%p %y %s %m\n' 2> /dev/null | grep -v '/bin/ble' |
        sed 's|^\(.* d\) [0-9]*|\1|' | sort
}
place=$(mktemp -d)
trap 'rm -rf "$place"' EXIT
before=$(state "$2")

step "both packages are installed"
dpkg -i "$1" "$2"
[ "$(stat -c %a "$folder")" = 755 ] || fail "$folder can be changed or cannot be read by other users"

mkdir -p "$place/package/Sources/nearby"
cd "$place/package"
cat > Package.swift <<'SWIFT'
// swift-tools-version: 6.0
import PackageDescription
let package = Package(name: "Nearby", targets: [.executableTarget(name: "nearby")])
SWIFT
cat > Sources/nearby/main.swift <<'SWIFT'
import CoreBluetooth

final class Scanner: NSObject, CBCentralManagerDelegate {
    func centralManagerDidUpdateState(_ central: CBCentralManager) {
        if central.state == .poweredOn { central.scanForPeripherals(withServices: [CBUUID(string: "180D")]) }
    }
    func centralManager(
        _ central: CBCentralManager, didDiscover peripheral: CBPeripheral, advertisementData: [String: Any],
        rssi RSSI: NSNumber
    ) {
        print("Found \(peripheral.name ?? "?")")
        exit(0)
    }
}
let scanner = Scanner()
let central = CBCentralManager(delegate: scanner, queue: nil)
RunLoop.main.run()
SWIFT
export BLUETOOTH_HOST=demo

step "a package without dependencies is built with the toolset, and finds a simulated device"
swift run --toolset "$folder/toolset.json" nearby | tee "$place/output"
grep -q "Found Heart Rate" "$place/output" || fail "the program finds nothing"

step "a toolset with modules of Apple's systems builds a program that imports them"
cat > Sources/nearby/Names.swift <<'SWIFT'
import Combine
import os

func logger() -> Just<Logger> { Just("radio").map { Logger(subsystem: "nearby", category: $0) } }
SWIFT
ble toolset --compat "$place/compat"
ble toolset --check "$place/compat"
swift run --toolset "$place/compat/toolset.json" --scratch-path .build-compat nearby | tee "$place/output"
grep -q "Found Heart Rate" "$place/output" || fail "the program finds nothing"
rm Sources/nearby/Names.swift
ble toolset --uninstall "$place/compat"

step "it is built without options once the modules are in the toolchain"
ble toolset --install
ble toolset --check
swift run --scratch-path .build-installed nearby | tee "$place/output"
grep -q "Found Heart Rate" "$place/output" || fail "the program finds nothing"

step "removing the modules and the packages leaves nothing"
ble toolset --uninstall
cd /
dpkg -P corebluetooth-swift bled
after=$(state "$2")
[ "$before" = "$after" ] || fail "changed: $(diff <(echo "$before") <(echo "$after"))"
echo "All checks passed."
