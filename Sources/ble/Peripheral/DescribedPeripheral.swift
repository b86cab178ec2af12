import CoreBluetooth

/// A peripheral that serves what a description says: values are kept, given out, and notified when they change.
@MainActor
final class DescribedPeripheral: NSObject {
    private var plan: PeripheralDescription
    private let report: (Fact) -> Void
    private var manager: CBPeripheralManager!
    private var values: [CBMutableCharacteristic: Data] = [:]
    private var ticking: [(characteristic: CBMutableCharacteristic, ticks: PeripheralDescription.Ticks)] = []
    private var unsent: [(CBMutableCharacteristic, Data)] = []
    private var published: [CBMutableService] = []
    private var pendingServices = 0

    /// Hears once that the radio cannot be used.
    var onTrouble: ((Trouble) -> Void)?

    init(_ description: PeripheralDescription, report: @escaping (Fact) -> Void) {
        plan = description
        self.report = report
        super.init()
        manager = CBPeripheralManager(delegate: self, queue: .main)
    }

    /// Stops being seen.
    func stop() {
        manager.stopAdvertising()
        manager.removeAllServices()
    }

    /// Gives a characteristic another value and notifies it; `false` if there is none of this type.
    func setValue(_ value: Data, of uuid: CBUUID) -> Bool {
        guard let characteristic = values.keys.first(where: { $0.uuid == uuid }) else { return false }
        change(characteristic, to: value)
        return true
    }

    /// Publishes one service more, as a file describes it.
    func add(path: String) throws {
        let service = try plan.add(path: path)
        guard manager.state == .poweredOn else { return }
        pendingServices += 1
        manager.add(make(service))
    }

    /// Takes back the service of this type that was published last; `false` if there is none, or another includes it.
    func remove(_ uuid: CBUUID) -> Bool {
        guard plan.remove(uuid) else { return false }
        guard let index = published.lastIndex(where: { $0.uuid == uuid }) else { return true }
        let service = published.remove(at: index)
        for case let characteristic as CBMutableCharacteristic in service.characteristics ?? [] {
            values[characteristic] = nil
            unsent.removeAll { $0.0 == characteristic }
        }
        manager.remove(service)
        report(Fact("service_removed", ["uuid": uuid.uuidString], text: "Service \(uuid) was removed."))
        return true
    }

    private func change(_ characteristic: CBMutableCharacteristic, to value: Data) {
        values[characteristic] = value
        guard !characteristic.properties.isDisjoint(with: [.notify, .indicate]) else { return }
        unsent.append((characteristic, value))
        sendUnsent()
    }

    private func sendUnsent() {
        while let (characteristic, value) = unsent.first {
            guard manager.updateValue(value, for: characteristic, onSubscribedCentrals: nil) else { return }
            unsent.removeFirst()
        }
    }

    /// Publishes everything anew, as one must after the radio was off.
    private func publish() {
        manager.removeAllServices()
        values = [:]
        published = []
        ticking = []
        unsent = []
        pendingServices = plan.services.count
        for service in plan.services { manager.add(make(service)) }
        if pendingServices == 0 { advertise() }
    }

    private func make(_ service: PeripheralDescription.Service) -> CBMutableService {
        let made = CBMutableService(type: CBUUID(string: service.uuid), primary: service.primary ?? true)
        made.includedServices = (service.includes ?? []).compactMap { uuid in
            published.last { $0.uuid == CBUUID(string: uuid) }
        }
        made.characteristics = (service.characteristics ?? []).map(make)
        published.append(made)
        return made
    }

    private func make(_ characteristic: PeripheralDescription.Characteristic) -> CBMutableCharacteristic {
        let properties = CBCharacteristicProperties(names: characteristic.properties) ?? []
        var permissions: CBAttributePermissions = []
        if properties.contains(.read) { permissions.insert(.readable) }
        if !properties.isDisjoint(with: [.write, .writeWithoutResponse]) { permissions.insert(.writeable) }
        let made = CBMutableCharacteristic(
            type: CBUUID(string: characteristic.uuid),
            properties: properties,
            value: nil,
            permissions: permissions
        )
        made.descriptors = descriptors(of: characteristic)
        values[made] = characteristic.value.flatMap(Octets.parse) ?? Data()
        if let ticks = characteristic.ticks { ticking.append((made, ticks)) }
        return made
    }

    private func descriptors(of characteristic: PeripheralDescription.Characteristic) -> [CBMutableDescriptor] {
        let text = characteristic.description.map {
            CBMutableDescriptor(type: CBUUID(string: CBUUIDCharacteristicUserDescriptionString), value: $0)
        }
        let format = characteristic.format.flatMap(Octets.parse).map {
            CBMutableDescriptor(type: CBUUID(string: CBUUIDCharacteristicFormatString), value: $0)
        }
        return [text, format].compactMap(\.self)
    }

    private func advertise() {
        let advertised = plan.services.filter { $0.advertised ?? $0.primary ?? true }
        manager.startAdvertising([
            CBAdvertisementDataLocalNameKey: plan.name,
            CBAdvertisementDataServiceUUIDsKey: advertised.map { CBUUID(string: $0.uuid) },
        ])
        for (characteristic, ticks) in ticking { tick(characteristic, ticks) }
    }

    private func tick(_ characteristic: CBMutableCharacteristic, _ ticks: PeripheralDescription.Ticks) {
        let all = ticks.values.compactMap(Octets.parse)
        Task { [weak self] in
            for index in 0... {
                try await Task.sleep(for: .seconds(ticks.every))
                guard let self, self.values[characteristic] != nil else { return }
                if self.unsent.isEmpty { self.change(characteristic, to: all[index % all.count]) }
            }
        }
    }
}

extension DescribedPeripheral: @MainActor CBPeripheralManagerDelegate {
    func peripheralManagerDidUpdateState(_ peripheral: CBPeripheralManager) {
        switch peripheral.state {
        case .poweredOn: publish()
        case .unknown, .resetting: break
        case let state: onTrouble?(.noRadio(state))
        }
    }

    func peripheralManager(_ peripheral: CBPeripheralManager, didAdd service: CBService, error: (any Error)?) {
        if let error { return onTrouble?(.failed("Adding service \(service.uuid)", error)) ?? () }
        pendingServices -= 1
        if manager.isAdvertising {
            let uuid = service.uuid
            report(Fact("service_added", ["uuid": uuid.uuidString], text: "Service \(uuid) was added."))
        } else if pendingServices == 0 {
            advertise()
        }
    }

    func peripheralManagerDidStartAdvertising(_ peripheral: CBPeripheralManager, error: (any Error)?) {
        if let error { return onTrouble?(.failed("Advertising", error)) ?? () }
        let name = plan.name
        report(Fact("advertising", ["name": name], text: "Advertising as \(name); Ctrl-C ends it."))
    }

    func peripheralManager(
        _ peripheral: CBPeripheralManager,
        central: CBCentral,
        didSubscribeTo characteristic: CBCharacteristic
    ) {
        report(fact("subscribed", central, characteristic, "subscribed to"))
    }

    func peripheralManager(
        _ peripheral: CBPeripheralManager,
        central: CBCentral,
        didUnsubscribeFrom characteristic: CBCharacteristic
    ) {
        report(fact("unsubscribed", central, characteristic, "unsubscribed from"))
    }

    func peripheralManager(_ peripheral: CBPeripheralManager, didReceiveRead request: CBATTRequest) {
        guard let characteristic = request.characteristic as? CBMutableCharacteristic,
            let value = values[characteristic]
        else { return peripheral.respond(to: request, withResult: .attributeNotFound) }
        guard request.offset <= value.count else { return peripheral.respond(to: request, withResult: .invalidOffset) }
        request.value = value.dropFirst(request.offset)
        peripheral.respond(to: request, withResult: .success)
        if request.offset == 0 { report(fact("read", request.central, characteristic, "read", value)) }
    }

    func peripheralManager(_ peripheral: CBPeripheralManager, didReceiveWrite requests: [CBATTRequest]) {
        var written: [CBMutableCharacteristic: Data] = [:]
        for request in requests {
            guard let characteristic = request.characteristic as? CBMutableCharacteristic,
                var value = written[characteristic] ?? (request.offset == 0 ? Data() : values[characteristic])
            else { return peripheral.respond(to: request, withResult: .attributeNotFound) }
            guard request.offset <= value.count else {
                return peripheral.respond(to: request, withResult: .invalidOffset)
            }
            value = value.prefix(request.offset) + (request.value ?? Data())
            written[characteristic] = value
        }
        guard let first = requests.first else { return }
        peripheral.respond(to: first, withResult: .success)
        for request in requests {
            guard let characteristic = request.characteristic as? CBMutableCharacteristic,
                let value = written.removeValue(forKey: characteristic)
            else { continue }
            report(fact("written", request.central, characteristic, "wrote", value))
            change(characteristic, to: value)
        }
    }

    func peripheralManagerIsReady(toUpdateSubscribers peripheral: CBPeripheralManager) { sendUnsent() }

    private func fact(
        _ event: String,
        _ central: CBCentral,
        _ characteristic: CBCharacteristic,
        _ verb: String,
        _ value: Data? = nil
    ) -> Fact {
        let identifier = central.identifier.uuidString
        var fields: [String: Any] = ["central": identifier, "characteristic": characteristic.uuid.uuidString]
        fields["value"] = value?.hexadecimal
        let shown = value.map { ": \($0.shown)" } ?? ""
        return Fact(event, fields, text: "\(identifier) \(verb) \(characteristic.uuid)\(shown)")
    }
}
