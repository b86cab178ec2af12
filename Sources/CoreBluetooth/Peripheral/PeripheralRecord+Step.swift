import BLEHost

extension PeripheralRecord {
    /// The things to do after a step: requests to send, a delegate call to make, and the rest of the work.
    struct Step: ~Copyable {
        /// Requests to send.
        ///
        /// They are sent while the record is locked, so that requests from several threads keep their order.
        var requests: [(request: PeerRequest, number: RequestNumber)] = []
        /// The delegate call to make; `nil` if there is none.
        var call: PeripheralDelegateCall?
        /// The delegate to call, as it was set when the step was taken; `nil` if there is none.
        var delegate: (any CBPeripheralDelegate)?
        /// The event that observers receive after the delegate call.
        var observed = ObservedEvent.nothing
        /// The remaining work; `nil` if there is none.
        var rest: Remainder?
    }

    /// The event that observers receive after a step.
    enum ObservedEvent {
        case nothing
        /// The event that this step processed.
        case sameEvent
        /// Another event: one that was deferred, or does not come from the host.
        case event(NumberedEvent)
    }

    /// An event, and the number of the request that it answers; ``RequestNumber/none`` if it answers none.
    struct NumberedEvent {
        let event: PeerEvent
        let number: RequestNumber
    }

    /// The remaining work after a step.
    enum Remainder {
        /// Deliver at most this many results.
        ///
        /// The results of requests that the app makes during these deliveries are delivered later.
        case answers(Int)
        /// Deliver at most as many results as there are pending requests when this work begins.
        case allAvailable
    }
}

extension PeripheralRecord.ObservedEvent {
    var isNothing: Bool { if case .nothing = self { true } else { false } }
    var event: PeripheralRecord.NumberedEvent? { if case .event(let event) = self { event } else { nil } }
}
