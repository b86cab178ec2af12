"""A program that indicates the next value when a device has confirmed the one before, with dbus-fast."""

import asyncio

from dbus_fast import BusType, Message, MessageType, Variant
from dbus_fast.aio import MessageBus

ADAPTER = "/org/bluez/hci0"
SERVICE, VALUE = "/confirm/service", "/confirm/service/value"
OBJECTS = {
    SERVICE: {"org.bluez.GattService1": {"UUID": Variant("s", "ff00"), "Primary": Variant("b", True)}},
    VALUE: {"org.bluez.GattCharacteristic1": {
        "UUID": Variant("s", "ff01"), "Service": Variant("o", SERVICE), "Flags": Variant("as", ["indicate"])}},
}
ADVERTISEMENT = {"Type": Variant("s", "peripheral"), "LocalName": Variant("s", "Confirm")}


async def main():
    bus = await MessageBus(bus_type=BusType.SYSTEM).connect()
    value = 0

    def indicate():
        nonlocal value
        value += 1
        change = {"Value": Variant("ay", bytes([value]))}
        bus.send(Message.new_signal(VALUE, "org.freedesktop.DBus.Properties", "PropertiesChanged", "sa{sv}as",
                                    ["org.bluez.GattCharacteristic1", change, []]))

    def receive(message):
        if message.message_type != MessageType.METHOD_CALL:
            return None
        if message.member == "GetManagedObjects":
            return Message.new_method_return(message, "a{oa{sa{sv}}}", [OBJECTS])
        if message.member == "GetAll":
            return Message.new_method_return(message, "a{sv}", [ADVERTISEMENT])
        if message.path == VALUE and message.member in ("StartNotify", "Confirm"):
            indicate()
        return Message.new_method_return(message)

    bus.add_message_handler(receive)
    for interface, member in [
            ("GattManager1", "RegisterApplication"), ("LEAdvertisingManager1", "RegisterAdvertisement")]:
        reply = await bus.call(Message(destination="org.bluez", path=ADAPTER, interface="org.bluez." + interface,
                                       member=member, signature="oa{sv}", body=["/confirm", {}]))
        assert reply.message_type == MessageType.METHOD_RETURN, f"{member}: {reply.error_name} {reply.body}"
    await asyncio.Event().wait()


asyncio.run(main())
