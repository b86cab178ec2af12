import CoreBluetooth

// The requests of centrals to the app.
extension DayServer {
    func received(_ request: CBATTRequest) {
        switch request.characteristic.uuid {
        case Layout.note:
            let value = Layout.pattern(Layout.lengths[Layout.note] ?? 0, salt: 9)
            guard request.offset <= value.count else { return owe(request, .invalidOffset) }
            request.value = value.dropFirst(request.offset)
            owe(request, .success)
        case Layout.secret: owe(request, CBATTError.Code(rawValue: Layout.secretRefusal) ?? .unlikelyError)
        default:
            complain("a read request for \(request.characteristic.uuid), whose value is fixed")
            owe(request, .requestNotSupported)
        }
    }

    func received(_ requests: [CBATTRequest]) {
        guard let first = requests.first else { return complain("a write request without values") }
        guard requests.allSatisfy({ $0.characteristic === first.characteristic && $0.central === first.central }) else {
            return complain("one write request for several characteristics, or from several centrals")
        }
        switch first.characteristic.uuid {
        case Layout.commands:
            for request in requests { takeCommand(request.value ?? Data()) }
            if dice.chance(50) { call("respond") { manager.respond(to: first, withResult: .success) } }
        case Layout.note: takeNote(requests, first)
        default:
            complain("a write request for \(first.characteristic.uuid), which cannot be written")
            owe(first, .writeNotPermitted)
        }
    }

    /// Responds to the requests whose delay is over, and reads the channels.
    func tend() {
        let now = chronicle.now
        guard isOn else { return }
        for debt in debts where debt.due <= now { pay(debt) }
        debts.removeAll { $0.due <= now }
        for talk in talks { complain(talk.receive()) }
        talks.removeAll { !$0.isOpen }
    }

    private func takeCommand(_ value: Data) {
        guard value.count == 16 else {
            return complain("a write without response of \(value.count) instead of 16 octets")
        }
        let sender = UInt64(octets: value.prefix(8)), number = UInt64(octets: value.dropFirst(8))
        complain(
            expected[sender, default: CommandModel()]
                .received(number, at: chronicle.now, linked: chronicle.sending(sender)) {
                    chronicle.hasRebuilt(machine, since: $0)
                }
        )
    }

    private func takeNote(_ requests: [CBATTRequest], _ first: CBATTRequest) {
        var value = Data()
        for request in requests {
            guard request.offset == value.count else {
                complain("a part of a write at offset \(request.offset) instead of \(value.count)")
                return owe(first, .invalidOffset)
            }
            value += request.value ?? Data()
        }
        if value.first == Layout.poison, let code = value.last {
            return owe(first, CBATTError.Code(rawValue: Int(code)) ?? .unlikelyError)
        }
        guard value.count > 8, Layout.isPattern(Data(value.dropFirst(8)), value.count - 8) else {
            complain("a value that no central has written")
            return owe(first, .unlikelyError)
        }
        owe(first, .success, number: UInt64(octets: value.prefix(8)))
    }

    /// Responds to a request, immediately or some seconds later.
    ///
    /// `number` is the number in the written value that the response accepts; `nil` if there is none.
    private func owe(_ request: CBATTRequest, _ result: CBATTError.Code, number: UInt64? = nil) {
        let delay = dice.chance(85) ? 0 : dice.within(1...8)
        let debt = Debt(request: request, result: result, number: number, due: chronicle.now + .seconds(delay))
        if delay == 0 { pay(debt) } else { debts.append(debt) }
    }

    private func pay(_ debt: Debt) {
        if let number = debt.number, !chronicle.take(number) { complain("the value \(number) was received twice") }
        call("respond") { manager.respond(to: debt.request, withResult: debt.result) }
    }
}
