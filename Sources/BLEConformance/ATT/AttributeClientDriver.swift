import BLEHost
import BLEWire

/// Does what a case asks of the server at the other end: one operation at a time, after the MTU has been exchanged.
///
/// The other end may have a client too, whose requests are answered whatever is under way here.
struct AttributeClientDriver: Driver {
    private struct Command: Decodable {
        let `do`: AttributeOperation.Description
    }

    private enum State {
        /// The MTU is being exchanged.
        case negotiating
        /// Everything is being discovered, before operations are taken.
        case preparing(DatabaseDiscovery)
        case idle
        /// The layer does it, and asks once more if the link should be safer and this says so.
        case asking(retries: Bool)
        /// `retry` is what to send again once the link is safe, if that has not been done.
        case operating(AttributeOperation.Procedure, elevatesSecurity: Bool, retry: ATTPacket?)
    }

    private static let link = ConnectionHandle(wire: 0x0040)!
    private static let client = ClientID(rawValue: 1)

    private let first: AttributeOperation.Description?
    /// Exchanges the MTU, answers the requests of the other end, and does what apps can ask for.
    private var layer: AttributeLayer
    /// The time of the layer since the MTU was exchanged: it stands still, or the layer would ask for what no case
    /// knows of as soon as nothing is to be done for a while.
    private var stopped: Instant?
    /// When the layer has sent its last packet.
    private var sent = Instant()
    private var bearer = ATTClientBearer()
    private var state = State.negotiating
    private var database: [DatabaseDiscovery.Service] = []
    private var subscribed: [AttributeHandle] = []
    private var waiting: [AttributeOperation.Description] = []
    private var outputs: [DriverOutput] = []
    private let discovers: Bool

    init(_ description: AttributeCase, at now: Instant) throws {
        guard let context = description.context, ["client", "att"].contains(context) else {
            throw Senseless("a client's context is \"client\" or \"att\"")
        }
        discovers = context == "client"
        first = discovers ? nil : description.operation
        if let first { _ = try AttributeOperation(first, database: []) }
        layer = AttributeLayer(configuration: description.configuration)
        layer.linkUp(Self.link, peer: PeerIdentifier(rawValue: 1), role: .central, at: now)
        hear(at: now)
    }

    /// The largest packet, in octets, that both ends take.
    private var mtu: Int { layer.mtu(of: Self.link) ?? ATT.defaultMTU }

    var deadline: Instant? {
        mutating get {
            switch state {
            case .negotiating: layer.deadline
            case .asking: sent + ATT.transactionTimeout
            case .preparing, .idle, .operating: bearer.deadline
            }
        }
    }

    mutating func next() -> DriverOutput? { outputs.isEmpty ? nil : outputs.removeFirst() }

    mutating func wake(at now: Instant) {
        switch state {
        case .negotiating: layer.wake(at: now)
        case .asking where sent + ATT.transactionTimeout <= now:
            stopped = stopped.map { $0 + ATT.transactionTimeout }
            layer.wake(at: time(now))
        case .asking: break
        case .preparing, .idle, .operating:
            if bearer.expire(at: now) == .abandon, case .operating = state { report(.failure(.timedOut)) }
        }
        hear(at: now)
    }

    /// What time the layer has.
    private func time(_ now: Instant) -> Instant { stopped ?? now }

    /// Does what the layer wants done, and takes what comes of what it was asked.
    private mutating func hear(at now: Instant) {
        while let output = layer.next() {
            switch output {
            case .send(let pdu, _, let receipt):
                sent = now
                outputs.append(.packet(pdu.payload))
                if let receipt { layer.sent(receipt, at: time(now)) }
            case .secure(let link, _):
                guard case .asking(let retries) = state else { continue }
                state = .asking(retries: false)
                layer.securityAnswered(link, retries ? .secured : .refused(nil), at: time(now))
            case .event(.peer(_, let event, _), _):
                guard case .asking = state, let outcome = event.outcome else { continue }
                report(outcome)
                operate(at: now)
            case .bearer, .event, .mtuSettled, .abandon, .nameRead, .servicesKnown, .bondChanged, .confirmed, .note:
                continue
            }
        }
    }

    mutating func receive(line: String, at now: Instant) throws {
        let description = try JSONLine.value(Command.self, in: line).do
        _ = try AttributeOperation(description, database: database)
        waiting.append(description)
        operate(at: now)
    }

    mutating func receive(packet bytes: [UInt8], at now: Instant) {
        guard let first = bytes.first else { return }
        let opcode = ATT.Opcode(wire: first), packet = try? ATTPacket(decoding: bytes)
        switch packet {
        case .notification(let notification): notify(notification.handle, notification.value)
        case .multipleNotification(let notification):
            for entry in notification.entries { notify(entry.handle, entry.value) }
        case .indication(let indication):
            outputs.append(.packet(ATTPacket.confirmation.encoded))
            notify(indication.handle, indication.value)
        case let packet? where opcode.isAnswer && !layerAsks: take(bearer.receive(packet), at: now)
        case nil where opcode.isAnswer && !layerAsks: take(bearer.receiveMalformed(opcode), at: now)
        default: hand(bytes, packet, at: now)
        }
    }

    private var isNegotiating: Bool {
        if case .negotiating = state { true } else { false }
    }

    /// Whether answers are for the layer.
    private var layerAsks: Bool {
        switch state {
        case .negotiating, .asking: true
        case .preparing, .idle, .operating: false
        }
    }

    /// Hands a packet to the layer: one for a server, or the answer to what the layer asked.
    private mutating func hand(_ bytes: [UInt8], _ packet: ATTPacket?, at now: Instant) {
        layer.receive(bytes.span, on: Self.link, at: time(now))
        hear(at: now)
        guard isNegotiating else { return }
        switch packet {
        case .errorResponse(let error) where error.request == .exchangeMTURequest: begin(at: now)
        case .exchangeMTUResponse: begin(at: now)
        case nil where ATT.Opcode(wire: bytes[0]) == .exchangeMTUResponse: begin(at: now)
        default: break
        }
    }

    private mutating func notify(_ handle: AttributeHandle, _ value: [UInt8]) {
        guard subscribed.contains(handle) else { return }
        let notified = AttributeReport.Notified(notified: .init(handle: handle.wire, value: value.hexadecimal))
        outputs.append(.line(JSONLine.text(notified)))
    }

    private mutating func take(_ event: ATTClientBearer.OnReceive, at now: Instant) {
        guard case .answered(let answer) = event else { return }
        switch state {
        case .preparing(var machine):
            let step = machine.receive(answer)
            state = .preparing(machine)
            prepare(step, at: now)
        case .operating(let procedure, let elevatesSecurity, let retry?) where answer.needsSecurity:
            state = .operating(procedure, elevatesSecurity: elevatesSecurity, retry: nil)
            send(retry, at: now)
        case .operating(var procedure, let elevatesSecurity, let retry):
            let step = procedure.receive(answer, mtu: mtu)
            proceed(procedure, step, elevatesSecurity, retries: elevatesSecurity && retry != nil, at: now)
        case .negotiating, .asking, .idle: break
        }
    }

    private mutating func begin(at now: Instant) {
        stopped = now
        layer.attach(Self.client, to: Self.link)
        if discovers {
            let machine = DatabaseDiscovery()
            state = .preparing(machine)
            return prepare(machine.begin(), at: now)
        }
        state = .idle
        if let first { waiting.insert(first, at: 0) }
        operate(at: now)
    }

    private mutating func prepare(_ step: ProcedureStep<Found<DatabaseDiscovery.Service>>, at now: Instant) {
        switch step {
        case .request(let packet): send(packet, at: now)
        case .finished(let result):
            if case .success(let services) = result { database = services }
            let services = database.map { AttributeReport.Service($0.declared, $0.characteristics) }
            outputs.append(.line(JSONLine.text(AttributeReport.Ready(services: services))))
            state = .idle
            operate(at: now)
        }
    }

    /// Begins the next operation, if none is under way.
    private mutating func operate(at now: Instant) {
        guard case .idle = state, !waiting.isEmpty, bearer.isIdle,
            let operation = try? AttributeOperation(waiting.removeFirst(), database: database)
        else { return }
        if let handle = operation.subscribed { subscribed.append(handle) }
        let elevatesSecurity = operation.elevatesSecurity
        switch operation.action {
        case .request(let request):
            state = .asking(retries: elevatesSecurity)
            layer.perform(request, on: Self.link, for: Requester(Self.client), at: time(now))
            hear(at: now)
        case .procedure(var procedure):
            let step = procedure.begin(mtu: mtu)
            proceed(procedure, step, elevatesSecurity, retries: elevatesSecurity, at: now)
        }
    }

    private mutating func proceed(
        _ procedure: AttributeOperation.Procedure,
        _ step: ProcedureStep<Result<AttributeOperation.Outcome, Failure>>,
        _ elevatesSecurity: Bool,
        retries: Bool,
        at now: Instant
    ) {
        switch step {
        case .request(let packet):
            state = .operating(procedure, elevatesSecurity: elevatesSecurity, retry: retries ? packet : nil)
            send(packet, at: now)
        case .finished(let outcome):
            report(outcome)
            operate(at: now)
        }
    }

    private mutating func report(_ outcome: Result<AttributeOperation.Outcome, Failure>) {
        state = .idle
        outputs.append(.line(JSONLine.text(AttributeReport.Answer(result: .init(outcome)))))
    }

    private mutating func send(_ request: ATTPacket, at now: Instant) {
        bearer.begin(request.opcode, at: now)
        outputs.append(.packet(request.encoded))
    }
}

extension ATT.Opcode {
    /// Whether a packet with this opcode answers a request.
    fileprivate var isAnswer: Bool {
        switch self {
        case .errorResponse, .exchangeMTUResponse, .findInformationResponse, .findByTypeValueResponse,
            .readByTypeResponse, .readResponse, .readBlobResponse, .readMultipleResponse, .readByGroupTypeResponse,
            .writeResponse, .prepareWriteResponse, .executeWriteResponse, .readMultipleVariableResponse:
            true
        default: false
        }
    }
}

extension ATTAnswer {
    /// Whether a safer link might change the answer.
    fileprivate var needsSecurity: Bool {
        switch self {
        case .failure(let code): code == .insufficientAuthentication || code == .insufficientEncryption
        case .success: false
        }
    }
}
