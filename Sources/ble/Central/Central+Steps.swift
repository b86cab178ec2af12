import BLERuntime
import CoreBluetooth
import CoreBluetoothExtras

extension Central {
    /// Finds the peripheral that `peer` names.
    ///
    /// Returns immediately if `peer` is the identifier of a peripheral that this host knows; otherwise scans for at
    /// most `time`.
    func find(_ peer: PeerReference, within time: Duration) async throws -> CBPeripheral {
        if isUsable, let identifier = peer.identifier,
            let known = manager.retrievePeripherals(withIdentifiers: [identifier]).first
        {
            return known
        }
        var search = Search(for: peer)
        defer { if isUsable { manager.stopScan() } }
        do {
            try await wait(
                for: "Finding \(peer.text)",
                within: time,
                after: { manager.scanForPeripherals(withServices: nil, options: nil) },
                {
                    guard case .discovered(let sighting) = $0, search.see(sighting) else { return nil }
                    return .success(())
                }
            )
            if search.exact == nil { try await continueSearch(&search) }
        } catch CommandError.noAnswer {
            throw CommandError.notFound(peer.text, within: time, seen: search.others)
        }
        found = try search.result()
        guard let found else { preconditionFailure("a successful search has a result") }
        return found.peripheral
    }

    /// Keeps scanning for ``Search/timeout``, in case a peripheral appears that matches exactly.
    private func continueSearch(_ search: inout Search) async throws {
        var wider = search
        defer { search = wider }
        do {
            try await wait(for: "Finding \(search.peer.text)", within: Search.timeout) {
                guard case .discovered(let sighting) = $0, wider.see(sighting), wider.exact != nil else { return nil }
                return .success(())
            }
        } catch CommandError.noAnswer {}
    }

    /// Returns the name under which a peripheral was found by scanning or, if there is none, its GAP device name.
    ///
    /// `nil` if neither is known.
    func name(of peripheral: CBPeripheral) -> String? {
        if let found, found.peripheral === peripheral { found.name } else { peripheral.name }
    }

    /// Connects to a peripheral; cancels the attempt if it takes longer than `time`.
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
            if isUsable { manager.cancelPeripheralConnection(peripheral) }
            throw error
        }
    }

    /// Disconnects and waits until the connection has ended.
    ///
    /// The time limit is a little longer than the host's own limit for sending data that it has accepted.
    func disconnect(_ peripheral: CBPeripheral) async throws {
        guard isUsable, peripheral.state != .disconnected else { return }
        manager.cancelPeripheralConnection(peripheral)
        do {
            try await wait(for: "Disconnecting", within: .seconds(8)) {
                if case .disconnected(peripheral, _) = $0 { .success(()) } else { nil }
            }
        } catch CommandError.radioLost {
            return
        }
    }

    /// Performs `action`, which starts an operation on a connected peripheral, and waits until the operation has ended
    /// or the connection is lost.
    ///
    /// - Parameters:
    ///   - peripheral: The connected peripheral.
    ///   - what: The name of the operation for error messages.
    ///   - action: Starts the operation.
    ///   - answer: Returns the operation's error, or `.some(nil)` if it has succeeded; `nil` for events that do not end
    ///     it.
    /// - Throws: ``CommandError`` if the operation fails, takes too long, or the connection is lost.
    func ask(
        _ peripheral: CBPeripheral,
        _ what: String,
        _ action: () -> Void,
        _ answer: @escaping (DelegateCall) -> (any Error)??
    ) async throws {
        try await wait(for: what, needing: .connection(peripheral), within: .seconds(35), after: action) { happening in
            guard let outcome = answer(happening), outcome?.isLoss != true else { return nil }
            return outcome.map { .failure(.failed(what, $0)) } ?? .success(())
        }
    }

    /// Discovers services with their characteristics and then, level by level, their included services.
    ///
    /// - Parameters:
    ///   - peripheral: The connected peripheral.
    ///   - descriptors: True to discover descriptors, too.
    ///   - incomplete: Called for each part of a service that cannot be discovered. Discovery continues with the other
    ///     parts.
    ///   - isEnough: Returns true if the services discovered so far are sufficient.
    /// - Returns: Each service once, with included services after the services that include them.
    /// - Throws: ``CommandError`` if the peripheral's services cannot be discovered at all, or the connection is lost.
    @discardableResult
    func discover(
        _ peripheral: CBPeripheral,
        descriptors: Bool,
        incomplete: (CommandError) -> Void,
        until isEnough: ([CBService]) -> Bool = { _ in false }
    ) async throws -> [CBService] {
        func attempt(_ step: () async throws -> Void) async throws {
            do {
                try await step()
            } catch let trouble as CommandError {
                guard case .failed = trouble else { throw trouble }
                incomplete(trouble)
            }
        }
        try await ask(peripheral, "Discovering services", { peripheral.discoverServices(nil) }) {
            if case .servicesDiscovered(let error) = $0 { .some(error) } else { nil }
        }
        var level = peripheral.services ?? [], services = level
        while !level.isEmpty {
            for service in level {
                try await attempt { try await discoverCharacteristics(of: service, of: peripheral) }
                for characteristic in service.characteristics ?? [] where descriptors {
                    try await attempt { try await discoverDescriptors(of: characteristic, of: peripheral) }
                }
            }
            guard !isEnough(services) else { break }
            var included: [CBService] = []
            for service in level {
                try await attempt { try await discoverIncludedServices(of: service, of: peripheral) }
                for next in service.includedServices ?? [] where !services.contains(next) && !included.contains(next) {
                    included.append(next)
                }
            }
            services += included
            level = included
        }
        return services
    }

    private func discoverIncludedServices(of service: CBService, of peripheral: CBPeripheral) async throws {
        let what = "Discovering the services that \(service.uuid) includes"
        try await ask(peripheral, what, { peripheral.discoverIncludedServices(nil, for: service) }) {
            if case .includedServicesDiscovered(service, let error) = $0 { .some(error) } else { nil }
        }
    }

    private func discoverCharacteristics(of service: CBService, of peripheral: CBPeripheral) async throws {
        let what = "Discovering the characteristics of \(service.uuid)"
        try await ask(peripheral, what, { peripheral.discoverCharacteristics(nil, for: service) }) {
            if case .characteristicsDiscovered(service, let error) = $0 { .some(error) } else { nil }
        }
    }

    private func discoverDescriptors(of characteristic: CBCharacteristic, of peripheral: CBPeripheral) async throws {
        let what = "Discovering the descriptors of \(characteristic.uuid)"
        try await ask(peripheral, what, { peripheral.discoverDescriptors(for: characteristic) }) {
            if case .descriptorsDiscovered(characteristic, let error) = $0 { .some(error) } else { nil }
        }
    }

    /// Discovers the first characteristic with a UUID.
    func characteristic(_ uuid: CBUUID, of peripheral: CBPeripheral) async throws -> CBCharacteristic {
        try await characteristics([CharacteristicReference(uuid)], of: peripheral)[0]
    }

    /// Discovers the characteristics that `references` name.
    ///
    /// Searches included services only if necessary.
    func characteristics(
        _ references: [CharacteristicReference],
        of peripheral: CBPeripheral
    ) async throws -> [CBCharacteristic] {
        var trouble: CommandError?
        let services = try await discover(peripheral, descriptors: false, incomplete: { trouble = trouble ?? $0 }) {
            services in references.allSatisfy { $0.find(in: services) != nil }
        }
        return try references.map { reference in
            guard let found = reference.find(in: services) else {
                throw trouble ?? CommandError.noCharacteristic("\(reference)", of: peripheral.title)
            }
            return found
        }
    }

    /// Reads the value of a characteristic.
    func read(_ characteristic: CBCharacteristic, of peripheral: CBPeripheral) async throws -> Data {
        try await read([characteristic], of: peripheral) { characteristic, error in
            error.map { .failed("Reading \(characteristic.uuid)", $0) }
        }
        return characteristic.value ?? Data()
    }

    /// Reads several characteristics at the same time.
    ///
    /// Calls `answered` after each response and each error. If `answered` returns an error, this function ends and
    /// throws that error.
    func read(
        _ characteristics: [CBCharacteristic],
        of peripheral: CBPeripheral,
        answered: @escaping (CBCharacteristic, (any Error)?) -> CommandError?
    ) async throws {
        var unanswered = characteristics
        let ask = { for characteristic in characteristics { peripheral.readValue(for: characteristic) } }
        let what = "Reading \(characteristics.map(\.uuid.uuidString).joined(separator: ", "))"
        try await wait(for: what, needing: .connection(peripheral), within: .seconds(35), after: ask) { happening in
            guard case .valueUpdated(let attribute, let error) = happening,
                let index = unanswered.firstIndex(where: { $0 === attribute })
            else { return nil }
            let trouble = answered(unanswered.remove(at: index), error)
            // A lost connection first fails all reads, and then ends the step itself.
            if error?.isLoss == true { return nil }
            if let trouble { return .failure(trouble) }
            return unanswered.isEmpty ? .success(()) : nil
        }
    }

    /// Reads the value of a descriptor; `CBDescriptor.value` describes which type it has.
    func read(_ descriptor: CBDescriptor, of peripheral: CBPeripheral) async throws -> Any? {
        let what = "Reading \(descriptor.uuid)"
        try await ask(peripheral, what, { peripheral.readValue(for: descriptor) }) {
            if case .valueUpdated(descriptor, let error) = $0 { .some(error) } else { nil }
        }
        return descriptor.value
    }

    /// Writes a characteristic with response, and waits for the response.
    func write(_ value: Data, to characteristic: CBCharacteristic, of peripheral: CBPeripheral) async throws {
        let what = "Writing \(characteristic.uuid)"
        let write = { peripheral.writeValue(value, for: characteristic, type: .withResponse) }
        try await ask(peripheral, what, write) {
            if case .valueWritten(characteristic, let error) = $0 { .some(error) } else { nil }
        }
    }

    /// Writes a characteristic without response as soon as there is room, and waits until the peripheral has handled
    /// the value.
    ///
    /// If a program disconnects immediately after a write, the disconnection arrives right behind the value. A server
    /// that has not looked at the value by then may drop it, as BlueZ does. But servers handle packets in order: when
    /// the server responds to a later request, it has handled the value. Discovering the server's services again serves
    /// as that request; the cached services are discarded first, so that the request is really sent.
    ///
    /// Core 6.0, Vol 3, Part F, 3.3.3.
    ///
    /// - Throws: ``CommandError/cannotWrite(_:_:)`` if the value would be dropped silently.
    func writeCommand(_ value: Data, to characteristic: CBCharacteristic, of peripheral: CBPeripheral) async throws {
        guard characteristic.properties.contains(.writeWithoutResponse) else {
            throw CommandError.cannotWrite(characteristic.uuid.uuidString, "it does not allow writing without response")
        }
        let most = peripheral.longestCommandValue
        guard value.count <= most else {
            let reason = "\(peripheral.title) accepts at most \(most) octets without response, not \(value.count)"
            throw CommandError.cannotWrite(characteristic.uuid.uuidString, reason)
        }
        if !peripheral.canSendWriteWithoutResponse {
            try await ask(peripheral, "Waiting to write \(characteristic.uuid)", {}) {
                if case .readyToWrite = $0 { .some(nil) } else { nil }
            }
        }
        let types = characteristic.service.map { [$0.uuid] }
        peripheral.writeValue(value, for: characteristic, type: .withoutResponse)
        try await waitForResponse(from: peripheral, types, after: "the write")
    }

    /// Waits until the peripheral has handled everything that was sent to it before this call.
    ///
    /// The method discovers services with the UUIDs `types` (`nil` for all), and waits for the response. `what` names
    /// the preceding operation in the error message.
    func waitForResponse(from peripheral: CBPeripheral, _ types: [CBUUID]?, after what: String) async throws {
        let question = {
            _ = Task {
                do {
                    try await peripheral.forgetServices()
                    _ = try await peripheral.findServices(types)
                    self.happened(.responded(peripheral, nil))
                } catch {
                    self.happened(.responded(peripheral, error))
                }
            }
        }
        try await ask(peripheral, "Confirming \(what) with \(peripheral.title)", question) {
            if case .responded(peripheral, let error) = $0 { .some(error) } else { nil }
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
    /// The name, or the identifier if there is no name.
    var title: String { name?.printable ?? identifier.uuidString }
}
