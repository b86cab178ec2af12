/// Puts the L2CAP packets of one link together again from the fragments that a controller passes on.
///
/// What is collected is at most one packet: its header says how long it is, in 16 bits, so that no peer can make it
/// grow beyond 64 KiB.
///
/// Core 6.0, Vol 3, Part A, 7.2.1.
package struct Reassembler: Sendable {
    private enum State: Sendable {
        /// The next fragment must begin a packet.
        case idle
        /// The beginning of a packet is here, behind the room; it may be less than the header.
        case collecting([UInt8])
    }

    private var state = State.idle
    private let room: Int

    /// Creates a reassembler for a new link, which leaves `room` octets free in front of each packet that it puts
    /// together, for a header.
    package init(room: Int = 0) { self.room = room }

    /// What a fragment amounts to.
    package enum OnFragment: Equatable {
        /// The fragment is a whole packet by itself, and was not copied.
        case whole
        /// A packet is complete, behind the room for a header.
        case complete([UInt8])
        /// More must come.
        case incomplete
        /// What there was is dropped, this fragment included.
        case dropped(PacketError)
    }

    /// Whether a packet has begun that is not complete.
    package var isCollecting: Bool {
        if case .collecting = state { true } else { false }
    }

    /// Takes the fragment that begins a packet; one that had begun before is given up.
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

    /// Takes a fragment that goes on with a packet.
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

    /// How long the packet is, with its header; `nil` if too little of it is here.
    private static func length(_ bytes: Span<UInt8>) -> Int? {
        guard bytes.count >= L2CAPHeader.size else { return nil }
        return L2CAPHeader.size + Int(bytes[0]) + Int(bytes[1]) << 8
    }
}
