/// An event from the kernel about an adapter, or the kernel's response to a command.
///
/// BlueZ, doc/mgmt-protocol.rst.
package struct ManagementEvent: Equatable, Sendable {
    /// The adapter that the event is about; ``AdapterIndex/none`` if it is about no particular adapter.
    package var index: AdapterIndex
    package var body: Body

    /// The contents of an event.
    package enum Body: Equatable, Sendable {
        case commandComplete(Management.CommandComplete)
        case commandStatus(Management.CommandStatus)
        /// An adapter was added, or a program ended its exclusive use of the adapter.
        case indexAdded
        /// An adapter was removed, or a program began to use it exclusively.
        case indexRemoved
        case newSettings(Management.NewSettings)
        /// Like ``indexAdded``, for programs that have read the extended list of adapters.
        case extendedIndexAdded(Management.Attachment)
        case extendedIndexRemoved(Management.Attachment)
        /// Any other event, with its parameters.
        case unknown(Management.EventCode, [UInt8])
    }

    package init(_ body: Body, on index: AdapterIndex) {
        self.index = index
        self.body = body
    }

    /// Decodes an event that fills `bytes` exactly.
    package init(decoding bytes: Span<UInt8>) throws(PacketError) {
        var decoder = PacketDecoder(bytes), length: UInt16 = 0
        var header = Management.Header(code: 0, index: .none)
        try header.layout(&decoder, length: &length)
        try decoder.expect(Int(length), "Parameters")
        index = header.index
        body = try Self.decode(Management.EventCode(wire: header.code), decoder.unread)
    }

    /// Decodes an event that fills `bytes` exactly.
    package init(decoding bytes: [UInt8]) throws(PacketError) { try self.init(decoding: bytes.span) }

    private static func decode(
        _ code: Management.EventCode,
        _ parameters: Span<UInt8>
    ) throws(PacketError) -> Body {
        switch code {
        case .commandComplete: return .commandComplete(try .init(decoding: parameters))
        case .commandStatus: return .commandStatus(try .init(decoding: parameters))
        case .indexAdded, .indexRemoved:
            guard parameters.isEmpty else { throw .trailing(count: parameters.count) }
            return code == .indexAdded ? .indexAdded : .indexRemoved
        case .newSettings: return .newSettings(try .init(decoding: parameters))
        case .extendedIndexAdded: return .extendedIndexAdded(try .init(decoding: parameters))
        case .extendedIndexRemoved: return .extendedIndexRemoved(try .init(decoding: parameters))
        default: return .unknown(code, [UInt8](copying: parameters))
        }
    }

    /// The encoded event with its header.
    package var encoded: [UInt8] {
        let (code, parameters): (Management.EventCode, [UInt8]) =
            switch body {
            case .commandComplete(let event): (.commandComplete, event.encoded)
            case .commandStatus(let event): (.commandStatus, event.encoded)
            case .indexAdded: (.indexAdded, [])
            case .indexRemoved: (.indexRemoved, [])
            case .newSettings(let event): (.newSettings, event.encoded)
            case .extendedIndexAdded(let event): (.extendedIndexAdded, event.encoded)
            case .extendedIndexRemoved(let event): (.extendedIndexRemoved, event.encoded)
            case .unknown(let code, let parameters): (code, parameters)
            }
        return Management.framed(Management.Header(code: code.wire, index: index), parameters)
    }
}

extension Management {
    /// The response to a command that has been executed, with its status and return parameters.
    package struct CommandComplete: Packet {
        package var opcode = Opcode(wire: 0)
        package var status = Status.success
        package var parameters: [UInt8] = []

        package init() {}
        package init(_ opcode: Opcode, _ status: Status = .success, parameters: [UInt8] = []) {
            self.opcode = opcode
            self.status = status
            self.parameters = parameters
        }

        package mutating func layout(_ wire: inout some AnyWire) throws(PacketError) {
            try wire.field(&opcode, "Command Opcode")
            try wire.field(&status, "Status")
            try wire.rest(&parameters, "Return Parameters")
        }
    }

    /// The response to a command that has failed, with the status as the reason.
    package struct CommandStatus: Packet {
        package var opcode = Opcode(wire: 0)
        package var status = Status.success

        package init() {}
        package init(_ opcode: Opcode, _ status: Status) {
            self.opcode = opcode
            self.status = status
        }

        package mutating func layout(_ wire: inout some AnyWire) throws(PacketError) {
            try wire.field(&opcode, "Command Opcode")
            try wire.field(&status, "Status")
        }
    }

    /// The new settings of an adapter.
    ///
    /// Its contents are also the return parameters of commands that change settings.
    package struct NewSettings: Packet {
        package var settings: Settings = []

        package init() {}
        package init(_ settings: Settings) { self.settings = settings }

        package mutating func layout(_ wire: inout some AnyWire) throws(PacketError) {
            try wire.field(&settings, "Current Settings")
        }
    }

    /// The kind and the bus of an adapter that was added or removed.
    package struct Attachment: Packet {
        package var kind = ControllerKind.configured
        package var bus = Bus.virtual

        package init() {}
        package init(kind: ControllerKind = .configured, bus: Bus) {
            self.kind = kind
            self.bus = bus
        }

        package mutating func layout(_ wire: inout some AnyWire) throws(PacketError) {
            try wire.field(&kind, "Controller Type")
            try wire.field(&bus, "Controller Bus")
        }
    }
}
