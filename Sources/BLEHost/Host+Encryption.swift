import BLEWire

// How links to bonded peers are encrypted.
extension Host {
    /// Begins to encrypt a link to a bonded peer, if this host is its central: the peripheral waits for that.
    ///
    /// Core 6.0, Vol 3, Part C, 10.3.2; Vol 4, Part E, 7.8.24.
    mutating func encrypt(_ handle: ConnectionHandle, _ role: LinkRole, at now: Instant) {
        guard role == .central, let peer = links[handle]?.peer, let key = peers.bond(with: peer)?.longTermKey else {
            return
        }
        let command = HCI.LEEnableEncryption(
            handle: handle,
            random: key.random,
            diversifier: key.diversifier,
            key: key.key
        )
        submit(.leEnableEncryption(command), for: .link(handle), at: now)
    }

    /// A central encrypts a link with the key of an earlier pairing: this host has it, or it does not.
    mutating func answer(_ request: HCI.LELongTermKeyRequest, at now: Instant) {
        let handle = request.handle
        guard let peer = links[handle]?.peer else { return note(.unknownLink(handle)) }
        let reply: HCICommandPacket =
            if let key = peers.bond(with: peer)?.longTermKey, key.isNamed(by: request) {
                .leLongTermKeyRequestReply(.init(handle: handle, key: key.key))
            } else {
                .leLongTermKeyRequestNegativeReply(.init(handle: handle))
            }
        submit(reply, for: .link(handle), at: now)
    }

    /// The controller has begun or ended to encrypt a link, or cannot.
    mutating func encryptionChanged(_ handle: ConnectionHandle, _ status: HCI.Status, isOn: Bool, at now: Instant) {
        guard let peer = links[handle]?.peer else { return note(.unknownLink(handle)) }
        guard status == .success else { return note(.encryptionFailed(handle, status)) }
        guard isOn else { return secure(handle, .unencrypted, at: now) }
        let bond = peers.bond(with: peer)
        secure(handle, bond?.security ?? .encrypted, keySize: bond?.keySize ?? 16, at: now)
    }
}

extension LongTermKey {
    /// Whether this is the key that a central wants to encrypt with.
    fileprivate func isNamed(by request: HCI.LELongTermKeyRequest) -> Bool {
        random == request.random && diversifier == request.diversifier
    }
}
