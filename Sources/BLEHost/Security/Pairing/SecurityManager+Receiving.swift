package import BLEWire

// Packets from the peer.
extension SecurityManager {
    /// Processes a packet from the peer on channel 0x0006.
    ///
    /// If `needsMITM` is true and the packet is a Pairing Request, the key must be protected against a man in the
    /// middle.
    package mutating func receive(_ bytes: Span<UInt8>, needsMITM: Bool = false, at now: Instant) {
        if case .locked = state { return }
        do throws(PacketError) {
            receive(try SMPPacket(decoding: bytes), needsMITM: needsMITM, at: now)
        } catch {
            outbox.append(.note(.malformed(error)))
            guard bytes.count > 0 else { return }
            receiveMalformed(SMP.Opcode(wire: bytes[0]), at: now)
        }
    }

    /// Processes a malformed packet.
    ///
    /// A packet with an undefined code is ignored.
    ///
    /// Core 6.0, Vol 3, Part H, 3.3 and 3.5.5.
    private mutating func receiveMalformed(_ opcode: SMP.Opcode, at now: Instant) {
        guard SMP.Opcode.all.contains(opcode) else { return }
        if isUnderWay { return refuse(.invalidParameters, at: now) }
        if opcode == .pairingRequest || opcode == .securityRequest {
            send(.pairingFailed(.init(.invalidParameters)), at: now)
        }
    }

    private mutating func receive(_ packet: SMPPacket, needsMITM: Bool, at now: Instant) {
        switch (packet, role) {
        case (.pairingFailed(let failed), _):
            guard isUnderWay else { return ignore(packet) }
            end(.refusedByPeer(failed.reason), at: now)
        case (.pairingRequest(let request), .peripheral): receive(request, needsMITM: needsMITM, at: now)
        case (.securityRequest(let request), .central):
            // If the Security Request crossed this host's Pairing Request, the Pairing Request is the answer.
            guard case .idle = state else { return ignore(packet) }
            outbox.append(.securityRequested(request.authentication))
        case (.pairingRequest, .central), (.securityRequest, .peripheral):
            if isUnderWay { return refuse(.commandNotSupported, at: now) }
            send(.pairingFailed(.init(.commandNotSupported)), at: now)
        default: proceed(packet, at: now)
        }
    }

    /// Processes a packet that belongs to the current procedure.
    private mutating func proceed(_ packet: SMPPacket, at now: Instant) {
        switch state {
        case .idle, .requested, .locked: ignore(packet)
        case .offered(let request, let needsMITM):
            guard case .pairingResponse(let response) = packet else { return refuse(.unspecified, at: now) }
            negotiate(request, response, terms(needsMITM: needsMITM), at: now)
        case .consenting, .encrypting: refuse(.unspecified, at: now)
        case .authenticating(let exchange, let authentication):
            if case .pairingKeypressNotification = packet, case .passkeyEntry = exchange.agreement.method { return }
            advance(exchange, authentication, at: now) { phase, random in
                switch phase {
                case .legacy(var machine):
                    defer { phase = .legacy(machine) }
                    return machine.receive(packet, using: &random)
                case .secure(var machine):
                    defer { phase = .secure(machine) }
                    return machine.receive(packet, using: &random)
                }
            }
        case .distributing(let exchange, let key, var keys):
            let action = keys.receive(packet)
            state = .distributing(exchange, key, keys)
            switch action {
            case .wait: break
            case .fail(let reason): refuse(reason, at: now)
            case .finished(let packets):
                for packet in packets { send(packet, at: now) }
                finish(exchange, key, keys)
            }
        }
    }

    private mutating func ignore(_ packet: SMPPacket) { outbox.append(.note(.unexpected(packet.opcode))) }

    /// Processes a central's Pairing Request.
    private mutating func receive(_ request: SMP.PairingFeatures, needsMITM demanded: Bool, at now: Instant) {
        let needsMITM: Bool
        switch state {
        case .idle: needsMITM = demanded
        case .requested(let needs): needsMITM = needs || demanded
        case .offered, .consenting, .authenticating, .encrypting, .distributing, .locked:
            return refuse(.unspecified, at: now)
        }
        lastSent = now
        if attempts.next(at: now) != nil { return refuse(.repeatedAttempts, at: now) }
        let terms = terms(needsMITM: needsMITM)
        negotiate(request, terms.response(to: request), terms, at: now)
    }

    /// Checks the features of both devices, then asks the user for consent or starts the agreed method.
    private mutating func negotiate(
        _ request: SMP.PairingFeatures,
        _ response: SMP.PairingFeatures,
        _ terms: PairingTerms,
        at now: Instant
    ) {
        let exchange = PairingExchange(role, local: local, peer: peer, request: request, response: response)
        if let reason = terms.refusal(of: exchange.agreement, request: request, response: response) {
            return refuse(reason, at: now)
        }
        guard let question = terms.consent(to: exchange.agreement) else {
            return authenticate(exchange, response, at: now)
        }
        state = .consenting(exchange, response)
        ask(question)
    }

    /// Starts the agreed method.
    mutating func authenticate(_ exchange: PairingExchange, _ response: SMP.PairingFeatures, at now: Instant) {
        if role == .peripheral { send(.pairingResponse(response), at: now) }
        let data = configuration.outOfBand.temporaryKey, passkey = configuration.passkey
        let authentication: Authentication =
            exchange.agreement.isSecureConnections
            ? .secure(SecureAuthentication(exchange, configuration, using: &random))
            : .legacy(LegacyAuthentication(exchange))
        advance(exchange, authentication, at: now) { phase, random in
            switch phase {
            case .legacy(var machine):
                defer { phase = .legacy(machine) }
                return machine.begin(temporaryKey: data, passkey: passkey, using: &random)
            case .secure(var machine):
                defer { phase = .secure(machine) }
                return machine.begin()
            }
        }
    }

    /// Performs a step of the authentication phase, and carries out the resulting actions.
    mutating func advance(
        _ exchange: PairingExchange,
        _ authentication: Authentication,
        at now: Instant,
        _ step: (inout Authentication, inout RandomSource) -> [PairingAction]
    ) {
        var phase = authentication
        let actions = step(&phase, &random)
        state = .authenticating(exchange, phase)
        for action in actions {
            switch action {
            case .send(let packet): send(packet, at: now)
            case .ask(let question): ask(question)
            case .fail(let reason): refuse(reason, at: now)
            case .agreed(let key):
                let key = exchange.agreement.shortened(key)
                state = .encrypting(exchange, key, isKeyTaken: false)
                withdraw()
                guard role == .central else { break }
                pendingStrength = exchange.agreement.strength
                outbox.append(.encrypt(LongTermKey(key: key)))
            }
        }
    }
}
