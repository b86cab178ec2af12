"""A program with dbus-python whose characteristic returns sockets from AcquireWrite and AcquireNotify.

It prints its events, one a line. A value that a central writes is notified to that central if it has subscribed.
"""

import os
import socket

import dbus
import dbus.mainloop.glib
import dbus.service
from gi.repository import GLib

ADAPTER, BUS = "/org/bluez/hci0", "org.freedesktop.DBus"
SERVICE, VALUE, ROOT = "/acquire/service", "/acquire/service/value", "/acquire"
CHARACTERISTIC, PROPERTIES = "org.bluez.GattCharacteristic1", BUS + ".Properties"
FLAGS = ["read", "write", "write-without-response", "notify"]
OBJECTS = {
    dbus.ObjectPath(SERVICE): {"org.bluez.GattService1": {"UUID": "ff00", "Primary": True}},
    dbus.ObjectPath(VALUE): {CHARACTERISTIC: {
        "UUID": "ff01", "Service": dbus.ObjectPath(SERVICE), "Flags": dbus.Array(FLAGS, signature="s"),
        "WriteAcquired": False, "NotifyAcquired": False}},
}
ADVERTISEMENT = {"Type": "peripheral", "LocalName": "Acquire"}
sockets = {}


def say(*words):
    print(*words, flush=True)


def acquire(kind, options, receive):
    """Creates a pair of sockets, and returns one of them with the MTU."""
    own, other = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)

    def ready(_, condition):
        value = own.recv(512)
        if value:
            receive(value)
            return True
        say(kind, "ended")
        sockets.pop(kind, None)
        own.close()
        return False

    sockets[kind] = own
    GLib.io_add_watch(own, GLib.IO_IN | GLib.IO_HUP, ready)
    mtu = options["mtu"]
    say(kind, "acquired", "device" in options, options["link"], mtu > 23)
    with other:
        return dbus.types.UnixFd(other), mtu


def written(value):
    say("written", value.hex())
    if "notify" in sockets:
        sockets["notify"].send(value)


class Root(dbus.service.Object):
    @dbus.service.method(BUS + ".ObjectManager", out_signature="a{oa{sa{sv}}}")
    def GetManagedObjects(self):
        return OBJECTS

    @dbus.service.method(PROPERTIES, in_signature="s", out_signature="a{sv}")
    def GetAll(self, interface):
        return ADVERTISEMENT


class Value(dbus.service.Object):
    @dbus.service.method(CHARACTERISTIC, in_signature="a{sv}", out_signature="hq")
    def AcquireWrite(self, options):
        return acquire("write", options, written)

    @dbus.service.method(CHARACTERISTIC, in_signature="a{sv}", out_signature="hq")
    def AcquireNotify(self, options):
        answer = acquire("notify", options, lambda value: say("confirmed", value.hex()))
        for octet in (1, 2):
            sockets["notify"].send(bytes([octet]))
        return answer

    @dbus.service.method(CHARACTERISTIC, in_signature="aya{sv}")
    def WriteValue(self, value, options):
        say("WriteValue")

    @dbus.service.method(CHARACTERISTIC)
    def StartNotify(self):
        say("StartNotify")


dbus.mainloop.glib.DBusGMainLoop(set_as_default=True)
bus = dbus.SystemBus()
objects = [Root(bus, ROOT), Value(bus, VALUE)]
say("bridge", bus.get_object(BUS, "/org/freedesktop/DBus").GetConnectionUnixProcessID("org.bluez", dbus_interface=BUS))
# Sends a file descriptor that bled-bluez does not expect.
with open(os.devnull) as file:
    try:
        bus.call_blocking("org.bluez", ADAPTER, "org.bluez.Adapter1", "Fly", "h", [dbus.types.UnixFd(file)])
    except dbus.DBusException as error:
        say("refused", error.get_dbus_name())
adapter = bus.get_object("org.bluez", ADAPTER)
for interface, member in [
        ("GattManager1", "RegisterApplication"), ("LEAdvertisingManager1", "RegisterAdvertisement")]:
    adapter.get_dbus_method(member, "org.bluez." + interface)(
        dbus.ObjectPath(ROOT), dbus.Dictionary(signature="sv"), reply_handler=lambda member=member: say(member),
        error_handler=lambda error: say(str(error)))
GLib.MainLoop().run()
