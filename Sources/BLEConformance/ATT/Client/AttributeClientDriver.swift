import BLEHost
import BLEWire

/// A driver that performs the operations of a test case on the peer's server, one at a time, after the MTU exchange.
///
/// The host (``AppClient``) performs the operations that apps can request. ``TesterClient`` performs the other
/// operations. The host also responds to requests from the peer at any time.
struct AttributeClientDriver: Driver {
    private struct Command: Decodable {
        let `do`: AttributeOperation.Description
    }

    private enum State {
        /// The MTU exchange is in progress.
        case connecting
        case idle
        case operating(AttributeOperation)
        /// The database is being discovered for an operation or, if the operation is `nil`, before the first one.
        case discovering(DatabaseDiscovery, for: AttributeOperation?)
    }

    private let discovers: Bool
    private var app: AppClient
    private var tester = TesterClient()
    private var state = State.connecting
    private var database: [DatabaseDiscovery.Service] = []
    private var waiting: [AttributeOperation.Description]
    private var outputs: [DriverOutput] = []

    init(_ description: AttributeCase, at now: Instant) throws {
        guard let context = description.context, ["client", "att"].contains(context) else {
            throw InvalidInput("context: expected \"client\" or \"att\"")
        }
        discovers = context == "client"
        waiting = discovers ? [] : description.operation.map { [$0] } ?? []
        app = AppClient(description.configuration, at: now)
        for operation in waiting { _ = try makeOperation(operation) }
        processEvents(at: now)
    }

    var deadline: Instant? {
        var least = app.deadline
        least.bringForward(to: tester.deadline)
        return least
    }

    mutating func next() -> DriverOutput? { outputs.isEmpty ? nil : outputs.removeFirst() }

    mutating func wake(at now: Instant) {
        app.wake(at: now)
        follow(tester.wake(at: now), at: now)
        processEvents(at: now)
    }

    mutating func receive(line: String, at now: Instant) throws {
        let description = try JSONLine.value(Command.self, in: line).do
        _ = try makeOperation(description)
        waiting.append(description)
        operate(at: now)
        processEvents(at: now)
    }

    mutating func receive(packet: [UInt8], at now: Instant) {
        guard let first = packet.first else { return }
        if tester.isAsking, ATT.Opcode(wire: first).isAnswer {
            follow(tester.receive(packet, mtu: app.mtu, at: now), at: now)
        } else {
            app.receive(packet)
        }
        processEvents(at: now)
    }

    /// Processes all events from the host's client.
    private mutating func processEvents(at now: Instant) {
        while let event = app.next(at: now) {
            switch event {
            case .packet(let packet): outputs.append(.packet(packet))
            case .connected: begin(at: now)
            case .answered(let answer): answered(answer, at: now)
            case .notified(let handle, let value):
                sendLine(AttributeReport.Notified(notified: .init(handle: handle.wire, value: value.hexadecimal)))
            }
        }
    }

    private mutating func follow(_ event: TesterClient.OnEvent, at now: Instant) {
        switch event {
        case .nothing: break
        case .send(let packet): outputs.append(.packet(packet))
        case .answered(let answer): answered(answer, at: now)
        }
    }

    private mutating func begin(at now: Instant) {
        state = .idle
        if discovers { discover(for: nil, at: now) } else { operate(at: now) }
    }

    /// Starts the next waiting operation, unless one is in progress.
    private mutating func operate(at now: Instant) {
        guard case .idle = state, !waiting.isEmpty, let operation = try? makeOperation(waiting.removeFirst()) else {
            return
        }
        switch operation.action {
        case .ask(let question):
            state = .operating(operation)
            ask(question, for: operation, at: now)
        case .discoverEverything: discover(for: operation, at: now)
        }
    }

    private func makeOperation(_ description: AttributeOperation.Description) throws -> AttributeOperation {
        try AttributeOperation(description, database: database, mtu: app.mtu)
    }

    private mutating func discover(for operation: AttributeOperation?, at now: Instant) {
        let discovery = DatabaseDiscovery()
        proceed(with: discovery, discovery.begin(), for: operation, at: now)
    }

    private mutating func proceed(
        with discovery: DatabaseDiscovery,
        _ step: DatabaseDiscovery.Step,
        for operation: AttributeOperation?,
        at now: Instant
    ) {
        switch (step, operation) {
        case (.ask(let question), _):
            state = .discovering(discovery, for: operation)
            ask(question, for: operation, at: now)
        case (.finished(let result), nil):
            if case .success(let services) = result { database = services }
            let services = database.map { AttributeReport.Service($0.declared, $0.characteristics) }
            finish(with: AttributeReport.Ready(services: services), at: now)
        case (.finished(let result), _?):
            finish(with: AttributeReport.Answer(result: .init(result.map { .database($0) })), at: now)
        }
    }

    private mutating func ask(_ question: AttributeQuestion, for operation: AttributeOperation?, at now: Instant) {
        let retries = operation?.elevatesSecurity ?? false
        switch question {
        case .app(let request): app.ask(request, retries: retries)
        case .tester(let procedure):
            follow(tester.ask(procedure, retries: retries, mtu: app.mtu, at: now), at: now)
        }
    }

    private mutating func answered(_ answer: AttributeOperation.Answer, at now: Instant) {
        switch state {
        case .connecting, .idle: preconditionFailure("a response needs a request in flight")
        case .operating: finish(with: AttributeReport.Answer(result: .init(answer)), at: now)
        case .discovering(var discovery, let operation):
            let step = discovery.receive(answer)
            proceed(with: discovery, step, for: operation, at: now)
        }
    }

    private mutating func finish(with report: some Encodable, at now: Instant) {
        state = .idle
        sendLine(report)
        operate(at: now)
    }

    private mutating func sendLine(_ report: some Encodable) { outputs.append(.line(JSONLine.text(report))) }
}

extension ATT.Opcode {
    /// True if a packet with this opcode is the response to a request.
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
