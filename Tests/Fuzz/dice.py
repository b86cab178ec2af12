"""Seeded random choices: numbers at the edges of ranges, and packets that are nearly right."""

import random

EDGES = {
    1: [0x00, 0x01, 0x02, 0x7F, 0x80, 0xFE, 0xFF],
    2: [0x0000, 0x0001, 0x0017, 0x00FF, 0x0100, 0x0200, 0x0EFF, 0x0F00, 0x7FFF, 0x8000, 0xFFFE, 0xFFFF],
}


class Dice(random.Random):
    """A random generator whose seed gives the same inputs in every process."""

    def below(self, limit):
        return int(self.random() * limit)

    def chance(self, probability):
        return self.random() < probability

    def one(self, choices):
        return choices[int(self.random() * len(choices))]

    def octets(self, count):
        return self.getrandbits(8 * count).to_bytes(count, "little") if count else b""

    def number(self, width):
        """Returns the octets of a number of one or two octets; in half of the cases it is an edge of some range."""
        value = self.one(EDGES[width]) if self.random() < 0.5 else self.getrandbits(8 * width)
        return value.to_bytes(width, "little")

    def length(self, most):
        """Returns a length that is usually short."""
        return int(self.random() ** 3 * (most + 1))

    def mutated(self, packet):
        """Returns the packet after one to three small mutations."""
        octets = bytearray(packet)
        for _ in range(1 + self.below(3)):
            self._spoil(octets)
        return bytes(octets)

    def _spoil(self, octets):
        place, accident = self.below(len(octets) + 1), self.below(7)
        if accident == 0 and place < len(octets):
            octets[place] ^= 1 << self.below(8)
        elif accident == 1 and place < len(octets):
            octets[place] = self.one(EDGES[1])
        elif accident == 2 and place + 1 < len(octets):
            octets[place:place + 2] = self.number(2)
        elif accident == 3:
            del octets[place:]
        elif accident == 4:
            octets += self.octets(self.length(32))
        elif accident == 5:
            del octets[place:place + 1 + self.below(4)]
        else:
            octets[place:place] = octets[place:place + 1 + self.below(8)]
