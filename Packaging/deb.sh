#!/bin/bash
# Builds the Debian package of bled and ble: Packaging/deb.sh [FOLDER]
#
# The package is put into FOLDER, this one if left out. The programs hold Swift's libraries, so that those who install
# them need no toolchain. It takes a whole build, and dpkg-deb.
set -euo pipefail
cd "$(dirname "$0")/.."

out=$(realpath "${1:-.}")
version=$(sed -n 's/.*version: "\(.*\)".*/\1/p' Sources/bled/Bled.swift)
architecture=$(dpkg --print-architecture)
scratch=${DEB_SCRATCH:-.build-deb}
for product in bled ble; do
    swift build -c release --static-swift-stdlib --scratch-path "$scratch" --product "$product"
done

root=$(mktemp -d)
trap 'rm -rf "$root"' EXIT
chmod 755 "$root"
install -Dsm 755 -t "$root/usr/bin" "$scratch/release/bled" "$scratch/release/ble"
install -Dm 644 -t "$root/lib/systemd/system" Packaging/systemd/{bled.service,bled.socket,bled-restore.service}
install -Dm 644 -t "$root/usr/lib/systemd/user" Packaging/systemd/user/bled-agent.service
install -Dm 644 -t "$root/usr/lib/sysusers.d" Packaging/sysusers.d/bled.conf
install -Dm 644 -t "$root/usr/share/doc/bled" docs/DAEMON.md NOTICE
install -Dm 644 LICENSE "$root/usr/share/doc/bled/copyright"
install -Dm 755 -t "$root/DEBIAN" Packaging/deb/postinst Packaging/deb/prerm Packaging/deb/postrm
cat > "$root/DEBIAN/control" <<CONTROL
Package: bled
Version: $version
Architecture: $architecture
Maintainer: Core Bluetooth for Linux <bled@localhost>
Depends: libc6 (>= 2.36), libstdc++6, init-system-helpers
Recommends: systemd
Section: net
Priority: optional
Installed-Size: $(du -sk "$root/usr" | cut -f1)
Description: Bluetooth Low Energy radios for all apps of a computer
 bled has the Bluetooth adapters, and apps written for Core Bluetooth share
 them without a right to them. ble is a command line tool for devices.
CONTROL
dpkg-deb --root-owner-group --build "$root" "$out/bled_${version}_$architecture.deb"
