import BLEHost
import BLEWire

extension SignalVictim {
    /// Checks the host's answers to a sequence, and that both links are alive.
    func check(_ sequence: [HostilePacket]) {
        let signals = sequence.filter { $0.channel == .leSignaling }
        let due = signals.filter { $0.expected.isAnswer }, open = signals.count { $0.expected == .anything }
        let answers = record.answers
        check(
            (due.count...(due.count + open)).contains(answers.count),
            "sends the answers \(answers.map(\.hexadecimal)); signals that need one: \(due.count)"
        )
        if open == 0 {
            for (packet, answer) in zip(due, answers) {
                check(packet.allowsSignal(answer), "answers \(packet) with \(answer.hexadecimal)")
            }
        }
        check(record.sentElsewhere.isEmpty, "sends \(record.sentElsewhere.map(\.hexadecimal)) to another peer")
        checkLinks()
    }

    /// Checks that both links are alive.
    func checkLinks() {
        checkLink(AttributeVictim.link)
        checkLink(AttributeVictim.other)
    }

    /// Checks that the host still answers a read and an unknown signal on a link correctly.
    private func checkLink(_ link: ConnectionHandle) {
        record.forget()
        deliver([0x77, 0x7E, 0x00, 0x00], on: .leSignaling, of: link)
        deliver([0x0A, 0x03, 0x00], on: .attribute, of: link)
        drain()
        let sent = link == AttributeVictim.link ? record.answers + record.frames.map(\.payload) : record.sentElsewhere
        let wanted = [[0x01, 0x7E, 0x02, 0x00, 0x00, 0x00], [0x0B] + [UInt8](Self.name.utf8)]
        check(sent == wanted, "answers a signal and a read on \(link) with \(sent.map(\.hexadecimal))")
        record.forget()
    }
}

extension HostilePacket.ExpectedAnswer {
    fileprivate var isAnswer: Bool {
        switch self {
        case .answer, .refusal: true
        case .confirmation, .nothing, .anything: false
        }
    }
}

extension HostilePacket {
    /// Returns whether `answer` is an allowed answer to this packet.
    fileprivate func allowsSignal(_ answer: [UInt8]) -> Bool {
        guard octets.count >= 2, answer.count >= 6, answer[1] == octets[1] else { return false }
        let rejects = answer[0] == Signal.Code.commandReject.wire
        if case .refusal(let reason) = expected { return rejects && answer[4] == reason }
        return rejects || answer[0] == octets[0] + 1
    }
}
