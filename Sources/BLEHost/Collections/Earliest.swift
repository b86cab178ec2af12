package import BLEWire

extension Instant? {
    /// Replaces this instant by `other` if that is earlier or this is `nil`.
    package mutating func bringForward(to other: Instant?) {
        guard let other, self.map({ other < $0 }) ?? true else { return }
        self = other
    }
}
