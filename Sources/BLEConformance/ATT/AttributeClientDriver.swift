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
        /// `retry` is what to send again once the link is safe, if that has not been done.
        case operating(AttributeOperation, retry: ATTPacket?)
    }

    private static let link = ConnectionHandle(wire: 0x0040)!

    private let first: AttributeOperation.Description?
    /// Exchanges the MTU, and answers the requests of the other end.
    private var layer: AttributeLayer
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
    }

    /// The largest packet, in octets, that both ends take.
    private var mtu: Int { layer.mtu(of: Self.link) ?? ATT.defaultMTU }

    var deadline: Instant? { mutating get { [bearer.deadline, layer.deadline].compactMap(\.self).min() } }

    mutating func next() -> DriverOutput? {
        while let output = layer.next() {
            if case .send(let pdu, _, _) = output { outputs.append(.packet(pdu.payload)) }
        }
        return outputs.isEmpty ? nil : outputs.removeFirst()
    }

    mutating func wake(at now: Instant) {
        layer.wake(at: now)
        guard bearer.expire(at: now) == .abandon, case .operating = state else { return }
        report(.failure(.timedOut))
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
        case let packet? where opcode.isAnswer && !isNegotiating: take(bearer.receive(packet), at: now)
        case nil where opcode.isAnswer && !isNegotiating: take(bearer.receiveMalformed(opcode), at: now)
        default: hand(bytes, packet, at: now)
        }
    }

    private var isNegotiating: Bool {
        if case .negotiating = state { true } else { false }
    }

    /// Hands a packet to the layer: one for a server, or the answer that tells of the MTU.
    private mutating func hand(_ bytes: [UInt8], _ packet: ATTPacket?, at now: Instant) {
        layer.receive(bytes.span, on: Self.link, at: now)
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
        case .operating(_, let retry?) where answer.needsSecurity:
            guard case .operating(let operation, _) = state else { return }
            state = .operating(operation, retry: nil)
            send(retry, at: now)
        case .operating(var operation, let retry):
            let step = operation.procedure.receive(answer, mtu: mtu)
            proceed(operation, step, retries: operation.elevatesSecurity && retry != nil, at: now)
        case .negotiating, .idle: break
        }
    }

    private mutating func begin(at now: Instant) {
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
            var operation = try? AttributeOperation(waiting.removeFirst(), database: database)
        else { return }
        if let handle = operation.subscribed { subscribed.append(handle) }
        if case .command(let packet) = operation.procedure {
            outputs.append(.packet(packet.encoded))
            report(.success(.done))
            return operate(at: now)
        }
        let step = operation.procedure.begin(mtu: mtu)
        proceed(operation, step, retries: operation.elevatesSecurity, at: now)
    }

    private mutating func proceed(
        _ operation: AttributeOperation,
        _ step: ProcedureStep<Result<AttributeOperation.Outcome, Failure>>,
        retries: Bool,
        at now: Instant
    ) {
        switch step {
        case .request(let packet):
            state = .operating(operation, retry: retries ? packet : nil)
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
