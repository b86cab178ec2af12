import CoreBluetooth

// The actions of the app.
extension DayServer {
    /// Performs a random action.
    func act() {
        guard isOn else { return }
        switch dice.below(20) {
        case 0..<12: sendNumbers()
        case 12: startAdvertising(isWellFormed: dice.chance(80))
        case 13: stopAdvertising()
        case 14: startAdvertising()
        case 15: changeGuest()
        case 16: changeChannel()
        case 17: for talk in talks { talk.send(dice.within(1...2_000)) }
        case 18: addReserved()
        default: if dice.chance(15) { rebuild() }
        }
    }

    /// Starts advertising, unless the app already advertises.
    func beHeard() {
        if isOn, !model.advertises { startAdvertising() }
    }

    func stopAdvertising() {
        guard isOn else { return }
        model.stop()
        call("stopAdvertising") { manager.stopAdvertising() }
        if manager.isAdvertising { complain("isAdvertising is true after advertising was stopped") }
    }

    func startAdvertising(isWellFormed: Bool = true) {
        let services: Any = isWellFormed ? [Layout.main] : Layout.main
        let data: [String: Any] = [
            CBAdvertisementDataLocalNameKey: machine, CBAdvertisementDataServiceUUIDsKey: services,
        ]
        model.start(isWellFormed: isWellFormed, at: chronicle.now)
        call("startAdvertising") { manager.startAdvertising(data) }
    }

    func add(_ service: CBMutableService, refusal: CBError.Code? = nil) {
        model.add(ObjectIdentifier(service), refusal: refusal, at: chronicle.now)
        call("add") { manager.add(service) }
    }

    func publishChannel() {
        model.publish(at: chronicle.now)
        call("publish") { manager.publishL2CAPChannel(withEncryption: false) }
    }

    /// Sends up to 50 numbers to all subscribed centrals, as long as the manager accepts them.
    private func sendNumbers() {
        let type = dice.chance(70) ? Layout.notified : Layout.indicated
        guard isServed, let item = main?.items.first(where: { $0.uuid == type }) else { return }
        for _ in 0..<dice.within(1...50) {
            let number = numbers[type] ?? 0
            let value = Data(UInt64(number).octets.suffix(4)) + Data(count: dice.chance(10) ? 400 : 8)
            guard call("update", { manager.updateValue(value, for: item, onSubscribedCentrals: nil) }) else {
                return model.refused(at: chronicle.now)
            }
            numbers[type] = number &+ 1
        }
    }

    private func changeGuest() {
        chronicle.rebuilt(machine)
        if let guest {
            call("remove") { manager.remove(guest) }
            self.guest = nil
        } else {
            let new = Layout.makeGuest()
            guest = new
            add(new)
        }
    }

    private func changeChannel() {
        let psm = channel.withLock { psm in
            defer { psm = nil }
            return psm
        }
        guard let psm else { return publishChannel() }
        model.unpublish(psm)
        call("unpublish") { manager.unpublishL2CAPChannel(psm) }
    }

    private func addReserved() {
        add(CBMutableService(type: CBUUID(string: "1801"), primary: true), refusal: .uuidNotAllowed)
    }

    /// Removes all services, and publishes them again, except the service ``Layout/guest``.
    func rebuild() {
        chronicle.rebuilt(machine)
        isServed = false
        call("removeAll") { manager.removeAllServices() }
        model.withdrew([Layout.notified, Layout.indicated])
        expected = [:]
        let part = Layout.makePart(), main = Layout.makeMain(including: part)
        (self.part, self.main, guest) = (part, main, nil)
        add(part)
        add(main)
    }
}
