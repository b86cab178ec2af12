import BLEHost
import BLEWire

/// An operation that a test case performs on a server.
struct AttributeOperation {
    /// The JSON form of an operation.
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

    /// The action that an operation requires: one request, or the discovery of the whole database.
    enum Action {
        case ask(AttributeQuestion)
        case discoverEverything
    }

    /// The result of an operation.
    enum Outcome {
        case done
        case value([UInt8])
        case values([ATT.ReadByTypeResponse.Entry])
        case database([DatabaseDiscovery.Service])
        case services([DiscoveredService])
        case characteristics([DiscoveredCharacteristic])
        case descriptors([DiscoveredDescriptor])
    }

    typealias Answer = Result<Outcome, Failure>

    let action: Action
    /// True if a request is repeated once on a more secure link after the server has refused it for lack of security.
    let elevatesSecurity: Bool

    /// Creates an operation from its description.
    ///
    /// - Parameters:
    ///   - description: The description.
    ///   - database: The part of the server's database that has been discovered.
    ///   - mtu: The MTU of the link in octets.
    /// - Throws: ``InvalidInput`` if the description is invalid.
    init(_ description: Description, database: [DatabaseDiscovery.Service], mtu: Int) throws {
        elevatesSecurity = description.auto_elevate_security ?? false
        action = try description.action(database, mtu: mtu)
    }
}

/// One request to a server.
enum AttributeQuestion {
    /// A request that apps can make. The host performs it.
    case app(AttributeRequest)
    /// A request that no app can make. This program performs it packet by packet.
    case tester(AttributeProcedure)
}

extension AttributeOperation.Description {
    private var attribute: AttributeHandle {
        get throws {
            guard let handle else { throw InvalidInput("\(op) needs a handle") }
            return handle
        }
    }

    private var octets: [UInt8] { get throws { try [UInt8](hexadecimal: value ?? "") } }

    private var type: BluetoothUUID? { get throws { try uuid.map { try BluetoothUUID(spelled: $0) } } }

    private var range: AttributeHandleRange {
        get throws {
            let whole = AttributeHandleRange.all
            guard let range = AttributeHandleRange(start ?? whole.start, end ?? whole.end) else {
                throw InvalidInput("invalid range of \(op): \(start ?? whole.start) to \(end ?? whole.end)")
            }
            return range
        }
    }

    fileprivate func action(_ database: [DatabaseDiscovery.Service], mtu: Int) throws -> AttributeOperation.Action {
        switch op {
        case "discover_all": .discoverEverything
        case "discover_primary": .ask(try discoverServices())
        case "read", "read_long": .ask(.app(.read(try attribute)))
        case "write": .ask(.app(.write(try attribute, try octets)))
        case "write_long", "write_reliable": .ask(try writePrepared(mtu: mtu))
        case "write_cmd": .ask(.app(.writeCommand(try attribute, try octets)))
        case "subscribe_notify": .ask(try subscribe(.notifications, in: database))
        case "subscribe_indicate": .ask(try subscribe(.indications, in: database))
        default: .ask(.tester(try procedure))
        }
    }

    private var procedure: AttributeProcedure {
        get throws {
            switch op {
            case "discover_included": return .included(IncludedServiceDiscovery(in: try range))
            case "discover_characteristics": return .characteristics(CharacteristicDiscovery(in: try range))
            case "discover_descriptors": return .descriptors(DescriptorRangeDiscovery(in: try range))
            case "read_by_type":
                guard let type = try type else { throw InvalidInput("read_by_type needs a UUID") }
                return .typedRead(TypedReading(type, in: try range))
            case "read_multiple":
                guard let handles, handles.count >= 2 else {
                    throw InvalidInput("read_multiple needs two handles or more")
                }
                return .readMultiple(handles)
            default: throw InvalidInput("a client has no operation “\(op)”")
            }
        }
    }

    /// Returns the request for the primary services in a range.
    ///
    /// If the range contains all handles, the host performs the request. For a smaller range, which apps cannot search,
    /// this program performs it.
    private func discoverServices() throws -> AttributeQuestion {
        let range = try range, type = try type
        return range == .all
            ? .app(.discoverServices(only: type.map { [$0] } ?? []))
            : .tester(.services(ServiceRangeDiscovery(only: type, in: range)))
    }

    /// Returns the request for a prepared write.
    ///
    /// If the value does not fit into one packet, the host performs the request. The host never prepares the write of a
    /// shorter value, so this program does.
    private func writePrepared(mtu: Int) throws -> AttributeQuestion {
        let value = try octets, handle = try attribute
        return value.count > min(mtu - 3, ATT.maximumValueLength)
            ? .app(.write(handle, value)) : .tester(.write(PreparedWriting(value, to: handle)))
    }

    /// Returns the request for a subscription.
    ///
    /// If the characteristic has not been discovered, every handle after its value may belong to one of its
    /// descriptors.
    private func subscribe(
        _ subscription: Subscription,
        in database: [DatabaseDiscovery.Service]
    ) throws -> AttributeQuestion {
        let value = try attribute
        let characteristic = database.lazy.flatMap(\.characteristics).first { $0.declared.value == value }
        let descriptors = characteristic.map(\.declared.descriptorRange) ?? AttributeHandleRange.all.after(value)
        return .app(.subscribe(subscription, to: value, in: descriptors))
    }
}
