/// The framing of a port on which each read or write is one packet, such as the kernel's HCI user channel.
package struct PacketFraming: PortFraming, Sendable {
    private var framer = H4Framer(from: .host)

    package init() {}

    package mutating func begin() -> [[UInt8]] { [] }

    package var isReady: Bool { true }

    package mutating func send(_ packets: Span<UInt8>) -> [[UInt8]] {
        var writes: [[UInt8]] = []
        do throws(TransportError) {
            try framer.receive(packets) { packet in writes.append(packet.withUnsafeBufferPointer { Array($0) }) }
        } catch {
            preconditionFailure("the host sent an invalid packet: \(error)")
        }
        return writes
    }

    package mutating func receive(_ chunk: Span<UInt8>, packet: (Span<UInt8>) -> Void) throws(TransportError) {
        var packets = H4Framer(from: .controller), octets = 0
        try packets.receive(chunk) { octets += $0.count }
        guard octets == chunk.count else {
            throw TransportError(.garbage, "a read of \(chunk.count.withNoun("octet")) ends inside a packet")
        }
        packet(chunk)
    }

    package var readTimeout: Duration? { nil }

    package mutating func expire(packet: (Span<UInt8>) -> Void) throws(TransportError) -> [[UInt8]] { [] }
}
