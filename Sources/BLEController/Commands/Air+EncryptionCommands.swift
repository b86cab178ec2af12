import BLEWire

extension Air {
    /// Executes the encryption commands; returns false for other commands.
    mutating func performEncryption(_ command: HCICommandPacket, _ controller: Int) -> Bool {
        switch command {
        case .leEnableEncryption(let command): enableEncryption(command, controller)
        case .leLongTermKeyRequestReply(let command):
            let status = answer(command.handle, with: command.key, controller)
            complete(HCI.LELongTermKeyRequestReply.self, .init(status: status, handle: command.handle), controller)
        case .leLongTermKeyRequestNegativeReply(let command):
            let status = answer(command.handle, with: nil, controller)
            complete(
                HCI.LELongTermKeyRequestNegativeReply.self,
                .init(status: status, handle: command.handle),
                controller
            )
            // Procedures that the host requested while the controller waited for the key can start now.
            if status == .success, let connection = controllers[controller].connection(command.handle) {
                beginProcedures(on: connection.link, .peripheral, at: now)
            }
        default: return false
        }
        return true
    }

    /// Starts encryption or a key refresh, unless the controller is the peripheral on the connection.
    ///
    /// Core 6.0, Vol 4, Part E, 7.8.24.
    private mutating func enableEncryption(_ command: HCI.LEEnableEncryption, _ controller: Int) {
        if controllers[controller].connection(command.handle)?.role == .peripheral {
            return status(.commandDisallowed, of: .leEnableEncryption, controller)
        }
        let request = LL.EncryptionRequest(
            random: command.random,
            diversifier: command.diversifier,
            keyDiversifier: controllers[controller].random.next(),
            vector: UInt32(truncatingIfNeeded: controllers[controller].random.next())
        )
        let terms = EncryptionTerms(longTermKey: command.key, request: request)
        run(.encryption(terms), on: command.handle, of: .leEnableEncryption, controller)
    }

    /// Processes the host's answer to a request for the long-term key; returns the status of the host's command.
    ///
    /// `key` is `nil` if the host has no key.
    ///
    /// Core 6.0, Vol 4, Part E, 7.8.25 and 7.8.26.
    private mutating func answer(_ handle: ConnectionHandle, with key: Key128?, _ controller: Int) -> HCI.Status {
        guard let connection = controllers[controller].connection(handle) else { return .unknownConnectionIdentifier }
        guard connection.role == .peripheral else { return .commandDisallowed }
        let wasAsked =
            if let key { links[connection.link].receiveKey(key, at: now) } else {
                links[connection.link].receiveKeyRefusal(at: now)
            }
        scheduleLink(connection.link)
        return wasAsked ? .success : .commandDisallowed
    }

    /// Generates the peripheral's random values for the session, and requests the key from its host.
    ///
    /// If the host's event mask suppresses the request, the controller acts as if the host had no key.
    mutating func askForKey(_ index: Int, _ request: LL.EncryptionRequest, at instant: Instant) {
        let end = links[index][.peripheral]
        let response = LL.EncryptionResponse(
            keyDiversifier: controllers[end.controller].random.next(),
            vector: UInt32(truncatingIfNeeded: controllers[end.controller].random.next())
        )
        links[index].sendEncryptionResponse(response)
        guard controllers[end.controller].masks.allow(.longTermKeyRequest) else {
            _ = links[index].receiveKeyRefusal(at: instant)
            return beginProcedures(on: index, .peripheral, at: instant)
        }
        let event = HCI.LELongTermKeyRequest(
            handle: end.handle,
            random: request.random,
            diversifier: request.diversifier
        )
        emit(.leLongTermKeyRequest(event), to: end.controller, at: instant)
    }

    /// Reports to a host that its link is now encrypted, or why encryption failed, in the version of the event that the
    /// host has enabled.
    mutating func sendEncryption(_ end: LinkEnd, status: UInt8, at instant: Instant) {
        let status = HCI.Status(wire: status)
        let encryption: HCI.EncryptionChange.Encryption = status == .success ? .on : .off
        guard controllers[end.controller].masks.page2.allows(.encryptionChangeV2) else {
            let event = HCI.EncryptionChange(status: status, handle: end.handle, encryption: encryption)
            return emit(.encryptionChange(event), to: end.controller, at: instant)
        }
        let event = HCI.EncryptionChangeV2(
            status: status,
            handle: end.handle,
            encryption: encryption,
            keySize: status == .success ? 16 : 0
        )
        emit(.encryptionChangeV2(event), to: end.controller, at: instant)
    }

    /// Reports to a host that the key of its link has been refreshed, or why the refresh failed.
    mutating func sendKeyRefresh(_ end: LinkEnd, status: UInt8, at instant: Instant) {
        let event = HCI.EncryptionKeyRefreshComplete(status: HCI.Status(wire: status), handle: end.handle)
        emit(.encryptionKeyRefreshComplete(event), to: end.controller, at: instant)
    }
}
