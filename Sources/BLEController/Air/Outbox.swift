package import BLEWire

/// A queue of the air's outputs, ordered by time.
///
/// The air calculates an exchange of packets when the exchange begins. The resulting outputs wait here until they are
/// due.
struct Outbox: Sendable {
    private struct Delayed: Sendable {
        let instant: Instant
        let output: Air.Output
    }

    private var ready: [Air.Output] = []
    private var head = 0
    /// The outputs that are not due yet, sorted by time, then by order of insertion.
    ///
    /// The first ``released`` elements have already been moved to ``ready``.
    private var delayed: [Delayed] = []
    private var released = 0

    /// The time at which the next output is due; `nil` if none is delayed.
    var deadline: Instant? { released < delayed.count ? delayed[released].instant : nil }

    /// True if an output other than one about an advertisement is delayed.
    var hasDelayedData: Bool {
        let delayed = delayed.span
        for index in released..<delayed.count where !delayed[index].output.isAboutAdvertisement { return true }
        return false
    }

    /// Adds an output that is due at `instant`.
    mutating func add(_ output: Air.Output, at instant: Instant, now: Instant) {
        if instant <= now, deadline.map({ $0 > now }) ?? true { return ready.append(output) }
        let added = Delayed(instant: instant, output: output)
        var index = delayed.count
        while index > released, instant < delayed[index - 1].instant { index -= 1 }
        if index == delayed.count { delayed.append(added) } else { delayed.insert(added, at: index) }
    }

    /// Makes the outputs that are due by `now` available to ``next()``.
    mutating func release(by now: Instant) {
        while released < delayed.count, delayed[released].instant <= now {
            if released + 1 == delayed.count {
                // The last output can be removed from the array, and so moved instead of copied.
                ready.append(delayed.removeLast().output)
                break
            }
            ready.append(delayed[released].output)
            released += 1
        }
        guard released > 0 else { return }
        if released == delayed.count {
            delayed.removeAll(keepingCapacity: true)
            released = 0
        } else if released >= Self.mostReleased {
            forgetReleased()
        }
    }

    /// The number of released outputs that accumulate in ``delayed`` before ``release(by:)`` removes them.
    ///
    /// They are removed together, because each removal shifts the array.
    private static let mostReleased = 64

    private mutating func forgetReleased() {
        delayed.removeFirst(released)
        released = 0
    }

    /// Drops the unreleased outputs for a controller that was reset.
    mutating func drop(for controller: ControllerID) {
        forgetReleased()
        delayed.removeAll { $0.output.isFor(controller) }
    }

    /// Drops all outputs for a controller that has lost its power.
    mutating func dropAll(for controller: ControllerID) {
        drop(for: controller)
        ready.removeFirst(head)
        head = 0
        ready.removeAll { $0.isFor(controller) }
    }

    /// Removes and returns the next released output; `nil` if there is none.
    mutating func next() -> Air.Output? {
        guard head < ready.count else { return nil }
        guard head + 1 == ready.count else {
            head += 1
            return ready[head - 1]
        }
        let last = ready.removeLast()
        if head > 0 {
            ready.removeAll(keepingCapacity: true)
            head = 0
        }
        return last
    }
}

extension Air.Output {
    fileprivate func isFor(_ controller: ControllerID) -> Bool {
        switch self {
        case .hci(_, let recipient), .note(_, let recipient): recipient == controller
        case .air: false
        }
    }

    /// True for the HCI events that advertisements cause: reports, and scan requests that an advertiser has received.
    fileprivate var isAboutAdvertisement: Bool {
        guard case .hci(let bytes, _) = self, bytes.count > 3, bytes[0] == HCI.PacketType.event.wire,
            bytes[1] == HCI.EventCode.leMeta.wire
        else { return false }
        return switch HCI.LESubevent(wire: bytes[3]) {
        case .advertisingReport, .directedAdvertisingReport, .extendedAdvertisingReport, .scanRequestReceived: true
        default: false
        }
    }
}

/// A record of one packet on the air, as an ideal sniffer would receive it.
///
/// The air calculates an exchange of packets when the exchange begins. So a record may be output some milliseconds
/// before its ``instant``, and records of different connections may be slightly out of order.
package struct AirRecord: Equatable, Sendable {
    /// One receiver's signal strength, and whether the packet arrived there.
    package struct Reception: Equatable, Sendable {
        package let receiver: ControllerID
        /// The signal strength, in dBm.
        package let strength: Int
        /// True if the packet did not arrive, because it was too weak, lost at random, or stopped by a partition.
        package let isLost: Bool
    }

    /// The time at which the packet starts.
    package let instant: Instant
    package let sender: ControllerID
    /// The channel: 0 to 36 for data and secondary advertising channels, 37 to 39 for primary advertising channels.
    package let channel: UInt8
    package let phy: AirPHY
    package let accessAddress: UInt32
    /// The header and the payload, without preamble and CRC.
    ///
    /// The payload is encrypted if the connection is encrypted.
    package let pdu: [UInt8]
    package let receptions: [Reception]
}

/// A message from a controller for logs and tests, which requires no action.
package enum ControllerNote: Equatable, Sendable {
    /// The host sent an invalid packet.
    case malformedPacket(PacketError)
    /// The host sent data for a connection that does not exist.
    case unknownConnection(ConnectionHandle)
    /// The host sent more fragments, or a longer fragment, than the controller's buffers can hold.
    case tooMuchData(ConnectionHandle)
    /// The host sent a packet, which the controller ignored because ``ControllerFaults/isMute`` is set.
    case muted
    /// The fault ``ControllerFaults/dropEvents`` kept an event from the host.
    case droppedEvent
}
