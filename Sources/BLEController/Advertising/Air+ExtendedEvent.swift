import BLEWire

extension Air {
    /// Runs an extended advertising event and processes the responses.
    ///
    /// - Returns: True if the advertiser is now connected.
    mutating func extendedEvent(_ controller: Int, _ set: AdvertisingSet, at now: Instant) -> Bool {
        guard let (own, target) = addresses(controller, set) else { return false }
        let announcement = ExtendedAnnouncement(
            controller: controller,
            set: set,
            own: own,
            target: target,
            channel: Int(path.random.below(37))
        )
        let (receivers, start) = announcePrimary(announcement, at: now)
        let chain = announcement.chain(of: set.data, isResponse: false)
        var candidates: [Candidate] = []
        for receiver in receivers {
            let reception = receive(chain, announcement, by: receiver, at: start)
            guard let reception else { continue }
            if receiver.scans, let candidate = report(reception, announcement, to: receiver) {
                candidates.append(candidate)
            }
            if receiver.initiates, set.properties.contains(.connectable),
                let peer = controllers[receiver.listener].recognizeForInitiator(
                    announcement.packetAddress,
                    target: announcement.target
                )
            {
                candidates.append(
                    candidate(receiver.listener, peer, receiver.strength, power: set.power, connects: true)
                )
            }
        }
        guard !candidates.isEmpty, let first = chain.first else { return false }
        let chosen = candidates.count == 1 ? 0 : Int(path.random.below(Int64(candidates.count)))
        for (index, candidate) in candidates.enumerated() where index != chosen && !candidate.connects {
            controllers[candidate.listener].scanner.backoff.note(answered: false, random: &path.random)
        }
        let answerStart = start + (set.secondary.airTime(first.length) + Spacing.interFrame)
        if candidates[chosen].connects { return connect(candidates[chosen], announcement, at: answerStart) }
        askForResponse(candidates[chosen], announcement, at: answerStart)
        return false
    }

    /// A scanner or initiator that has received a pointer to the auxiliary packet.
    private struct PointerReceiver {
        let listener: Int
        /// The mean strength of the advertiser's packets at the receiver, in dBm.
        let strength: Int
        var scans: Bool
        var isActive: Bool
        var initiates: Bool
    }

    /// Sends the packets on the primary channels, which point to the auxiliary packet.
    ///
    /// - Returns: The devices that have received one of the packets, and the time at which the auxiliary packet
    ///   starts.
    private mutating func announcePrimary(
        _ announcement: ExtendedAnnouncement,
        at now: Instant
    ) -> (receivers: [PointerReceiver], start: Instant) {
        let set = announcement.set
        let channels = (37...39).filter { set.channels >> UInt8($0 - 37) & 1 != 0 }
        let time = set.primary.airTime(announcement.primary(offset: 0).length)
        let step = time + Spacing.auxiliary
        let auxiliary = now + step * Int64(channels.count)
        let near = listeners.listeners(near: controllers[announcement.controller].identity.position, power: set.power)
        var receivers: [PointerReceiver] = [], start = now
        for channel in channels {
            var receptions: [AirRecord.Reception] = []
            for listener in near where listener != announcement.controller {
                let receiver = pointerReceiver(announcement, listener, channel: channel, at: start, &receptions)
                guard let receiver else { continue }
                if let index = receivers.firstIndex(where: { $0.listener == listener }) {
                    receivers[index].scans = receivers[index].scans || receiver.scans
                    receivers[index].isActive = receivers[index].isActive || receiver.isActive
                    receivers[index].initiates = receivers[index].initiates || receiver.initiates
                } else {
                    receivers.append(receiver)
                }
            }
            if path.records != nil {
                let offset = Int((auxiliary - start) / .microseconds(1))
                let pdu = AdvertisingPDU.extended(announcement.primary(offset: offset))
                record(pdu, from: announcement.controller, channel: channel, set.primary, at: start, receptions)
            }
            start = start + step
        }
        return (receivers, auxiliary)
    }

    private mutating func pointerReceiver(
        _ announcement: ExtendedAnnouncement,
        _ listener: Int,
        channel: Int,
        at instant: Instant,
        _ receptions: inout [AirRecord.Reception]
    ) -> PointerReceiver? {
        let set = announcement.set, features = controllers[listener].identity.profile.features
        var window = controllers[listener].scanWindow(channel, set.primary, at: instant)
        if !controllers[listener].scanner.isExtended { window = nil }
        let initiates =
            controllers[listener].initiator?.isExtended == true
            && controllers[listener].initiates(channel, set.primary, at: instant)
        guard window != nil || initiates,
            VirtualController.supportedPHYs(features) & set.secondary.bit != 0,
            let mean = strength(from: announcement.controller, power: set.power, to: listener)
        else { return nil }
        let strength = mean + path.noise()
        let isLost = strength < PathLoss.sensitivity || path.random.happens(path.loss)
        if path.records != nil {
            receptions.append(.init(receiver: ControllerID(rawValue: listener), strength: strength, isLost: isLost))
        }
        guard !isLost else { return nil }
        return PointerReceiver(
            listener: listener,
            strength: mean,
            scans: window != nil,
            isActive: window?.isActive ?? false,
            initiates: initiates
        )
    }

    /// Receives a chain of packets up to the first lost packet; returns `nil` if the first packet of the chain is lost.
    private mutating func receive(
        _ chain: [LL.ExtendedAdvertisement],
        _ announcement: ExtendedAnnouncement,
        by receiver: PointerReceiver,
        at start: Instant
    ) -> ChainReception? {
        var data: [UInt8] = [], begin = start, end = start
        var strength: Int?
        for part in chain {
            end = begin + announcement.set.secondary.airTime(part.length)
            var leg = RadioPath(
                from: announcement.controller,
                to: receiver.listener,
                strength: receiver.strength,
                channel: announcement.channel,
                at: begin
            )
            leg.phy = announcement.set.secondary
            guard let heard = carry(.extended(part), leg) else {
                return strength.map { .init(data: data, strength: $0, isTruncated: true, end: end) }
            }
            if strength == nil { strength = heard }
            data += part.data
            begin = end + Spacing.auxiliary
        }
        return strength.map { .init(data: data, strength: $0, isTruncated: false, end: end) }
    }

    /// Reports the received advertisement to a scanner's host.
    ///
    /// - Returns: The scanner if it requests the scan response, otherwise `nil`.
    private mutating func report(
        _ reception: ChainReception,
        _ announcement: ExtendedAnnouncement,
        to receiver: PointerReceiver
    ) -> Candidate? {
        let listener = receiver.listener
        let recognition = controllers[listener].recognizeForScanner(
            announcement.packetAddress,
            target: announcement.target
        )
        guard let recognition else { return nil }
        let report = AdvertisingReport(reception, announcement, recognition, kind: announcement.kind)
        if controllers[listener].isNew(report) {
            send(report, of: announcement.controller, to: listener, at: reception.end)
        }
        guard receiver.isActive, announcement.set.properties.contains(.scannable) else { return nil }
        let isKnown = controllers[listener].knowsResponse(
            recognition.advertiser,
            kind: announcement.kind.union(.isResponse),
            dataInfo: announcement.dataInfo
        )
        guard !isKnown, controllers[listener].scanner.backoff.countAdvertisement() else { return nil }
        let (peer, power) = (recognition.advertiser, announcement.set.power)
        return candidate(listener, peer, receiver.strength, power: power, connects: false)
    }

    /// Sends a scan request to an extended advertiser, and processes the scan response.
    ///
    /// Core 6.0, Vol 6, Part B, 4.4.2.8.
    private mutating func askForResponse(
        _ candidate: Candidate,
        _ announcement: ExtendedAnnouncement,
        at start: Instant
    ) {
        let scanner = candidate.listener, advertiser = announcement.controller, set = announcement.set
        let kind = controllers[scanner].scanner.ownAddressKind
        let own = ownAddress(scanner, kind, to: candidate.peer)?.onAir ?? .none
        let end = start + set.secondary.airTime(12)
        var leg = RadioPath(
            from: scanner,
            to: advertiser,
            strength: candidate.answer,
            channel: announcement.channel,
            at: start
        )
        leg.phy = set.secondary
        let request = carry(.scanRequest(.init(scanner: own, advertiser: announcement.address)), leg)
        guard request != nil, let asker = controllers[advertiser].answersScan(of: set, from: own) else {
            return controllers[scanner].scanner.backoff.note(answered: false, random: &path.random)
        }
        if set.notifiesScanRequests { sendScanRequest(advertiser, set.handle, scanner: asker, at: end) }
        let chain = announcement.chain(of: set.scanResponse, isResponse: true)
        let receiver = PointerReceiver(
            listener: scanner,
            strength: candidate.strength,
            scans: true,
            isActive: true,
            initiates: false
        )
        let reception = receive(chain, announcement, by: receiver, at: end + Spacing.interFrame)
        controllers[scanner].scanner.backoff.note(answered: reception != nil, random: &path.random)
        guard let reception else { return }
        let recognition = Recognition(advertiser: candidate.peer, target: nil)
        let report = AdvertisingReport(
            reception,
            announcement,
            recognition,
            kind: announcement.kind.union(.isResponse)
        )
        if controllers[scanner].isNew(report) { send(report, of: advertiser, to: scanner, at: reception.end) }
    }

    /// Sends a connection request from an initiator to an extended advertiser.
    ///
    /// - Returns: True if the advertiser has received the request and is now a peripheral.
    private mutating func connect(
        _ candidate: Candidate,
        _ announcement: ExtendedAnnouncement,
        at start: Instant
    ) -> Bool {
        let set = announcement.set, advertiser = announcement.controller
        guard let initiator = controllers[candidate.listener].initiator,
            let timing = initiator.timing(on: set.secondary),
            let own = ownAddress(candidate.listener, initiator.ownAddressKind, to: candidate.peer)
        else { return false }
        let agreement = newConnectionParameters(
            initiator: candidate.listener,
            advertiser: advertiser,
            addresses: (own, announcement.own),
            timing: timing,
            phy: set.secondary
        )
        let end = start + set.secondary.airTime(34)
        guard sendConnectionRequest(candidate, advertiser, agreement, channel: announcement.channel, at: start),
            controllers[advertiser].allowsConnection(to: set, from: own.onAir)
        else { return false }
        var response = LL.ExtendedAdvertisement()
        (response.advertiser, response.target) = (announcement.address, own.onAir)
        var leg = RadioPath(
            from: advertiser,
            to: candidate.listener,
            strength: candidate.strength,
            channel: announcement.channel,
            at: end + Spacing.interFrame
        )
        leg.phy = set.secondary
        let isAnswered = carry(.connectResponse(response), leg) != nil
        if isAnswered { finishInitiating(candidate.listener) }
        if let index = controllers[advertiser].setIndex(set.handle) { controllers[advertiser].sets[index].disable() }
        let handle = establish(agreement, receivedBy: (initiator: isAnswered, advertiser: true), at: end)
        sendSetTerminated(advertiser, set, nil, connection: handle, at: end)
        return true
    }
}

extension AdvertisingReport {
    init(
        _ reception: ChainReception,
        _ announcement: ExtendedAnnouncement,
        _ recognition: Recognition,
        kind: Kind
    ) {
        self.init(
            kind: kind,
            address: recognition.advertiser,
            target: recognition.target,
            strength: reception.strength,
            data: reception.data,
            primary: announcement.set.primary,
            secondary: announcement.set.secondary,
            dataInfo: announcement.dataInfo,
            power: announcement.power,
            isTruncated: reception.isTruncated
        )
    }
}
