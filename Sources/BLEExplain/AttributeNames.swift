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

    /// Decodes a characteristic's value into readable text; returns `nil` if the value's format is unknown.
    let reading: @Sendable (BluetoothUUID, [UInt8]) -> String?
    private var types: [Server: [UInt16: BluetoothUUID]] = [:]
    /// The number of known types, of all servers together.
    private var typeCount = 0
    /// The handles of the characteristic values of each server, in ascending order.
    ///
    /// A descriptor belongs to the characteristic whose value is the last one before the descriptor.
    private var values: [Server: [UInt16]] = [:]

    init(reading: @escaping @Sendable (BluetoothUUID, [UInt8]) -> String?) { self.reading = reading }

    /// Returns the type of an attribute; `nil` if the attribute was not discovered.
    func type(of handle: UInt16, of server: Server) -> BluetoothUUID? { types[server]?[handle] }

    /// Returns readable text with the name and handle of an attribute, or only the handle if the type is unknown.
    func name(of handle: UInt16, of server: Server) -> String {
        let digits = [UInt8(handle >> 8), UInt8(handle & 0xFF)].hexadecimal
        guard let type = type(of: handle, of: server) else { return "0x\(digits)" }
        let own = AssignedNames.attribute(type) ?? "\(type)"
        guard AssignedNames.descriptor(type) != nil, let value = values[server]?.last(before: handle),
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
        if typeCount >= Self.most { (types, typeCount, values) = ([:], 0, [:]) }
        if types[server, default: [:]].updateValue(type, forKey: handle) == nil { typeCount += 1 }
    }

    /// Forgets the attributes of a link that has ended.
    mutating func forget(_ link: UInt16, of source: Int) {
        for isHost in [true, false] {
            let server = Server(source: source, link: link, isHost: isHost)
            typeCount -= types.removeValue(forKey: server)?.count ?? 0
            values[server] = nil
        }
    }
}

extension [UInt16] {
    /// Returns the last number of this ascending array that is less than `limit`; `nil` if there is none.
    fileprivate func last(before limit: UInt16) -> UInt16? {
        var (low, high) = (0, count)
        while low < high {
            let middle = (low + high) / 2
            if self[middle] < limit { low = middle + 1 } else { high = middle }
        }
        return low > 0 ? self[low - 1] : nil
    }
}
