/// A reassembler, which joins the ACL fragments of one link into L2CAP packets.
///
/// It holds at most one packet. A packet's length has 16 bits, so a peer cannot make it use more than about 64 KiB.
///
/// Core 6.0, Vol 3, Part A, 7.2.1.
package struct Reassembler: Sendable {
    private enum State: Sendable {
        /// The next fragment must start a packet.
        case idle
        /// A packet is incomplete. The array contains the reserved octets and then the octets received so far, possibly
        /// only a part of the L2CAP header.
        case collecting([UInt8])
    }

    private var state = State.idle
    private let room: Int

    /// Creates a reassembler for a new link; it reserves `room` octets for a header in front of each packet that it
    /// joins.
    package init(room: Int = 0) { self.room = room }

    /// The result of processing a fragment.
    package enum OnFragment: Equatable {
        /// The fragment is itself a complete packet, and was not copied.
        case whole
        /// The fragment completes a packet. The array contains the reserved octets and then the packet.
        case complete([UInt8])
        /// The packet needs more fragments.
        case incomplete
        /// The fragment was dropped, together with the octets received so far: it is longer than the rest of its
        /// packet, or no first fragment came before it.
        case dropped(PacketError)
    }

    /// True while a packet is incomplete.
    package var isCollecting: Bool {
        if case .collecting = state { true } else { false }
    }

    /// Processes the first fragment of a packet.
    ///
    /// A previous packet that is still incomplete is dropped.
    package mutating func begin(_ fragment: Span<UInt8>) -> OnFragment {
        state = .idle
        let length = Self.length(fragment)
        if length == fragment.count { return .whole }
        var collected: [UInt8] = []
        collected.reserveCapacity(room + max(length ?? 0, fragment.count))
        collected.append(contentsOf: repeatElement(0, count: room))
        collected.append(copying: fragment)
        return check(collected)
    }

    /// Processes a continuation fragment.
    package mutating func proceed(_ fragment: Span<UInt8>) -> OnFragment {
        switch state {
        case .idle: return .dropped(.reserved(field: "Packet Boundary Flag"))
        case .collecting(var collected):
            state = .idle
            collected.append(copying: fragment)
            return check(collected)
        }
    }

    private mutating func check(_ collected: consuming [UInt8]) -> OnFragment {
        let count = collected.count - room
        guard let length = Self.length(collected.span.extracting(droppingFirst: room)), length <= count else {
            state = .collecting(collected)
            return .incomplete
        }
        guard length == count else { return .dropped(.trailing(count: count - length)) }
        return .complete(collected)
    }

    /// Returns the length of a packet including its header; `nil` if the header is incomplete.
    private static func length(_ bytes: Span<UInt8>) -> Int? {
        guard bytes.count >= L2CAPHeader.size else { return nil }
        return L2CAPHeader.size + Int(bytes[0]) + Int(bytes[1]) << 8
    }
}
