package import BLEWire

extension Instant? {
    /// Brings this forward to another instant if that is earlier, or if there is none yet.
    package mutating func bringForward(to other: Instant?) {
        guard let other, self.map({ other < $0 }) ?? true else { return }
        self = other
    }
}
