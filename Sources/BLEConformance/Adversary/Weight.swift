/// The size of a value: the number of elements of all collections in it, at any depth.
///
/// Anything that grows with each packet of an adversary shows here.
enum Weight {
    static func of(_ value: Any) -> Int {
        if let octets = value as? [UInt8] { return octets.count }
        let children = Mirror(reflecting: value).children
        return children.reduce(value is any Collection ? children.count : 0) { $0 + of($1.value) }
    }
}

extension AttributeVictim {
    /// Returns the growth of the layer after these packets have been sent in turn, `rounds` times.
    func growth(underFloodOf packets: [HostilePacket], rounds: Int) -> Int {
        var flooded = self
        for _ in 0..<rounds {
            for packet in packets { flooded.receive(packet) }
            flooded.record = record
        }
        return Weight.of(flooded.layer) - Weight.of(layer)
    }
}
