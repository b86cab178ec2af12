import BLEWire

extension Air {
    /// Runs an advertising event of a set, and schedules the next one unless the set stops or pauses.
    ///
    /// Core 6.0, Vol 6, Part B, 4.4.2.
    mutating func runAdvertising(_ controller: Int, _ index: Int, at now: Instant) {
        guard case .on(let until, let eventLimit) = controllers.span[controller].state(ofSet: index) else { return }
        if let until, until <= now {
            return endAdvertising(controller, index, .advertisingTimeout, at: now)
        }
        controllers[controller].sets[index].countEvent()
        let set = controllers[controller].sets[index]
        let (handle, events, properties, interval) = (set.handle, set.events, set.properties, set.interval)
        let isConnected =
            properties.contains(.legacy)
            ? legacyEvent(controller, set, at: now) : extendedEvent(controller, set, at: now)
        guard !isConnected, let index = controllers[controller].setIndex(handle) else { return }
        if eventLimit > 0, events >= eventLimit {
            return endAdvertising(controller, index, .limitReached, at: now)
        }
        if pausesUnheardAdvertising, listeners.all.isEmpty, path.records == nil, until == nil, eventLimit == 0 {
            controllers[controller].sets[index].token = AdvertisingSet.pausedToken
            return
        }
        // Core 6.0, Vol 6, Part B, 4.4.2.2.1: a random delay of up to 10 ms, except for high duty cycle directed
        // advertising.
        let delay = properties.contains(.highDutyCycle) ? 0 : path.random.below(10_001) * 1_000
        var next = now + (interval + delay)
        if let until { next = min(next, until) }
        scheduleAdvertising(controller, index, at: next)
    }

    /// Schedules the next event of each paused set.
    mutating func resumeAdvertising() {
        guard pausesUnheardAdvertising else { return }
        for controller in controllers.indices {
            for index in controllers[controller].sets.indices {
                let set = controllers[controller].sets[index]
                guard set.isEnabled, set.token == AdvertisingSet.pausedToken else { continue }
                scheduleAdvertising(controller, index, at: now + path.random.below(set.interval))
            }
        }
    }

    /// The reason why a set stops without a command.
    enum AdvertisingEnd { case advertisingTimeout, limitReached }

    private mutating func endAdvertising(_ controller: Int, _ index: Int, _ end: AdvertisingEnd, at now: Instant) {
        let set = controllers[controller].sets[index]
        controllers[controller].sets[index].disable()
        if controllers[controller].generation == .extended {
            sendSetTerminated(controller, set, end, connection: nil, at: now)
        } else {
            sendDirectedTimeout(controller, peer: set.peer, at: now)
        }
    }

    /// Runs a legacy advertising event: sends one PDU on each channel in use, and processes the responses.
    ///
    /// - Returns: True if the advertiser is now connected and stops advertising.
    private mutating func legacyEvent(_ controller: Int, _ set: consuming AdvertisingSet, at now: Instant) -> Bool {
        guard let (own, target) = addresses(controller, set) else { return false }
        let announcement = LegacyAnnouncement(controller: controller, set: set, own: own, target: target)
        let channels = announcement.set.channels, airTime = AirPHY.oneMegabit.airTime(announcement.length)
        let near = listeners.listeners(near: controllers[controller].identity.position, power: announcement.power)
        var start = now
        for channel in 37...39 where channels >> UInt8(channel - 37) & 1 != 0 {
            let end = start + airTime
            let candidates = announce(announcement, to: near, channel: channel, at: start, end: end)
            // If several devices would respond at the same time, only one does; for the others, the channel counts as
            // busy.
            guard !candidates.isEmpty else {
                start = end + Self.channelGap
                continue
            }
            let chosen = candidates.count == 1 ? 0 : Int(path.random.below(Int64(candidates.count)))
            for (index, candidate) in candidates.enumerated() where index != chosen && !candidate.connects {
                controllers[candidate.listener].scanner.backoff.note(answered: false, random: &path.random)
            }
            let candidate = candidates[chosen]
            let answerStart = end + Spacing.interFrame
            if candidate.connects {
                if connect(candidate, announcement, channel: channel, at: answerStart) { return true }
                start = answerStart + (AirPHY.oneMegabit.airTime(34) + Self.channelGap)
            } else {
                start = askForResponse(candidate, announcement, channel: channel, at: answerStart)
            }
        }
        return false
    }

    /// The time from the end of the last packet on one primary channel to the first packet on the next channel, in
    /// nanoseconds.
    static let channelGap: Int64 = 400_000

    /// Sends a packet to the listeners in `near`, and returns the listeners that receive the packet and may respond.
    private mutating func announce(
        _ announcement: LegacyAnnouncement,
        to near: [Int],
        channel: Int,
        at start: Instant,
        end: Instant
    ) -> [Candidate] {
        var candidates: [Candidate] = []
        var receptions: [AirRecord.Reception] = []
        for listener in near where listener != announcement.controller {
            let (asks, initiates) = controllers[listener].receives(channel, .oneMegabit, at: start)
            guard asks != nil || initiates,
                let mean = strength(from: announcement.controller, power: announcement.power, to: listener)
            else { continue }
            let strength = mean + path.noise()
            let isLost = strength < PathLoss.sensitivity || path.random.happens(path.loss)
            if path.records != nil {
                receptions.append(
                    .init(receiver: ControllerID(rawValue: listener), strength: strength, isLost: isLost)
                )
            }
            guard !isLost else { continue }
            if let asks, let peer = receive(announcement, listener, strength: strength, at: end), asks,
                wantsResponse(announcement, peer, listener)
            {
                candidates.append(candidate(listener, peer, mean, power: announcement.power, connects: false))
            }
            if initiates, let peer = wantsConnection(announcement, listener) {
                candidates.append(candidate(listener, peer, mean, power: announcement.power, connects: true))
            }
        }
        if path.records != nil {
            record(
                announcement.pdu,
                from: announcement.controller,
                channel: channel,
                .oneMegabit,
                at: start,
                receptions
            )
        }
        return candidates
    }

    /// Reports a packet received with `strength` dBm to a scanner's host, unless the scanner's duplicate filter
    /// suppresses the report.
    ///
    /// - Returns: The advertiser's address as reported to the host; `nil` if the scanner ignores the advertiser.
    private mutating func receive(
        _ announcement: LegacyAnnouncement,
        _ listener: Int,
        strength: Int,
        at instant: Instant
    ) -> DeviceAddress? {
        let recognition = controllers[listener].recognizeForScanner(announcement.address, target: announcement.target)
        guard let recognition else { return nil }
        let report = AdvertisingReport(
            kind: announcement.kind,
            address: recognition.advertiser,
            target: recognition.target,
            strength: strength,
            data: announcement.data
        )
        if controllers[listener].isNew(report) {
            send(report, of: announcement.controller, to: listener, at: instant)
        }
        return recognition.advertiser
    }

    /// Sends a scan request to a legacy advertiser, and processes the scan response.
    ///
    /// - Returns: The time at which the advertiser moves to the next channel.
    private mutating func askForResponse(
        _ candidate: Candidate,
        _ announcement: LegacyAnnouncement,
        channel: Int,
        at start: Instant
    ) -> Instant {
        let scanner = candidate.listener, advertiser = announcement.controller, set = announcement.set
        let kind = controllers[scanner].scanner.ownAddressKind
        let own = ownAddress(scanner, kind, to: candidate.peer)?.onAir ?? .none
        let end = start + AirPHY.oneMegabit.airTime(12)
        let request = carry(
            .scanRequest(.init(scanner: own, advertiser: announcement.address)),
            RadioPath(from: scanner, to: advertiser, strength: candidate.answer, channel: channel, at: start)
        )
        guard request != nil, let asker = controllers[advertiser].answersScan(of: set, from: own) else {
            controllers[scanner].scanner.backoff.note(answered: false, random: &path.random)
            return end + Self.channelGap
        }
        if set.notifiesScanRequests { sendScanRequest(advertiser, set.handle, scanner: asker, at: end) }
        let responseStart = end + Spacing.interFrame
        let responseEnd = responseStart + AirPHY.oneMegabit.airTime(6 + set.scanResponse.count)
        let response = carry(
            .scanResponse(.init(advertiser: announcement.address, data: set.scanResponse)),
            RadioPath(from: advertiser, to: scanner, strength: candidate.strength, channel: channel, at: responseStart)
        )
        controllers[scanner].scanner.backoff.note(answered: response != nil, random: &path.random)
        if let response {
            let report = AdvertisingReport(
                kind: announcement.responseKind,
                address: candidate.peer,
                target: nil,
                strength: response,
                data: set.scanResponse
            )
            if controllers[scanner].isNew(report) { send(report, of: advertiser, to: scanner, at: responseEnd) }
        }
        return responseEnd + Self.channelGap
    }

    /// Returns the ``Candidate`` for a listener that responds to an advertisement.
    ///
    /// `peer` is the advertiser's address, as the listener's host knows it. `power` is the advertiser's transmit power,
    /// and `strength` is the mean strength of its packets at the listener, both in dBm. `connects` is true if the
    /// listener sends a connection request, and false if it sends a scan request.
    func candidate(
        _ listener: Int,
        _ peer: DeviceAddress,
        _ strength: Int,
        power: Int,
        connects: Bool
    ) -> Candidate {
        let answer = strength - power + controllers[listener].identity.transmitPower
        return Candidate(listener: listener, peer: peer, strength: strength, answer: answer, connects: connects)
    }

    /// Returns whether an active scanner sends a scan request after receiving `announcement`.
    private mutating func wantsResponse(
        _ announcement: LegacyAnnouncement,
        _ peer: DeviceAddress,
        _ listener: Int
    ) -> Bool {
        guard announcement.set.properties.contains(.scannable) else { return false }
        if controllers[listener].knowsResponse(peer, kind: announcement.responseKind) { return false }
        return controllers[listener].scanner.backoff.countAdvertisement()
    }

    /// Returns the advertiser's address as the initiator's host knows it; `nil` if the initiator does not connect to
    /// this advertiser.
    private mutating func wantsConnection(_ announcement: LegacyAnnouncement, _ listener: Int) -> DeviceAddress? {
        guard announcement.set.properties.contains(.connectable) else { return nil }
        return controllers[listener].recognizeForInitiator(announcement.address, target: announcement.target)
    }
}
