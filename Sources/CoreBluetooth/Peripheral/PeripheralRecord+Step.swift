import BLEHost

// What comes of a step.
extension PeripheralRecord {
    /// What is to be done after a step.
    struct Step: ~Copyable {
        /// To be sent while the record is still locked, so that requests of several threads leave in its order.
        var requests: [(request: PeerRequest, number: RequestNumber)] = []
        /// What the app is to be told.
        var call: PeripheralDelegateCall?
        /// Whom to tell, as it was when this became known.
        var delegate: (any CBPeripheralDelegate)?
        /// What observers hear after that.
        var heard = Heard.nothing
        /// `nil` if nothing is left.
        var rest: Rest?
    }

    /// What observers hear.
    enum Heard {
        case nothing
        /// The event that the step took.
        case sameEvent
        /// One that was kept until now, or that the host did not have to say.
        case event(PeerEvent)
    }

    /// What is left when that has been told.
    enum Rest {
        /// No more answers than that, since what is asked meanwhile is told later.
        case answers(Int)
        /// As many answers as there are requests by then.
        case whatThereIs
    }
}

extension PeripheralRecord.Heard {
    var isNothing: Bool { if case .nothing = self { true } else { false } }
    var event: PeerEvent? { if case .event(let event) = self { event } else { nil } }
}
