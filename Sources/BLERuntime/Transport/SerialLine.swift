/// A port that carries packets without separators, and may lose octets or add wrong ones.
///
/// The line resets the controller before the host may speak: what comes before the answer to that is of another time,
/// or noise, and is dropped. A reset that is not answered is sent again, since a board may have begun only after it;
/// more of them each time, since the controller may still wait for the rest of a packet that was cut off. When
/// received octets are not HCI, or the rest of a packet is missing, the line ends; opening it again starts with a
/// reset.
///
/// H4 has no checksum. Where an octet is lost, the next packet begins within this one, and what follows is no packet
/// any more. Therefore the host hears of a packet only when the next is whole, or nothing has followed for a moment: a
/// longer one where the packet came with a pause in it, as one does whose last octets are those of the next. An octet
/// that was changed on the way is not noticed.
///
/// Core 6.0, Vol 4, Part A, 2.
package struct SerialLine: Line, Sendable {
    private enum State {
        /// The answer to a reset is outstanding, after this number of attempts.
        case synchronizing(attempts: Int)
        case framing
    }

    /// The time for the answer before the reset is repeated.
    package static let resetPatience = Duration.milliseconds(500)
    /// The time for the rest of a packet: the longest one takes less at 115,200 baud.
    package static let packetPatience = Duration.milliseconds(250)
    /// The minimum silence after a packet, and the minimum pause within one.
    package static let moment = Duration.milliseconds(4)
    /// The minimum silence after a packet with a pause in it: longer than USB adapters hold octets back.
    package static let longMoment = Duration.milliseconds(20)
    /// The maximum number of resets.
    package static let mostAttempts = 20
    /// The maximum number of resets at a time.
    private static let mostResets = 16

    package static let reset: [UInt8] = [0x01, 0x03, 0x0C, 0x00]
    /// The octets of an event that answers a reset; `nil` for the number of allowed commands.
    private static let answer: [UInt8?] = [0x04, 0x0E, 0x04, nil, 0x03, 0x0C, 0x00]

    private let name: String
    private var state = State.synchronizing(attempts: 0)
    private var framer = H4Framer(from: .controller)
    /// The last packet, while it is uncertain whether it is intact.
    private var held: [UInt8] = []
    /// True if there was a pause in the held packet.
    private var heldPaused = false
    /// True if there was a pause in the incomplete packet.
    private var hasPause = false
    /// The last received octets, in which an answer may begin.
    private var tail: [UInt8] = []
    /// The number of unanswered resets of the host.
    private var resetsOfHost = 0

    /// Creates a framing; `name` is the port's name in errors.
    package init(name: String) { self.name = name }

    package var isReady: Bool {
        switch state {
        case .synchronizing: false
        case .framing: true
        }
    }

    package mutating func begin() -> [[UInt8]] { [Self.reset] }

    package mutating func send(_ packets: Span<UInt8>) -> [[UInt8]] {
        guard isReady else { return [] }
        let octets = packets.withUnsafeBufferPointer { Array($0) }
        if octets.starts(with: Self.reset) { resetsOfHost += 1 }
        return [octets]
    }

    package mutating func receive(_ chunk: Span<UInt8>, packet: (Span<UInt8>) -> Void) throws(TransportError) {
        switch state {
        case .synchronizing: synchronize(chunk)
        case .framing:
            var whole: [[UInt8]] = []
            try framer.receive(chunk) { whole.append($0.withUnsafeBufferPointer { Array($0) }) }
            for each in whole {
                handOn(packet)
                held = each
                (heldPaused, hasPause) = (hasPause, false)
            }
        }
    }

    /// Passes the held packet to the host, if there is one.
    private mutating func handOn(_ packet: (Span<UInt8>) -> Void) {
        guard !held.isEmpty else { return }
        let each = held
        held = []
        guard Self.isAnswer(each.span) else { return packet(each.span) }
        // Those beyond what the host has asked for answer resets of this line.
        if resetsOfHost > 0 { packet(each.span) }
        resetsOfHost = max(0, resetsOfHost - 1)
    }

    /// Searches for the answer to a reset.
    private mutating func synchronize(_ chunk: Span<UInt8>) {
        tail.append(copying: chunk)
        while let start = tail.indices.first(where: { Self.isAnswer(tail.span.extracting(droppingFirst: $0)) }) {
            tail.removeFirst(start + Self.answer.count)
            var framer = H4Framer(from: .controller)
            do throws(TransportError) {
                try framer.receive(tail.span) { _ in }
                self.framer = framer
                state = .framing
                tail = []
                return
            } catch {
                continue
            }
        }
        tail.removeFirst(max(0, tail.count - Self.answer.count + 1))
    }

    /// Returns whether `octets` start with the answer to a successful reset.
    private static func isAnswer(_ octets: Span<UInt8>) -> Bool {
        guard octets.count >= answer.count else { return false }
        for index in answer.indices {
            if let octet = answer[index], octets[index] != octet { return false }
        }
        return true
    }

    package var patience: Duration? {
        switch state {
        case .synchronizing: Self.resetPatience
        case .framing where framer.holdsPart: hasPause ? Self.packetPatience : Self.moment
        case .framing where held.isEmpty: nil
        case .framing: heldPaused ? Self.longMoment : Self.moment
        }
    }

    package mutating func expire(packet: (Span<UInt8>) -> Void) throws(TransportError) -> [[UInt8]] {
        switch state {
        case .synchronizing(let attempts):
            guard attempts < Self.mostAttempts else {
                throw TransportError(
                    .unreachable,
                    "no reply to a reset at \(name)",
                    cure: """
                        Does the board run a controller that speaks HCI over H4 at this rate? Set another rate \
                        with serial:PATH@RATE, and hardware flow control with “,rtscts”.
                        """
                )
            }
            state = .synchronizing(attempts: attempts + 1)
            let count = attempts < 4 ? 1 << attempts : Self.mostResets
            return [[UInt8]](repeating: Self.reset, count: count)
        case .framing where framer.holdsPart:
            guard !hasPause else { throw TransportError(.garbage, "the rest of a packet is missing") }
            hasPause = true
            return []
        case .framing:
            handOn(packet)
            return []
        }
    }
}
