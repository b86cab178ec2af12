import BLEHost
import BLEWire

/// The host's GATT client on one link, used in the same way as apps use it.
///
/// The client's time advances only while a request waits for its response. If it also advanced between the app's
/// requests, the host would after a while send requests of its own, which no test case expects.
struct AppClient {
    private enum State {
        /// The MTU exchange is in progress.
        case connecting
        case idle
        /// A request is in progress. If `retries` is true, the request may be repeated once on a more secure link.
        case asking(retries: Bool)
        /// The peer has not responded to the MTU exchange in time.
        case abandoned
    }

    enum Event {
        case packet([UInt8])
        /// The MTU exchange is complete.
        case connected
        case answered(AttributeOperation.Answer)
        /// The peer sent a value that the client has subscribed to: the handle and the octets of the value.
        case notified(AttributeHandle, [UInt8])
    }

    private static let link = ConnectionHandle(wire: 0x0040)!
    private static let client = ClientID(rawValue: 1)

    private var layer: AttributeLayer
    private var state = State.connecting
    /// The current time from the layer's point of view.
    private var time: Instant
    /// The time at which the last request was sent; unlike ``time``, it is real time.
    private var sent: Instant

    init(_ configuration: AttributeLayer.Configuration, at now: Instant) {
        (time, sent) = (now, now)
        layer = AttributeLayer(configuration: configuration)
        layer.linkUp(Self.link, peer: PeerIdentifier(rawValue: 1), role: .central, at: now)
    }

    /// The MTU of the link in octets.
    var mtu: Int { layer.mtu(of: Self.link) ?? ATT.defaultMTU }

    /// The time at which to call ``wake(at:)`` unless something else happens first; `nil` if nothing is due.
    var deadline: Instant? {
        switch state {
        case .connecting, .asking: sent + ATT.transactionTimeout
        case .idle, .abandoned: nil
        }
    }

    /// Sends a request to the peer.
    ///
    /// No other request may be in progress. If `retries` is true, the request may be repeated once on a more secure
    /// link.
    mutating func ask(_ request: AttributeRequest, retries: Bool) {
        guard case .idle = state else { preconditionFailure("only one request may be in flight") }
        state = .asking(retries: retries)
        layer.perform(request, on: Self.link, for: Requester(Self.client), at: time)
    }

    mutating func receive(_ packet: [UInt8]) { layer.receive(packet.span, on: Self.link, at: time) }

    mutating func wake(at now: Instant) {
        guard let deadline, deadline <= now else { return }
        time = time + ATT.transactionTimeout
        layer.wake(at: time)
    }

    /// Returns the next event.
    ///
    /// Call it until it returns `nil`.
    mutating func next(at now: Instant) -> Event? {
        while let output = layer.next() {
            switch output {
            case .send(let pdu, _, let receipt):
                if pdu.payload.first.flatMap({ ATT.Opcode(wire: $0).response }) != nil { sent = now }
                if let receipt { layer.sent(receipt, at: time) }
                return .packet(pdu.payload)
            case .mtuSettled:
                guard case .connecting = state else { continue }
                state = .idle
                layer.attach(Self.client, to: Self.link)
                return .connected
            case .event(.peer(_, .valueNotified(let handle, let value), _), _): return .notified(handle, value)
            case .event(.peer(_, let event, _), _):
                guard case .asking = state, let answer = event.answer else { continue }
                state = .idle
                return .answered(answer)
            case .secure(let link, _):
                guard case .asking(let retries) = state else { continue }
                state = .asking(retries: false)
                layer.securityAnswered(link, retries ? .secured : .refused(nil), at: time)
            case .abandon: if case .connecting = state { state = .abandoned }
            case .bearer, .event, .used, .nameRead, .servicesKnown, .bondChanged, .confirmed, .note: continue
            }
        }
        return nil
    }
}

extension PeerEvent {
    /// The result of a client's request; `nil` if this event does not report a result.
    fileprivate var answer: AttributeOperation.Answer? {
        switch self {
        case .servicesDiscovered(let result), .includedServicesDiscovered(_, let result): result.map { .services($0) }
        case .characteristicsDiscovered(_, let result): result.map { .characteristics($0) }
        case .descriptorsDiscovered(_, let result): result.map { .descriptors($0) }
        case .valueRead(_, let result): result.map { .value($0) }
        case .valueWritten(_, let failure), .subscriptionChanged(_, _, let failure):
            failure.map { .failure($0) } ?? .success(.done)
        case .writeCommandsTaken: .success(.done)
        case .mtuChanged, .nameChanged, .linkChanged, .tuned, .rssiRead, .valueNotified, .servicesModified,
            .databaseForgotten, .channelOpened:
            nil
        }
    }
}
