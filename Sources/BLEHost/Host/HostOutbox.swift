import BLEWire

/// What the host wants done, until its owner takes it: one by one, or all that there is at once.
///
/// Packets lie apart from all else, one behind the other as the transport takes them, and are handed out first. All
/// else keeps its order.
struct HostOutbox {
    /// All but packets.
    private var outputs: [Host.Output] = []
    private var packets = OutgoingPackets()
    private var taken = TakenCount()
    private var buffer = CopyBuffer()
    /// How many of the outputs, and of the octets of packets, have been handed out.
    private var nextOutput = 0, nextOctet = 0

    @inline(__always)
    mutating func append(_ output: consuming Host.Output) {
        if !taken.isEmpty { appendTaken() }
        outputs.append(output)
    }

    /// A copy of octets, for what is appended.
    mutating func copy(_ octets: Span<UInt8>) -> [UInt8] { buffer.copy(octets) }

    /// Tells a client, whose session is open, of something.
    mutating func tell(_ client: ClientID, _ event: ClientEvent) {
        switch event {
        case .peer(let peer, .writeCommandsTaken(let number), _): tell(client, taken: .writeCommands(to: peer), number)
        case .server(.updatesTaken(let number)): tell(client, taken: .updates, number)
        default: append(.event(event, for: client))
        }
    }

    /// Tells a client that so many of its packets have left.
    mutating func tell(_ client: ClientID, taken kind: TakenCount.Kind, _ number: Int = 1) {
        if let earlier = taken.count(kind, for: client, number) { outputs.append(earlier) }
    }

    /// Sends a whole H4 packet.
    mutating func send(_ packet: [UInt8]) { packets.append(packet) }

    /// Sends a fragment of a packet.
    mutating func send(_ fragment: borrowing ACLScheduler.Fragment) {
        packets.append(fragment.payload, fragment.range, on: fragment.channel, of: fragment.link)
    }

    /// Sends a packet that one buffer holds.
    mutating func send(_ payload: OutgoingPayload, on channel: ChannelIdentifier, of link: ConnectionHandle) {
        packets.append(payload, 0..<payload.length, on: channel, of: link)
    }

    /// Sends a packet of the Attribute Protocol: an opcode, a handle if it has one, and at most `limit` octets of a
    /// value.
    mutating func send(
        _ opcode: ATT.Opcode,
        _ attribute: AttributeHandle? = nil,
        _ value: [UInt8] = [],
        limit: Int = ATT.maximumMTU,
        on link: ConnectionHandle
    ) {
        packets.append(opcode, attribute, value, limit: limit, on: link)
    }

    /// Hands out what is next; `nil` if there is nothing.
    mutating func next() -> Host.Output? {
        if !taken.isEmpty { appendTaken() }
        if let packet = packets.packet(at: nextOctet) {
            nextOctet += packet.count
            return .packet(packet)
        }
        if nextOutput < outputs.count {
            defer { nextOutput += 1 }
            return outputs[nextOutput]
        }
        reset()
        return nil
    }

    /// Hands out all that there is in exchange for what is empty, whose storage is used from now on.
    mutating func takeAll(into others: inout [Host.Output], _ packets: inout OutgoingPackets) {
        precondition(others.isEmpty && packets.isEmpty, "what was taken before has been dealt with")
        if !taken.isEmpty { appendTaken() }
        guard nextOutput == 0, nextOctet == 0 else { return takeRest(into: &others, &packets) }
        if !outputs.isEmpty { swap(&outputs, &others) }
        if !self.packets.isEmpty { swap(&self.packets, &packets) }
    }

    /// Hands out what is left of what was handed out in part.
    @inline(never)
    private mutating func takeRest(into others: inout [Host.Output], _ packets: inout OutgoingPackets) {
        while let output = next() {
            if case .packet(let packet) = output { packets.append(packet) } else { others.append(output) }
        }
    }

    @inline(never)
    private mutating func appendTaken() {
        if let output = taken.take() { outputs.append(output) }
    }

    private mutating func reset() {
        outputs.removeAll(keepingCapacity: true)
        packets.removeAll()
        (nextOutput, nextOctet) = (0, 0)
    }
}
