import BLEHost
import BLEWire

/// The client of the host on one link, asked in the way of apps.
///
/// Its time stands still, but for what is not answered: a host that apps want nothing of for a while asks the peer for
/// things of its own, of which no case knows.
struct AppClient {
    private enum State {
        /// The MTU is being exchanged.
        case connecting
        case idle
        /// The peer is asked, once more if the link should be safer and this says so.
        case asking(retries: Bool)
        /// The peer has not answered before anything could be asked.
        case abandoned
    }

    enum Event {
        case packet([UInt8])
        /// The MTU is exchanged.
        case connected
        case answered(AttributeOperation.Answer)
        /// The peer sent a value that was subscribed to.
        case notified(AttributeHandle, [UInt8])
    }

    private static let link = ConnectionHandle(wire: 0x0040)!
    private static let client = ClientID(rawValue: 1)

    private var layer: AttributeLayer
    private var state = State.connecting
    /// What time the layer has.
    private var time: Instant
    /// When the last request was sent.
    private var sent: Instant

    init(_ configuration: AttributeLayer.Configuration, at now: Instant) {
        (time, sent) = (now, now)
        layer = AttributeLayer(configuration: configuration)
        layer.linkUp(Self.link, peer: PeerIdentifier(rawValue: 1), role: .central, at: now)
    }

    /// The largest packet, in octets, that both ends take.
    var mtu: Int { layer.mtu(of: Self.link) ?? ATT.defaultMTU }

    /// When to call ``wake(at:)``, if nothing happens before.
    var deadline: Instant? {
        switch state {
        case .connecting, .asking: sent + ATT.transactionTimeout
        case .idle, .abandoned: nil
        }
    }

    /// Asks the peer for something, after everything else was answered.
    mutating func ask(_ request: AttributeRequest, retries: Bool) {
        guard case .idle = state else { preconditionFailure("one thing is asked at a time") }
        state = .asking(retries: retries)
        layer.perform(request, on: Self.link, for: Requester(Self.client), at: time)
    }

    mutating func receive(_ packet: [UInt8]) { layer.receive(packet.span, on: Self.link, at: time) }

    mutating func wake(at now: Instant) {
        guard let deadline, deadline <= now else { return }
        time = time + ATT.transactionTimeout
        layer.wake(at: time)
    }

    /// What has happened; call until it is `nil`.
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
    /// What it says of what a client asked; `nil` if nothing.
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
