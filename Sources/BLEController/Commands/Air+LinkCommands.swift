import BLEWire

extension Air {
    /// Executes the connection commands; returns false for other commands.
    mutating func performLink(_ command: HCICommandPacket, _ controller: Int) -> Bool {
        switch command {
        case .disconnect(let command): disconnect(command, controller)
        case .readRemoteVersionInformation(let command):
            run(.version, on: command.handle, of: .readRemoteVersionInformation, controller)
        case .leReadRemoteFeatures(let command): readRemoteFeatures(command, controller)
        case .leConnectionUpdate(let command): update(command, controller)
        case .leRemoteConnectionParameterRequestReply(let command): accept(command, controller)
        case .leRemoteConnectionParameterRequestNegativeReply(let command): decline(command, controller)
        case .leSetHostChannelClassification(let command): classify(command, controller)
        default:
            return performLinkReading(command, controller) || performLengthsAndPHYs(command, controller)
                || performEncryption(command, controller)
        }
        return true
    }

    /// Starts a procedure at a host's request, and sends Command Status for the command `opcode`.
    mutating func run(
        _ procedure: LinkControl.Procedure,
        on handle: ConnectionHandle,
        of opcode: HCI.Opcode,
        _ controller: Int
    ) {
        guard let connection = controllers[controller].connection(handle) else {
            return status(.unknownConnectionIdentifier, of: opcode, controller)
        }
        guard links[connection.link][connection.role].control.termination == nil else {
            return status(.commandDisallowed, of: opcode, controller)
        }
        guard links[connection.link][connection.role].control.canSubmit else {
            return status(.controllerBusy, of: opcode, controller)
        }
        status(.success, of: opcode, controller)
        _ = begin(procedure, on: connection.link, connection.role, at: now)
    }

    /// Starts the termination of a connection.
    ///
    /// Core 6.0, Vol 4, Part E, 7.1.6.
    private mutating func disconnect(_ command: HCI.Disconnect, _ controller: Int) {
        guard let connection = controllers[controller].connection(command.handle) else {
            return status(.unknownConnectionIdentifier, of: .disconnect, controller)
        }
        let reasons: [HCI.Status] = [
            .authenticationFailure, .remoteUserTerminatedConnection, .remoteDeviceLowResources,
            .remoteDevicePowerOff, .unsupportedRemoteFeature, .pairingWithUnitKeyNotSupported,
            .unacceptableConnectionParameters,
        ]
        guard reasons.contains(command.reason) else {
            return status(.invalidCommandParameters, of: .disconnect, controller)
        }
        guard links[connection.link][connection.role].control.termination == nil else {
            return status(.commandDisallowed, of: .disconnect, controller)
        }
        status(.success, of: .disconnect, controller)
        let deadline = now + links[connection.link].timing.timeoutDuration
        links[connection.link][connection.role].control.terminate(reason: command.reason.wire, deadline: deadline)
        scheduleLink(connection.link)
    }

    /// Starts reading the features of the peer's controller.
    ///
    /// A controller that does not support Peripheral-initiated Features Exchange rejects the command in the peripheral
    /// role.
    ///
    /// Core 6.0, Vol 4, Part E, 7.8.21.
    private mutating func readRemoteFeatures(_ command: HCI.LEReadRemoteFeatures, _ controller: Int) {
        let opcode = HCI.Opcode.leReadRemoteFeatures
        let features = controllers[controller].identity.profile.features
        if let connection = controllers[controller].connection(command.handle), connection.role == .peripheral,
            !features.contains(.peripheralInitiatedFeaturesExchange)
        {
            return status(.commandDisallowed, of: opcode, controller)
        }
        run(.features, on: command.handle, of: opcode, controller)
    }

    /// Starts a change of the connection parameters.
    ///
    /// Core 6.0, Vol 4, Part E, 7.8.18.
    private mutating func update(_ command: HCI.LEConnectionUpdate, _ controller: Int) {
        let opcode = HCI.Opcode.leConnectionUpdate, parameters = LL.ConnectionParameters(command.parameters)
        guard let connection = controllers[controller].connection(command.handle) else {
            return status(.unknownConnectionIdentifier, of: opcode, controller)
        }
        guard Link.isValid(parameters) else { return status(.invalidCommandParameters, of: opcode, controller) }
        if connection.role == .central {
            return run(.timing(parameters), on: command.handle, of: opcode, controller)
        }
        guard controllers[controller].identity.profile.features.contains(.connectionParametersRequest) else {
            return status(.commandDisallowed, of: opcode, controller)
        }
        run(.parameters(parameters), on: command.handle, of: opcode, controller)
    }

    /// Accepts the connection parameters that the peer requested.
    ///
    /// Core 6.0, Vol 4, Part E, 7.8.31.
    private mutating func accept(_ command: HCI.LERemoteConnectionParameterRequestReply, _ controller: Int) {
        typealias Command = HCI.LERemoteConnectionParameterRequestReply
        let parameters = LL.ConnectionParameters(command.parameters)
        let (connection, status) = requested(command.handle, controller)
        guard let connection, Link.isValid(parameters) else {
            let value = HCI.HandleReturn(
                status: status == .success ? .invalidCommandParameters : status,
                handle: command.handle
            )
            return complete(Command.self, value, controller)
        }
        links[connection.link][connection.role].control.requested = nil
        complete(Command.self, .init(status: .success, handle: command.handle), controller)
        if connection.role == .central {
            links[connection.link][.central].control.answer(with: .timing(parameters))
            beginProcedures(on: connection.link, .central, at: now)
        } else {
            links[connection.link][.peripheral].control.send(.parameterResponse(parameters))
        }
    }

    /// Rejects the connection parameters that the peer requested.
    ///
    /// Core 6.0, Vol 4, Part E, 7.8.32.
    private mutating func decline(
        _ command: HCI.LERemoteConnectionParameterRequestNegativeReply,
        _ controller: Int
    ) {
        typealias Command = HCI.LERemoteConnectionParameterRequestNegativeReply
        let (connection, status) = requested(command.handle, controller)
        complete(Command.self, .init(status: status, handle: command.handle), controller)
        guard let connection else { return }
        links[connection.link][connection.role].control.requested = nil
        links[connection.link].reject(.parameterRequest, connection.role, reason: command.reason.wire)
    }

    /// Returns the connection with `handle` if its peer is waiting for the host to accept or reject new timing.
    ///
    /// Otherwise, the connection is `nil`, and the status is the error for the host's command.
    private func requested(
        _ handle: ConnectionHandle,
        _ controller: Int
    ) -> (VirtualController.Connection?, HCI.Status) {
        guard let connection = controllers[controller].connection(handle) else {
            return (nil, .unknownConnectionIdentifier)
        }
        let isAsked = links[connection.link][connection.role].control.requested != nil
        return isAsked ? (connection, .success) : (nil, .commandDisallowed)
    }

    /// Stores the host's classification of data channels, and changes the channel maps of connections on which the
    /// controller is the central.
    ///
    /// Core 6.0, Vol 4, Part E, 7.8.19.
    private mutating func classify(_ command: HCI.LESetHostChannelClassification, _ controller: Int) {
        let map = command.channels & ChannelMap.all
        guard map.nonzeroBitCount >= 1, map == command.channels else {
            return complete(HCI.LESetHostChannelClassification.self, .invalidCommandParameters, controller)
        }
        controllers[controller].channelMap = map
        complete(HCI.LESetHostChannelClassification.self, .success, controller)
        for connection in controllers[controller].connections where connection.role == .central {
            if links[connection.link].latestChannels != map {
                _ = begin(.channels(map), on: connection.link, .central, at: now)
            }
        }
    }
}
