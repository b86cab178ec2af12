package import BLEWire

extension Air {
    /// Processes an HCI packet from a controller's host, in H4 format: the packet indicator, then the packet.
    package mutating func receive(_ packet: Span<UInt8>, from host: ControllerID, at now: Instant) {
        guard isPresent(host) else { return }
        catchUp(to: now)
        guard !controllers[host.rawValue].faults.isMute else { return note(.muted, host.rawValue) }
        guard packet.count > 0 else { return note(.malformedPacket(.truncated(field: "Packet Type")), host.rawValue) }
        let payload = packet.extracting(droppingFirst: 1)
        switch HCI.PacketType(wire: packet[0]) {
        case .command: receive(command: payload, from: host.rawValue)
        case .acl: receive(data: payload, from: host.rawValue)
        default: note(.malformedPacket(.unknown(code: UInt16(packet[0]))), host.rawValue)
        }
        outbox.release(by: self.now)
        flushRecords()
    }

    /// Processes an HCI packet from a controller's host, in H4 format: the packet indicator, then the packet.
    package mutating func receive(_ packet: [UInt8], from host: ControllerID, at now: Instant) {
        receive(packet.span, from: host, at: now)
    }

    mutating func note(_ note: ControllerNote, _ controller: Int) {
        outbox.add(.note(note, ControllerID(rawValue: controller)), at: now, now: now)
    }

    private mutating func receive(command bytes: Span<UInt8>, from controller: Int) {
        guard bytes.count >= 3 else { return note(.malformedPacket(.truncated(field: "Opcode")), controller) }
        let opcode = HCI.Opcode(wire: UInt16(bytes[0]) | UInt16(bytes[1]) << 8)
        guard controllers[controller].knows(opcode) else {
            return status(.unknownCommand, of: opcode, controller)
        }
        do throws(PacketError) {
            perform(try HCICommandPacket(decoding: bytes), controller)
        } catch {
            note(.malformedPacket(error), controller)
            fail(opcode, .invalidCommandParameters, controller)
        }
    }

    /// Queues a fragment of an L2CAP packet that a host sends to the peer of a connection.
    ///
    /// Core 6.0, Vol 4, Part E, 5.4.2.
    private mutating func receive(data bytes: Span<UInt8>, from controller: Int) {
        let header: ACLHeader
        var decoder = PacketDecoder(bytes)
        do throws(PacketError) { header = try ACLHeader(from: &decoder) } catch {
            return note(.malformedPacket(error), controller)
        }
        let payload = decoder.unread
        guard payload.count == Int(header.length) else {
            return note(.malformedPacket(.truncated(field: "Data")), controller)
        }
        guard let connection = controllers[controller].connection(header.handle) else {
            return note(.unknownConnection(header.handle), controller)
        }
        guard payload.count <= controllers[controller].aclLength,
            outstandingFragments(of: controller) < VirtualController.aclCount
        else { return note(.tooMuchData(header.handle), controller) }
        guard payload.count > 0 else { return sendCompleted(header.handle, to: controller, at: now) }
        links[connection.link][connection.role].outgoing.append(
            [UInt8](copying: payload),
            isStart: header.boundary != .continuing
        )
    }

    /// Returns the number of a host's fragments that are queued or in flight on all its connections.
    private func outstandingFragments(of controller: Int) -> Int {
        let links = links.span
        var count = 0
        for connection in controllers[controller].connections {
            count += links[connection.link].fragments(of: connection.role)
        }
        return count
    }
}

extension Air {
    /// Executes a command from a controller's host.
    ///
    /// Every command is answered exactly once.
    mutating func perform(_ command: HCICommandPacket, _ controller: Int) {
        if performSetup(command, controller) || performAdvertising(command, controller)
            || performScanning(command, controller) || performLink(command, controller)
            || performPrivacy(command, controller) || performKeys(command, controller)
        {
            return
        }
        preconditionFailure("a command that the controller claims to support is not implemented: \(command)")
    }

    /// Rejects a command if the host already uses commands of the other generation (legacy or extended); returns
    /// whether it rejected the command.
    ///
    /// `generation` is the generation to which the command belongs.
    mutating func rejectIfOtherGeneration(
        _ generation: VirtualController.Generation,
        _ opcode: HCI.Opcode,
        _ controller: Int
    ) -> Bool {
        if controllers[controller].use(generation) { return false }
        fail(opcode, .commandDisallowed, controller)
        return true
    }
}
