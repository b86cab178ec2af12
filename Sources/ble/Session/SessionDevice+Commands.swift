import BLEHost
import BLEWire
import CoreBluetooth
import CoreBluetoothExtras

extension SessionDevice {
    /// Performs a command on the connected device, and returns the keys of the answer.
    func perform(_ command: SessionCommand) async throws -> [String: Any] {
        switch command.name {
        case .discover: return keys.merging(["services": try await describeServices()]) { $1 }
        case .rssi: return keys.merging(["rssi": try await peripheral.signalStrength()]) { $1 }
        case .mtu:
            let most = peripheral.longestCommandValue
            return keys.merging(["mtu": peripheral.mtu, "maximum_write_length": most]) { $1 }
        case .read, .write, .subscribe, .unsubscribe:
            guard let attribute = command.attribute else {
                preconditionFailure("parsed commands of this kind have an attribute")
            }
            return keys.merging(try await perform(command, attribute)) { $1 }
        case .scan, .stop, .connect, .disconnect, .pair, .answer, .unpair, .serve, .withdraw, .update, .respond, .send,
            .startAdvertising, .stopAdvertising, .openChannel, .closeChannel, .publishChannel, .unpublishChannel:
            preconditionFailure("the engine, not a device, performs \(command.name)")
        }
    }

    /// Opens a channel to the device.
    ///
    /// - Throws: ``SessionFailure`` if another command waits for a channel, because Core Bluetooth's result does not
    ///   identify the request; Core Bluetooth's error if the channel cannot be opened.
    func openChannel(_ psm: CBL2CAPPSM) async throws -> CBL2CAPChannel {
        guard opening == nil else {
            throw SessionFailure(.busy, "Another command is opening a channel to this device.")
        }
        return try await withTaskCancellationHandler {
            try await withCheckedThrowingContinuation { continuation in
                opening = continuation
                peripheral.openL2CAPChannel(psm)
            }
        } onCancel: {
            Task { @MainActor in self.channelOpened(.failure(CancellationError())) }
        }
    }

    /// Ends the wait for a channel; returns false if no command waits for one.
    @discardableResult
    func channelOpened(_ result: Result<CBL2CAPChannel, any Error>) -> Bool {
        guard let opening else { return false }
        self.opening = nil
        opening.resume(with: result)
        return true
    }

    private func perform(
        _ command: SessionCommand,
        _ attribute: SessionCommand.Attribute
    ) async throws -> [String: Any] {
        if command.name == .read || command.name == .write, let descriptor = try await descriptor(attribute) {
            return try await perform(command, on: descriptor)
        }
        switch command.name {
        case .subscribe: return try await subscribe(attribute).sessionKeys
        case .unsubscribe:
            let found = try await characteristic(attribute)
            if found.isNotifying { try await peripheral.setNotifications(false, for: found) }
            subscriptions.removeAll { $0 === found }
            return found.sessionKeys
        case .write:
            let found = try await characteristic(attribute)
            try await write(command.value ?? Data(), to: found, response: command.response)
            return found.sessionKeys
        default:
            let found = try await characteristic(attribute)
            let value = try await peripheral.value(of: found)
            return found.sessionKeys.merging(found.keys(of: value)) { $1 }
        }
    }

    private func write(_ value: Data, to found: CBCharacteristic, response: Bool) async throws {
        guard !response else { return try await peripheral.write(value, to: found) }
        guard found.properties.contains(.writeWithoutResponse) else {
            throw SessionFailure(.noAttribute, "\(found.argument) does not allow writing without response.")
        }
        let most = peripheral.longestCommandValue
        guard value.count <= most else {
            let limit = "At most \(most) octets can be written to \(found.argument) without response"
            throw SessionFailure(.tooLong, "\(limit); the value has \(value.count).")
        }
        try await peripheral.send(value, to: found)
    }

    private func perform(_ command: SessionCommand, on descriptor: CBDescriptor) async throws -> [String: Any] {
        var fields = descriptor.characteristic?.sessionKeys ?? [:]
        fields["uuid"] = descriptor.uuid.uuidString
        fields["handle"] = descriptor.attributeHandle.map { Int($0.wire) }
        guard command.name == .write else {
            fields["value"] = try await peripheral.value(of: descriptor).hexadecimal
            return fields
        }
        guard descriptor.uuid.uuidString != CBUUIDClientCharacteristicConfigurationString else {
            throw SessionFailure(.noAttribute, "Use “subscribe” and “unsubscribe” instead of writing this descriptor.")
        }
        guard command.response else {
            throw SessionFailure(.noAttribute, "Descriptors cannot be written without response.")
        }
        try await peripheral.write(command.value ?? Data(), to: descriptor)
        return fields
    }

    /// Subscribes to a characteristic, unless the session has already subscribed to it, and returns the characteristic.
    func subscribe(_ attribute: SessionCommand.Attribute) async throws -> CBCharacteristic {
        let found = try await characteristic(attribute)
        guard !subscriptions.contains(found) else { return found }
        // This comes first, because a value may arrive before the response.
        subscriptions.append(found)
        do {
            try await peripheral.setNotifications(true, for: found)
        } catch {
            subscriptions.removeAll { $0 === found }
            throw error
        }
        return found
    }

    private func characteristic(_ attribute: SessionCommand.Attribute) async throws -> CBCharacteristic {
        if let known = known(attribute) { return known }
        try await discover()
        guard let found = known(attribute) else {
            let others = peripheral.allServices.flatMap { $0.characteristics ?? [] }.map(\.uuid.uuidString)
            let only = others.isEmpty ? "" : ", only \(CommandError.list(others))"
            let kinds =
                if case .handle = attribute { "characteristic or discovered descriptor" } else { "characteristic" }
            let missing = "\(kinds) \(attribute.description)\(only)"
            throw SessionFailure(.noAttribute, "\(peripheral.title) has no \(missing).")
        }
        return found
    }

    private func known(_ attribute: SessionCommand.Attribute) -> CBCharacteristic? {
        switch attribute {
        case .reference(let reference): reference.find(in: peripheral.allServices)
        case .handle(let handle):
            peripheral.allServices.lazy.flatMap { $0.characteristics ?? [] }
                .first { $0.valueHandle.map { Int($0.wire) } == handle }
        }
    }

    /// Returns the descriptor with a handle; `nil` if `attribute` is a characteristic, or there is no such descriptor.
    private func descriptor(_ attribute: SessionCommand.Attribute) async throws -> CBDescriptor? {
        guard case .handle(let handle) = attribute, known(attribute) == nil else { return nil }
        return peripheral.allServices.lazy.flatMap { $0.characteristics ?? [] }.flatMap { $0.descriptors ?? [] }
            .first { $0.attributeHandle.map { Int($0.wire) } == handle }
    }

    /// Discovers all services, characteristics and included services.
    private func discover() async throws {
        var level = try await peripheral.findServices(), seen = level
        while !level.isEmpty {
            var included: [CBService] = []
            for service in level {
                _ = try await peripheral.findCharacteristics(of: service)
                for next in try await peripheral.findIncludedServices(of: service) where !seen.contains(next) {
                    included.append(next)
                    seen.append(next)
                }
            }
            level = included
        }
    }

    /// Discovers all attributes, and returns their description for the answer to `discover`.
    private func describeServices() async throws -> [[String: Any]] {
        try await discover()
        var described: [[String: Any]] = []
        for service in peripheral.allServices {
            var characteristics: [[String: Any]] = []
            for characteristic in service.characteristics ?? [] {
                var fields = characteristic.sessionKeys
                fields["uuid"] = characteristic.uuid.uuidString
                fields["properties"] = characteristic.properties.names
                fields["descriptors"] = try await peripheral.findDescriptors(of: characteristic).map { descriptor in
                    var fields: [String: Any] = ["uuid": descriptor.uuid.uuidString]
                    fields["handle"] = descriptor.attributeHandle.map { Int($0.wire) }
                    return fields
                }
                characteristics.append(fields)
            }
            var fields: [String: Any] = [
                "uuid": service.uuid.uuidString, "primary": service.isPrimary, "characteristics": characteristics,
                "includes": (service.includedServices ?? []).map(\.uuid.uuidString),
            ]
            fields["handle"] = service.handleRange.map { Int($0.start.wire) }
            described.append(fields)
        }
        return described
    }
}

extension CBCharacteristic {
    /// The keys that identify this characteristic in a line of a session.
    var sessionKeys: [String: Any] {
        var fields = keys
        fields["handle"] = valueHandle.map { Int($0.wire) }
        return fields
    }
}

extension CharacteristicReference {
    /// Creates the reference to a discovered characteristic.
    init(to characteristic: CBCharacteristic) {
        self.init(service: nil, uuid: characteristic.uuid, number: characteristic.number ?? 1)
    }

    /// The keys that identify a characteristic in a line of a session before the characteristic has been discovered.
    var keys: [String: Any] {
        var fields: [String: Any] = ["characteristic": uuid.uuidString]
        fields["service"] = service?.uuidString
        return fields
    }
}
