/// The faults of a machine that are in effect.
///
/// Each fault ends at its own time. If several faults have the same effect, the effect lasts until the last of them
/// ends. If a test itself switches Bluetooth on or off, or plugs the controller in or out, all faults with the
/// corresponding effect end.
struct RunningFaults {
    /// The effect of a fault while it lasts.
    enum Effect {
        /// The machine receives no packets, and no other machine receives its packets.
        case isolated
        /// Bluetooth is off.
        case switchedOff
        /// There is no controller.
        case unplugged
    }

    /// The running faults, in the order in which they began.
    private var running: [(number: Int, effect: Effect)] = []
    private var latest = 0

    /// Returns whether a running fault has this effect.
    func contains(_ effect: Effect) -> Bool { running.contains { $0.effect == effect } }

    /// Adds a fault and returns its number.
    mutating func begin(_ effect: Effect) -> Int {
        latest += 1
        running.append((latest, effect))
        return latest
    }

    enum OnEnd: Equatable {
        /// The effect must be ended, because no other fault has it.
        case lift(Effect)
        /// Nothing changes, because another fault has the same effect, or a test has since ended this fault.
        case nothing
    }

    /// Ends the fault with this number.
    mutating func end(_ number: Int) -> OnEnd {
        guard let index = running.firstIndex(where: { $0.number == number }) else { return .nothing }
        let effect = running.remove(at: index).effect
        return contains(effect) ? .nothing : .lift(effect)
    }

    /// Ends all faults with this effect, because a test itself causes or ends the effect.
    mutating func endAll(with effect: Effect) { running.removeAll { $0.effect == effect } }
}
