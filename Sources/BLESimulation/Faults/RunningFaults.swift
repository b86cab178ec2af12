/// The concurrent faults of a machine, each with its own end.
///
/// A common effect of several faults ends with the last of them. When a test controls the same thing explicitly, all of
/// them end.
struct RunningFaults {
    /// The effect of a fault while it lasts.
    enum Effect {
        /// The machine neither receives nor is received.
        case isolated
        /// Bluetooth is off.
        case switchedOff
        /// There is no controller.
        case unplugged
    }

    /// In the order in which they began.
    private var running: [(number: Int, effect: Effect)] = []
    private var latest = 0

    /// Returns whether a fault has this effect.
    func have(_ effect: Effect) -> Bool { running.contains { $0.effect == effect } }

    /// Adds a fault and returns its number.
    mutating func begin(_ effect: Effect) -> Int {
        latest += 1
        running.append((latest, effect))
        return latest
    }

    enum OnEnd: Equatable {
        /// The effect must be ended.
        case lift(Effect)
        /// Another fault has the same effect, or a test has replaced this one.
        case leave
    }

    /// Ends the fault with this number.
    mutating func end(_ number: Int) -> OnEnd {
        guard let index = running.firstIndex(where: { $0.number == number }) else { return .leave }
        let effect = running.remove(at: index).effect
        return have(effect) ? .leave : .lift(effect)
    }

    /// Ends all faults with this effect, because a test controls it explicitly.
    mutating func giveWay(_ effect: Effect) { running.removeAll { $0.effect == effect } }
}
