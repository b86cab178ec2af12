import BLEHost
import BLEWire

/// Something that a case asks of a server.
struct AttributeOperation {
    /// An operation as JSON describes it.
    struct Description: Decodable {
        let op: String
        let handle: AttributeHandle?
        let handles: [AttributeHandle]?
        let start: AttributeHandle?
        let end: AttributeHandle?
        let uuid: String?
        let value: String?
        let auto_elevate_security: Bool?
    }

    /// How it is done.
    enum Action {
        /// By the host, as apps have it done.
        case request(AttributeRequest)
        /// Packet by packet, since no app can ask for it.
        case procedure(Procedure)
    }

    /// What no app can ask for: parts of a discovery, values by their type, several at once, and prepared writes of
    /// values that one packet holds.
    enum Procedure {
        case everything(DatabaseDiscovery)
        case services(ServiceDiscovery)
        case included(IncludedServiceDiscovery)
        case characteristics(CharacteristicDiscovery)
        case descriptors(DescriptorDiscovery)
        case readMultiple([AttributeHandle])
        case typedRead(TypedReading)
        case write(ValueWriting)
        case subscribe(ConfigurationWriting)
    }

    /// What comes of it.
    enum Outcome {
        case done
        case value([UInt8])
        case values([ATT.ReadByTypeResponse.Entry])
        case database([DatabaseDiscovery.Service])
        case services([DiscoveredService])
        case characteristics([DiscoveredCharacteristic])
        case descriptors([DiscoveredDescriptor])
    }

    let action: Action
    /// Whether to try again, once, what needs a safer link.
    let elevatesSecurity: Bool
    /// The value that is subscribed to.
    let subscribed: AttributeHandle?

    /// Creates an operation on a server of which `database` is known.
    init(_ description: Description, database: [DatabaseDiscovery.Service]) throws {
        elevatesSecurity = description.auto_elevate_security ?? false
        subscribed = description.op.hasPrefix("subscribe") ? try description.attribute : nil
        action = try description.action(database)
    }
}

extension AttributeOperation.Description {
    fileprivate var attribute: AttributeHandle {
        get throws {
            guard let handle else { throw Senseless("\(op) needs a handle") }
            return handle
        }
    }

    private var octets: [UInt8] { get throws { try [UInt8](hexadecimal: value ?? "") } }

    private var range: AttributeHandleRange {
        get throws {
            let whole = AttributeHandleRange.all
            guard let range = AttributeHandleRange(start ?? whole.start, end ?? whole.end) else {
                throw Senseless("\(op) needs handles in order")
            }
            return range
        }
    }

    fileprivate func action(_ database: [DatabaseDiscovery.Service]) throws -> AttributeOperation.Action {
        switch op {
        case "read", "read_long": .request(.read(try attribute))
        case "write": .request(.write(try attribute, try octets))
        case "write_cmd": .request(.writeCommand(try attribute, try octets))
        default: .procedure(try procedure(database))
        }
    }

    private func procedure(_ database: [DatabaseDiscovery.Service]) throws -> AttributeOperation.Procedure {
        switch op {
        case "discover_all": return .everything(DatabaseDiscovery())
        case "discover_primary":
            return .services(
                ServiceDiscovery(only: try uuid.map { [try BluetoothUUID(spelled: $0)] } ?? [], in: try range)
            )
        case "discover_included": return .included(IncludedServiceDiscovery(in: try range))
        case "discover_characteristics": return .characteristics(CharacteristicDiscovery(in: try range))
        case "discover_descriptors": return .descriptors(DescriptorDiscovery(in: try range))
        case "read_by_type":
            guard let uuid else { throw Senseless("read_by_type needs a UUID") }
            return .typedRead(TypedReading(try BluetoothUUID(spelled: uuid), in: try range))
        case "read_multiple":
            guard let handles, handles.count >= 2 else { throw Senseless("read_multiple needs two handles or more") }
            return .readMultiple(handles)
        case "write_long", "write_reliable": return .write(ValueWriting(try octets, to: try attribute, prepares: true))
        case "subscribe_notify": return try subscribe(.notifications, in: database)
        case "subscribe_indicate": return try subscribe(.indications, in: database)
        default: throw Senseless("a client cannot do \(op)")
        }
    }

    /// Writes the configuration that discovery found, or looks for it behind the value.
    private func subscribe(
        _ subscription: Subscription,
        in database: [DatabaseDiscovery.Service]
    ) throws -> AttributeOperation.Procedure {
        let value = try attribute
        let characteristic = database.lazy.flatMap(\.characteristics).first { $0.declared.value == value }
        let configuration = characteristic?.descriptors.first { $0.uuid == GATT.clientConfiguration }
        return .subscribe(
            ConfigurationWriting(
                subscription.rawValue,
                to: configuration?.handle,
                in: characteristic.map(\.declared.descriptorRange) ?? AttributeHandleRange.all.after(value)
            )
        )
    }
}

extension AttributeOperation.Procedure {
    mutating func begin(mtu: Int) -> ProcedureStep<Result<AttributeOperation.Outcome, Failure>> {
        switch self {
        case .everything(let machine): return machine.begin().map { $0.map { .database($0) } }
        case .services(let machine): return machine.begin().map { $0.map { .services($0) } }
        case .included(let machine): return machine.begin().map { $0.map { .services($0) } }
        case .characteristics(let machine): return machine.begin().map { $0.map { .characteristics($0) } }
        case .descriptors(let machine): return machine.begin().map { $0.map { .descriptors($0) } }
        case .readMultiple(let handles): return .request(.readMultipleRequest(.init(handles: handles)))
        case .typedRead(let machine): return machine.begin().map { $0.map { .values($0) } }
        case .write(var machine):
            defer { self = .write(machine) }
            return machine.begin(mtu: mtu).map { $0.map { .failure($0) } ?? .success(.done) }
        case .subscribe(var machine):
            defer { self = .subscribe(machine) }
            return machine.begin().map { $0.failure.map { .failure($0) } ?? .success(.done) }
        }
    }

    mutating func receive(
        _ answer: ATTAnswer,
        mtu: Int
    ) -> ProcedureStep<Result<AttributeOperation.Outcome, Failure>> {
        switch self {
        case .everything(var machine):
            defer { self = .everything(machine) }
            return machine.receive(answer).map { $0.map { .database($0) } }
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
        case .subscribe(var machine):
            defer { self = .subscribe(machine) }
            return machine.receive(answer).map { $0.failure.map { .failure($0) } ?? .success(.done) }
        }
    }

    private static func values(in answer: ATTAnswer) -> Result<AttributeOperation.Outcome, Failure> {
        switch answer {
        case .success(.readMultipleResponse(let response)): .success(.value(response.values))
        case .success: .failure(.att(.invalidPDU))
        case .failure(let code): .failure(.att(code))
        }
    }
}

extension PeerEvent {
    /// What it says of a request that an operation is done with; `nil` if nothing.
    var outcome: Result<AttributeOperation.Outcome, Failure>? {
        switch self {
        case .valueRead(_, let result): result.map { .value($0) }
        case .valueWritten(_, let failure): failure.map { .failure($0) } ?? .success(.done)
        case .writeCommandsTaken: .success(.done)
        default: nil
        }
    }
}
