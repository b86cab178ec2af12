import BLEHost
import BLEWire

/// The services of a connected device and the programs that use them.
struct RemoteDatabase: Sendable {
    enum State: Equatable, Sendable {
        case unknown
        /// The services are being discovered; this number of requests is outstanding.
        case discovering(Int)
        case discovered
    }

    struct Characteristic: Sendable {
        let path: String
        let definition: DiscoveredCharacteristic
        /// The programs that have a notify session or are waiting for one, in the order in which they called
        /// `StartNotify`.
        var subscribers: [String] = []
        /// The pipe to the program that called `AcquireNotify`; `nil` if there is none.
        var notifyPipe: BlueZBridge.PipeNumber?
        /// The pipe from the program that called `AcquireWrite`; `nil` if there is none.
        var writePipe: BlueZBridge.PipeNumber?

        var properties: CharacteristicProperties { CharacteristicProperties(rawValue: UInt16(definition.properties)) }

        /// The handles after the value, where the descriptors are; `nil` if there are no such handles.
        var descriptors: AttributeHandleRange? {
            guard definition.value < definition.end else { return nil }
            return AttributeHandleRange(AttributeHandle(wire: definition.value.wire &+ 1), definition.end)
        }
    }

    var state = State.unknown
    /// The session whose report of a change causes a new discovery: the one that discovers the services or, if it has
    /// disconnected since the discovery, another connected one; `nil` before the discovery.
    var discoverer: BlueZBridge.SessionKey?
    var services: [DiscoveredService] = []
    var includes: [AttributeHandle: [DiscoveredService]] = [:]
    /// The discovered characteristics, by the first handle of their service.
    var members: [AttributeHandle: [DiscoveredCharacteristic]] = [:]
    /// The discovered descriptors, by the value handle of their characteristic.
    var descriptors: [AttributeHandle: [DiscoveredDescriptor]] = [:]
    /// The characteristics that have objects on the bus, by value handle.
    var characteristics = OrderedMap<AttributeHandle, Characteristic>()
    /// The handles of characteristic values and descriptors, by object path.
    var handles: [String: AttributeHandle] = [:]

    /// The number of attributes in the database, including the definitions of included services.
    private(set) var count = 0

    /// Returns as many of the discovered attributes as the database has room for, and counts them.
    mutating func admit<Attribute>(_ found: [Attribute]) -> [Attribute] {
        let admitted = Array(found.prefix(max(0, BlueZBridge.Limit.attributes - count)))
        count += admitted.count
        return admitted
    }
}

/// The reason for a request to a peer.
enum PeerPurpose: Sendable {
    case services
    case includes(AttributeHandle)
    case members(AttributeHandle)
    case descriptors(AttributeHandle)
    /// `path` is `nil` if the attribute's object has been removed since the request.
    case read(Caller, path: String?, offset: Int)
    case write(Caller)
    case subscribe(Caller, path: String)
    case unsubscribe(Caller, path: String)
    case acquire(Caller, path: String)
    /// Ends a subscription that no program needs; there is no call to answer.
    case dropSubscription
    /// Reads the PnP ID for the property `Modalias`; there is no call to answer.
    case modalias

    /// The call that waits for the result; `nil` if there is none.
    var caller: Caller? {
        switch self {
        case .read(let caller, _, _), .write(let caller), .subscribe(let caller, _), .unsubscribe(let caller, _),
            .acquire(let caller, _):
            caller
        case .services, .includes, .members, .descriptors, .dropSubscription, .modalias: nil
        }
    }

    /// True for a subscription whose call has not been answered.
    var isSubscription: Bool {
        switch self {
        case .subscribe, .acquire: true
        case .services, .includes, .members, .descriptors, .read, .write, .unsubscribe, .dropSubscription, .modalias:
            false
        }
    }

    /// True for the steps of the discovery of services.
    var isDiscovery: Bool {
        switch self {
        case .services, .includes, .members, .descriptors: true
        case .read, .write, .subscribe, .unsubscribe, .acquire, .dropSubscription, .modalias: false
        }
    }
}

/// An outstanding request to a peer.
struct PeerRequestRecord: Sendable {
    let peer: PeerIdentifier
    var purpose: PeerPurpose
}

extension CharacteristicProperties {
    /// The flags of `GattCharacteristic1` for the properties that are sent over the air.
    var flags: [String] {
        let names: [(Self, String)] = [
            (.broadcast, "broadcast"), (.read, "read"), (.writeWithoutResponse, "write-without-response"),
            (.write, "write"), (.notify, "notify"), (.indicate, "indicate"),
            (.authenticatedSignedWrites, "authenticated-signed-writes"), (.extendedProperties, "extended-properties"),
        ]
        return names.filter { contains($0.0) }.map(\.1)
    }
}
