import BLEHost
import BLEWire

/// Does what a case asks of the server at the other end: one operation at a time, after the MTU has been exchanged.
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

    private let first: AttributeOperation.Description?
    private var negotiation: MTUNegotiation
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
        negotiation = MTUNegotiation(preferred: description.mtu, at: now)
        send(negotiation.request, at: now)
    }

    var deadline: Instant? { bearer.deadline }

    mutating func next() -> DriverOutput? { outputs.isEmpty ? nil : outputs.removeFirst() }

    mutating func wake(at now: Instant) {
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
        guard let packet = try? ATTPacket(decoding: bytes) else {
            guard let opcode = bytes.first else { return }
            return take(bearer.receiveMalformed(ATT.Opcode(wire: opcode)), at: now)
        }
        switch packet {
        case .notification(let notification): notify(notification.handle, notification.value)
        case .multipleNotification(let notification):
            for entry in notification.entries { notify(entry.handle, entry.value) }
        case .indication(let indication):
            outputs.append(.packet(ATTPacket.confirmation.encoded))
            notify(indication.handle, indication.value)
        default: take(bearer.receive(packet), at: now)
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
        case .negotiating:
            var offer: UInt16?
            if case .success(.exchangeMTUResponse(let response)) = answer { offer = response.serverMTU }
            _ = negotiation.receiveAnswer(serverMTU: offer)
            begin(at: now)
        case .preparing(var machine):
            let step = machine.receive(answer)
            state = .preparing(machine)
            prepare(step, at: now)
        case .operating(_, let retry?) where answer.needsSecurity:
            guard case .operating(let operation, _) = state else { return }
            state = .operating(operation, retry: nil)
            send(retry, at: now)
        case .operating(var operation, let retry):
            let step = operation.procedure.receive(answer, mtu: negotiation.mtu)
            proceed(operation, step, retries: operation.elevatesSecurity && retry != nil, at: now)
        case .idle: break
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
        let step = operation.procedure.begin(mtu: negotiation.mtu)
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

extension ATTAnswer {
    /// Whether a safer link might change the answer.
    fileprivate var needsSecurity: Bool {
        switch self {
        case .failure(let code): code == .insufficientAuthentication || code == .insufficientEncryption
        case .success: false
        }
    }
}
