import BLEWire

extension Air {
    /// Executes the commands that read properties of a connection; returns false for other commands.
    mutating func performLinkReading(_ command: HCICommandPacket, _ controller: Int) -> Bool {
        switch command {
        case .readRSSI(let command):
            let connection = controllers[controller].connection(command.handle)
            let strength = connection.map { connection in
                let strengths = links[connection.link].strengths
                return (connection.role == .central ? strengths.up : strengths.down) + path.noise()
            }
            let value = HCI.ReadRSSI.Return(
                status: Self.status(connection),
                handle: command.handle,
                rssi: strength.map { RSSI(dBm: Int8(clamping: $0)) } ?? .unavailable
            )
            complete(HCI.ReadRSSI.self, value, controller)
        case .readTransmitPowerLevel(let command):
            let connection = controllers[controller].connection(command.handle)
            let power =
                command.maximum
                ? VirtualController.powers.upperBound
                : controllers[controller].identity.transmitPower
            let value = HCI.ReadTransmitPowerLevel.Return(
                status: Self.status(connection),
                handle: command.handle,
                power: TransmitPower(dBm: Int8(clamping: power))
            )
            complete(HCI.ReadTransmitPowerLevel.self, value, controller)
        case .leReadChannelMap(let command):
            let connection = controllers[controller].connection(command.handle)
            let value = HCI.LEReadChannelMap.Return(
                status: Self.status(connection),
                handle: command.handle,
                channels: connection.map { links[$0.link].channelMap } ?? 0
            )
            complete(HCI.LEReadChannelMap.self, value, controller)
        default: return performPHYReading(command, controller)
        }
        return true
    }

    private mutating func performPHYReading(_ command: HCICommandPacket, _ controller: Int) -> Bool {
        switch command {
        case .leReadPHY(let command):
            let connection = controllers[controller].connection(command.handle)
            let phys = connection.map { links[$0.link].phys(of: $0.role) }
            let value = HCI.LEReadPHY.Return(
                status: Self.status(connection),
                handle: command.handle,
                transmit: phys?.transmit ?? .le1M,
                receive: phys?.receive ?? .le1M
            )
            complete(HCI.LEReadPHY.self, value, controller)
        case .readAuthenticatedPayloadTimeout(let command):
            let connection = controllers[controller].connection(command.handle)
            let timeout = connection.map { links[$0.link][$0.role].payloadTimeout } ?? .standard
            let value = HCI.ReadAuthenticatedPayloadTimeout.Return(
                status: Self.status(connection),
                handle: command.handle,
                timeout: .init(timeout)
            )
            complete(HCI.ReadAuthenticatedPayloadTimeout.self, value, controller)
        default: return false
        }
        return true
    }

    private static func status(_ connection: VirtualController.Connection?) -> HCI.Status {
        connection == nil ? .unknownConnectionIdentifier : .success
    }

    /// Executes the commands that read or set packet lengths, and the commands that set PHYs or the authenticated
    /// payload timeout; returns false for other commands.
    mutating func performLengthsAndPHYs(_ command: HCICommandPacket, _ controller: Int) -> Bool {
        switch command {
        case .writeAuthenticatedPayloadTimeout(let command): write(command, controller)
        case .leSetDataLength(let command): setDataLength(command, controller)
        case .leReadSuggestedDefaultDataLength:
            let length = controllers[controller].suggestedLength
            let value = HCI.LEReadSuggestedDefaultDataLength.Return(
                status: .success,
                octets: length.octets,
                time: length.time
            )
            complete(HCI.LEReadSuggestedDefaultDataLength.self, value, controller)
        case .leWriteSuggestedDefaultDataLength(let command):
            let isValid = Self.isValid(octets: command.octets, time: command.time)
            if isValid { controllers[controller].suggestedLength = (command.octets, command.time) }
            complete(
                HCI.LEWriteSuggestedDefaultDataLength.self,
                isValid ? .success : .invalidCommandParameters,
                controller
            )
        case .leReadMaximumDataLength:
            let value = HCI.LEReadMaximumDataLength.Return(
                status: .success,
                transmitOctets: 251,
                transmitTime: 17_040,
                receiveOctets: 251,
                receiveTime: 17_040
            )
            complete(HCI.LEReadMaximumDataLength.self, value, controller)
        case .leSetDefaultPHY(let command):
            let preference = controllers[controller].preference(
                command.noPreference,
                command.transmit,
                command.receive
            )
            if let preference { controllers[controller].preferredPHYs = preference }
            complete(
                HCI.LESetDefaultPHY.self,
                preference == nil ? .unsupportedFeatureOrParameterValue : .success,
                controller
            )
        case .leSetPHY(let command): setPHY(command, controller)
        default: return false
        }
        return true
    }

    /// Sets the authenticated payload timeout of a connection.
    ///
    /// Core 6.0, Vol 4, Part E, 7.3.94.
    private mutating func write(_ command: HCI.WriteAuthenticatedPayloadTimeout, _ controller: Int) {
        let connection = controllers[controller].connection(command.handle)
        var status = Self.status(connection)
        if let connection {
            let timing = links[connection.link].timing
            let least = timing.intervalDuration * (Int(timing.latency) + 1)
            if command.timeout.duration < least {
                status = .invalidCommandParameters
            } else {
                links[connection.link][connection.role].payloadTimeout = command.timeout
                links[connection.link][connection.role].encryption.payloadTimer.restart(at: now)
                scheduleLink(connection.link)
            }
        }
        complete(
            HCI.WriteAuthenticatedPayloadTimeout.self,
            .init(status: status, handle: command.handle),
            controller
        )
    }

    private static func isValid(octets: UInt16, time: UInt16) -> Bool {
        27...251 ~= octets && 328...17_040 ~= time
    }

    /// Stores the packet lengths that the host suggests for a connection, and starts a data length update.
    ///
    /// Core 6.0, Vol 4, Part E, 7.8.33.
    private mutating func setDataLength(_ command: HCI.LESetDataLength, _ controller: Int) {
        let connection = controllers[controller].connection(command.handle)
        var status = Self.status(connection)
        if connection != nil, !Self.isValid(octets: command.octets, time: command.time) {
            status = .invalidCommandParameters
        }
        complete(HCI.LESetDataLength.self, .init(status: status, handle: command.handle), controller)
        guard status == .success, let connection else { return }
        links[connection.link][connection.role].lengths.suggest(octets: command.octets, time: command.time)
        _ = begin(.length, on: connection.link, connection.role, at: now)
    }

    /// Stores the PHYs that the host prefers for a connection, and starts a PHY update.
    ///
    /// Core 6.0, Vol 4, Part E, 7.8.49.
    private mutating func setPHY(_ command: HCI.LESetPHY, _ controller: Int) {
        guard let connection = controllers[controller].connection(command.handle) else {
            return status(.unknownConnectionIdentifier, of: .leSetPHY, controller)
        }
        let wanted = controllers[controller].preference(command.noPreference, command.transmit, command.receive)
        guard let wanted else { return status(.unsupportedFeatureOrParameterValue, of: .leSetPHY, controller) }
        guard links[connection.link][connection.role].control.canSubmit else {
            return status(.controllerBusy, of: .leSetPHY, controller)
        }
        links[connection.link][connection.role].preference = wanted
        links[connection.link][connection.role].prefersCodedTwo = command.coding == .two
        status(.success, of: .leSetPHY, controller)
        _ = begin(.phy(wanted), on: connection.link, connection.role, at: now)
    }
}

extension VirtualController {
    /// Returns the host's preferred PHYs as link layer PHY sets; `nil` if the host requests a PHY that the controller
    /// does not support, or no PHY for one direction.
    func preference(_ noPreference: HCI.NoPreference, _ transmit: PHYSet, _ receive: PHYSet) -> LL.PHYPreference? {
        let all = Self.supportedPHYs(identity.profile.features)
        let transmit = noPreference.contains(.transmitter) ? all : transmit.wire
        let receive = noPreference.contains(.receiver) ? all : receive.wire
        guard transmit != 0, receive != 0, (transmit | receive) & ~all == 0 else { return nil }
        return LL.PHYPreference(transmit: transmit, receive: receive)
    }
}

extension Link {
    /// Returns the PHYs that the end with this role uses to send and receive.
    func phys(of role: Role) -> (transmit: PHY, receive: PHY) {
        let (down, up) = (PHY(wire: centralPHY.number), PHY(wire: peripheralPHY.number))
        return role == .central ? (down, up) : (up, down)
    }
}
