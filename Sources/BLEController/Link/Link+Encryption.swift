import BLEWire

// The procedures that start, pause and resume the encryption of a link.
//
// Core 6.0, Vol 6, Part B, 5.1.3.
extension Link {
    /// Starts encryption, or a key refresh if the link is already encrypted, at the central's request.
    mutating func beginEncryption(_ terms: EncryptionTerms, at now: Instant) {
        self[.central].control.await(.encryption(terms), at: now)
        switch self[.central].encryption.central.begin(terms, isEncrypted: self[.central].encryption.isOn) {
        case .pause: self[.central].control.send(.pauseEncryptionRequest)
        case .request(let request): self[.central].control.send(.encryptionRequest(request))
        }
    }

    /// Processes an encryption PDU that the end with this role has received.
    mutating func receiveEncryption(
        _ packet: LLControlPacket,
        _ role: Role,
        at now: Instant,
        into events: inout [LinkEvent]
    ) {
        switch role {
        case .central: centralReceives(packet, at: now, into: &events)
        case .peripheral: peripheralReceives(packet, at: now, into: &events)
        }
    }

    private mutating func centralReceives(
        _ packet: LLControlPacket,
        at now: Instant,
        into events: inout [LinkEvent]
    ) {
        switch packet {
        case .pauseEncryptionResponse:
            guard case .resume(let request) = self[.central].encryption.central.receivePauseResponse() else { return }
            self[.central].encryption.sending = nil
            self[.central].encryption.receiving = nil
            self[.central].control.renew(at: now)
            self[.central].control.send(.pauseEncryptionResponse)
            self[.central].control.send(.encryptionRequest(request))
        case .encryptionResponse(let response): self[.central].encryption.central.receive(response)
        case .startEncryptionRequest:
            guard case .start(let session) = self[.central].encryption.central.receiveStartRequest() else { return }
            self[.central].encryption.sending = PacketCipher(session, sender: .central)
            self[.central].encryption.receiving = PacketCipher(session, sender: .peripheral)
            self[.central].control.renew(at: now)
            self[.central].control.send(.startEncryptionResponse)
        case .startEncryptionResponse:
            guard case .encrypted(let purpose) = self[.central].encryption.central.receiveStartResponse() else {
                return
            }
            self[.central].control.finish()
            encrypted(.central, purpose, at: now, into: &events)
        default: break
        }
    }

    private mutating func peripheralReceives(
        _ packet: LLControlPacket,
        at now: Instant,
        into events: inout [LinkEvent]
    ) {
        let isOn = self[.peripheral].encryption.isOn
        switch packet {
        case .pauseEncryptionRequest:
            guard
                case .pause = self[.peripheral].encryption.peripheral.receivePauseRequest(isEncrypted: isOn, at: now)
            else { return }
            self[.peripheral].encryption.receiving = nil
            self[.peripheral].control.send(.pauseEncryptionResponse)
        case .pauseEncryptionResponse:
            guard case .paused = self[.peripheral].encryption.peripheral.receivePauseResponse(at: now) else { return }
            self[.peripheral].encryption.sending = nil
        case .encryptionRequest(let request):
            guard case .generateValues = self[.peripheral].encryption.peripheral.receive(request, isEncrypted: isOn)
            else {
                return
            }
            events.append(.keyRequested(request))
        case .startEncryptionResponse:
            guard
                case .encrypted(let session, let purpose) =
                    self[.peripheral].encryption.peripheral.receiveStartResponse()
            else { return }
            self[.peripheral].encryption.sending = PacketCipher(session, sender: .peripheral)
            self[.peripheral].control.send(.startEncryptionResponse)
            encrypted(.peripheral, purpose, at: now, into: &events)
        default: break
        }
    }

    /// Stores the peripheral's random values for the session, and sends them to the central.
    mutating func sendEncryptionResponse(_ response: LL.EncryptionResponse) {
        self[.peripheral].encryption.peripheral.generateValues(response)
        self[.peripheral].control.send(.encryptionResponse(response))
    }

    /// Processes the key from the peripheral's host; returns false if the controller did not request a key.
    mutating func receiveKey(_ key: Key128, at now: Instant) -> Bool {
        guard case .start(let session) = self[.peripheral].encryption.peripheral.receive(key, at: now) else {
            return false
        }
        self[.peripheral].encryption.receiving = PacketCipher(session, sender: .central)
        self[.peripheral].control.send(.startEncryptionRequest)
        return true
    }

    /// Processes the answer from the peripheral's host that it has no key; returns false if the controller did not
    /// request a key.
    mutating func receiveKeyRefusal(at now: Instant) -> Bool {
        switch self[.peripheral].encryption.peripheral.receiveRefusal() {
        case .reject: reject(.encryptionRequest, .peripheral, .pinOrKeyMissing)
        case .terminate:
            let deadline = now + timing.timeoutDuration
            self[.peripheral].control.terminate(reason: LinkStatus.pinOrKeyMissing.rawValue, deadline: deadline)
        case .unasked: return false
        }
        return true
    }

    /// Processes the peripheral's rejection of encryption.
    mutating func encryptionRejected(status: UInt8, at now: Instant, into events: inout [LinkEvent]) {
        switch self[.central].encryption.central.receiveRejection() {
        case .failed(.start): events.append(.encryptionChanged(.central, status: status))
        case .failed(.refresh): events.append(.keyRefreshed(.central, status: status))
        case .mustDisconnect: events.append(.ended(.central, reason: status))
        case .ignore: return
        }
        resume(.central, at: now, into: &events)
    }

    /// Records that both directions are now encrypted at the end with this role, and reports this to that end's host.
    private mutating func encrypted(
        _ role: Role,
        _ purpose: EncryptionPurpose,
        at now: Instant,
        into events: inout [LinkEvent]
    ) {
        if self[role].profile.features.contains(.ping) { self[role].encryption.payloadTimer.start(at: now) }
        switch purpose {
        case .start: events.append(.encryptionChanged(role, status: LinkStatus.success.rawValue))
        case .refresh: events.append(.keyRefreshed(role, status: LinkStatus.success.rawValue))
        }
        resume(role, at: now, into: &events)
    }

    /// Processes the packets that were postponed until the end of the encryption procedure.
    private mutating func resume(_ role: Role, at now: Instant, into events: inout [LinkEvent]) {
        for packet in self[role].encryption.takePostponed() { receive(packet, role, at: now, into: &events) }
    }

    /// Returns whether the authenticated payload timer of an end is due; ``watchPayloads(at:into:)`` must then be
    /// called.
    @inline(__always)
    func isPayloadTimerDue(at now: Instant) -> Bool {
        for role in Role.both where self[role].isPresent {
            if let deadline = self[role].payloadDeadline, deadline <= now { return true }
        }
        return false
    }

    /// Advances the authenticated payload timers that are due: sends a ping, or reports the timeout to the host.
    mutating func watchPayloads(at now: Instant, into events: inout [LinkEvent]) {
        for role in Role.both where self[role].isPresent {
            switch self[role].expirePayloadTimer(at: now) {
            case .ping:
                if self[role].control.submit(.ping) { beginProcedures(role, at: now, into: &events) }
            case .report: events.append(.payloadTimeoutExpired(role))
            case .nothing: break
            }
        }
    }
}
