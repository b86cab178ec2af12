"""The hostile counterparts of a host: its controller, or a peer behind a good controller."""

import hci
import packets
from hosts import CHUNK
from socketry import Closed
from victim import Finding

# After this input, the controller completes no more of the host's packets until the link has ended.
NO_ROOM = hci.completed(hci.Controller.HANDLE, 0)


class HostileController:
    """Events and data from a hostile controller, from the first answer or later."""

    def __init__(self, host, kinds):
        self.host, self.kinds = host, kinds

    def inputs(self, dice, count):
        """Returns inputs, sometimes with hostile answers during the setup, or with a truncated packet at the end."""
        inputs = []
        if dice.chance(0.15):
            inputs += [packets.answer(dice, opcode) for opcode in packets.SETUP if dice.chance(0.3)]
        inputs += [self.kinds(dice) for _ in range(count - len(inputs))]
        if dice.chance(0.05):
            inputs[-1] = dice.octets(1 + dice.length(64)) if dice.chance(0.3) else inputs[-1][:-1]
        return inputs

    def offer(self, inputs):
        host = self.host
        hostile_answers = [each for each in inputs if hci.answered(each) in packets.SETUP]
        others = [each for each in inputs if hci.answered(each) not in packets.SETUP]
        try:
            if hostile_answers:
                self.set_up(hostile_answers)
            host.send(others)
            if not hostile_answers and all(map(hci.is_whole, others)):
                while host.pump(0.02):
                    pass
                # The host's view of links and buffers differs from that of a good controller.
                host.renew()
                return host.ask()
            host.connection.finish()
        except Closed:
            pass
        self.reconnect()

    def set_up(self, hostile_answers):
        """Makes the host set up the controller again, with hostile answers."""
        host = self.host
        for answer in hostile_answers:
            host.controller.planned.setdefault(hci.answered(answer), []).append(answer)
        host.connection.send(hci.event(hci.HARDWARE_ERROR, b"\x00"))
        while host.pump(0.1):
            pass

    def reconnect(self):
        """Connects as a new controller, and expects that the host works again."""
        host = self.host
        host.disconnect()
        try:
            host.connect()
            host.ask()
        except Finding:
            host.victim.look()
            if host.victim.is_running:
                raise
            host.restart()


class HostilePeer:
    """Packets that a peer sends over a good controller."""

    def __init__(self, host, likely):
        self.host, self.likely = host, likely

    def inputs(self, dice, count):
        """Returns inputs; sometimes the host's packets stop being acknowledged after one of them."""
        inputs = [packets.peer_data(dice, self.likely) for _ in range(count)]
        if dice.chance(0.2):
            inputs[dice.below(count)] = NO_ROOM
        return inputs

    def offer(self, inputs):
        host = self.host
        try:
            for place in range(0, len(inputs), CHUNK):
                if host.controller.link is None:
                    host.connection.send(host.controller.link_up())
                host.controller.gives_room &= NO_ROOM not in inputs[place:place + CHUNK]
                host.send(inputs[place:place + CHUNK])
            while host.pump(0.02):
                pass
            if host.controller.link is not None:
                host.connection.send(host.controller.link_down())
            host.controller.frames.clear()
            host.settle()
            host.ask()
        except Closed:
            raise Finding("disconnected from a good controller") from None
