package import BLEWire

extension Instant? {
    /// Replaces this instant with `other` if `other` is earlier, or if this is `nil`.
    package mutating func bringForward(to other: Instant?) {
        guard let other, self.map({ other < $0 }) ?? true else { return }
        self = other
    }
}
