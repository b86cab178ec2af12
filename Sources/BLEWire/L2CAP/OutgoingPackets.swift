/// The outgoing H4 packets for a controller, one after the other in one buffer.
///
/// Packets are encoded directly into the buffer, which is reused.
@usableFromInline package struct OutgoingPackets: Sendable {
    /// The packets, followed by unused octets.
    private var storage: [UInt8] = []
    /// The offset of the end of the last packet.
    private var end = 0
    @usableFromInline package private(set) var count = 0

    package init() {}

    @inlinable @inline(__always) package var isEmpty: Bool { count == 0 }

    /// A view of all packets.
    package var span: Span<UInt8> {
        @_lifetime(borrow self)
        get { storage.span.extracting(0..<end) }
    }

    /// A copy of all packets.
    package var octets: [UInt8] { [UInt8](storage[..<end]) }

    /// Returns the packet that starts at the offset `start`; `nil` if there is none.
    package func packet(at start: Int) -> [UInt8]? {
        end(ofPacketAt: start).map { [UInt8](storage[start..<$0]) }
    }

    /// Returns the end offset of the packet that starts at `start`, as computed from its header; `nil` if no packet
    /// starts there.
    private func end(ofPacketAt start: Int) -> Int? {
        guard start < end else { return nil }
        let isData = storage[start] == HCI.PacketType.acl.wire
        let length = isData ? Int(storage[start + 3]) | Int(storage[start + 4]) << 8 : Int(storage[start + 3])
        return start + (isData ? ACLHeader.h4Size : 4) + length
    }

    /// Appends a complete H4 packet, which is a command or ACL data.
    package mutating func append(_ packet: [UInt8]) {
        let start = end
        makeRoom(for: packet.count)
        storage.replaceSubrange(start..<(start + packet.count), with: packet)
        end = start + packet.count
        count += 1
        precondition(end(ofPacketAt: start) == end, "a packet must have the length that its header states")
    }

    /// Appends an ACL data packet with the part of a payload that `range` selects.
    ///
    /// `range` counts the octets of the L2CAP header first, then those of the payload.
    ///
    /// Core 6.0, Vol 4, Part E, 5.4.2; Vol 3, Part A, 3.1 and 7.2.1.
    @inline(__always)
    package mutating func append(
        _ payload: borrowing OutgoingPayload,
        _ range: Range<Int>,
        on channel: ChannelIdentifier,
        of link: ConnectionHandle
    ) {
        let front = ACLHeader.h4Size, start = end, headerCount = payload.headerCount
        // All header octets are written, even unused ones. The payload then overwrites the unused ones.
        makeRoom(for: front + Self.mostOfHeader + range.count)
        let boundary: ACLHeader.Boundary = range.lowerBound == 0 ? .firstFromHost : .continuing
        let h4 = ACLHeader(handle: link, boundary: boundary, length: UInt16(truncatingIfNeeded: range.count)).h4
        let rest = payload.header(on: channel) &>> UInt64(truncatingIfNeeded: 8 &* range.lowerBound)
        var room = storage.mutableSpan
        var headers = room._mutatingExtracting(start..<(start + front + Self.mostOfHeader))
        // One check here saves a bounds check for each octet.
        precondition(headers.count == front + Self.mostOfHeader, "there must be room for the headers")
        for index in 0..<front { headers[index] = UInt8(truncatingIfNeeded: h4 &>> UInt64(8 &* index)) }
        for index in 0..<Self.mostOfHeader {
            headers[front + index] = UInt8(truncatingIfNeeded: rest &>> UInt64(8 &* index))
        }
        let first = max(range.lowerBound - headerCount, 0), count = range.upperBound - headerCount - first
        if count > 0 {
            let place = start + front + range.count - count
            var written = room._mutatingExtracting(place..<(place + count))
            let octets = payload.octets.span.extracting(first..<(first + count))
            for index in 0..<min(written.count, octets.count) { written[index] = octets[index] }
        }
        end += front + range.count
        self.count += 1
    }

    /// Appends an ATT packet with all its headers.
    ///
    /// The packet has an opcode, an optional handle, and at most `limit` octets of a value.
    @inline(__always)
    package mutating func append(
        _ opcode: ATT.Opcode,
        _ attribute: AttributeHandle? = nil,
        _ value: [UInt8] = [],
        limit: Int = ATT.maximumMTU,
        on link: ConnectionHandle
    ) {
        let payload = OutgoingPayload(opcode, attribute, value, limit: limit)
        append(payload, 0..<payload.length, on: .attribute, of: link)
    }

    /// The length of the L2CAP header, an opcode and a handle together, in octets.
    private static var mostOfHeader: Int { L2CAPHeader.size + 3 }

    /// Reserves space for `octets` after the last packet.
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
