extension HCI {
    /// The response to a command that is complete, with its return parameters.
    ///
    /// Core 6.0, Vol 4, Part E, 7.7.14.
    package struct CommandComplete: HCIEvent {
        package static var code: EventCode { .commandComplete }

        /// The number of further commands that the host may send now.
        package var allowed: UInt8 = 0
        /// The command that is complete; ``HCI/Opcode/none`` if the event only updates ``allowed``.
        package var opcode = Opcode.none
        package var parameters: [UInt8] = []

        package init() {}
        package init(allowed: UInt8, opcode: Opcode, parameters: [UInt8]) {
            self.allowed = allowed
            self.opcode = opcode
            self.parameters = parameters
        }

        /// Creates the response to a command of type `Command`.
        package init<Command: HCICommand>(_: Command.Type, returning value: Command.Return, allowed: UInt8 = 1) {
            self.init(allowed: allowed, opcode: Command.opcode, parameters: value.encoded)
        }

        /// The status at the beginning of the return parameters; `nil` if there are none.
        ///
        /// Check the status before decoding the parameters, because a controller may omit everything after the status
        /// of a failure.
        package var status: Status? { parameters.first.map { Status(wire: $0) } }

        /// Returns the decoded return parameters of a command of type `Command`.
        ///
        /// - Throws: The error from decoding the parameters; ``PacketError/unknown(code:)`` if this is the response to
        ///   another command.
        package func returned<Command: HCICommand>(by _: Command.Type) throws(PacketError) -> Command.Return {
            guard opcode == Command.opcode else { throw .unknown(code: opcode.wire) }
            return try Command.Return(decoding: parameters)
        }

        package mutating func layout(_ wire: inout some AnyWire) throws(PacketError) {
            try wire.integer(&allowed, "Num HCI Command Packets")
            try wire.field(&opcode, "Command Opcode")
            try wire.rest(&parameters, "Return Parameters")
        }
    }

    /// The response to a command that has started and completes later, or that cannot start.
    ///
    /// Core 6.0, Vol 4, Part E, 7.7.15.
    package struct CommandStatus: HCIEvent {
        package static var code: EventCode { .commandStatus }

        package var status = Status.success
        /// The number of further commands that the host may send now.
        package var allowed: UInt8 = 0
        package var opcode = Opcode.none

        package init() {}
        package init(status: Status, allowed: UInt8 = 1, opcode: Opcode) {
            self.status = status
            self.allowed = allowed
            self.opcode = opcode
        }

        package mutating func layout(_ wire: inout some AnyWire) throws(PacketError) {
            try wire.field(&status, "Status")
            try wire.integer(&allowed, "Num HCI Command Packets")
            try wire.field(&opcode, "Command Opcode")
        }
    }

    /// Reports that the controller's hardware has failed.
    ///
    /// Core 6.0, Vol 4, Part E, 7.7.16.
    package struct HardwareError: HCIEvent {
        package static var code: EventCode { .hardwareError }

        package var code: UInt8 = 0

        package init() {}
        package init(code: UInt8) {
            self.code = code
        }

        package mutating func layout(_ wire: inout some AnyWire) throws(PacketError) {
            try wire.integer(&code, "Hardware Code")
        }
    }

    /// Reports, for each link, the number of packets that the controller has sent or flushed.
    ///
    /// The host gets one credit back for each of these packets.
    ///
    /// Core 6.0, Vol 4, Part E, 7.7.19.
    @usableFromInline package struct NumberOfCompletedPackets: HCIEvent {
        package static var code: EventCode { .numberOfCompletedPackets }

        private static let mostEntries = 63

        package var completed: [CompletedPackets] = []

        package init() {}
        package init(completed: [CompletedPackets]) {
            self.completed = completed
        }

        package mutating func layout(_ wire: inout some AnyWire) throws(PacketError) {
            try wire.list(&completed, upTo: Self.mostEntries, "Num Handles")
        }

        /// Reads the link and the number of packets directly from an H4 packet with an event about a single link;
        /// returns `nil` for any other packet.
        @inlinable @inline(__always)
        package static func onlyOne(in packet: Span<UInt8>) -> CompletedPackets? {
            guard packet.count == 8, packet[0] == PacketType.event.wire, packet[1] == 0x13,  // ``code``
                packet[2] == 5, packet[3] == 1,
                let handle = ConnectionHandle(wire: UInt16(packet[4]) | UInt16(packet[5]) << 8)
            else { return nil }
            return CompletedPackets(handle: handle, count: UInt16(packet[6]) | UInt16(packet[7]) << 8)
        }

        /// Encodes an event about a single link as an H4 packet that ``onlyOne(in:)`` can read.
        package static func packet(_ only: CompletedPackets) -> [UInt8] {
            let handle = only.handle.wire
            return [
                PacketType.event.wire, 0x13, 5, 1,  // ``code``
                UInt8(truncatingIfNeeded: handle), UInt8(truncatingIfNeeded: handle >> 8),
                UInt8(truncatingIfNeeded: only.count), UInt8(truncatingIfNeeded: only.count >> 8),
            ]
        }

        /// Calls `body` with each entry of an event, without copying the event.
        ///
        /// If the event is malformed, the method throws and never calls `body`.
        ///
        /// - Parameters:
        ///   - event: The octets after the packet indicator.
        ///   - body: Called with each entry.
        /// - Returns: `false` if `event` is an event of another kind.
        /// - Throws: The error from decoding the event.
        package static func forEach(
            in event: Span<UInt8>,
            _ body: (CompletedPackets) -> Void
        ) throws(PacketError) -> Bool {
            guard event.count > 0, EventCode(wire: event[0]) == code else { return false }
            var decoder = PacketDecoder(event)
            let header = try EventHeader(from: &decoder)
            try decoder.expect(Int(header.length), "Parameter Total Length")
            var count: UInt8 = 0
            try decoder.integer(&count, "Num Handles")
            guard Int(count) <= mostEntries else { throw .reserved(field: "Num Handles") }
            var trial = PacketDecoder(decoder.unread)
            for _ in 0..<count { _ = try CompletedPackets(from: &trial) }
            guard trial.remaining == 0 else { throw .trailing(count: trial.remaining) }
            for _ in 0..<count { body(try CompletedPackets(from: &decoder)) }
            return true
        }
    }

    /// Reports that the host has sent more data than the controller can hold.
    ///
    /// Core 6.0, Vol 4, Part E, 7.7.26.
    package struct DataBufferOverflow: HCIEvent {
        package static var code: EventCode { .dataBufferOverflow }

        /// The kind of data: 0 for synchronous, 1 for ACL, 2 for isochronous data.
        package var linkType: UInt8 = 0

        package init() {}
        package init(linkType: UInt8) {
            self.linkType = linkType
        }

        package mutating func layout(_ wire: inout some AnyWire) throws(PacketError) {
            try wire.integer(&linkType, "Link Type")
        }
    }
}
