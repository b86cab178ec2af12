package import BLEHost
package import BLEWire

/// The message about a notified value.
///
/// Most messages are of this kind, so this type encodes them faster than ``DaemonMessage``. The octets are the same as
/// those of ``DaemonMessage/event(_:)`` with the corresponding event.
///
/// | octets | content |
/// | --- | --- |
/// | 2 | the codes of a message with an event, and of an event about a peer |
/// | 16 | the identifier of the peer |
/// | 1 | the code of a notified value |
/// | 2 | the handle of the value |
/// | 4 | the length of the value in octets |
/// | all others | the value |
package struct NotifiedValue: Equatable, Sendable {
    /// The number of octets before the value.
    static let headerOctets = 25
    private static let codes: (message: UInt8, event: UInt8, value: UInt8) = {
        let value = PeerEvent.valueNotified(.none, [])
        let event = ClientEvent.peer(.blank, value)
        return (DaemonMessage.event(event).code, event.code, value.code)
    }()

    package let peer: PeerIdentifier
    package let handle: AttributeHandle
    package let value: [UInt8]

    package init(peer: PeerIdentifier, handle: AttributeHandle, value: [UInt8]) {
        self.peer = peer
        self.handle = handle
        self.value = value
    }

    /// Parses a message; returns `nil` if it is of another kind, or invalid.
    package init?(reading message: Span<UInt8>) {
        let codes = Self.codes
        guard message.count >= Self.headerOctets, message[0] == codes.message, message[1] == codes.event,
            message[18] == codes.value
        else { return nil }
        let octets = UInt32(truncatingIfNeeded: Self.number(in: message, at: 21, octets: 4))
        guard Int(octets) <= message.count - Self.headerOctets else { return nil }
        let high = UInt128(Self.number(in: message, at: 10, octets: 8))
        peer = PeerIdentifier(rawValue: high &<< 64 | UInt128(Self.number(in: message, at: 2, octets: 8)))
        handle = AttributeHandle(wire: UInt16(truncatingIfNeeded: Self.number(in: message, at: 19, octets: 2)))
        value = [UInt8](copying: message.extracting(Self.headerOctets..<(Self.headerOctets + Int(octets))))
    }

    private static func number(in octets: Span<UInt8>, at start: Int, octets count: Int) -> UInt64 {
        var number: UInt64 = 0
        for index in 0..<count { number |= UInt64(octets[start + index]) &<< UInt64(8 * index) }
        return number
    }

    /// The octets before the value.
    var header: InlineArray<25, UInt8> {
        var header = InlineArray<25, UInt8>(repeating: 0)
        let codes = Self.codes
        (header[0], header[1], header[18]) = (codes.message, codes.event, codes.value)
        let low = UInt64(truncatingIfNeeded: peer.rawValue), high = UInt64(truncatingIfNeeded: peer.rawValue &>> 64)
        for index in 0..<8 {
            header[2 + index] = UInt8(truncatingIfNeeded: low &>> UInt64(8 * index))
            header[10 + index] = UInt8(truncatingIfNeeded: high &>> UInt64(8 * index))
        }
        header[19] = UInt8(truncatingIfNeeded: handle.wire)
        header[20] = UInt8(truncatingIfNeeded: handle.wire &>> 8)
        for index in 0..<4 { header[21 + index] = UInt8(truncatingIfNeeded: value.count &>> (8 * index)) }
        return header
    }
}
