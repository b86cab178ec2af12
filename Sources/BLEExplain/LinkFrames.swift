import BLEWire

/// A reassembler of L2CAP packets from the data packets of a capture.
struct LinkFrames: Sendable {
    /// The maximum number of streams; above it, all incomplete packets are dropped.
    private static let most = 1_024

    /// One direction of a link.
    struct Stream: Hashable, Sendable {
        let source: Int
        let link: UInt16
        let isFromHost: Bool

        /// The other direction of the link.
        var reversed: Self { Self(source: source, link: link, isFromHost: !isFromHost) }
    }

    private var frames: [Stream: Reassembler] = [:]

    /// Returns the link, channel and payload of the L2CAP packet that a data packet completes; `nil` if it completes
    /// none.
    mutating func add(_ bytes: [UInt8], _ source: Int, _ isFromHost: Bool) -> (
        link: UInt16, channel: UInt16, payload: [UInt8]
    )? {
        guard bytes.count >= 5 else { return nil }
        let word = UInt16(bytes[1]) | UInt16(bytes[2]) << 8, link = word & 0x0FFF
        let key = Stream(source: source, link: link, isFromHost: isFromHost)
        if frames.count > Self.most, frames[key] == nil { frames = [:] }
        let fragment = Array(bytes[5...]), frame: [UInt8]
        let outcome =
            word >> 12 & 3 == 1
            ? frames[key, default: Reassembler()].proceed(fragment.span)
            : frames[key, default: Reassembler()].begin(fragment.span)
        switch outcome {
        case .whole: frame = fragment
        case .complete(let whole): frame = whole
        case .incomplete, .dropped: return nil
        }
        guard frame.count >= 4 else { return nil }
        return (link, UInt16(frame[2]) | UInt16(frame[3]) << 8, Array(frame[4...]))
    }
}
