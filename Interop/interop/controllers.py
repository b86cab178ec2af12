"""Two virtual controllers on one radio, served as HCI over H4 on loopback ports, in three makes."""

from __future__ import annotations

import asyncio
import contextlib
import itertools
import logging
import pathlib
from collections.abc import AsyncIterator
from typing import NamedTuple

from bumble import hci, ll
from bumble.controller import Connection, Controller
from bumble.core import PhysicalTransport
from bumble.link import LocalLink
from bumble.transport.common import PacketParser

from .ports import free_ports
from .processes import HOME, connected, running
from .tool import BLE

VACANCY = 0.3
"""Seconds until rootcanal has noticed that a host has left: the next host gets its controller and address."""


class Endpoints(NamedTuple):
    """The ports of two controllers. They may be the same, if each connection to it is a controller of its own."""

    first: int
    second: int


@contextlib.asynccontextmanager
async def rootcanal(log: pathlib.Path) -> AsyncIterator[Endpoints]:
    """Runs rootcanal, where every connection to one port is a new controller."""
    controller, control, link, le_link = free_ports(4)
    ports = {"hci_port": controller, "test_port": control, "link_port": link, "link_ble_port": le_link}
    options = [f"-{name}={port}" for name, port in ports.items()]
    if logging.getLogger().isEnabledFor(logging.DEBUG):
        options.append("-enable_hci_sniffer=true")
    loopback = {"LD_PRELOAD": str(HOME / "rootcanal-loopback.so")}
    command = [str(HOME / "rootcanal"), "-enable_log_color=false", *options]
    async with running(log, *command, environment=loopback) as process:
        # The port for controllers opens last, so a host connects and leaves. Leaving the test port would end rootcanal.
        async with connected(control, process):
            async with connected(controller, process):
                pass
            yield Endpoints(controller, controller)


@contextlib.asynccontextmanager
async def ours(log: pathlib.Path) -> AsyncIterator[Endpoints]:
    """Runs this project's controllers: `ble radio`."""
    first, second = free_ports(2)
    async with running(log, BLE, "radio", "--port", str(first), "--port", str(second)) as process:
        for port in (first, second):
            async with connected(port, process):
                pass
        yield Endpoints(first, second)


@contextlib.asynccontextmanager
async def bumble(log: pathlib.Path) -> AsyncIterator[Endpoints]:
    """Runs Bumble's controllers, in this process."""
    ports = free_ports(2)
    radio = _Radio()
    servers = [await asyncio.start_server(radio.serve, "127.0.0.1", port) for port in ports]
    try:
        yield Endpoints(*ports)
    finally:
        for server in servers:
            server.close()


class _Radio(LocalLink):
    """Bumble's radio, for hosts that come and go.

    Its own treats every packet as sent from the random address of a controller. Here a packet comes from the address
    that its connection was made with, which may be the public one.
    """

    def __init__(self) -> None:
        super().__init__()
        self._numbers = itertools.count(1)

    def send_acl_data(
        self, sender_controller: Controller, destination_address: hci.Address, transport: PhysicalTransport, data: bytes
    ) -> None:
        sent_on = sender_controller.le_connections.get(destination_address)
        receiver = self._other_end(sent_on) if sent_on else None
        if sent_on and receiver:
            asyncio.get_running_loop().call_soon(receiver.on_link_acl_data, sent_on.self_address, transport, data)

    def _other_end(self, connection: Connection) -> Controller | None:
        for controller in self.controllers:
            back = controller.le_connections.get(connection.self_address)
            if back and back.self_address == connection.peer_address:
                return controller
        return None

    async def serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        """Runs a controller for the host that has just connected, until it disconnects.

        A new connection gets a new controller, since Bumble's does nothing upon HCI Reset.
        """
        number = next(self._numbers)
        address = f"C0:FF:EE:00:{number >> 8:02X}:{number & 0xFF:02X}"
        controller = _Controller(f"C{number}", host_sink=_Sink(writer), link=self, public_address=address)
        parser = PacketParser(controller)
        try:
            while data := await reader.read(4096):
                parser.feed_data(data)
        except (ConnectionError, asyncio.CancelledError):
            pass  # The host has disconnected, or the round is over.
        finally:
            self._switch_off(controller)
            writer.close()

    def _switch_off(self, controller: Controller) -> None:
        controller.host = None
        for advertiser in (controller.le_legacy_advertiser, *controller.advertising_sets.values()):
            advertiser.stop()
        for connection in controller.le_connections.values():
            if other := self._other_end(connection):
                lost = ll.TerminateInd(hci.HCI_ErrorCode.CONNECTION_TIMEOUT_ERROR)
                other.on_ll_control_pdu(connection.self_address, lost)
        self.remove_controller(controller)


class _Controller(Controller):
    """Bumble's controller, which no longer announces two commands that it does not support.

    It refuses one of them, and never answers the other.
    """

    supported_commands = Controller.supported_commands - {
        hci.HCI_LE_SET_DATA_LENGTH_COMMAND,
        hci.HCI_LE_SET_PHY_COMMAND,
    }


class _Sink:
    """The connection that carries packets from a controller to its host."""

    def __init__(self, writer: asyncio.StreamWriter) -> None:
        self._writer = writer

    def on_packet(self, packet: bytes) -> None:
        if not self._writer.is_closing():
            self._writer.write(packet)


MAKES = {"rootcanal": rootcanal, "bumble": bumble, "ours": ours}
