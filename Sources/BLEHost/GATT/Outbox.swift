import BLEWire

/// The queue of the attribute layer's actions, which also creates the receipts of its packets.
struct Outbox {
    private var outputs = OutputQueue<AttributeLayer.Output>()
    /// The receipt that was created last: the link in the upper 16 bits, a counter in the lower 48 bits.
    private var lastReceipt: UInt64 = 0
    /// The receipts of the packets that enhanced bearers have not sent yet, in order.
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

    /// Records that an enhanced bearer has sent its next packet, and returns the receipt of the packet; `nil` if the
    /// packet has no receipt.
    mutating func sent(on channel: ChannelID) -> SendReceipt? { receipts[channel]?.popFirst().flatMap(\.self) }

    /// Drops the receipts of the packets that an enhanced bearer had not sent when it was closed.
    mutating func forget(_ channel: ChannelID) { receipts[channel] = nil }

    mutating func report(to client: ClientID, _ event: ClientEvent) { append(.event(event, for: client)) }

    mutating func next() -> AttributeLayer.Output? { outputs.next() }

    /// Returns a new receipt for a packet on this link.
    ///
    /// The receipts of one link are in ascending order.
    mutating func makeReceipt(for link: ConnectionHandle) -> SendReceipt {
        lastReceipt = (lastReceipt + 1) & 0xFFFF_FFFF_FFFF
        return SendReceipt(rawValue: UInt64(link.wire) << 48 | lastReceipt)
    }
}

extension SendReceipt {
    /// The link of the packet; meaningful only if the attribute layer created the receipt.
    var link: ConnectionHandle? { ConnectionHandle(wire: UInt16(truncatingIfNeeded: rawValue >> 48)) }
}
