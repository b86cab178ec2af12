import BLEHost
import BLEWire

/// The GATT client of the host on one link, used as apps use it.
///
/// Time advances only while a request waits for its answer. A host that has been idle for a while sends requests of its
/// own, and no case expects those.
struct AppClient {
    private enum State {
        /// The MTU exchange is in progress.
        case connecting
        case idle
        /// A request is in progress; `retries` allows one more attempt on a more secure link.
        case asking(retries: Bool)
        /// The peer did not answer the MTU exchange.
        case abandoned
    }

    enum Event {
        case packet([UInt8])
        /// The MTU exchange is complete.
        case connected
        case answered(AttributeOperation.Answer)
        /// The peer sent a value of a subscription.
        case notified(AttributeHandle, [UInt8])
    }

    private static let link = ConnectionHandle(wire: 0x0040)!
    private static let client = ClientID(rawValue: 1)

    private var layer: AttributeLayer
    private var state = State.connecting
    /// The current time of the layer.
    private var time: Instant
    /// The time of the last request.
    private var sent: Instant

    init(_ configuration: AttributeLayer.Configuration, at now: Instant) {
        (time, sent) = (now, now)
        layer = AttributeLayer(configuration: configuration)
        layer.linkUp(Self.link, peer: PeerIdentifier(rawValue: 1), role: .central, at: now)
    }

    /// The maximum packet size in octets that both ends accept.
    var mtu: Int { layer.mtu(of: Self.link) ?? ATT.defaultMTU }

    /// The time to call ``wake(at:)`` if nothing happens before.
    var deadline: Instant? {
        switch state {
        case .connecting, .asking: sent + ATT.transactionTimeout
        case .idle, .abandoned: nil
        }
    }

    /// Sends the peer a request, after all others have been answered.
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

    /// Returns the next event; call until it is `nil`.
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
    /// The answer to a client's request; `nil` if this is none.
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
