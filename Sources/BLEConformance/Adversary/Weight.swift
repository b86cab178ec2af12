/// How much a value holds: the elements of all collections in it, however deep.
///
/// What grows with each packet of an adversary shows here.
enum Weight {
    static func of(_ value: Any) -> Int {
        if let octets = value as? [UInt8] { return octets.count }
        let children = Mirror(reflecting: value).children
        return children.reduce(value is any Collection ? children.count : 0) { $0 + of($1.value) }
    }
}

extension AttributeVictim {
    /// By how much the layer weighs more after these packets have come in turn, `rounds` times.
    func growth(underFloodOf packets: [HostilePacket], rounds: Int) -> Int {
        var flooded = self
        for _ in 0..<rounds {
            for packet in packets { flooded.receive(packet) }
            flooded.record = record
        }
        return Weight.of(flooded.layer) - Weight.of(layer)
    }
}
