import BLEWire

/// The types of attributes, learned from discovery.
struct AttributeNames: Sendable {
    private static let most = 100_000

    /// An ATT server: the source of its packets, its link, and whether the host or the peer is the server.
    struct Server: Hashable, Sendable {
        let source: Int
        let link: UInt16
        let isHost: Bool
    }

    private struct Place: Hashable, Sendable {
        let server: Server
        let handle: UInt16
    }

    /// Decodes a characteristic's value into readable text; returns `nil` if the value's format is unknown.
    let reading: @Sendable (BluetoothUUID, [UInt8]) -> String?
    private var types: [Place: BluetoothUUID] = [:]
    /// The handles of the characteristic values of each server, in ascending order.
    ///
    /// A descriptor belongs to the characteristic whose value is the last one before the descriptor.
    private var values: [Server: [UInt16]] = [:]

    init(reading: @escaping @Sendable (BluetoothUUID, [UInt8]) -> String?) { self.reading = reading }

    /// Returns the type of an attribute; `nil` if the attribute was not discovered.
    func type(of handle: UInt16, of server: Server) -> BluetoothUUID? { types[Place(server: server, handle: handle)] }

    /// Returns readable text with the name and handle of an attribute, or only the handle if the type is unknown.
    func name(of handle: UInt16, of server: Server) -> String {
        let digits = [UInt8(handle >> 8), UInt8(handle & 0xFF)].hexadecimal
        guard let type = type(of: handle, of: server) else { return "0x\(digits)" }
        let own = AssignedNames.attribute(type) ?? "\(type)"
        guard AssignedNames.descriptor(type) != nil, let value = values[server]?.last(where: { $0 < handle }),
            let parent = self.type(of: value, of: server)
        else { return "\(own) (0x\(digits))" }
        return "\(own) of \(AssignedNames.attribute(parent) ?? "\(parent)") (0x\(digits))"
    }

    /// Learns the types in a response from a server.
    ///
    /// `asked` is the type that the request searched for; `nil` if the request is unknown or contains no type.
    mutating func learn(_ packet: ATTPacket, from server: Server, asked: BluetoothUUID?) {
        switch packet {
        case .readByTypeResponse(let response):
            for entry in response.entries {
                guard asked == .short(0x2803) else {
                    if let asked { note(asked, entry.handle.wire, server) }
                    continue
                }
                let value = Array(entry.value)
                guard value.count >= 5, let type = BluetoothUUID(octets: value[3...]) else { continue }
                let handle = UInt16(value[1]) | UInt16(value[2]) << 8
                note(.short(0x2803), entry.handle.wire, server)
                note(type, handle, server)
                if values[server, default: []].last.map({ $0 < handle }) != false {
                    values[server, default: []].append(handle)
                }
            }
        case .readByGroupTypeResponse(let response):
            for entry in response.entries { note(asked ?? .short(0x2800), entry.start.wire, server) }
        case .findInformationResponse(let response):
            for entry in response.entries { note(entry.type, entry.handle.wire, server) }
        default: break
        }
    }

    private mutating func note(_ type: BluetoothUUID, _ handle: UInt16, _ server: Server) {
        if types.count >= Self.most { (types, values) = ([:], [:]) }
        types[Place(server: server, handle: handle)] = type
    }

    /// Forgets the attributes of a link that has ended.
    mutating func forget(_ link: UInt16, of source: Int) {
        let servers = [true, false].map { Server(source: source, link: link, isHost: $0) }
        types = types.filter { !servers.contains($0.key.server) }
        for server in servers { values[server] = nil }
    }
}
