import BLEWire

/// An event that a link reports to the host at the end with the given role.
///
/// `status` and `reason` are HCI status codes.
enum LinkEvent: Equatable, Sendable {
    case versionRead(Role, status: UInt8)
    case featuresRead(Role, status: UInt8)
    case lengthsChanged(Role)
    case phyUpdated(Role, status: UInt8)
    case timingUpdated(Role, status: UInt8)
    /// The peer requests new timing, which the host must accept or reject.
    case parametersRequested(Role, LL.ConnectionParameters)
    /// The central starts encryption, and the peripheral's host must supply the key.
    case keyRequested(LL.EncryptionRequest)
    case encryptionChanged(Role, status: UInt8)
    /// A refresh of the link's key has succeeded or failed.
    case keyRefreshed(Role, status: UInt8)
    /// The authenticated payload timeout of the end with this role has expired.
    case payloadTimeoutExpired(Role)
    /// The link is over for the end with this role; `reason` is the HCI error code.
    case ended(Role, reason: UInt8)
}

extension Link {
    /// Starts the queued procedures that can start now at the end with this role.
    ///
    /// Core 6.0, Vol 6, Part B, 5.1.
    mutating func beginProcedures(_ role: Role, at now: Instant, into events: inout [LinkEvent]) {
        // A change that the other end has requested must take effect first.
        while self[role].change == nil, !self[role].encryption.isUnderWay, let procedure = self[role].control.next() {
            begin(procedure, role, at: now, into: &events)
        }
    }

    private mutating func begin(
        _ procedure: LinkControl.Procedure,
        _ role: Role,
        at now: Instant,
        into events: inout [LinkEvent]
    ) {
        switch procedure {
        case .version:
            guard self[role].control.remoteVersion == nil else {
                return events.append(.versionRead(role, status: 0))
            }
            self[role].control.await(procedure, at: now)
            sendVersion(role)
        case .features:
            guard self[role].control.remoteFeatures == nil else {
                return events.append(.featuresRead(role, status: 0))
            }
            self[role].control.await(procedure, at: now)
            let features = self[role].profile.features.rawValue
            self[role].control.send(
                role == .central ? .featureRequest(features) : .peripheralFeatureRequest(features)
            )
        case .length:
            self[role].control.await(procedure, at: now)
            self[role].control.send(.lengthRequest(self[role].lengths.local))
        case .phy(let preference):
            self[role].control.await(procedure, at: now)
            self[role].control.send(.phyRequest(preference))
        case .parameters(let parameters):
            self[role].control.await(procedure, at: now)
            self[role].control.send(.parameterRequest(parameters))
        case .ping:
            self[role].control.await(procedure, at: now)
            self[role].control.send(.pingRequest)
        case .encryption(let terms): beginEncryption(terms, at: now)
        case .timing(let parameters): announceTiming(parameters, procedure)
        case .channels(let map):
            let indication = LL.ChannelMapIndication(channelMap: map, instant: nextInstant)
            self[.central].control.agree(on: procedure)
            self[.central].control.send(.channelMap(indication))
            self[.central].change = .channels(indication)
        }
    }

    /// Sends the version of the end with this role, unless that end has already sent it.
    mutating func sendVersion(_ role: Role) {
        guard !self[role].control.hasSentVersion else { return }
        self[role].control.hasSentVersion = true
        let version = VirtualController.linkVersion(of: self[role].profile)
        self[role].control.send(.version(version))
    }

    /// Announces new timing from the central, with the instant at which it takes effect.
    private mutating func announceTiming(_ parameters: LL.ConnectionParameters, _ procedure: LinkControl.Procedure) {
        var update = LL.ConnectionUpdate()
        update.windowSize = 1
        update.interval = parameters.intervalMaximum
        update.latency = parameters.latency
        update.timeout = parameters.timeout
        update.instant = nextInstant
        self[.central].control.agree(on: procedure)
        self[.central].control.send(.connectionUpdate(update))
        self[.central].change = .timing(update)
    }

    /// The channel map that applies once all running and queued changes of the central are complete.
    var latestChannels: UInt64 { self[.central].control.latestChannels ?? channelMap }

    /// The instant for a new change, late enough for a peripheral that skips events or misses packets.
    ///
    /// It is later than the current event by the number of events that the peripheral may skip plus the number of
    /// events in one second. The latter number is clamped to the range from six to twenty.
    private var nextInstant: UInt16 {
        let perSecond = 800 / max(timing.interval, 1)
        return counter &+ timing.latency &+ min(max(perSecond, 6), 20)
    }

    /// Chooses the PHYs from both ends' preferences on behalf of the central, and announces them to the peripheral.
    ///
    /// Core 6.0, Vol 6, Part B, 5.1.10.
    mutating func decidePHYs(
        central own: LL.PHYPreference,
        peripheral request: LL.PHYPreference,
        into events: inout [LinkEvent]
    ) {
        var update = LL.PHYUpdate()
        update.centralToPeripheral = Self.best(own.transmit & request.receive, current: centralPHY)
        update.peripheralToCentral = Self.best(own.receive & request.transmit, current: peripheralPHY)
        let isChange = update.centralToPeripheral | update.peripheralToCentral != 0
        update.instant = isChange ? nextInstant : 0
        self[.central].control.send(.phyUpdate(update))
        let isOwn = if case .phy? = self[.central].control.active { true } else { false }
        if isChange {
            self[.central].change = .phy(update)
            if isOwn { self[.central].control.agree(on: .phy(own)) }
        } else if isOwn {
            self[.central].control.finish()
            events.append(.phyUpdated(.central, status: 0))
        }
    }

    /// Returns the bit of the fastest PHY in the set `choices`; 0 if that PHY is already in use or the set is empty.
    private static func best(_ choices: UInt8, current: AirPHY) -> UInt8 {
        let best: UInt8 = choices & 2 != 0 ? 2 : choices & 1 != 0 ? 1 : choices & 4 != 0 ? 4 : 0
        return best == current.bit ? 0 : best
    }

    /// Applies the change whose instant is the connection event that begins now.
    ///
    /// A peripheral that has missed the announcement no longer receives the central's packets.
    mutating func applyChanges(into events: inout [LinkEvent]) {
        guard let change = self[.central].change, change.instant == counter else { return }
        let isShared = self[.peripheral].change == change
        let before = (timing, centralPHY, peripheralPHY)
        switch change {
        case .timing(let update):
            timing = Timing(interval: update.interval, latency: update.latency, timeout: update.timeout)
            moveAnchor(by: .nanoseconds(Int64(update.windowOffset) * Spacing.slot))
        case .channels(let indication): channelMap = indication.channelMap
        case .phy(let update):
            let isTwo = self[.central].prefersCodedTwo || self[.peripheral].prefersCodedTwo
            centralPHY = Self.phy(update.centralToPeripheral, codedTwo: isTwo) ?? centralPHY
            peripheralPHY = Self.phy(update.peripheralToCentral, codedTwo: isTwo) ?? peripheralPHY
        }
        self[.peripheral].eventsToSkip = 0
        if !isShared { self[.peripheral].hasLostTiming = true }
        for role in Role.both where role == .central || isShared {
            self[role].change = nil
            let isOwn = finishProcedure(of: role, completedBy: change)
            switch change {
            case .timing where isOwn || before.0 != timing: events.append(.timingUpdated(role, status: 0))
            case .phy where isOwn || before.1 != centralPHY || before.2 != peripheralPHY:
                events.append(.phyUpdated(role, status: 0))
            case .timing, .phy, .channels: break
            }
        }
    }

    private static func phy(_ bit: UInt8, codedTwo: Bool) -> AirPHY? {
        AirPHY(phy: bit == 4 ? 3 : bit, codedTwo: codedTwo)
    }

    /// Ends the running procedure of the end with this role if `change` completes it; returns false if it does not.
    private mutating func finishProcedure(of role: Role, completedBy change: LinkChange) -> Bool {
        switch (self[role].control.active, change) {
        case (.timing?, .timing), (.parameters?, .timing), (.phy?, .phy), (.channels?, .channels):
            self[role].control.finish()
            return true
        default: return false
        }
    }
}
