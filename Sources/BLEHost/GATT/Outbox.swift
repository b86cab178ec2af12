/// What the attribute layer wants done, in order, and the receipts that it hands out.
struct Outbox {
    private var outputs = Fifo<AttributeLayer.Output>()
    private var lastReceipt: UInt64 = 0

    mutating func append(_ output: AttributeLayer.Output) { outputs.append(output) }

    mutating func tell(_ client: ClientID, of event: ClientEvent) { append(.event(event, for: client)) }

    mutating func next() -> AttributeLayer.Output? { outputs.popFirst() }

    /// A receipt that nothing had before.
    mutating func makeReceipt() -> SendReceipt {
        lastReceipt += 1
        return SendReceipt(rawValue: lastReceipt)
    }
}
