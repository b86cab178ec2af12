import BLEHost
import BLEWire

/// The services of a connected device and the programs that use them.
struct RemoteDatabase: Sendable {
    enum State: Equatable, Sendable {
        case unknown
        /// This number of requests are outstanding.
        case discovering(Int)
        case discovered
    }

    struct Characteristic: Sendable {
        let path: String
        let definition: DiscoveredCharacteristic
        /// The programs with a notify session, or that wait for one, in the order in which they called.
        var subscribers: [String] = []
        /// The pipe to the program that acquired notifications.
        var notifyPipe: BlueZBridge.PipeNumber?
        /// The pipe from the program that acquired writing.
        var writePipe: BlueZBridge.PipeNumber?

        var properties: CharacteristicProperties { CharacteristicProperties(rawValue: UInt16(definition.properties)) }

        /// The handles of the descriptors; `nil` if there are none.
        var descriptors: AttributeHandleRange? {
            guard definition.value < definition.end else { return nil }
            return AttributeHandleRange(AttributeHandle(wire: definition.value.wire &+ 1), definition.end)
        }
    }

    var state = State.unknown
    /// The session that discovers the services.
    var discoverer: BlueZBridge.SessionKey?
    var services: [DiscoveredService] = []
    var includes: [AttributeHandle: [DiscoveredService]] = [:]
    /// The discovered characteristics of each service, by its first handle.
    var members: [AttributeHandle: [DiscoveredCharacteristic]] = [:]
    /// The discovered descriptors of each characteristic, by its value handle.
    var descriptors: [AttributeHandle: [DiscoveredDescriptor]] = [:]
    /// The characteristics with objects, by value handle.
    var characteristics = OrderedMap<AttributeHandle, Characteristic>()
    /// The handles of characteristic values and descriptors by path.
    var handles: [String: AttributeHandle] = [:]

    /// The number of attributes that were discovered.
    var count: Int {
        services.count + services.reduce(0) { $0 + (members[$1.range.start]?.count ?? 0) } + descriptorCount
    }

    /// The number of descriptors that were discovered.
    private(set) var descriptorCount = 0

    mutating func add(_ found: [DiscoveredDescriptor], to handle: AttributeHandle) {
        descriptorCount += found.count
        descriptors[handle] = found
    }
}

/// The reason of a request to a peer.
enum PeerPurpose: Sendable {
    case services
    case includes(AttributeHandle)
    case members(AttributeHandle)
    case descriptors(AttributeHandle)
    case read(Caller, path: String, offset: Int)
    case write(Caller)
    case subscribe(Caller, path: String)
    case unsubscribe(Caller, path: String)
    case acquire(Caller, path: String)
    /// A program has left; its subscription ends without a reply.
    case silence

    /// The call that waits for the result.
    var caller: Caller? {
        switch self {
        case .read(let caller, _, _), .write(let caller), .subscribe(let caller, _), .unsubscribe(let caller, _),
            .acquire(let caller, _):
            caller
        case .services, .includes, .members, .descriptors, .silence: nil
        }
    }
}

/// An outstanding request to a peer.
struct PeerRequestRecord: Sendable {
    let peer: PeerIdentifier
    let purpose: PeerPurpose
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
