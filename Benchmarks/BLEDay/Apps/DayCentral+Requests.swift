import CoreBluetooth

// The app's requests to peripherals.
extension DayCentral {
    /// Makes a random request to a peripheral.
    func request(_ subject: Subject, _ channels: [CBL2CAPPSM]) {
        guard subject.link.isConnected else { return }
        guard let service = dice.pick(subject.services) else { return discoverServices(subject) }
        switch dice.below(14) {
        case 0: discoverServices(subject)
        case 1: discoverIncluded(subject, service)
        case 2: discoverCharacteristics(subject, service)
        case 3: readRSSI(subject)
        case 4: if dice.chance(40) { openChannel(subject, dice.pick(channels + [0, 0x80, 0x300]) ?? 0) }
        case 5: for talk in subject.talks { talk.send(dice.within(1...2_000)) }
        case 6: if let descriptor = dice.pick(subject.descriptors) { use(subject, descriptor) }
        case 7: sendCommands(subject)
        default:
            guard let item = dice.pick(subject.characteristics) else {
                return discoverCharacteristics(subject, service)
            }
            use(subject, item)
        }
    }

    private func use(_ subject: Subject, _ item: CBCharacteristic) {
        switch dice.below(10) {
        case 0: discoverDescriptors(subject, item)
        case 1..<5: read(subject, item)
        case 5..<8: write(subject, item)
        default: setNotify(subject, item, dice.chance(65))
        }
    }

    /// Records a request with the outcome that it must have, and then calls `body`, which makes the request.
    private func ask(
        _ subject: Subject,
        _ kind: RequestModel.Kind,
        _ object: CBAttribute? = nil,
        _ outcome: RequestModel.Outcome = .success,
        isCertain: Bool = false,
        number: UInt64? = nil,
        _ body: () -> Void
    ) {
        subject.requests.ask(
            RequestModel.Request(
                kind: kind,
                subject: object.map { ObjectIdentifier($0) },
                outcome: outcome,
                isCertain: isCertain,
                number: number,
                made: chronicle.now
            )
        )
        call(kind.rawValue, body)
    }

    func discoverServices(_ subject: Subject) {
        let only: [CBUUID]? = dice.chance(50) ? nil : dice.chance(50) ? [] : [Layout.main, Layout.part]
        ask(subject, .services) { subject.peripheral.discoverServices(only) }
    }

    private func discoverIncluded(_ subject: Subject, _ service: CBService) {
        let only: [CBUUID]? = dice.chance(70) ? nil : [Layout.part]
        ask(subject, .included, service) { subject.peripheral.discoverIncludedServices(only, for: service) }
    }

    func discoverCharacteristics(_ subject: Subject, _ service: CBService) {
        let only: [CBUUID]? = dice.chance(80) ? nil : [Layout.note, Layout.notified]
        ask(subject, .characteristics, service) { subject.peripheral.discoverCharacteristics(only, for: service) }
    }

    private func discoverDescriptors(_ subject: Subject, _ item: CBCharacteristic) {
        ask(subject, .descriptors, item) { subject.peripheral.discoverDescriptors(for: item) }
    }

    private func readRSSI(_ subject: Subject) {
        ask(subject, .rssi) { subject.peripheral.readRSSI() }
    }

    private func openChannel(_ subject: Subject, _ psm: CBL2CAPPSM) {
        ask(subject, .channel, nil, .either) { subject.peripheral.openL2CAPChannel(psm) }
    }

    private func read(_ subject: Subject, _ item: CBCharacteristic) {
        let isReadable = item.properties.contains(.read)
        let outcome: RequestModel.Outcome =
            !isReadable
            ? .refusal(CBATTError.Code.readNotPermitted.rawValue)
            : item.uuid == Layout.secret ? .refusal(Layout.secretRefusal) : .success
        ask(subject, .read, item, outcome, isCertain: !isReadable) {
            subject.peripheral.readValue(for: item)
        }
    }

    private func write(_ subject: Subject, _ item: CBCharacteristic) {
        guard item.properties.contains(.write) else {
            let refusal = RequestModel.Outcome.refusal(CBATTError.Code.writeNotPermitted.rawValue)
            return ask(subject, .write, item, refusal, isCertain: true) {
                subject.peripheral.writeValue(Data([1]), for: item, type: .withResponse)
            }
        }
        switch dice.below(10) {
        case 0:
            let refusal = RequestModel.Outcome.refusal(CBATTError.Code.invalidAttributeValueLength.rawValue)
            ask(subject, .write, item, refusal, isCertain: true) {
                subject.peripheral.writeValue(Data(count: 513), for: item, type: .withResponse)
            }
        case 1, 2:
            let code = UInt8(dice.within(0x80...0x9F))
            ask(subject, .write, item, .refusal(Int(code))) {
                subject.peripheral.writeValue(Data([Layout.poison, code]), for: item, type: .withResponse)
            }
        default:
            let number = nextNumber()
            let length = dice.chance(40) ? dice.within(200...500) : dice.within(1...10)
            let value = number.octets + Layout.pattern(length, salt: UInt8(truncatingIfNeeded: number))
            ask(subject, .write, item, .success, number: number) {
                subject.peripheral.writeValue(value, for: item, type: .withResponse)
            }
        }
    }

    /// Returns a number that no other app of the day writes, and whose first octet is not that of a refused value.
    private func nextNumber() -> UInt64 {
        writes += 1
        let owner = name.utf8.reduce(0) { $0 &* 31 &+ UInt64($1) } & 0x7FFF_FFFF
        return owner << 32 | writes
    }

    func setNotify(_ subject: Subject, _ item: CBCharacteristic, _ enabled: Bool) {
        subject.values[ObjectIdentifier(item), default: ValueModel()].changing()
        let canNotify = !item.properties.isDisjoint(with: [.notify, .indicate])
        let isChanging = subject.requests.isOpen(.notify, ObjectIdentifier(item))
        let isCertain = !canNotify || !isChanging && item.isNotifying == enabled
        let refusal = RequestModel.Outcome.refusal(CBATTError.Code.requestNotSupported.rawValue)
        ask(subject, .notify, item, canNotify ? .success : refusal, isCertain: isCertain) {
            subject.peripheral.setNotifyValue(enabled, for: item)
        }
    }

    private func use(_ subject: Subject, _ descriptor: CBDescriptor) {
        guard descriptor.uuid == CBUUID(string: "2901"), dice.chance(30) else {
            return ask(subject, .readDescriptor, descriptor) { subject.peripheral.readValue(for: descriptor) }
        }
        ask(subject, .writeDescriptor, descriptor, .refusal(CBATTError.Code.writeNotPermitted.rawValue)) {
            subject.peripheral.writeValue(Data([1]), for: descriptor)
        }
    }

    /// Writes up to 60 numbers without response, as long as the peripheral accepts them.
    private func sendCommands(_ subject: Subject) {
        guard let item = subject.characteristics.first(where: { $0.uuid == Layout.commands }) else { return }
        for _ in 0..<dice.within(1...60) where subject.peripheral.canSendWriteWithoutResponse {
            let value = sender(subject).octets + UInt64(subject.commands).octets
            subject.commands += 1
            call("command") { subject.peripheral.writeValue(value, for: item, type: .withoutResponse) }
        }
        if !subject.peripheral.canSendWriteWithoutResponse {
            subject.closedSince = subject.closedSince ?? chronicle.now
        }
    }
}

extension UInt64 {
    /// The eight octets, most significant first.
    var octets: Data { Data((0..<8).map { UInt8(truncatingIfNeeded: self >> (56 - 8 * $0)) }) }

    init(octets: some Sequence<UInt8>) { self = octets.reduce(0) { $0 << 8 | UInt64($1) } }
}
