#!/bin/bash
# Builds the Debian packages: Packaging/deb.sh [FOLDER]
#
#   bled                 the daemon, ble, ble-gateway and the Python package. The programs contain Swift's libraries,
#                        so that users need no toolchain.
#   corebluetooth-swift  the modules for the Swift toolchain that builds them. They need that toolchain.
#
# FOLDER is where the packages are put (default: the root of the repository; relative paths start there). The script
# makes two complete builds, and needs dpkg-deb.
# DEB_SCRATCH and DEB_MODULES_SCRATCH name other folders for the two builds.
set -euo pipefail
cd "$(dirname "$0")/.."

out=$(realpath "${1:-.}")
version=$(sed -n 's/.*version: "\(.*\)".*/\1/p' Sources/bled/Bled.swift)
architecture=$(dpkg --print-architecture)
maintainer="Core Bluetooth for Linux <bled@localhost>"
scratch=${DEB_SCRATCH:-.build-deb}
modules_scratch=${DEB_MODULES_SCRATCH:-.build}
for product in bled bled-bluez ble; do
    swift build -c release --static-swift-stdlib -Xlinker --no-export-dynamic --scratch-path "$scratch" \
        --product "$product"
done

temporary=$(mktemp -d)
trap 'rm -rf "$temporary"' EXIT
umask 022

# Writes the package in a folder; its description is read from standard input.
pack() {
    local name=$1 root=$2
    chmod -R go-w "$root"
    mkdir -p "$root/DEBIAN"
    {
        printf 'Package: %s\nVersion: %s\nArchitecture: %s\n' "$name" "$version" "$architecture"
        printf 'Maintainer: %s\nInstalled-Size: %s\n' "$maintainer" "$(du -sk "$root/usr" | cut -f1)"
        printf 'Priority: optional\n'
        cat
    } > "$root/DEBIAN/control"
    dpkg-deb --root-owner-group --build "$root" "$out/${name}_${version}_$architecture.deb"
}

root=$temporary/bled
install -Dsm 755 -t "$root/usr/bin" "$scratch/release/"{bled,bled-bluez,ble}
install -Dm 644 -t "$root/lib/systemd/system" Packaging/systemd/{bled.service,bled.socket,bled-restore.service}
install -Dm 644 -t "$root/lib/systemd/system" Packaging/systemd/{bled-bluez,ble-gateway@}.service
install -Dm 755 -t "$root/usr/bin" Packaging/gateway/ble-gateway
install -Dm 644 -t "$root/usr/lib/python3/dist-packages/corebluetooth_linux" Python/corebluetooth_linux/{*.py,py.typed}
install -Dm 644 -t "$root/usr/share/dbus-1/system.d" Packaging/dbus/bled-bluez.conf
install -Dm 644 -t "$root/usr/lib/systemd/user" Packaging/systemd/user/bled-agent.service
install -Dm 644 -t "$root/usr/lib/sysusers.d" Packaging/sysusers.d/bled.conf
# The documents keep their folders, so that the links in them lead somewhere.
install -Dm 644 -t "$root/usr/share/doc/bled/docs" docs/*.{md,schema.json,svg,png}
install -Dm 644 -t "$root/usr/share/doc/bled/docs/guides" docs/guides/*.md
install -Dm 644 -t "$root/usr/share/doc/bled/Packaging" Packaging/README.md
worlds=Sources/BLESimulation/BLESimulation.docc
install -Dm 644 -t "$root/usr/share/doc/bled/$worlds" "$worlds/DescribingDevices.md"
install -Dm 644 -t "$root/usr/share/doc/bled/Python" Python/README.md
install -Dm 644 -t "$root/usr/share/doc/bled" README.md NOTICE
install -Dm 644 LICENSE "$root/usr/share/doc/bled/copyright"
install -Dm 755 -t "$root/DEBIAN" Packaging/deb/postinst Packaging/deb/prerm Packaging/deb/postrm
pack bled "$root" <<CONTROL
Depends: libc6 (>= 2.36), libstdc++6, init-system-helpers
Recommends: systemd
Suggests: jq, mosquitto-clients, python3 (>= 3.11)
Section: net
Description: Bluetooth Low Energy radios for all apps of a computer
 bled owns the Bluetooth adapters, and apps written for Core Bluetooth share
 them without privileges of their own. ble is a command line tool for devices,
 corebluetooth_linux a package for Python, and ble-gateway publishes what
 sensors advertise to an MQTT broker.
CONTROL

# The folder is a toolset, for swift build --toolset, and the place where ble looks for modules to install.
Packaging/toolset.sh --scratch-path "$modules_scratch" "$temporary/modules"
root=$temporary/swift folder=/usr/lib/corebluetooth-swift
mkdir -p "$root/usr/lib"
"$scratch/release/ble" toolset --from "$temporary/modules" "$root$folder"
cp -r "$temporary/modules/compat" "$root$folder"
sed -i "s|$root||g" "$root$folder/toolset.json"
install -Dm 644 -t "$root/usr/share/doc/corebluetooth-swift" docs/TOOLSET.md NOTICE
install -Dm 644 LICENSE "$root/usr/share/doc/corebluetooth-swift/copyright"
compiler=$(sed -n 's/.*"compiler": "\(.*\)".*/\1/p' "$temporary/modules/modules.json")
pack corebluetooth-swift "$root" <<CONTROL
Depends: libc6 (>= 2.36), libstdc++6, bled (= $version)
Section: libdevel
Description: Core Bluetooth for Swift packages on Linux
 The modules CoreBluetooth, CoreBluetoothExtras and BLESimulation for
 $compiler.
 Use them with "swift build --toolset $folder/toolset.json",
 or put them into the toolchain with "ble toolset --install".
CONTROL
