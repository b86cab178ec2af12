import BLEWire

extension AttributeNames {
    /// The maximum number of list entries that are shown.
    private static let mostEntries = 8

    /// The role of an ATT packet in an exchange between a client and a server.
    struct Role {
        /// The function of a packet: a request, a response, or a message (a command or notification without response).
        enum Part { case request, response, message }

        let part: Part
        let isFromClient: Bool
        let server: Server

        /// Determines the role of a packet from its opcode and its direction.
        ///
        /// Indications are requests, and confirmations their responses. Commands and notifications have no response.
        init(of opcode: ATT.Opcode, on stream: LinkFrames.Stream) {
            let asks = opcode.response != nil || opcode == .handleValueIndication
            isFromClient =
                asks && opcode != .handleValueIndication || opcode.isCommand || opcode == .handleValueConfirmation
            let isNotification = opcode == .handleValueNotification || opcode == .multipleHandleValueNotification
            part = asks ? .request : opcode.isCommand || isNotification ? .message : .response
            server = Server(
                source: stream.source,
                link: stream.link,
                isHost: isFromClient ? !stream.isFromHost : stream.isFromHost
            )
        }
    }

    /// Returns readable text with the attribute of a packet and its value, handle range or error; empty if the packet
    /// has none of these.
    ///
    /// - Parameters:
    ///   - packet: The packet.
    ///   - server: The server that has the attribute.
    ///   - requested: The handle in the request that the packet answers; `nil` if there is none.
    /// - Returns: The text.
    func words(_ packet: ATTPacket, of server: Server, requested: UInt16?) -> String {
        func text(_ handle: UInt16, _ value: [UInt8]) -> String {
            let type = type(of: handle, of: server)
            return "\(name(of: handle, of: server)) = \(shown(value, as: type))"
        }
        switch packet {
        case .writeRequest(let packet): return text(packet.handle.wire, Array(packet.value))
        case .writeCommand(let packet): return text(packet.handle.wire, Array(packet.value))
        case .notification(let packet): return text(packet.handle.wire, Array(packet.value))
        case .indication(let packet): return text(packet.handle.wire, Array(packet.value))
        case .errorResponse(let packet):
            return "\(packet.code): \(packet.request) of \(name(of: packet.handle.wire, of: server))"
        case .readResponse(let packet):
            return requested.map { text($0, Array(packet.value)) } ?? shown(Array(packet.value), as: nil)
        case .readByTypeRequest(let packet):
            return "\(Self.name(of: packet.type))\(Self.range(packet.start, packet.end))"
        case .readByGroupTypeRequest(let packet):
            return "\(Self.name(of: packet.groupType))\(Self.range(packet.start, packet.end))"
        case .findInformationRequest(let packet): return "all\(Self.range(packet.start, packet.end))"
        case .readByTypeResponse(let packet):
            return Self.list(packet.entries) { entry in
                let value = Array(entry.value)
                let isDeclared = type(of: entry.handle.wire, of: server) == .short(0x2803)
                guard isDeclared, value.count >= 3 else { return text(entry.handle.wire, value) }
                return name(of: UInt16(value[1]) | UInt16(value[2]) << 8, of: server)
            }
        case .readByGroupTypeResponse(let packet):
            return Self.list(packet.entries) { entry in
                let type = BluetoothUUID(octets: entry.value[...]).map(Self.name) ?? entry.value.hexadecimal
                return type + Self.range(entry.start, entry.end)
            }
        case .findInformationResponse(let packet):
            return Self.list(packet.entries) { name(of: $0.handle.wire, of: server) }
        default: return packet.handle.map { name(of: $0, of: server) } ?? ""
        }
    }

    private static func name(of type: BluetoothUUID) -> String { AssignedNames.attribute(type) ?? "\(type)" }

    private static func range(_ start: AttributeHandle, _ end: AttributeHandle) -> String {
        let digits = [start, end].map { [UInt8($0.wire >> 8), UInt8($0.wire & 0xFF)].hexadecimal }
        return " (0x\(digits[0])–0x\(digits[1]))"
    }

    /// Returns the words for the first entries of a list, and the number of others.
    private static func list<Entries: Collection>(
        _ entries: Entries,
        _ words: (Entries.Element) -> String
    ) -> String {
        let rest = entries.count - mostEntries
        return entries.prefix(mostEntries).map(words).joined(separator: ", ") + (rest > 0 ? ", \(rest) more" : "")
    }

    private func shown(_ value: [UInt8], as type: BluetoothUUID?) -> String {
        let digits = value.prefix(32).hexadecimal + (value.count > 32 ? "… (\(value.count) octets)" : "")
        if let type, let text = reading(type, value) { return "\(digits) (\(text))" }
        let isText = value.count > 2 && value.allSatisfy { 0x20..<0x7F ~= $0 }
        return isText ? "“\(String(decoding: value.prefix(64), as: UTF8.self))”" : digits.isEmpty ? "(empty)" : digits
    }
}

extension ATTPacket {
    /// The attribute type in a Read By Type or Read By Group Type request; `nil` for other packets.
    var searchedType: BluetoothUUID? {
        switch self {
        case .readByTypeRequest(let packet): packet.type
        case .readByGroupTypeRequest(let packet): packet.groupType
        default: nil
        }
    }

    /// The handle of the attribute that the packet is about.
    ///
    /// The handle is `nil` for packets that are not about a single attribute, and for signed writes and Prepare Write
    /// responses.
    var handle: UInt16? {
        switch self {
        case .readRequest(let packet): packet.handle.wire
        case .readBlobRequest(let packet): packet.handle.wire
        case .writeRequest(let packet): packet.handle.wire
        case .writeCommand(let packet): packet.handle.wire
        case .prepareWriteRequest(let packet): packet.handle.wire
        case .notification(let packet): packet.handle.wire
        case .indication(let packet): packet.handle.wire
        case .errorResponse(let packet): packet.handle.wire
        default: nil
        }
    }
}
