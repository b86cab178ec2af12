/// The size of a value: the number of elements in all collections inside it, at any depth.
///
/// State that grows with each packet from an adversary increases this number.
enum Weight {
    static func of(_ value: Any) -> Int {
        if let octets = value as? [UInt8] { return octets.count }
        let children = Mirror(reflecting: value).children
        return children.reduce(value is any Collection ? children.count : 0) { $0 + of($1.value) }
    }
}

extension AttributeVictim {
    /// Returns by how much the layer grows when the adversary sends all `packets` in turn, `rounds` times.
    func growth(underFloodOf packets: [HostilePacket], rounds: Int) -> Int {
        var flooded = self
        for _ in 0..<rounds {
            for packet in packets { flooded.receive(packet) }
            flooded.record = record
        }
        return Weight.of(flooded.layer) - Weight.of(layer)
    }
}
