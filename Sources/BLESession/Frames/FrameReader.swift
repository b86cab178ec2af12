package import BLEWire

/// Cuts a stream of octets into messages.
///
/// Each message follows its length: four octets, the least significant first.
package struct FrameReader: Sendable {
    /// The longest message that is taken, in octets: more than any sensible one, and little enough to hold for each
    /// app.
    package static let mostOctets = 1 << 20
    /// How many octets the length takes.
    package static let headerOctets = 4

    /// A length that no message has, after which nothing of the stream can be told apart.
    package struct Overlong: Error, Equatable, CustomStringConvertible {
        package let octets: Int
        package init(octets: Int) { self.octets = octets }
        package var description: String {
            "a message of \(octets) octets is longer than \(FrameReader.mostOctets), the most that is taken"
        }
    }

    private var kept: [UInt8] = []

    package init() {}

    /// How many octets have come of a message that is not complete.
    package var pendingOctets: Int { kept.count }

    /// Forgets what has come of a message that is not complete.
    package mutating func reset() { kept = [] }

    /// Takes what arrived, and hands on each message that is complete with it, without its length.
    package mutating func receive(_ chunk: Span<UInt8>, message: (Span<UInt8>) -> Void) throws(Overlong) {
        guard kept.isEmpty else {
            kept.append(copying: chunk)
            let octets = kept
            let read = try Self.read(octets.span, message)
            if read == octets.count { kept = [] } else { kept.removeFirst(read) }
            return
        }
        let read = try Self.read(chunk, message)
        if read < chunk.count { kept.append(copying: chunk.extracting(read..<chunk.count)) }
    }

    /// Hands on what is complete, and says where that ends.
    private static func read(_ octets: Span<UInt8>, _ message: (Span<UInt8>) -> Void) throws(Overlong) -> Int {
        var offset = 0
        while octets.count - offset >= headerOctets {
            var length = 0
            for index in 0..<headerOctets { length |= Int(octets[offset + index]) << (8 * index) }
            guard length <= mostOctets else { throw Overlong(octets: length) }
            let start = offset + headerOctets
            guard octets.count - start >= length else { break }
            message(octets.extracting(start..<(start + length)))
            offset = start + length
        }
        return offset
    }
}

/// Writes messages one behind the other, each with its length.
package struct FrameWriter: Sendable {
    private var encoder = PacketEncoder()

    package init() {}

    /// What has been written and not been taken, in octets.
    package var count: Int { encoder.bytes.count }

    /// Writes a message; `false`, and nothing, if it is longer than any that is taken.
    package mutating func write(_ message: some Packet) -> Bool {
        let start = encoder.bytes.count
        for _ in 0..<FrameReader.headerOctets { encoder.append(octet: 0) }
        encoder.append(message)
        let length = encoder.bytes.count - start - FrameReader.headerOctets
        guard length <= FrameReader.mostOctets else {
            encoder.truncate(to: start)
            return false
        }
        for index in 0..<FrameReader.headerOctets {
            encoder.replace(at: start + index, with: UInt8(truncatingIfNeeded: length >> (8 * index)))
        }
        return true
    }

    /// Writes a value that a peer notified; `false`, and nothing, if it is longer than any that is taken.
    package mutating func write(_ message: NotifiedValue) -> Bool {
        let length = NotifiedValue.headerOctets + message.value.count
        guard length <= FrameReader.mostOctets else { return false }
        for index in 0..<FrameReader.headerOctets {
            encoder.append(octet: UInt8(truncatingIfNeeded: length >> (8 * index)))
        }
        encoder.append(copying: message.header.span)
        encoder.append(contentsOf: message.value)
        return true
    }

    /// Forgets what has been written and not been taken.
    package mutating func reset() { encoder = PacketEncoder() }

    /// Takes what has been written, and keeps the room.
    package mutating func take(_ body: (Span<UInt8>) -> Void) {
        let bytes = encoder.bytes
        body(bytes.span)
        encoder.reset()
    }
}
