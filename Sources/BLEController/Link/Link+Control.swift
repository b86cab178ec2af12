import BLEWire

extension Link {
    /// Processes a control PDU that the end with this role has received.
    ///
    /// Core 6.0, Vol 6, Part B, 5.1.
    mutating func receive(
        _ packet: LLControlPacket,
        _ role: Role,
        at now: Instant,
        into events: inout [LinkEvent]
    ) {
        switch self[role].encryption.admission(of: packet.opcode) {
        case .now: process(packet, role, at: now, into: &events)
        case .later: return self[role].encryption.postpone(packet)
        case .never: return events.append(.ended(role, reason: LinkStatus.micFailure.rawValue))
        }
        beginProcedures(role, at: now, into: &events)
    }

    private mutating func process(
        _ packet: LLControlPacket,
        _ role: Role,
        at now: Instant,
        into events: inout [LinkEvent]
    ) {
        guard isKnown(packet, to: role) else { return refuse(packet.opcode, role) }
        switch packet {
        case .connectionUpdate(let update): agree(on: .timing(update), role, into: &events)
        case .channelMap(let indication): agree(on: .channels(indication), role, into: &events)
        case .phyUpdate(let update): receivePHYUpdate(update, role, into: &events)
        case .terminate(let reason):
            // A peripheral has already acknowledged this with its response. A central must acknowledge it in its next
            // packet.
            if role == .central {
                self[role].terminationReason = reason
            } else {
                events.append(.ended(role, reason: reason))
            }
        case .unknownResponse(let opcode):
            fail(opcode, role, status: LinkStatus.unsupportedRemoteFeature.rawValue, at: now, into: &events)
        case .reject(let reason): fail(nil, role, status: reason, at: now, into: &events)
        case .rejectExtended(let rejection):
            fail(rejection.opcode, role, status: rejection.reason, at: now, into: &events)
        case .encryptionRequest, .encryptionResponse, .startEncryptionRequest, .startEncryptionResponse,
            .pauseEncryptionRequest, .pauseEncryptionResponse:
            receiveEncryption(packet, role, at: now, into: &events)
        case .featureRequest, .featureResponse, .peripheralFeatureRequest, .version, .parameterRequest,
            .parameterResponse, .pingRequest, .pingResponse, .lengthRequest, .lengthResponse, .phyRequest,
            .phyResponse, .other:
            exchange(packet, role, into: &events)
        }
    }

    /// Processes a control PDU about features, versions, packet lengths, PHYs or connection parameters, or a ping.
    ///
    /// Rejects a PDU with an unknown opcode.
    private mutating func exchange(_ packet: LLControlPacket, _ role: Role, into events: inout [LinkEvent]) {
        switch packet {
        case .featureRequest(let features), .peripheralFeatureRequest(let features):
            self[role].control.remoteFeatures = features
            let own = self[role].profile.features.rawValue
            // In the first octet only features that both ends support are set; the other octets contain all features of
            // this end.
            self[role].control.send(.featureResponse(own & (features | ~0xFF)))
        case .featureResponse(let features):
            self[role].control.remoteFeatures = features
            if finish(.features, role) { events.append(.featuresRead(role, status: 0)) }
        case .version(let version):
            self[role].control.remoteVersion = version
            sendVersion(role)
            if finish(.version, role) { events.append(.versionRead(role, status: 0)) }
        case .pingRequest: self[role].control.send(.pingResponse)
        case .pingResponse: _ = finish(.ping, role)
        case .lengthRequest(let lengths):
            if self[role].lengths.receive(lengths) { events.append(.lengthsChanged(role)) }
            self[role].control.send(.lengthResponse(self[role].lengths.local))
        case .lengthResponse(let lengths):
            if self[role].lengths.receive(lengths) { events.append(.lengthsChanged(role)) }
            _ = finish(.length, role)
        case .phyRequest(let preference): takeRequest(preference, role, into: &events)
        case .phyResponse(let preference):
            guard role == .central, case .phy(let own)? = self[role].control.active else { return }
            decidePHYs(central: own, peripheral: preference, into: &events)
        case .parameterRequest(let parameters): takeRequest(parameters, role, into: &events)
        case .parameterResponse(let parameters):
            guard role == .central, case .parameters? = self[role].control.active else { return }
            self[role].control.finish()
            self[role].control.answer(with: .timing(parameters))
        case .other(let opcode, _): refuse(opcode, role)
        case .connectionUpdate, .channelMap, .phyUpdate, .terminate, .unknownResponse, .reject, .rejectExtended,
            .encryptionRequest, .encryptionResponse, .startEncryptionRequest, .startEncryptionResponse,
            .pauseEncryptionRequest, .pauseEncryptionResponse:
            break
        }
    }

    /// Returns whether the end with this role supports `packet`, according to its profile.
    private func isKnown(_ packet: LLControlPacket, to role: Role) -> Bool {
        let features = self[role].profile.features
        switch packet {
        case .parameterRequest, .parameterResponse: return features.contains(.connectionParametersRequest)
        case .rejectExtended: return features.contains(.extendedRejectIndication)
        case .peripheralFeatureRequest:
            return role == .central && features.contains(.peripheralInitiatedFeaturesExchange)
        case .featureRequest, .connectionUpdate, .channelMap: return role == .peripheral
        case .pingRequest, .pingResponse: return features.contains(.ping)
        case .lengthRequest, .lengthResponse: return features.contains(.dataPacketLengthExtension)
        case .phyRequest, .phyResponse, .phyUpdate: return !features.isDisjoint(with: [.phy2M, .phyCoded])
        case .encryptionRequest, .pauseEncryptionRequest: return role == .peripheral && features.contains(.encryption)
        case .encryptionResponse, .startEncryptionRequest: return role == .central && features.contains(.encryption)
        case .startEncryptionResponse, .pauseEncryptionResponse: return features.contains(.encryption)
        case .terminate, .unknownResponse, .featureResponse, .version, .reject, .other: return true
        }
    }

    /// Rejects a PDU that this link layer does not support.
    private mutating func refuse(_ opcode: LL.ControlOpcode, _ role: Role) {
        switch opcode {
        case .encryptionRequest, .pauseEncryptionRequest:
            reject(opcode, role, .unsupportedRemoteFeature)
        default: self[role].control.send(.unknownResponse(opcode))
        }
    }

    /// Rejects the peer's request `opcode`.
    mutating func reject(_ opcode: LL.ControlOpcode, _ role: Role, _ status: LinkStatus) {
        reject(opcode, role, reason: status.rawValue)
    }

    /// Rejects the peer's request `opcode`, with LL_REJECT_EXT_IND if both ends support it and otherwise with
    /// LL_REJECT_IND.
    mutating func reject(_ opcode: LL.ControlOpcode, _ role: Role, reason: UInt8) {
        let isExtended =
            self[role].profile.features.contains(.extendedRejectIndication)
            && LEFeatures(rawValue: self[role].control.remoteFeatures ?? .max).contains(.extendedRejectIndication)
        self[role].control.send(
            isExtended ? .rejectExtended(.init(opcode: opcode, reason: reason)) : .reject(reason: reason)
        )
    }

    /// Ends the running procedure if it is `procedure`; otherwise changes nothing and returns false.
    private mutating func finish(_ procedure: LinkControl.Procedure, _ role: Role) -> Bool {
        guard self[role].control.active == procedure else { return false }
        self[role].control.finish()
        return true
    }

    /// Processes the central's announcement of a change, and ends the link if the instant of the change has already
    /// passed.
    private mutating func agree(on change: LinkChange, _ role: Role, into events: inout [LinkEvent]) {
        guard (change.instant &- counter) & 0x8000 == 0 else {
            return events.append(.ended(role, reason: LinkStatus.instantPassed.rawValue))
        }
        self[role].change = change
        switch (self[role].control.active, change) {
        case (.parameters(let own)?, .timing): self[role].control.agree(on: .parameters(own))
        case (.phy(let own)?, .phy): self[role].control.agree(on: .phy(own))
        default: break
        }
    }

    private mutating func receivePHYUpdate(_ update: LL.PHYUpdate, _ role: Role, into events: inout [LinkEvent]) {
        guard role == .peripheral else { return }
        if update.centralToPeripheral | update.peripheralToCentral != 0 {
            return agree(on: .phy(update), role, into: &events)
        }
        guard case .phy? = self[role].control.active else { return }
        self[role].control.finish()
        events.append(.phyUpdated(role, status: 0))
    }

    private mutating func takeRequest(_ preference: LL.PHYPreference, _ role: Role, into events: inout [LinkEvent]) {
        if role == .peripheral {
            return self[role].control.send(.phyResponse(self[role].preference))
        }
        if let status = collision(role, sameKind: isChangingPHYs) {
            return reject(.phyRequest, role, status)
        }
        decidePHYs(central: self[role].preference, peripheral: preference, into: &events)
    }

    private mutating func takeRequest(
        _ parameters: LL.ConnectionParameters,
        _ role: Role,
        into events: inout [LinkEvent]
    ) {
        if role == .central, let status = collision(role, sameKind: isChangingTiming) {
            return reject(.parameterRequest, role, status)
        }
        guard Self.isValid(parameters) else { return reject(.parameterRequest, role, .invalidParameters) }
        self[role].control.requested = parameters
        events.append(.parametersRequested(role, parameters))
    }

    private var isChangingPHYs: Bool {
        if case .phy? = self[.central].control.active { return true }
        if case .phy? = self[.central].change { return true }
        return false
    }

    private var isChangingTiming: Bool {
        switch self[.central].control.active {
        case .timing?, .parameters?: return true
        default: break
        }
        if case .timing? = self[.central].change { return true }
        return false
    }

    /// Returns the reason to reject a change that the peripheral requests; `nil` if no other change is running.
    ///
    /// `sameKind` is true if the running change is of the same kind as the requested one.
    ///
    /// Core 6.0, Vol 6, Part B, 5.3.
    private func collision(_ role: Role, sameKind: Bool) -> LinkStatus? {
        guard self[role].change != nil || self[role].control.active?.hasInstant == true else { return nil }
        return sameKind ? .procedureCollision : .differentTransactionCollision
    }

    /// Returns whether all values are in range and the supervision timeout is long enough for interval and latency.
    ///
    /// Core 6.0, Vol 6, Part B, 5.1.7 and 4.5.1.
    static func isValid(_ parameters: LL.ConnectionParameters) -> Bool {
        6...3200 ~= parameters.intervalMinimum && 6...3200 ~= parameters.intervalMaximum
            && parameters.intervalMinimum <= parameters.intervalMaximum && parameters.latency <= 499
            && 10...3200 ~= parameters.timeout
            && UInt32(parameters.timeout) * 4 > (UInt32(parameters.latency) + 1) * UInt32(parameters.intervalMaximum)
    }

    /// Processes the peer's rejection of the request `opcode`; if `opcode` is `nil`, of the latest request.
    private mutating func fail(
        _ opcode: LL.ControlOpcode?,
        _ role: Role,
        status: UInt8,
        at now: Instant,
        into events: inout [LinkEvent]
    ) {
        guard let procedure = self[role].control.active, self[role].control.deadline != nil else { return }
        if let opcode, opcode != Self.opcode(of: procedure, role) { return }
        self[role].control.finish()
        switch procedure {
        case .version: events.append(.versionRead(role, status: status))
        case .features: events.append(.featuresRead(role, status: status))
        case .length, .channels, .ping: break
        case .encryption: encryptionRejected(status: status, at: now, into: &events)
        case .phy: events.append(.phyUpdated(role, status: status))
        case .parameters, .timing: events.append(.timingUpdated(role, status: status))
        }
    }

    private static func opcode(of procedure: LinkControl.Procedure, _ role: Role) -> LL.ControlOpcode {
        switch procedure {
        case .version: .version
        case .features: role == .central ? .featureRequest : .peripheralFeatureRequest
        case .length: .lengthRequest
        case .phy: .phyRequest
        case .parameters: .parameterRequest
        case .timing: .connectionUpdate
        case .channels: .channelMap
        case .encryption: .encryptionRequest
        case .ping: .pingRequest
        }
    }
}
