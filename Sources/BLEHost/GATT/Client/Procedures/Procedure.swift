package import BLEWire

/// A procedure of the GATT client: one or more requests with one result.
enum Procedure: Sendable {
    case exchangeMTU(offer: ATTPacket)
    case lookup(AttributeDiscovery)
    case read(ValueReading, AttributeHandle)
    case write(ValueWriting, AttributeHandle)
    case configure(ConfigurationWriting, of: AttributeHandle)
    case name(NameReading)
    case watch(ServiceChangedSubscription)
    case databaseHash
    /// Reads the peer's Server Supported Features.
    case serverFeatures

    /// The result of a procedure.
    enum Outcome: Equatable, Sendable {
        /// The server's MTU; `nil` if it rejected the exchange.
        case mtu(UInt16?)
        case found(Result<AttributeDiscovery.Answer, Failure>, AttributeDiscovery.Question)
        case read(Result<[UInt8], Failure>, AttributeHandle)
        case written(Failure?, AttributeHandle)
        case configured(ConfigurationWriting.Outcome, of: AttributeHandle)
        case name(Result<String, Failure>)
        case watching(ServiceChangedSubscription.Outcome)
        /// The Database Hash; `nil` if the peer has none.
        case databaseHash(UInt128?)
        /// The Server Supported Features; `nil` if the peer has none.
        case serverFeatures(UInt8?)
    }

    /// Starts the procedure, and returns the first step; `mtu` is the MTU of the bearer in octets.
    mutating func begin(_ database: inout PeerDatabase, mtu: Int) -> ProcedureStep<Outcome> {
        switch self {
        case .exchangeMTU(let offer): return .request(offer)
        case .lookup(var machine):
            defer { self = .lookup(machine) }
            let question = machine.question
            return machine.begin(&database, mtu: mtu).map { .found($0, question) }
        case .read(var machine, let handle):
            defer { self = .read(machine, handle) }
            return machine.begin(mtu: mtu).map { .read($0, handle) }
        case .write(var machine, let handle):
            defer { self = .write(machine, handle) }
            return machine.begin(mtu: mtu).map { .written($0, handle) }
        case .configure(var machine, let handle):
            defer { self = .configure(machine, of: handle) }
            return machine.begin().map { .configured($0, of: handle) }
        case .name(let machine): return machine.begin().map { .name($0) }
        case .watch(var machine):
            defer { self = .watch(machine) }
            return machine.begin(&database, mtu: mtu).map { .watching($0) }
        case .databaseHash: return .request(.readByTypeRequest(.init(.all, type: GATT.databaseHash)))
        case .serverFeatures: return .request(.readByTypeRequest(.init(.all, type: GATT.serverFeatures)))
        }
    }

    /// Processes the response to the last request.
    mutating func receive(
        _ answer: ATTAnswer,
        _ database: inout PeerDatabase,
        mtu: Int
    ) -> ProcedureStep<Outcome> {
        switch self {
        case .exchangeMTU:
            guard case .success(.exchangeMTUResponse(let response)) = answer else { return .finished(.mtu(nil)) }
            return .finished(.mtu(response.serverMTU))
        case .lookup(var machine):
            defer { self = .lookup(machine) }
            let question = machine.question
            return machine.receive(answer, &database, mtu: mtu).map { .found($0, question) }
        case .read(var machine, let handle):
            defer { self = .read(machine, handle) }
            return machine.receive(answer, mtu: mtu).map { .read($0, handle) }
        case .write(var machine, let handle):
            defer { self = .write(machine, handle) }
            return machine.receive(answer, mtu: mtu).map { .written($0, handle) }
        case .configure(var machine, let handle):
            defer { self = .configure(machine, of: handle) }
            return machine.receive(answer).map { .configured($0, of: handle) }
        case .name(var machine):
            defer { self = .name(machine) }
            return machine.receive(answer, mtu: mtu).map { .name($0) }
        case .watch(var machine):
            defer { self = .watch(machine) }
            return machine.receive(answer, &database, mtu: mtu).map { .watching($0) }
        case .serverFeatures:
            guard case .success(.readByTypeResponse(let response)) = answer else {
                return .finished(.serverFeatures(nil))
            }
            return .finished(.serverFeatures(response.entries.first?.value.first))
        case .databaseHash:
            guard case .success(.readByTypeResponse(let response)) = answer,
                let value = response.entries.first?.value, value.count == 16
            else { return .finished(.databaseHash(nil)) }
            return .finished(.databaseHash(value.reversed().reduce(0) { $0 << 8 | UInt128($1) }))
        }
    }

    /// True if further requests may follow the current one; write commands must then wait.
    var mayNeedMoreRequests: Bool {
        switch self {
        case .lookup, .read, .name, .watch: true
        case .write(let machine, _): machine.holdsParts
        case .configure(let machine, _): machine.isFinding
        case .exchangeMTU, .databaseHash, .serverFeatures: false
        }
    }

    /// True if the server may hold prepared parts that have been neither executed nor cancelled.
    var holdsParts: Bool {
        if case .write(let machine, _) = self { machine.holdsParts } else { false }
    }

    /// True if the procedure must continue even without an owner.
    ///
    /// Prepared parts must be executed or cancelled, and this host must know which value of a Client Characteristic
    /// Configuration the peer stores.
    var mustContinue: Bool {
        switch self {
        case .configure: true
        case .write: holdsParts
        case .exchangeMTU, .lookup, .read, .name, .watch, .databaseHash, .serverFeatures: false
        }
    }

    /// Cancels a long write when the next response arrives; the write then fails with `failure`.
    ///
    /// Has no effect on other procedures.
    mutating func withdraw(_ failure: Failure) {
        guard case .write(var machine, let handle) = self else { return }
        machine.withdraw(failure)
        self = .write(machine, handle)
    }
}

/// The next step of a procedure.
package enum ProcedureStep<Outcome> {
    /// Send this request and wait for the response.
    case request(ATTPacket)
    /// The procedure has ended.
    case finished(Outcome)

    /// Returns the same step with a converted result.
    package func map<Other>(_ transform: (Outcome) -> Other) -> ProcedureStep<Other> {
        switch self {
        case .request(let packet): .request(packet)
        case .finished(let outcome): .finished(transform(outcome))
        }
    }
}

extension ProcedureStep: Equatable where Outcome: Equatable {}
extension ProcedureStep: Sendable where Outcome: Sendable {}

/// The response to a request, or the reason why there is no usable one.
package typealias ATTAnswer = Result<ATTPacket, Failure>

/// The discovered items, or the reason why discovery failed.
package typealias Found<Item> = Result<[Item], Failure>
