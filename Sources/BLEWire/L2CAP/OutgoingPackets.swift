/// H4 packets for a controller, one behind the other, as a transport takes them.
///
/// They are written in place, into storage that is kept when they have been taken.
@usableFromInline package struct OutgoingPackets: Sendable {
    /// The packets, and behind them what is of no account.
    private var storage: [UInt8] = []
    /// Where the packets end.
    private var end = 0
    /// How many they are.
    @usableFromInline package private(set) var count = 0

    package init() {}

    @inlinable @inline(__always) package var isEmpty: Bool { count == 0 }

    /// All of them.
    package var span: Span<UInt8> {
        @_lifetime(borrow self)
        get { storage.span.extracting(0..<end) }
    }

    /// A copy of all of them.
    package var octets: [UInt8] { [UInt8](storage[..<end]) }

    /// The packet that begins behind so many octets; `nil` if all end there.
    package func packet(at start: Int) -> [UInt8]? {
        end(ofPacketAt: start).map { [UInt8](storage[start..<$0]) }
    }

    /// Where the packet that begins at `start` ends, as its header says; `nil` if none begins there.
    private func end(ofPacketAt start: Int) -> Int? {
        guard start < end else { return nil }
        let isData = storage[start] == HCI.PacketType.acl.wire
        let length = isData ? Int(storage[start + 3]) | Int(storage[start + 4]) << 8 : Int(storage[start + 3])
        return start + (isData ? 5 : 4) + length
    }

    /// Appends a whole packet, a command or ACL data.
    package mutating func append(_ packet: [UInt8]) {
        let start = end
        makeRoom(for: packet.count)
        storage.replaceSubrange(start..<(start + packet.count), with: packet)
        end = start + packet.count
        count += 1
        precondition(end(ofPacketAt: start) == end, "a packet is as long as its header says")
    }

    /// Appends a packet of ACL data with what a fragment holds.
    ///
    /// Core 6.0, Vol 4, Part E, 5.4.2.
    package mutating func append(_ contents: Span<UInt8>, _ boundary: ACLHeader.Boundary, on link: ConnectionHandle) {
        let front = 1 + ACLHeader.size, field = link.wire | boundary.rawValue << 12, start = end
        makeRoom(for: front + contents.count)
        var room = storage.mutableSpan
        var packet = room._mutatingExtracting(start..<(start + front + contents.count))
        packet[0] = HCI.PacketType.acl.wire
        packet[1] = UInt8(truncatingIfNeeded: field)
        packet[2] = UInt8(truncatingIfNeeded: field >> 8)
        packet[3] = UInt8(truncatingIfNeeded: contents.count)
        packet[4] = UInt8(truncatingIfNeeded: contents.count >> 8)
        var written = packet._mutatingExtracting(front..<(front + contents.count))
        for index in 0..<min(written.count, contents.count) { written[index] = contents[index] }
        end += front + contents.count
        count += 1
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
        let rest = min(value.count, limit), front = attribute == nil ? 10 : 12
        let payload = front - 9 + rest, length = payload + L2CAPHeader.size
        makeRoom(for: 12 + rest)
        let field = link.wire | ACLHeader.Boundary.firstFromHost.rawValue << 12, handle = attribute?.wire ?? 0
        let start = end
        var room = storage.mutableSpan
        var packet = room._mutatingExtracting(start..<(start + 12 + rest))
        packet[0] = HCI.PacketType.acl.wire
        packet[1] = UInt8(truncatingIfNeeded: field)
        packet[2] = UInt8(truncatingIfNeeded: field >> 8)
        packet[3] = UInt8(truncatingIfNeeded: length)
        packet[4] = UInt8(truncatingIfNeeded: length >> 8)
        packet[5] = UInt8(truncatingIfNeeded: payload)
        packet[6] = UInt8(truncatingIfNeeded: payload >> 8)
        packet[7] = UInt8(truncatingIfNeeded: ChannelIdentifier.attribute.wire)
        packet[8] = UInt8(truncatingIfNeeded: ChannelIdentifier.attribute.wire >> 8)
        packet[9] = opcode.wire
        packet[10] = UInt8(truncatingIfNeeded: handle)
        packet[11] = UInt8(truncatingIfNeeded: handle >> 8)
        if rest > 0 {
            // A part of its own, so that what is compared for each octet is the same in both.
            var written = packet._mutatingExtracting(front..<(front + rest))
            let octets = value.span
            for index in 0..<min(written.count, octets.count) { written[index] = octets[index] }
        }
        end += front + rest
        count += 1
    }

    /// Makes sure that so many octets can be written behind the packets.
    @inline(__always)
    private mutating func makeRoom(for octets: Int) { if storage.count - end < octets { grow(by: octets) } }

    @inline(never)
    private mutating func grow(by octets: Int) {
        storage.append(contentsOf: repeatElement(0, count: max(octets, storage.count, 256)))
    }

    package mutating func removeAll() { (end, count) = (0, 0) }

    /// Calls `body` with each packet, in order.
    package func forEach(_ body: (Span<UInt8>) -> Void) {
        var start = 0
        while let next = end(ofPacketAt: start) {
            body(storage.span.extracting(start..<next))
            start = next
        }
    }
}
