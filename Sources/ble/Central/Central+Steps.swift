import CoreBluetooth
import CoreBluetoothExtras

/// Whom a command talks to: a name, or an identifier as `ble scan` prints it.
struct PeerReference {
    let text: String
    var identifier: UUID? { UUID(uuidString: text) }

    func matches(_ sighting: Sighting) -> Bool {
        sighting.peripheral.identifier == identifier || sighting.name == text || sighting.peripheral.name == text
    }
}

extension Central {
    /// Finds a peripheral: at once if this host knows the identifier, else by scanning.
    func find(_ peer: PeerReference, within time: Duration) async throws -> CBPeripheral {
        if let identifier = peer.identifier,
            let known = manager.retrievePeripherals(withIdentifiers: [identifier]).first
        {
            return known
        }
        var found: CBPeripheral?
        defer { manager.stopScan() }
        do {
            try await wait(
                for: "Finding \(peer.text)",
                within: time,
                after: { manager.scanForPeripherals(withServices: nil, options: nil) },
                {
                    guard case .discovered(let sighting) = $0, peer.matches(sighting) else { return nil }
                    found = sighting.peripheral
                    return .success(())
                }
            )
        } catch Trouble.noAnswer {
            throw Trouble.notFound(peer.text, within: time)
        }
        guard let found else { preconditionFailure("a search that succeeds has found something") }
        return found
    }

    /// Connects to a peripheral.
    func connect(_ peripheral: CBPeripheral, within time: Duration) async throws {
        do {
            try await wait(
                for: "Connecting to \(peripheral.title)",
                within: time,
                after: { manager.connect(peripheral, options: nil) },
                {
                    switch $0 {
                    case .connected(peripheral): .success(())
                    case .failedToConnect(peripheral, let error): .failure(.failed("Connecting", error))
                    default: nil
                    }
                }
            )
        } catch {
            manager.cancelPeripheralConnection(peripheral)
            throw error
        }
    }

    /// Ends a connection, and waits until it has ended.
    func disconnect(_ peripheral: CBPeripheral) async throws {
        guard peripheral.state != .disconnected else { return }
        try await wait(
            for: "Disconnecting",
            within: .seconds(10),
            after: { manager.cancelPeripheralConnection(peripheral) },
            { if case .disconnected(peripheral, _) = $0 { .success(()) } else { nil } }
        )
    }

    /// Does something with a connected peripheral and waits for its answer, which a lost connection takes the place of.
    func ask(
        _ peripheral: CBPeripheral,
        _ what: String,
        _ action: () -> Void,
        _ answer: @escaping (Happening) -> (any Error)??
    ) async throws {
        try await wait(for: what, within: .seconds(35), after: action) { happening in
            if case .disconnected(peripheral, let error) = happening {
                return .failure(.disconnected(peripheral.title, error))
            }
            guard let outcome = answer(happening) else { return nil }
            return outcome.map { .failure(.failed(what, $0)) } ?? .success(())
        }
    }

    /// Finds services, characteristics and descriptors: all of them, or those that may hold `wanted`.
    func discover(_ peripheral: CBPeripheral, descriptors: Bool) async throws {
        try await ask(peripheral, "Discovering services", { peripheral.discoverServices(nil) }) {
            if case .servicesDiscovered(let error) = $0 { .some(error) } else { nil }
        }
        for service in peripheral.services ?? [] {
            try await discover(service, of: peripheral, descriptors: descriptors)
        }
    }

    private func discover(_ service: CBService, of peripheral: CBPeripheral, descriptors: Bool) async throws {
        let what = "Discovering the characteristics of \(service.uuid)"
        try await ask(peripheral, what, { peripheral.discoverCharacteristics(nil, for: service) }) {
            if case .characteristicsDiscovered(service, let error) = $0 { .some(error) } else { nil }
        }
        guard descriptors else { return }
        let included = "Discovering the services that \(service.uuid) includes"
        try await ask(peripheral, included, { peripheral.discoverIncludedServices(nil, for: service) }) {
            if case .includedServicesDiscovered(service, let error) = $0 { .some(error) } else { nil }
        }
        for characteristic in service.characteristics ?? [] {
            let what = "Discovering the descriptors of \(characteristic.uuid)"
            try await ask(peripheral, what, { peripheral.discoverDescriptors(for: characteristic) }) {
                if case .descriptorsDiscovered(characteristic, let error) = $0 { .some(error) } else { nil }
            }
        }
    }

    /// Finds the first characteristic of a type.
    func characteristic(_ uuid: CBUUID, of peripheral: CBPeripheral) async throws -> CBCharacteristic {
        try await characteristics([uuid], of: peripheral)[0]
    }

    /// Finds the first characteristic of each of these types.
    func characteristics(_ uuids: [CBUUID], of peripheral: CBPeripheral) async throws -> [CBCharacteristic] {
        try await discover(peripheral, descriptors: false)
        let all = (peripheral.services ?? []).flatMap { $0.characteristics ?? [] }
        return try uuids.map { uuid in
            guard let found = all.first(where: { $0.uuid == uuid }) else {
                throw Trouble.noCharacteristic(uuid.uuidString, of: peripheral.title)
            }
            return found
        }
    }

    /// Reads a characteristic.
    func read(_ characteristic: CBCharacteristic, of peripheral: CBPeripheral) async throws -> Data {
        try await read([characteristic], of: peripheral) { characteristic, error in
            error.map { .failed("Reading \(characteristic.uuid)", $0) }
        }
        return characteristic.value ?? Data()
    }

    /// Asks for characteristics all at once; each that was `answered`, with an error or without, may end the step.
    func read(
        _ characteristics: [CBCharacteristic],
        of peripheral: CBPeripheral,
        answered: @escaping (CBCharacteristic, (any Error)?) -> Trouble?
    ) async throws {
        var unanswered = characteristics
        let ask = { for characteristic in characteristics { peripheral.readValue(for: characteristic) } }
        let what = "Reading \(characteristics.map(\.uuid.uuidString).joined(separator: ", "))"
        try await wait(for: what, within: .seconds(35), after: ask) { happening in
            switch happening {
            case .disconnected(peripheral, let error): return .failure(.disconnected(peripheral.title, error))
            case .valueUpdated(let attribute, let error):
                guard let index = unanswered.firstIndex(where: { $0 === attribute }) else { return nil }
                if let trouble = answered(unanswered.remove(at: index), error) { return .failure(trouble) }
                return unanswered.isEmpty ? .success(()) : nil
            default: return nil
            }
        }
    }

    /// Reads a descriptor.
    func read(_ descriptor: CBDescriptor, of peripheral: CBPeripheral) async throws -> Any? {
        let what = "Reading \(descriptor.uuid)"
        try await ask(peripheral, what, { peripheral.readValue(for: descriptor) }) {
            if case .valueUpdated(descriptor, let error) = $0 { .some(error) } else { nil }
        }
        return descriptor.value
    }

    /// Writes a characteristic, and waits for the answer if there is to be one.
    func write(_ value: Data, to characteristic: CBCharacteristic, of peripheral: CBPeripheral) async throws {
        let what = "Writing \(characteristic.uuid)"
        let write = { peripheral.writeValue(value, for: characteristic, type: .withResponse) }
        try await ask(peripheral, what, write) {
            if case .valueWritten(characteristic, let error) = $0 { .some(error) } else { nil }
        }
    }

    /// Writes a characteristic without an answer, as soon as there is room for it, and waits until the peripheral has
    /// taken the value.
    ///
    /// Whoever disconnects at once has the value arrive with the end of the link right behind, and a server that looks
    /// at it only then may drop it, as BlueZ does. A server deals with one packet after the other, so one that answers
    /// a later question has dealt with the value; what is known is forgotten first, so that the question is asked.
    ///
    /// Core 6.0, Vol 3, Part F, 3.3.3.
    func writeCommand(_ value: Data, to characteristic: CBCharacteristic, of peripheral: CBPeripheral) async throws {
        if !peripheral.canSendWriteWithoutResponse {
            try await ask(peripheral, "Waiting for room to write", {}) {
                if case .readyToWrite = $0 { .some(nil) } else { nil }
            }
        }
        let types = characteristic.service.map { [$0.uuid] }
        peripheral.writeValue(value, for: characteristic, type: .withoutResponse)
        do {
            try await peripheral.forgetServices()
            _ = try await peripheral.findServices(types)
        } catch {
            throw Trouble.failed("Hearing from \(peripheral.title) after writing", error)
        }
    }

    /// Turns notifications or indications on or off.
    func setNotify(_ on: Bool, for characteristic: CBCharacteristic, of peripheral: CBPeripheral) async throws {
        let what = on ? "Subscribing to \(characteristic.uuid)" : "Unsubscribing from \(characteristic.uuid)"
        try await ask(peripheral, what, { peripheral.setNotifyValue(on, for: characteristic) }) {
            if case .notificationStateUpdated(characteristic, let error) = $0 { .some(error) } else { nil }
        }
    }
}

extension CBPeripheral {
    /// The name, or else the identifier.
    var title: String { name?.printable ?? identifier.uuidString }
}
