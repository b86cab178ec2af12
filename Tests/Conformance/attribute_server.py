"""An attribute server that is independent of the product, with a database in the JSON format of the drivers.

It answers the requests of a discovery as in Core 6.0, Vol 3, Part F, 3.4, with the given MTU.
"""

import struct

BASE = bytes.fromhex("fb349b5f8000008000100000")
PRIMARY, SECONDARY, INCLUDE, CHARACTERISTIC = "0028", "0128", "0228", "0328"
NOT_FOUND, INVALID_HANDLE, READ_NOT_PERMITTED, NOT_SUPPORTED, UNSUPPORTED_GROUP = 0x0A, 0x01, 0x02, 0x06, 0x10


def uuid_octets(text):
    return bytes.fromhex(text.replace("-", ""))[::-1]


def attributes(database):
    """Returns all attributes as (handle, type, value, last handle of the group, readable), in order."""
    found = []
    for service in database["services"]:
        kind = PRIMARY if service["type"] == "primary" else SECONDARY
        found.append((service["start"], kind, uuid_octets(service["uuid"]), service["end"], True))
        for item in service["items"]:
            handle, uuid = item["handle"], uuid_octets(item["uuid"])
            value, readable = bytes.fromhex(item.get("value", "")), item.get("permissions", 0) & 0b010101 != 0
            if item["kind"] == "include":
                value = struct.pack("<HH", item["start"], item["end"]) + (uuid if len(uuid) == 2 else b"")
                found.append((handle, INCLUDE, value, handle, True))
            elif item["kind"] == "characteristic":
                declared = struct.pack("<BH", item["properties"], item["value_handle"]) + uuid
                found.append((handle, CHARACTERISTIC, declared, handle, True))
                found.append((item["value_handle"], uuid.hex(), value, item["value_handle"], readable))
            else:
                found.append((handle, uuid.hex(), value, handle, readable))
    return sorted(found)


def ready(database):
    """Returns the line that a client prints after it has discovered this database."""
    services = []
    for service in sorted(database["services"], key=lambda service: service["start"]):
        found = []
        for item in sorted(service["items"], key=lambda item: item["handle"]):
            if item["kind"] == "characteristic":
                keys = ("uuid", "value_handle", "properties")
                found.append({**{key: item[key] for key in keys}, "descriptors": []})
            elif item["kind"] == "descriptor":
                found[-1]["descriptors"].append({"handle": item["handle"], "uuid": item["uuid"]})
        services.append({
            "uuid": service["uuid"], "primary": service["type"] == "primary", "start": service["start"],
            "end": service["end"], "characteristics": found,
        })
    return {"ready": True, "services": services}


class Server:
    def __init__(self, database, mtu):
        self.attributes = attributes(database)
        self.mtu = mtu

    def answer(self, request):
        """Returns the response to a request; an error for requests that no discovery needs."""
        handlers = {0x04: self.types, 0x06: self.by_value, 0x08: self.by_type, 0x0A: self.read, 0x10: self.groups}
        handler = handlers.get(request[0])
        return handler(request) if handler else self.error(request, 0, NOT_SUPPORTED)

    def error(self, request, handle, code):
        return struct.pack("<BBHB", 0x01, request[0], handle, code)

    def within(self, request):
        start, end = struct.unpack_from("<HH", request, 1)
        return start, [entry for entry in self.attributes if start <= entry[0] <= end]

    def types(self, request):
        start, entries = self.within(request)
        if not entries:
            return self.error(request, start, NOT_FOUND)
        length = len(entries[0][1])
        answer = bytes([0x05, 1 if length == 4 else 2])
        for handle, kind, *_ in entries:
            entry = struct.pack("<H", handle) + bytes.fromhex(kind)
            if len(kind) != length or len(answer) + len(entry) > self.mtu:
                break
            answer += entry
        return answer

    def by_value(self, request):
        start, entries = self.within(request)
        kind, wanted = request[5:7].hex(), request[7:]
        answer = b"\x07"
        for handle, _, _, end, _ in (entry for entry in entries if entry[1:3] == (kind, wanted)):
            if len(answer) + 4 <= self.mtu:
                answer += struct.pack("<HH", handle, end)
        return answer if len(answer) > 1 else self.error(request, start, NOT_FOUND)

    def by_type(self, request):
        start, entries = self.within(request)
        entries = [entry for entry in entries if entry[1] == request[5:].hex()]
        if entries and not entries[0][4]:
            return self.error(request, entries[0][0], READ_NOT_PERMITTED)
        return self.listed(0x09, [(struct.pack("<H", entry[0]), entry) for entry in entries], request, start)

    def groups(self, request):
        start, entries = self.within(request)
        kind = request[5:].hex()
        if kind not in (PRIMARY, SECONDARY):
            return self.error(request, start, UNSUPPORTED_GROUP)
        groups = [entry for entry in entries if entry[1] == kind]
        return self.listed(0x11, [(struct.pack("<HH", entry[0], entry[3]), entry) for entry in groups], request, start)

    def listed(self, opcode, entries, request, start):
        """Returns a response with as many entries as fit, have equal lengths, and are readable."""
        if not entries:
            return self.error(request, start, NOT_FOUND)
        first = (entries[0][0] + entries[0][1][2])[:self.mtu - 2]
        answer = bytes([opcode, len(first)]) + first
        for head, (_, _, value, _, readable) in entries[1:]:
            entry = head + value
            if not readable or len(entry) != len(first) or len(answer) + len(entry) > self.mtu:
                break
            answer += entry
        return answer

    def read(self, request):
        wanted, = struct.unpack_from("<H", request, 1)
        for handle, _, value, _, readable in self.attributes:
            if handle == wanted:
                return b"\x0b" + value[:self.mtu - 1] if readable else self.error(request, wanted, READ_NOT_PERMITTED)
        return self.error(request, wanted, INVALID_HANDLE)
