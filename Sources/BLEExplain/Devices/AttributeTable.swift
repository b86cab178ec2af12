import BLEWire

/// The attributes of a device in a capture, as far as requests and responses show them.
struct AttributeTable: Sendable {
    private static let mostAttributes = 4_000
    private static let mostTransfers = 20_000
    static let secureErrors: Set<ATT.ErrorCode> = [.insufficientAuthentication, .insufficientEncryption]

    struct Attribute: Sendable {
        let handle: UInt16
        var type: BluetoothUUID?
        /// The value of the first read; `nil` if no read was seen.
        var value: [UInt8]?
        /// True once a second read of the attribute has begun; the parts of that read must not be added to ``value``.
        var isRead = false
        var isProtected = false
    }

    struct Group: Sendable {
        let start: UInt16
        let end: UInt16
        let uuid: BluetoothUUID
        let isPrimary: Bool
    }

    /// A write by a client, or a value that the device sent.
    struct Transfer: Sendable {
        let handle: UInt16
        let value: [UInt8]
        let time: Instant
        let isWrite: Bool
    }

    let source: Int
    let address: String
    /// The device's address; `nil` if the device is the captured host, or if the capture does not contain the address.
    let identity: DeviceAddress?
    let isHost: Bool
    private(set) var mtu: Int?
    private(set) var transfers: [Transfer] = []
    /// The attributes, in ascending order of handles.
    ///
    /// ``services``, ``declarations`` and ``inclusions`` have the same order.
    private(set) var attributes: [Attribute] = []
    private(set) var services: [Group] = []
    /// The declarations of characteristics, with the octets of their values.
    private(set) var declarations: [(handle: UInt16, value: [UInt8])] = []
    /// The declarations of included services, with the octets of their values.
    private(set) var inclusions: [(handle: UInt16, value: [UInt8])] = []

    init(source: Int, address: String, identity: DeviceAddress?, isHost: Bool) {
        (self.source, self.address, self.identity, self.isHost) = (source, address, identity, isHost)
    }

    /// The key of the device's advertisement in ``DeviceRecorder``.
    var advertiser: String { isHost ? Self.advertiser(ofHost: source) : address }

    /// Returns the key of a host's own advertisement.
    static func advertiser(ofHost source: Int) -> String { "host \(source)" }

    /// Adds a request or command from a client.
    mutating func request(_ packet: ATTPacket, at time: Instant) {
        switch packet {
        case .writeRequest(let write): note(write.handle.wire, write.value, isWrite: true, at: time)
        case .writeCommand(let write): note(write.handle.wire, write.value, isWrite: true, at: time)
        default: break
        }
    }

    /// Adds a response, notification or indication; `request` is the request that it answers, if it was seen.
    mutating func response(_ packet: ATTPacket, to request: ATTPacket?, at time: Instant) {
        switch (packet, request) {
        case (.notification(let sent), _): note(sent.handle.wire, sent.value, isWrite: false, at: time)
        case (.indication(let sent), _): note(sent.handle.wire, sent.value, isWrite: false, at: time)
        case (.exchangeMTUResponse(let response), _): mtu = Int(response.serverMTU)
        case (.readByGroupTypeResponse(let response), .readByGroupTypeRequest(let request)):
            for entry in response.entries {
                guard let uuid = BluetoothUUID(octets: entry.value[...]) else { continue }
                add(entry.start.wire, entry.end.wire, uuid, isPrimary: request.groupType == .short(0x2800))
            }
        case (.findByTypeValueResponse(let response), .findByTypeValueRequest(let request)):
            guard request.type == 0x2800, let uuid = BluetoothUUID(octets: request.value[...]) else { return }
            for entry in response.entries { add(entry.found.wire, entry.groupEnd.wire, uuid, isPrimary: true) }
        case (.readByTypeResponse(let response), .readByTypeRequest(let request)):
            for entry in response.entries { found(entry.handle.wire, Array(entry.value), request.type) }
        case (.findInformationResponse(let response), _):
            for entry in response.entries { change(entry.handle.wire) { $0.type = entry.type } }
        case (.readResponse(let response), .readRequest(let request)):
            read(request.handle.wire, response.value)
        case (.readBlobResponse(let response), .readBlobRequest(let request)):
            read(request.handle.wire, from: Int(request.offset), response.part)
        case (.errorResponse(let error), _):
            guard Self.secureErrors.contains(error.code) else { return }
            change(error.handle.wire) { $0.isProtected = true }
        default: break
        }
    }

    private mutating func found(_ handle: UInt16, _ value: [UInt8], _ type: BluetoothUUID) {
        switch type {
        case .short(0x2803): Self.insert(handle, value, into: &declarations)
        case .short(0x2802): Self.insert(handle, value, into: &inclusions)
        default:
            change(handle) { $0.type = type }
            read(handle, value)
        }
    }

    private mutating func read(_ handle: UInt16, _ value: [UInt8]) {
        var type: BluetoothUUID?
        change(handle) { attribute in
            type = attribute.type
            guard attribute.value == nil else { return attribute.isRead = true }
            attribute.value = value
        }
        // Some clients find all attributes, and then read each of them.
        if type == .short(0x2802) { Self.insert(handle, value, into: &inclusions) }
    }

    private mutating func read(_ handle: UInt16, from offset: Int, _ part: [UInt8]) {
        change(handle) { attribute in
            guard !attribute.isRead, attribute.value?.count ?? 0 == offset else { return }
            attribute.value = Array(((attribute.value ?? []) + part).prefix(ATT.maximumValueLength))
        }
    }

    private mutating func note(_ handle: UInt16, _ value: [UInt8], isWrite: Bool, at time: Instant) {
        guard transfers.count < Self.mostTransfers else { return }
        transfers.append(Transfer(handle: handle, value: value, time: time, isWrite: isWrite))
    }

    private mutating func add(_ start: UInt16, _ end: UInt16, _ uuid: BluetoothUUID, isPrimary: Bool) {
        Self.insert(Group(start: start, end: end, uuid: uuid, isPrimary: isPrimary), into: &services)
    }

    /// Inserts a service in the order of handles.
    ///
    /// Does nothing if the range of the service is invalid or overlaps with that of another service, or if the list is
    /// full.
    static func insert(_ group: Group, into groups: inout [Group]) {
        guard group.start > 0, group.start <= group.end, groups.count < mostAttributes,
            !groups.contains(where: { $0.start <= group.end && group.start <= $0.end })
        else { return }
        groups.insert(group, at: groups.firstIndex { $0.start > group.start } ?? groups.endIndex)
    }

    private static func insert(_ handle: UInt16, _ value: [UInt8], into list: inout [(handle: UInt16, value: [UInt8])])
    {
        guard list.count < mostAttributes else { return }
        let place = list.firstIndex { $0.handle >= handle } ?? list.endIndex
        if place < list.endIndex, list[place].handle == handle { return }
        list.insert((handle, value), at: place)
    }

    private mutating func change(_ handle: UInt16, _ body: (inout Attribute) -> Void) {
        let place = attributes.firstIndex { $0.handle >= handle } ?? attributes.endIndex
        if place == attributes.endIndex || attributes[place].handle != handle {
            guard attributes.count < Self.mostAttributes else { return }
            attributes.insert(Attribute(handle: handle), at: place)
        }
        body(&attributes[place])
    }
}
