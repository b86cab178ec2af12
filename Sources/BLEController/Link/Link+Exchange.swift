import BLEWire

extension Link {
    /// Runs one exchange: sends the central's packet and the peripheral's response, and sets the time of the next
    /// exchange.
    ///
    /// Core 6.0, Vol 6, Part B, 4.5.1 and 4.5.6.
    mutating func exchange(at now: Instant, over path: inout AirPath, into deliveries: inout [LinkDelivery]) {
        let listens = peripheralListens(at: now)
        let (down, up) = (centralPHY, peripheralPHY)
        let sent = self[.central].transmit(down, within: roomForCentral(at: now))
        let downEnd = now + down.airTime(sent.length)
        let isReceived = listens && !isPartitioned && path.delivers(strength: strengths.down)
        if path.records != nil { record(sent, .central, at: now, isReceived: isReceived, over: &path) }
        if let reason = self[.central].terminationReason {
            self[.central].isPresent = false
            deliveries.append(.leftLink(.central, reason: reason, at: downEnd))
        }
        guard isReceived else { return endEvent() }
        let control = receive(sent, by: .peripheral, at: downEnd, into: &deliveries)
        guard self[.peripheral].isPresent else { return endEvent() }

        let upStart = downEnd + Spacing.interFrame
        let room = now == anchor ? nil : eventEnd.nanoseconds(since: upStart)
        let answer = self[.peripheral].transmit(up, within: room)
        let upEnd = upStart + up.airTime(answer.length)
        let answered = path.delivers(strength: strengths.up)
        if path.records != nil { record(answer, .peripheral, at: upStart, isReceived: answered, over: &path) }
        if let control { deliveries.append(control) }
        guard answered, self[.central].isPresent else { return endEvent() }
        if let control = receive(answer, by: .central, at: upEnd, into: &deliveries) { deliveries.append(control) }

        let next = upEnd + Spacing.interFrame
        guard sent.moreData || answer.moreData, canExchange, fits(next) else {
            self[.peripheral].eventsToSkip = Int(timing.latency)
            return endEvent()
        }
        continueEvent(at: next)
    }

    /// Returns whether an exchange that starts at `start`, with the packets that the two ends have to send, ends before
    /// the next connection event.
    private func fits(_ start: Instant) -> Bool {
        let sending = centralPHY.airTime(self[.central].nextLength(centralPHY)) + Spacing.interFrame
        let answer = peripheralPHY.airTime(self[.peripheral].nextLength(peripheralPHY, isAcknowledged: true))
        return start + (sending + answer) <= eventEnd
    }

    /// Returns the time that the central's packet may take, in nanoseconds; `nil` in the first exchange of an event,
    /// which has no limit.
    ///
    /// The limit is necessary although ``fits(_:)`` was called before the exchange: the host may have queued a longer
    /// packet since.
    @inline(__always)
    private func roomForCentral(at now: Instant) -> Int64? {
        if now == anchor { return nil }
        let answer =
            Spacing.interFrame
            + peripheralPHY.airTime(self[.peripheral].nextLength(peripheralPHY, isAcknowledged: true))
        return eventEnd.nanoseconds(since: now) - answer
    }

    /// The time by which the current event's last packet must end: T_IFS before the next event.
    @inline(__always)
    private var eventEnd: Instant { anchor + (timing.intervalNanoseconds - Spacing.interFrame) }

    /// Returns whether the peripheral listens in this connection event; false if it skips the event, as the peripheral
    /// latency allows.
    @inline(__always)
    private mutating func peripheralListens(at now: Instant) -> Bool {
        guard self[.peripheral].eventsToSkip > 0 else { return true }
        guard now == anchor, self[.peripheral].change == nil, !self[.peripheral].hasSomethingToSend else {
            self[.peripheral].eventsToSkip = 0
            return true
        }
        self[.peripheral].eventsToSkip -= 1
        return false
    }

    @inline(__always)
    private mutating func endEvent() { closeEvent() }

    /// Processes a packet that the end with this role has received, and appends the results to `deliveries`.
    ///
    /// - Returns: A control PDU, which the caller delivers once the response has been sent; `nil` if the packet
    ///   contains none, has been received before, or is not authentic.
    private mutating func receive(
        _ packet: Transmission,
        by role: Role,
        at instant: Instant,
        into deliveries: inout [LinkDelivery]
    ) -> LinkDelivery? {
        self[role].lastReceived = instant
        self[role].isEstablished = true
        let (isNew, acknowledged) = self[role].acknowledgement.receive(packet.bits)
        switch acknowledged {
        case .data(let count)?:
            if self[role].outgoing.acknowledge(count) { deliveries.append(.completed(role, at: instant)) }
        case .control(let packet)?: deliveries.append(.acknowledged(role, packet, at: instant))
        case .empty?, nil: break
        }
        guard isNew else { return nil }
        switch packet.payload {
        case .empty: return nil
        case .data(let count):
            let (plain, isStart) = self[role.other].outgoing.octets(count)
            let content: LL.DataHeader.Content = isStart ? .start : .continuation
            guard let octets = self[role].authentic(plain, packet.sealed, content, at: instant) else {
                return lose(role, at: instant, into: &deliveries)
            }
            deliveries.append(.data(role, octets, isStart: isStart, at: instant))
            return nil
        case .control(let control):
            guard self[role].authentic([], packet.sealed, .control, at: instant) != nil else {
                return lose(role, at: instant, into: &deliveries)
            }
            return .control(role, control, at: instant)
        }
    }

    /// Ends the link for the end with this role, which has received a packet that is not authentic, such as one with an
    /// invalid message integrity code.
    ///
    /// This end sends nothing more, so the peer's supervision timeout expires. The method always returns `nil`, so that
    /// the caller can return its result.
    ///
    /// Core 6.0, Vol 6, Part B, 5.1.3.1; Part E, 1.
    private mutating func lose(
        _ role: Role,
        at instant: Instant,
        into deliveries: inout [LinkDelivery]
    ) -> LinkDelivery? {
        self[role].isPresent = false
        deliveries.append(.leftLink(role, reason: LinkStatus.micFailure.rawValue, at: instant))
        return nil
    }

    private func record(
        _ packet: Transmission,
        _ role: Role,
        at instant: Instant,
        isReceived: Bool,
        over path: inout AirPath
    ) {
        var header = LL.DataHeader(), payload: [UInt8] = []
        header.sequence = packet.bits.sequence
        header.nextExpected = packet.bits.nextExpected
        header.moreData = packet.moreData
        switch packet.payload {
        case .empty: break
        case .control(let packet):
            header.content = .control
            payload = packet.encoded
        case .data(let count):
            let (octets, isStart) = self[role].outgoing.octets(count)
            if isStart { header.content = .start }
            payload = Array(octets)
        }
        payload = packet.sealed ?? payload
        header.length = UInt8(truncatingIfNeeded: payload.count)
        let strength = role == .central ? strengths.down : strengths.up
        path.records?.append(
            AirRecord(
                instant: instant,
                sender: ControllerID(rawValue: self[role].controller),
                channel: channel,
                phy: role == .central ? centralPHY : peripheralPHY,
                accessAddress: accessAddress,
                pdu: header.encoded + payload,
                receptions: [
                    .init(
                        receiver: ControllerID(rawValue: self[role.other].controller),
                        strength: strength,
                        isLost: !isReceived
                    )
                ]
            )
        )
    }
}

/// A result of an exchange of packets for one end of a link.
///
/// The results of an exchange are kept in the order in which they occurred.
enum LinkDelivery: Sendable {
    /// The end with this role has received a part of an L2CAP packet; `isStart` is true for the first part.
    case data(Role, ArraySlice<UInt8>, isStart: Bool, at: Instant)
    /// The end with this role has received a control PDU.
    case control(Role, LLControlPacket, at: Instant)
    /// The peer has acknowledged a control PDU from the end with this role.
    case acknowledged(Role, LLControlPacket, at: Instant)
    /// The peer has acknowledged a whole fragment from the host of the end with this role.
    case completed(Role, at: Instant)
    /// The link is over for the end with this role: it has acknowledged the peer's termination, or received a packet
    /// that is not authentic.
    case leftLink(Role, reason: UInt8, at: Instant)
}
