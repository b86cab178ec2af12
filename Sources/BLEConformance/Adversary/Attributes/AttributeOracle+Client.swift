import BLEWire

// The requests of the host's client, and the results that its app may receive. The host may choose any free bearer for
// a request.
extension AttributeOracle {
    /// A request from the host that waits for the peer's response.
    struct Request {
        let opcode: UInt8
        let handle: UInt16
        /// The octets of the packet, starting with the sixth; in a Read By Type request, they are the UUID.
        var rest: [UInt8] = []
        /// The part of the value that earlier requests have read; empty if the value is not read in several parts.
        var beginning: [UInt8] = []
    }

    /// A result that the app may receive for one of its requests.
    enum Outcome: Equatable {
        case value([UInt8])
        case failure
    }

    /// The opcodes of requests.
    static let requests: [UInt8] = [
        0x02, 0x04, 0x06, 0x08, 0x0A, 0x0C, 0x0E, 0x10, 0x12, 0x16, 0x18, 0x20,
    ]

    /// Records a request that the host sends on a bearer; returns false if the request is not allowed.
    mutating func ask(_ packet: [UInt8], on name: ChannelIdentifier) -> Bool {
        guard let index = index(of: name), bearers[index].request == nil, let opcode = packet.first
        else { return false }
        let handle = packet.count > 2 ? UInt16(packet[1]) | UInt16(packet[2]) << 8 : 0
        var request = Request(opcode: opcode, handle: handle, rest: [UInt8](packet.dropFirst(5)))
        if opcode == 0x0C { request.beginning = beginnings[handle] ?? [] }
        bearers[index].request = request
        return true
    }

    /// Processes a response that the peer sends on the bearer at `index` in ``bearers``.
    ///
    /// The response has no effect if it does not answer the host's request on the bearer.
    mutating func answered(_ packet: [UInt8], at index: Int) {
        guard let request = bearers[index].request else { return }
        var outcomes: [Outcome] = []
        if packet[0] == 0x01 {
            // A malformed error response counts, too, unless it names another request.
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

    /// Records a result that the app receives for the attribute with this handle.
    ///
    /// Returns false if the result is not allowed, or does not belong to the app's oldest request without a result.
    mutating func recordResult(_ outcome: Outcome, of handle: UInt16) -> Bool {
        guard asked.first == handle else { return false }
        asked.removeFirst()
        return cannotPredictApp || outcomes[handle]?.contains(outcome) == true
    }
}
