import BLEWire

// Encryption of links to bonded peers.
extension Host {
    /// Starts to encrypt a new link if this host is the central and the peer uses the address of a bonded peer.
    ///
    /// Any device can use that address, so the bond is not valid until the link is encrypted with the bond's key. As
    /// the peripheral, this host waits for the central to start encryption.
    ///
    /// Core 6.0, Vol 3, Part C, 10.3.2; Vol 4, Part E, 7.8.24.
    mutating func encryptIfBonded(_ handle: ConnectionHandle, at now: Instant) {
        guard links[handle]?.role == .central, let key = bondKey(of: handle) else { return }
        encrypt(handle, with: key, from: .bond, at: now)
    }

    /// Encrypts a link as the central.
    mutating func encrypt(
        _ handle: ConnectionHandle,
        with key: LongTermKey,
        from source: LinkEncryption.Key,
        at now: Instant
    ) {
        let command = HCI.LEEnableEncryption(
            handle: handle,
            random: key.random,
            diversifier: key.diversifier,
            key: key.key
        )
        links.update(handle) { $0.beginEncryption(with: source, at: now) }
        submit(.leEnableEncryption(command), for: .encryption(handle), at: now)
    }

    /// Processes the controller's answer to an encryption command.
    ///
    /// Only a rejection has an effect.
    mutating func encryptionAnswered(_ status: HCI.Status, on handle: ConnectionHandle, at now: Instant) {
        guard status != .success, links[handle] != nil else { return }
        encryptionChanged(handle, status, isOn: false, at: now)
    }

    /// Responds to the controller's request for the key with which a central wants to encrypt the link.
    mutating func answer(_ request: HCI.LELongTermKeyRequest, at now: Instant) {
        let handle = request.handle
        guard links[handle] != nil else { return note(.unknownLink(handle)) }
        let made = pairings.entries.update(handle) {
            $0.manager.longTermKey(for: request.random, diversifier: request.diversifier)
        }
        if let key = made.flatMap(\.self) {
            reply(with: key, from: .pairing, on: handle, at: now)
        } else if let key = bondKey(of: handle), key.isNamed(by: request) {
            reply(with: key.key, from: .bond, on: handle, at: now)
        } else {
            submit(.leLongTermKeyRequestNegativeReply(.init(handle: handle)), for: .reply(handle), at: now)
        }
    }

    private mutating func reply(
        with key: Key128,
        from source: LinkEncryption.Key,
        on handle: ConnectionHandle,
        at now: Instant
    ) {
        links.update(handle) { $0.beginEncryption(with: source, at: now) }
        submit(.leLongTermKeyRequestReply(.init(handle: handle, key: key)), for: .encryption(handle), at: now)
    }

    /// Processes the controller's report that the encryption of a link has changed, or could not be changed.
    ///
    /// `isOn` is true if the link is encrypted now.
    mutating func encryptionChanged(_ handle: ConnectionHandle, _ status: HCI.Status, isOn: Bool, at now: Instant) {
        guard let index = links.index(of: handle) else { return note(.unknownLink(handle)) }
        if status != .success { note(.encryptionFailed(handle, status)) }
        switch links.values[index].encryption.changed(status, isOn: isOn) {
        case .encrypted(.bond):
            encryptedWithBond(handle, at: now)
            encryptionChanged(.on, on: handle, at: now)
        case .encrypted(.pairing): encryptionChanged(.on, on: handle, at: now)
        case .failed(.pairing): encryptionChanged(.failed, on: handle, at: now)
        case .failed(.bond): disconnect(handle, for: .bondRefused(status), reason: .authenticationFailure, at: now)
        case .broken:
            // Until the controller has ended the link, anyone in range can read its data.
            trust(handle, nil, at: now)
            disconnect(handle, for: .hci(.authenticationFailure), reason: .authenticationFailure, at: now)
        case .unexpected: break
        }
    }

    /// Ends a link that the controllers have not encrypted in time.
    ///
    /// No other data pass on the link while the controllers try, and they would try for 40 s: Core 6.0, Vol 6, Part B,
    /// 5.2.
    mutating func expireEncryption(of handle: ConnectionHandle, at now: Instant) {
        guard let index = links.index(of: handle) else { return }
        switch links.values[index].encryption.expire(at: now) {
        case .overdue(let key):
            note(.encryptionOverdue(handle))
            if key == .pairing {
                pairings.entries.update(handle) { $0.manager.timeOut(at: now) }
                drainPairing(handle, at: now)
            }
            disconnect(handle, for: .encryptionTimedOut, reason: .authenticationFailure, at: now)
        case .nothing: break
        }
    }

    /// Records that the peer has proved its bond by encrypting the link with the bond's key.
    private mutating func encryptedWithBond(_ handle: ConnectionHandle, at now: Instant) {
        guard let peer = links[handle]?.peer, var bond = peers.bond(with: peer) else { return }
        bond.wantedBy = max(bond.wantedBy, bondOrigin(using: handle))
        trust(handle, bond.strength, at: now)
        secured(handle, with: bond.strength, isBonded: true)
        store(bond, of: handle, at: now)
        answerSecurity(of: handle, .secured, at: now)
    }

    /// Continues or fails the requests that wait for a more secure link, as `answer` says.
    mutating func answerSecurity(of handle: ConnectionHandle, _ answer: SecurityAnswer, at now: Instant) {
        withLayers(at: now) { attributes, channels in
            attributes.securityAnswered(handle, answer, at: now)
            channels.securityAnswered(handle, answer, at: now)
        }
    }
}

extension LongTermKey {
    /// Returns whether this is the key with which a central asks to encrypt the link.
    fileprivate func isNamed(by request: HCI.LELongTermKeyRequest) -> Bool {
        random == request.random && diversifier == request.diversifier
    }
}
