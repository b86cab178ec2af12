/// H4 packets for a controller, one behind the other, as a transport takes them.
package struct OutgoingPackets: Equatable, Sendable {
    /// All of them.
    package private(set) var octets: [UInt8] = []
    /// How many they are.
    package private(set) var count = 0

    package init() {}

    @inlinable package var isEmpty: Bool { count == 0 }

    /// The packet that begins behind so many octets; `nil` if all end there.
    package func packet(at start: Int) -> [UInt8]? {
        end(ofPacketAt: start).map { [UInt8](octets[start..<$0]) }
    }

    /// Where the packet that begins at `start` ends, as its header says; `nil` if none begins there.
    private func end(ofPacketAt start: Int) -> Int? {
        guard start < octets.count else { return nil }
        let isData = octets[start] == HCI.PacketType.acl.wire
        let length = isData ? Int(octets[start + 3]) | Int(octets[start + 4]) << 8 : Int(octets[start + 3])
        return start + (isData ? 5 : 4) + length
    }

    /// Appends a whole packet, a command or ACL data.
    package mutating func append(_ packet: [UInt8]) {
        let start = octets.count
        octets.append(contentsOf: packet)
        count += 1
        precondition(end(ofPacketAt: start) == octets.count, "a packet is as long as its header says")
    }

    /// Appends a packet of the Attribute Protocol with its headers: an opcode, a handle if it has one, and at most
    /// `limit` octets of a value.
    ///
    /// Core 6.0, Vol 4, Part E, 5.4.2; Vol 3, Part A, 3.1 and Part F, 3.3.1.
    package mutating func append(
        _ opcode: ATT.Opcode,
        _ attribute: AttributeHandle? = nil,
        _ value: [UInt8] = [],
        limit: Int = ATT.maximumMTU,
        on link: ConnectionHandle
    ) {
        let rest = min(value.count, limit), payload = rest + (attribute == nil ? 1 : 3)
        let length = payload + L2CAPHeader.size
        octets.append(addingCapacity: 12) { (output: inout OutputSpan<UInt8>) in
            output.append(HCI.PacketType.acl.wire)
            output.append(octetsOf: link.wire | ACLHeader.Boundary.firstFromHost.rawValue << 12)
            output.append(octetsOf: UInt16(truncatingIfNeeded: length))
            output.append(octetsOf: UInt16(truncatingIfNeeded: payload))
            output.append(octetsOf: ChannelIdentifier.attribute.wire)
            output.append(opcode.wire)
            if let attribute { output.append(octetsOf: attribute.wire) }
        }
        if rest == value.count {
            octets.append(contentsOf: value)
        } else {
            octets.append(contentsOf: value[..<rest])
        }
        count += 1
    }

    package mutating func removeAll() {
        guard count > 0 else { return }
        octets.removeAll(keepingCapacity: true)
        count = 0
    }

    /// Calls `body` with each packet, in order.
    package func forEach(_ body: (Span<UInt8>) -> Void) {
        var start = 0
        while let end = end(ofPacketAt: start) {
            body(octets.span.extracting(start..<end))
            start = end
        }
    }
}

extension OutputSpan<UInt8> {
    /// Appends an integer, the least significant octet first.
    @inline(__always)
    fileprivate mutating func append(octetsOf value: UInt16) {
        append(UInt8(truncatingIfNeeded: value))
        append(UInt8(truncatingIfNeeded: value >> 8))
    }
}
