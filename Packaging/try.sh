#!/bin/bash
# Installs, uses and purges the packages in a clean Debian that systemd has booted: try.sh BLED-DEB [SWIFT-DEB]
#
# Run it in there as root, in a container or a machine that is for nothing else. Its radio is a simulated world.
# Python and the gateway are tried if python3, mosquitto, mosquitto_sub and jq are installed.
# SWIFT-DEB needs Swift's toolchain in PATH; try-toolset.sh tries that package without systemd.
set -euo pipefail

deb=$1
here=$(realpath "$(dirname "$0")")
step() { echo "== $*"; }
fail() { echo "FAILED: $*" >&2; exit 1; }
before=$(find / -xdev -name '*bled*' -not -path "$deb" 2> /dev/null | sort)

step "the package is installed, and nothing runs yet"
mkdir -p /etc/systemd/system/bled.service.d
printf '[Service]\nExecStart=\nExecStart=/usr/bin/bled demo\n' > /etc/systemd/system/bled.service.d/demo.conf
dpkg -i "$deb"
systemctl is-active bled.socket
systemctl is-active bled.service && fail "the service runs before an app needs it"

step "an app of an unprivileged user starts it, and finds a device"
useradd -m visitor
app() { runuser -u visitor -- env -u BLUETOOTH_HOST "$@"; }
app ble scan --duration 2 | tee /tmp/scan
grep -q Lamp /tmp/scan || fail "the app finds nothing"
systemctl is-active bled.service
[ "$(stat -c %U "/proc/$(pidof bled)")" = bled ] || fail "the daemon does not run as the user bled"
grep -q 'CapEff:.*0000000000001000' "/proc/$(pidof bled)/status" || fail "the daemon has capabilities other than CAP_NET_ADMIN"

step "a policy applies after a reload, also to running apps"
app ble policy | grep "no policy" || fail "there is a policy"
echo '{"rules": [{"user": "root"}]}' > /etc/bled/policy.json
systemctl reload bled
app timeout 20 ble scan --duration 1 && fail "an app that may not use Bluetooth does"
app ble policy | grep "may not use Bluetooth" || fail "ble policy does not say why"
ble scan --duration 1 | grep Lamp || fail "root finds nothing"
rm /etc/bled/policy.json
systemctl reload bled

step "a killed daemon is started again for the next app"
kill -9 "$(pidof bled)"
sleep 2
app ble scan --duration 2 | grep Lamp || fail "the app finds nothing after the daemon was killed"

step "a restarted daemon serves apps on the socket that it had before"
systemctl restart bled
app ble scan --duration 2 | grep Lamp || fail "the app finds nothing after the daemon was restarted"
systemctl stop bled.service
app ble scan --duration 2 | grep Lamp || fail "the app finds nothing after the daemon was stopped"

if command -v python3 > /dev/null; then
    step "Python finds the package, and a program uses the daemon"
    app python3 - << 'END' || fail "the Python package does not work"
import asyncio
from corebluetooth_linux import Session
async def main():
    async with Session() as session, await session.connect("Heart") as heart:
        print((await heart.read("Battery Level")).reading)
asyncio.run(main())
END
fi
if command -v mosquitto > /dev/null && command -v jq > /dev/null; then
    step "the gateway is off, and publishes what sensors advertise when it is on"
    systemctl is-enabled ble-gateway@kitchen && fail "the gateway is on"
    systemctl start mosquitto
    install -Dm 600 <(echo "-h 127.0.0.1") /etc/ble-gateway/mosquitto_pub
    systemctl start ble-gateway@kitchen
    timeout 60 mosquitto_sub -h 127.0.0.1 -t home/kitchen/BTtoMQTT/undecoded -C 3 || fail "the gateway publishes nothing"
    [ "$(timeout 60 mosquitto_sub -h 127.0.0.1 -t home/kitchen/LWT -C 1)" = online ] || fail "the gateway is not online"
    systemctl stop ble-gateway@kitchen
    result=$(systemctl show --property Result --value ble-gateway@kitchen)
    [ "$result" = success ] || fail "the gateway ended with $result"
fi

step "BlueZ's D-Bus API is off"
systemctl is-enabled bled-bluez && fail "bled-bluez is on"
systemctl is-active bled-bluez && fail "bled-bluez runs"

step "the package works again after it was removed and installed"
dpkg -r bled
dpkg -i "$deb"
systemctl is-active bled.socket
app ble scan --duration 2 | grep Lamp || fail "the app finds nothing after the package was installed again"

step "purging leaves nothing"
dpkg -P bled
rm -r /etc/systemd/system/bled.service.d "$(getent passwd visitor | cut -d: -f6)"
pidof bled && fail "the daemon still runs"
after=$(find / -xdev -name '*bled*' -not -path "$deb" 2> /dev/null | grep -v '^/var/lib/dpkg' | sort)
[ "$(comm -13 <(echo "$before") <(echo "$after"))" = "" ] || fail "left behind: $(comm -13 <(echo "$before") <(echo "$after"))"
[ -z "${2:-}" ] || "$here/try-toolset.sh" "$deb" "$2"
echo "All checks passed."
