/// The faults from which a machine suffers at once, each until its own end.
///
/// What several of them do to a machine is over with the last of them. What a test does by hand to the same thing takes
/// the place of them all.
struct RunningFaults {
    /// What a fault does to a machine while it runs.
    enum Effect {
        /// Nobody hears the machine, and it hears nobody.
        case isolated
        /// Bluetooth is off.
        case switchedOff
        /// There is no controller.
        case unplugged
    }

    /// In the order in which they began.
    private var running: [(number: Int, effect: Effect)] = []
    private var latest = 0

    /// Whether one of them does this.
    func have(_ effect: Effect) -> Bool { running.contains { $0.effect == effect } }

    /// Adds a fault, and gives the number with which it ends.
    mutating func begin(_ effect: Effect) -> Int {
        latest += 1
        running.append((latest, effect))
        return latest
    }

    enum OnEnd: Equatable {
        /// Nothing does this to the machine any more.
        case lift(Effect)
        /// Another fault does the same, or a test has taken the place of this one.
        case leave
    }

    /// Ends the fault of a number.
    mutating func end(_ number: Int) -> OnEnd {
        guard let index = running.firstIndex(where: { $0.number == number }) else { return .leave }
        let effect = running.remove(at: index).effect
        return have(effect) ? .leave : .lift(effect)
    }

    /// Ends all that do this, because a test has done something about it itself.
    mutating func giveWay(_ effect: Effect) { running.removeAll { $0.effect == effect } }
}
