import BLEHost

extension PeripheralRecord {
    /// The result of a step.
    struct Step: ~Copyable {
        /// Requests to send while the record is locked, so that requests of several threads keep its order.
        var requests: [(request: PeerRequest, number: RequestNumber)] = []
        /// The delegate call to make.
        var call: PeripheralDelegateCall?
        /// The delegate at the time of the event.
        var delegate: (any CBPeripheralDelegate)?
        /// The event for observers after the call.
        var observed = ObservedEvent.nothing
        /// The remaining work; `nil` if there is none.
        var rest: Remainder?
    }

    /// An event for observers.
    enum ObservedEvent {
        case nothing
        /// The event that this step processed.
        case sameEvent
        /// A deferred event, or one that does not come from the host.
        case event(PeerEvent)
    }

    /// The remaining work after a step.
    enum Remainder {
        /// At most this many results, because results of requests made meanwhile are delivered later.
        case answers(Int)
        /// As many results as there are requests at that time.
        case whatThereIs
    }
}

extension PeripheralRecord.ObservedEvent {
    var isNothing: Bool { if case .nothing = self { true } else { false } }
    var event: PeerEvent? { if case .event(let event) = self { event } else { nil } }
}
