import BLEWire

/// The queue of the host's actions, which its owner takes one by one or all together.
///
/// Packets are stored separately, concatenated as the transport writes them, and are returned before all other actions.
/// The other actions keep their order.
struct HostOutbox {
    /// All actions except packets.
    private var outputs: [Host.Output] = []
    private var packets = OutgoingPackets()
    private var taken = SentCount()
    private var buffer = CopyBuffer()
    /// The number of actions in ``outputs``, and the number of octets in ``packets``, that `next()` has already
    /// returned.
    private var nextOutput = 0, nextOctet = 0

    @inline(__always)
    mutating func append(_ output: consuming Host.Output) {
        if !taken.isEmpty { appendTaken() }
        outputs.append(output)
    }

    /// Returns a copy of `octets`, for an action that will be appended.
    mutating func copy(_ octets: Span<UInt8>) -> [UInt8] { buffer.copy(octets) }

    /// Sends an event to a client whose session is open.
    mutating func report(to client: ClientID, _ event: ClientEvent) {
        switch event {
        case .peer(let peer, .writeCommandsTaken(let number), _):
            report(to: client, taken: .writeCommands(to: peer), number)
        case .server(.updatesTaken(let number)): report(to: client, taken: .updates, number)
        default: append(.event(event, for: client))
        }
    }

    /// Reports to a client that the controller has taken some of its packets.
    ///
    /// Consecutive reports are combined into one.
    mutating func report(to client: ClientID, taken kind: SentCount.Kind, _ number: Int = 1) {
        if let earlier = taken.count(kind, for: client, number) { outputs.append(earlier) }
    }

    /// Sends an H4 packet.
    mutating func send(_ packet: [UInt8]) { packets.append(packet) }

    /// Sends a fragment of a packet.
    mutating func send(_ fragment: borrowing ACLScheduler.Fragment) {
        packets.append(fragment.payload, fragment.range, on: fragment.channel, of: fragment.link)
    }

    /// Sends a packet that fits into one buffer.
    mutating func send(_ payload: OutgoingPayload, on channel: ChannelIdentifier, of link: ConnectionHandle) {
        packets.append(payload, 0..<payload.length, on: channel, of: link)
    }

    /// Sends an ATT packet: an opcode, an optional handle, and at most `limit` octets of a value.
    mutating func send(
        _ opcode: ATT.Opcode,
        _ attribute: AttributeHandle? = nil,
        _ value: [UInt8] = [],
        limit: Int = ATT.maximumMTU,
        on link: ConnectionHandle
    ) {
        packets.append(opcode, attribute, value, limit: limit, on: link)
    }

    /// Returns the next action; `nil` if there is none.
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

    /// Moves all actions into the caller's empty collections, if possible by exchanging the collections.
    mutating func takeAll(into others: inout [Host.Output], _ packets: inout OutgoingPackets) {
        precondition(others.isEmpty && packets.isEmpty, "the previous output must be processed first")
        if !taken.isEmpty { appendTaken() }
        guard nextOutput == 0, nextOctet == 0 else { return takeRemaining(into: &others, &packets) }
        if !outputs.isEmpty { swap(&outputs, &others) }
        if !self.packets.isEmpty { swap(&self.packets, &packets) }
    }

    /// Moves the actions that `next()` has not returned yet into the caller's collections.
    @inline(never)
    private mutating func takeRemaining(into others: inout [Host.Output], _ packets: inout OutgoingPackets) {
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

/// The identifier of a packet that the attribute or channel layer passes to the host.
///
/// The host uses it to tell the layer that the packet has been sent.
package struct SendReceipt: Hashable, Comparable, Sendable {
    package let rawValue: UInt64
    package init(rawValue: UInt64) { self.rawValue = rawValue }
    package static func < (a: Self, b: Self) -> Bool { a.rawValue < b.rawValue }
}

/// The number of one client's packets that the controller has taken since the last report.
///
/// One event reports these packets together.
struct SentCount {
    /// The kind of packets that are counted.
    enum Kind: Equatable {
        case writeCommands(to: PeerIdentifier)
        case updates
    }

    private var client = ClientID(rawValue: 0)
    private var kind = Kind.updates
    private var count = 0

    /// Counts `number` packets of one kind that the controller has taken from a client.
    ///
    /// If the packets counted so far belong to another client or kind, returns the event that reports those packets;
    /// otherwise returns `nil`.
    mutating func count(_ kind: Kind, for client: ClientID, _ number: Int = 1) -> Host.Output? {
        if count > 0, client == self.client, kind == self.kind {
            count += number
            return nil
        }
        let earlier = take()
        (self.client, self.kind, count) = (client, kind, number)
        return earlier
    }

    var isEmpty: Bool { count == 0 }

    /// Resets the count, and returns the event that reports it; `nil` if the count is 0.
    mutating func take() -> Host.Output? {
        guard count > 0 else { return nil }
        defer { count = 0 }
        switch kind {
        case .writeCommands(let peer): return .event(.peer(peer, .writeCommandsTaken(count)), for: client)
        case .updates: return .event(.server(.updatesTaken(count)), for: client)
        }
    }
}
