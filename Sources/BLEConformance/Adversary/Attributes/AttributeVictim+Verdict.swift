import BLEHost
import BLERuntime
import BLEWire

extension AttributeVictim {
    consuming func verdict() -> String? {
        var ending = self
        ending.release()
        ending.checkAnswers()
        ending.checkOthers()
        var late = ending
        if ending.part == .caching { ending.catchUp() }
        ending.checkReading(on: Self.link)
        ending.checkClient()
        ending.checkEnd()
        late.checkTimeout()
        return ending.record.fault ?? late.record.fault
    }

    /// Checks that nothing happened on the other link, and that the host has not abandoned a link.
    ///
    /// No time has passed, so no request can have timed out. The host therefore has no reason to abandon a link.
    private mutating func checkOthers() {
        let sent = record.sentElsewhere
        check(record.abandoned.isEmpty, "abandons a link before a timeout")
        check(sent.isEmpty, "sends \(sent.map(\.hexadecimal)) to another peer")
        check(record.completedElsewhere == 0, "completes a request to another peer")
    }

    /// Checks that the host answered each packet as required, and in order.
    private mutating func checkAnswers() {
        var answers = record.answers[...], due = 0, open = 0
        for packet in record.calls {
            switch packet.expected {
            case .nothing: break
            case .confirmation: due += 1
            case .anything: open += 1
            case .answer, .refusal:
                guard let answer = answers.popFirst() else { return check(false, "does not answer \(packet)") }
                check(packet.allows(answer, part), "answers \(packet) with \(answer.hexadecimal)")
            }
        }
        let rest = answers, confirmations = record.confirmations
        check(rest.isEmpty, "answers packets that need no response: \(rest.map(\.hexadecimal))")
        let allowed = open == 0 ? "\(due)" : "\(due) to \(due + open)"
        check(
            (due...(due + open)).contains(confirmations),
            "confirms \(confirmations.withNoun("time")), not \(allowed)"
        )
        record.answers = []
    }

    /// Checks that a read of the device name on `link` returns the original value.
    private mutating func checkReading(on link: ConnectionHandle) {
        layer.receive([0x0A, 0x03, 0x00].span, on: link, at: now)
        drain()
        let answers = link == Self.link ? record.answers : record.sentElsewhere
        check(answers == [[0x0B] + Self.name], "answers a read with \(answers.map(\.hexadecimal))")
        (record.answers, record.sentElsewhere) = ([], [])
    }

    /// Checks that the app's requests complete if the server becomes honest, and that the app can make new requests.
    private mutating func checkClient() {
        refuseRequests()
        let (asked, completed) = (record.asked, record.completed)
        check(completed == asked, "completes \(completed) of \(asked) requests")
        guard part == .client else { return }
        layer.perform(.read(.init(wire: 3)), on: Self.link, for: Requester(Self.app), at: now)
        drain()
        check(record.request == [0x0A, 0x03, 0x00], "can no longer send requests")
        layer.receive([0x0B].span, on: Self.link, at: now)
        drain()
        check(record.completed == record.asked + 1, "no longer accepts a response")
    }

    /// Checks that the end of the adversary's link completes no request twice, and does not affect the other link.
    ///
    /// Also checks that the host has reported all of the app's values as sent.
    private mutating func checkEnd() {
        let completed = record.completed
        layer.linkDown(Self.link, failure: .notConnected, at: now)
        drain()
        check(record.completed == completed, "completes a request twice")
        let (updates, taken) = (record.updates, record.updatesTaken)
        check(updates == taken, "reports \(taken) of \(updates) values as sent")
        checkReading(on: Self.other)
        guard part == .client else { return }
        layer.receive([0x0B, 0x55].span, on: Self.other, at: now)
        drain()
        check(record.completedElsewhere == 1, "loses a request to another peer")
    }

    /// Checks the timeout of the app's requests on the adversary's link.
    ///
    /// If a request has no response after 30 s, the host must abandon the link, and it must do so only once. The end of
    /// the link must then complete all requests on it.
    private mutating func checkTimeout() {
        layer.wake(at: now + ATT.transactionTimeout)
        drain()
        let isWaiting = record.request != nil && record.completed < record.asked
        let given = record.abandoned.filter { $0 == Self.link }.count
        check(given <= 1 && (!isWaiting || given == 1), "abandons the link \(given) times after a timeout")
        layer.linkDown(Self.link, failure: .timedOut, at: now)
        drain()
        let (asked, completed) = (record.asked, record.completed)
        check(completed == asked, "completes \(completed) of \(asked) requests at the end of the link")
    }
}

extension HostilePacket {
    /// Returns whether `answer` is an allowed answer to this packet.
    ///
    /// In ``AttributeVictim/Part/caching``, any request may be refused with Database Out of Sync, because the client
    /// does not know of the changed services.
    fileprivate func allows(_ answer: [UInt8], _ part: AttributeVictim.Part) -> Bool {
        guard let request = octets.first else { return false }
        let refuses = answer.count == 5 && answer[0] == ATT.Opcode.errorResponse.wire && answer[1] == request
        switch expected {
        case .answer: return refuses || answer.first == ATT.Opcode(wire: request).response?.wire
        case .refusal(let code):
            let isOutOfSync = part == .caching && answer[4] == ATT.ErrorCode.databaseOutOfSync.wire
            return refuses && (answer[4] == code || isOutOfSync)
        case .confirmation, .nothing, .anything: return false
        }
    }
}
