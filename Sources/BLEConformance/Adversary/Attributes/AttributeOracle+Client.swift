import BLEWire

// What the host asks, and what its app may hear of that. On which bearer it asks what is left to the host.
extension AttributeOracle {
    /// A request of the host that waits for its answer.
    struct Request {
        let opcode: UInt8
        let handle: UInt16
        /// The octets after the two handles.
        var rest: [UInt8] = []
        /// The received part of a value that takes several requests.
        var beginning: [UInt8] = []
    }

    /// The result that an app may receive.
    enum Outcome: Equatable {
        case value([UInt8])
        case failure
    }

    /// The opcodes of requests.
    static let requests: [UInt8] = [
        0x02, 0x04, 0x06, 0x08, 0x0A, 0x0C, 0x0E, 0x10, 0x12, 0x16, 0x18, 0x20,
    ]

    /// Handles a request of the host on a bearer; returns false if it is not allowed.
    mutating func ask(_ packet: [UInt8], on name: ChannelIdentifier) -> Bool {
        guard let index = index(of: name), bearers[index].request == nil, let opcode = packet.first
        else { return false }
        let handle = packet.count > 2 ? UInt16(packet[1]) | UInt16(packet[2]) << 8 : 0
        var request = Request(opcode: opcode, handle: handle, rest: [UInt8](packet.dropFirst(5)))
        if opcode == 0x0C { request.beginning = beginnings[handle] ?? [] }
        bearers[index].request = request
        return true
    }

    /// Handles an answer of the peer, requested or not.
    mutating func answered(_ packet: [UInt8], at index: Int) {
        guard let request = bearers[index].request else { return }
        var outcomes: [Outcome] = []
        if packet[0] == 0x01 {
            // A malformed refusal is one, too, unless it is of something else.
            guard packet.count < 2 || packet[1] == request.opcode else { return }
            outcomes = request.beginning.isEmpty ? [.failure] : [.failure, .value(request.beginning)]
        } else {
            guard packet[0] == request.opcode + 1 else { return }
            let value = request.beginning + packet.dropFirst()
            beginnings[request.handle] = value
            outcomes = request.opcode == 0x12 ? [.value([])] : [.value(value)]
        }
        bearers[index].request = nil
        self.outcomes[request.handle, default: []] += outcomes
    }

    /// Handles a result that the app receives; returns false if it is not allowed, or not before other results.
    mutating func hear(_ outcome: Outcome, of handle: UInt16) -> Bool {
        guard asked.first == handle else { return false }
        asked.removeFirst()
        return isBlind || outcomes[handle]?.contains(outcome) == true
    }
}
