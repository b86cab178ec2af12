/// The framing on a serial port, where packets have no separators, and octets may be lost or added.
///
/// Before the host may send, the framing resets the controller. Octets received before the response to the reset are
/// left over from earlier, or noise, and are dropped. If no response arrives, the reset is repeated, because the
/// controller may have started only after the first one was sent. Each repetition sends more resets, because the
/// controller may still be waiting for the rest of a truncated packet. If received octets are not HCI, or the rest of a
/// packet does not arrive, the port is closed with an error. After it is opened again, the framing starts with a reset.
///
/// H4 has no checksum. If an octet is lost, the first octets of the next packet are taken for the end of the damaged
/// one, and what follows is not a valid packet. So the host receives a packet only when the next one is complete, or
/// when nothing has followed for a moment. This moment is longer for a packet that was interrupted by a pause, because
/// its last octets may belong to the next packet. An octet that was changed on the wire is not detected.
///
/// Core 6.0, Vol 4, Part A, 2.
package struct SerialFraming: PortFraming, Sendable {
    private enum State {
        /// No response to a reset has arrived yet, after this number of repetitions.
        case synchronizing(attempts: Int)
        case framing
    }

    /// The time to wait for the response before the reset is repeated.
    package static let resetTimeout = Duration.milliseconds(500)
    /// The time to wait for the rest of a packet after a pause in it, longer than a packet of usual length takes at
    /// 115,200 baud.
    package static let packetTimeout = Duration.milliseconds(250)
    /// The silence after which a packet without a pause in it counts as complete; within a packet, a gap of this length
    /// counts as a pause.
    package static let packetGap = Duration.milliseconds(4)
    /// The silence after which a packet with a pause in it counts as complete.
    ///
    /// It is longer than the time for which USB adapters hold octets back.
    package static let longPacketGap = Duration.milliseconds(20)
    /// The maximum number of times that the reset is repeated.
    package static let mostAttempts = 20
    /// The maximum number of reset commands in one repetition.
    private static let mostResets = 16

    package static let reset: [UInt8] = [0x01, 0x03, 0x0C, 0x00]
    /// The octets of the response to a reset; `nil` stands for the number of allowed commands, which may have any
    /// value.
    private static let answer: [UInt8?] = [0x04, 0x0E, 0x04, nil, 0x03, 0x0C, 0x00]

    private let name: String
    private var state = State.synchronizing(attempts: 0)
    private var framer = H4Framer(from: .controller)
    /// The last complete packet, until it is certain that it is intact.
    private var held: [UInt8] = []
    /// True if ``held`` was received with a pause in it.
    private var heldPaused = false
    /// True if there was a pause in the packet that is being received.
    private var hasPause = false
    /// The latest octets received while the response to a reset is awaited; they may be the start of that response.
    private var tail: [UInt8] = []
    /// The number of the host's resets that have no response yet.
    private var resetsOfHost = 0

    /// Creates the framing.
    ///
    /// `name` is the port's name in errors.
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
                deliverHeld(packet)
                held = each
                (heldPaused, hasPause) = (hasPause, false)
            }
        }
    }

    /// Passes the held packet to the host, if there is one.
    private mutating func deliverHeld(_ packet: (Span<UInt8>) -> Void) {
        guard !held.isEmpty else { return }
        let each = held
        held = []
        guard Self.isAnswer(each.span) else { return packet(each.span) }
        // If the host has sent no reset, this is the response to a reset that the line sent.
        if resetsOfHost > 0 { packet(each.span) }
        resetsOfHost = max(0, resetsOfHost - 1)
    }

    /// Searches the received octets for the response to a reset.
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

    /// Returns whether `octets` start with the response to a successful reset.
    private static func isAnswer(_ octets: Span<UInt8>) -> Bool {
        guard octets.count >= answer.count else { return false }
        for index in answer.indices {
            if let octet = answer[index], octets[index] != octet { return false }
        }
        return true
    }

    package var readTimeout: Duration? {
        switch state {
        case .synchronizing: Self.resetTimeout
        case .framing where framer.holdsPart: hasPause ? Self.packetTimeout : Self.packetGap
        case .framing where held.isEmpty: nil
        case .framing: heldPaused ? Self.longPacketGap : Self.packetGap
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
            deliverHeld(packet)
            return []
        }
    }
}
