import BLEWire

/// What the attribute layer wants done, in order, and the receipts that it hands out.
struct Outbox {
    private var outputs = OutputQueue<AttributeLayer.Output>()
    /// Counts in the lower 48 bits; the link is in the upper 16.
    private var lastReceipt: UInt64 = 0
    /// The receipts of packets that enhanced bearers have not sent yet, in order.
    private var receipts: [ChannelID: Fifo<SendReceipt?>] = [:]

    mutating func append(_ output: AttributeLayer.Output) { outputs.append(output) }

    /// Sends a packet on a bearer.
    mutating func send(
        _ packet: ATTPacket,
        on bearer: BearerID,
        of link: ConnectionHandle,
        receipt: SendReceipt? = nil
    ) {
        switch bearer {
        case .unenhanced: append(.send(OutgoingPayload(packet), on: link, receipt: receipt))
        case .enhanced(let channel):
            receipts[channel, default: Fifo()].append(receipt)
            append(.bearer(.channel(channel, .send(packet.encoded)), of: link))
        }
    }

    /// Hands out the receipt of the packet that an enhanced bearer has sent first of those that wait, if it has one.
    mutating func sent(on channel: ChannelID) -> SendReceipt? { receipts[channel]?.popFirst().flatMap(\.self) }

    /// Forgets what an enhanced bearer that is gone has not sent.
    mutating func forget(_ channel: ChannelID) { receipts[channel] = nil }

    mutating func tell(_ client: ClientID, of event: ClientEvent) { append(.event(event, for: client)) }

    mutating func next() -> AttributeLayer.Output? { outputs.next() }

    /// A receipt that nothing had before, for a packet on this link.
    ///
    /// Receipts of one link grow, so that an earlier packet has the lesser one.
    mutating func makeReceipt(for link: ConnectionHandle) -> SendReceipt {
        lastReceipt = (lastReceipt + 1) & 0xFFFF_FFFF_FFFF
        return SendReceipt(rawValue: UInt64(link.wire) << 48 | lastReceipt)
    }
}

extension SendReceipt {
    /// The link that the packet goes to, if this layer made the receipt.
    var link: ConnectionHandle? { ConnectionHandle(wire: UInt16(truncatingIfNeeded: rawValue >> 48)) }
}
