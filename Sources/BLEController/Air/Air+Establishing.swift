import BLEWire

/// The parameters of a new connection, which the initiator chooses.
struct NewConnectionParameters {
    let initiator: Int
    let advertiser: Int
    let initiatorAddress: OwnAddress
    let advertiserAddress: OwnAddress
    let timing: Link.Timing
    let phy: AirPHY
    /// True if both devices support Channel Selection Algorithm #2.
    let usesAlgorithm2: Bool
    let accessAddress: UInt32
    let hop: UInt8
    /// The time from the earliest permitted first anchor point to the chosen one, in units of 1.25 ms.
    let windowOffset: UInt16

    /// Returns the connection request packet with these parameters.
    func indication(channelMap: UInt64) -> LL.ConnectIndication {
        var packet = LL.ConnectIndication()
        packet.initiator = initiatorAddress.onAir
        packet.advertiser = advertiserAddress.onAir
        packet.accessAddress = accessAddress
        packet.crcInit = UInt64(accessAddress &* 0x9E37_79B1 >> 8)
        packet.windowSize = 1
        packet.windowOffset = windowOffset
        packet.interval = timing.interval
        packet.latency = timing.latency
        packet.timeout = timing.timeout
        packet.channelMap = channelMap
        packet.hopAndClockAccuracy = hop | 5 << 5
        return packet
    }
}

extension Air {
    /// Chooses the parameters of a new connection for an initiator.
    mutating func newConnectionParameters(
        initiator: Int,
        advertiser: Int,
        addresses: (initiator: OwnAddress, advertiser: OwnAddress),
        timing: Link.Timing,
        phy: AirPHY
    ) -> NewConnectionParameters {
        let features = controllers[initiator].identity.profile.features
            .intersection(controllers[advertiser].identity.profile.features)
        return NewConnectionParameters(
            initiator: initiator,
            advertiser: advertiser,
            initiatorAddress: addresses.initiator,
            advertiserAddress: addresses.advertiser,
            timing: timing,
            phy: phy,
            usesAlgorithm2: features.contains(.channelSelectionAlgorithm2),
            accessAddress: UInt32(truncatingIfNeeded: path.random.next()),
            hop: UInt8(5 + path.random.below(12)),
            windowOffset: UInt16(path.random.below(Int64(min(timing.interval, 4))))
        )
    }

    /// Creates a connection, and reports it to the hosts of the devices that consider themselves connected.
    ///
    /// - Parameters:
    ///   - agreement: The parameters that the initiator chose.
    ///   - isHeard: For each device, true if it considers itself connected. A device that has missed or rejected the
    ///     other device's packet does not.
    ///   - created: The time at which the packet that creates the connection ends.
    /// - Returns: The advertiser's connection handle; `nil` if the advertiser does not consider itself connected.
    @discardableResult
    mutating func establish(
        _ agreement: NewConnectionParameters,
        receivedBy isHeard: (initiator: Bool, advertiser: Bool),
        at created: Instant
    ) -> ConnectionHandle? {
        // Core 6.0, Vol 6, Part B, 4.5.3: the transmit window opens 1.25 ms after the packet, or 2.5 ms after an
        // auxiliary packet.
        let delay = (agreement.phy == .oneMegabit ? 1 : 2) + Int64(agreement.windowOffset)
        let anchor = created + delay * Spacing.slot
        var central = end(agreement.initiator, at: created), peripheral = end(agreement.advertiser, at: created)
        central.isPresent = isHeard.initiator
        peripheral.isPresent = isHeard.advertiser
        guard central.isPresent || peripheral.isPresent else { return nil }
        let link = Link(
            accessAddress: agreement.accessAddress,
            selection: agreement.usesAlgorithm2 ? .algorithm2 : .algorithm1(hop: agreement.hop),
            timing: agreement.timing,
            channelMap: controllers[agreement.initiator].channelMap,
            phy: agreement.phy,
            created: created,
            anchor: anchor,
            central: central,
            peripheral: peripheral
        )
        let index = place(link)
        for role in Role.both where links[index][role].isPresent {
            let end = links[index][role]
            let (initiator, advertiser) = (agreement.initiatorAddress, agreement.advertiserAddress)
            let (own, other) = role == .central ? (initiator, advertiser) : (advertiser, initiator)
            let peer = controllers[end.controller].resolvingList.recognize(other.onAir) ?? other.onAir
            controllers[end.controller].add(
                .init(handle: end.handle, link: index, role: role, own: own.identity, peer: peer.onAir)
            )
            let names = ConnectionAddresses(
                peer: peer,
                localPrivate: own.isPrivate ? own.onAir : .none,
                peerPrivate: peer.isResolved ? other.onAir : .none
            )
            sendConnection(end, role, names, link: links[index], at: created)
            startInitialLengthUpdate(index, role, at: created)
        }
        updateStrengths(ofLink: index)
        scheduleLink(index)
        return isHeard.advertiser ? peripheral.handle : nil
    }

    private mutating func place(_ link: Link) -> Int {
        guard let index = freeLinks.popLast() else {
            links.append(link)
            return links.count - 1
        }
        links[index] = link
        return index
    }

    /// Returns a controller's ``LinkEnd`` for a connection that is created at `now`.
    private mutating func end(_ controller: Int, at now: Instant) -> LinkEnd {
        let profile = controllers[controller].identity.profile
        var lengths = DataLengths(canExtend: profile.features.contains(.dataPacketLengthExtension))
        let suggested = controllers[controller].suggestedLength
        lengths.suggest(octets: suggested.octets, time: suggested.time)
        return LinkEnd(
            controller: controller,
            handle: controllers[controller].nextHandle(),
            profile: profile,
            lengths: lengths,
            preference: controllers[controller].preferredPHYs,
            at: now
        )
    }

    /// Starts a data length update on a new connection if the host has suggested packets longer than the minimum.
    private mutating func startInitialLengthUpdate(_ index: Int, _ role: Role, at now: Instant) {
        let controller = links[index][role].controller
        if controllers[controller].suggestedLength.octets > 27 { _ = begin(.length, on: index, role, at: now) }
    }
}
