package import BLEWire

/// A parser that splits a stream of octets into messages.
///
/// Each message is preceded by its length, in four octets, least significant first.
package struct FrameReader: Sendable {
    /// The maximum length of a message, in octets; longer than any valid message.
    package static let mostOctets = 1 << 20
    /// The length of the length field, in octets.
    package static let headerOctets = 4

    /// The error for an invalid length, after which the stream cannot be split any further.
    package struct Overlong: Error, Equatable, CustomStringConvertible {
        package let octets: Int
        package init(octets: Int) { self.octets = octets }
        package var description: String {
            "a message of \(octets) octets is longer than the limit, \(FrameReader.mostOctets)"
        }
    }

    private var buffered: [UInt8] = []

    package init() {}

    /// The number of received octets that belong to an incomplete message.
    package var pendingOctets: Int { buffered.count }

    /// Drops the incomplete message, if there is one.
    package mutating func reset() { buffered = [] }

    /// Processes received octets, and calls `message` with each complete message, without its length field.
    ///
    /// - Throws: ``Overlong`` if a length is invalid; the connection must be closed.
    package mutating func receive(_ chunk: Span<UInt8>, message: (Span<UInt8>) -> Void) throws(Overlong) {
        guard buffered.isEmpty else {
            buffered.append(copying: chunk)
            let octets = buffered
            let read = try Self.read(octets.span, message)
            if read == octets.count { buffered = [] } else { buffered.removeFirst(read) }
            return
        }
        let read = try Self.read(chunk, message)
        if read < chunk.count { buffered.append(copying: chunk.extracting(read..<chunk.count)) }
    }

    /// Calls `message` with each complete message, and returns the position after the last one.
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

/// A writer of messages, each preceded by its length.
package struct FrameWriter: Sendable {
    private var encoder = PacketEncoder()

    package init() {}

    /// The number of octets that have been written and not taken.
    package var count: Int { encoder.bytes.count }

    /// Writes a message; returns `false`, without side effects, if it is too long.
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

    /// Writes a message about a value; returns `false`, without side effects, if it is too long.
    package mutating func write(_ message: ValueMessage) -> Bool {
        let length = message.octets
        guard length <= FrameReader.mostOctets else { return false }
        for index in 0..<FrameReader.headerOctets {
            encoder.append(octet: UInt8(truncatingIfNeeded: length >> (8 * index)))
        }
        message.append(to: &encoder)
        return true
    }

    /// Drops everything that has not been taken.
    package mutating func reset() { encoder = PacketEncoder() }

    /// Passes the written octets to `body` and removes them.
    ///
    /// Their storage is reused.
    package mutating func take(_ body: (Span<UInt8>) -> Void) {
        let bytes = encoder.bytes
        body(bytes.span)
        encoder.reset()
    }
}
