import BLEHost
import BLEWire

/// A procedure that no app can request: partial discovery, discovery of secondary services, a read by type, a read of
/// several values at once, or a prepared write of a short value.
enum AttributeProcedure {
    case services(ServiceRangeDiscovery)
    case included(IncludedServiceDiscovery)
    case characteristics(CharacteristicDiscovery)
    case descriptors(DescriptorRangeDiscovery)
    case readMultiple([AttributeHandle])
    case typedRead(TypedReading)
    case write(PreparedWriting)

    typealias Step = ProcedureStep<AttributeOperation.Answer>

    /// Starts the procedure on a bearer whose packets have at most `mtu` octets.
    mutating func begin(mtu: Int) -> Step {
        switch self {
        case .services(let machine): return machine.begin().map { $0.map { .services($0) } }
        case .included(let machine): return machine.begin().map { $0.map { .services($0) } }
        case .characteristics(let machine): return machine.begin().map { $0.map { .characteristics($0) } }
        case .descriptors(let machine): return machine.begin().map { $0.map { .descriptors($0) } }
        case .readMultiple(let handles): return .request(.readMultipleRequest(.init(handles: handles)))
        case .typedRead(let machine): return machine.begin().map { $0.map { .values($0) } }
        case .write(var machine):
            defer { self = .write(machine) }
            return machine.begin(mtu: mtu).map { $0.map { .failure($0) } ?? .success(.done) }
        }
    }

    /// Processes the response to the last request, and returns the next step.
    mutating func receive(_ answer: ATTAnswer, mtu: Int) -> Step {
        switch self {
        case .services(var machine):
            defer { self = .services(machine) }
            return machine.receive(answer).map { $0.map { .services($0) } }
        case .included(var machine):
            defer { self = .included(machine) }
            return machine.receive(answer).map { $0.map { .services($0) } }
        case .characteristics(var machine):
            defer { self = .characteristics(machine) }
            return machine.receive(answer).map { $0.map { .characteristics($0) } }
        case .descriptors(var machine):
            defer { self = .descriptors(machine) }
            return machine.receive(answer).map { $0.map { .descriptors($0) } }
        case .readMultiple: return .finished(Self.values(in: answer))
        case .typedRead(var machine):
            defer { self = .typedRead(machine) }
            return machine.receive(answer).map { $0.map { .values($0) } }
        case .write(var machine):
            defer { self = .write(machine) }
            return machine.receive(answer, mtu: mtu).map { $0.map { .failure($0) } ?? .success(.done) }
        }
    }

    private static func values(in answer: ATTAnswer) -> AttributeOperation.Answer {
        switch answer {
        case .success(.readMultipleResponse(let response)): .success(.value(response.values))
        case .success: .failure(.invalidResponse)
        case .failure(let failure): .failure(failure)
        }
    }
}
