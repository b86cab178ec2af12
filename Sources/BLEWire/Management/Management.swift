/// The protocol that programs use to list, query and power the Bluetooth adapters of the Linux kernel.
///
/// Programs and the kernel exchange its packets over a control socket. BlueZ documents it in `doc/mgmt-protocol.rst`;
/// the Core Specification does not contain it.
package enum Management {
    /// The maximum number of adapters in a list; the kernel allows fewer.
    package static let mostControllers = 256

    /// The opcode of a command.
    package struct Opcode: WireField, Hashable {
        package let wire: UInt16
        package init(wire: UInt16) { self.wire = wire }

        package static let readVersion = Self(wire: 0x0001)
        package static let readIndexList = Self(wire: 0x0003)
        package static let readInformation = Self(wire: 0x0004)
        package static let setPowered = Self(wire: 0x0005)
        package static let readExtendedIndexList = Self(wire: 0x003C)
    }

    /// The code of an event.
    package struct EventCode: WireField, Hashable {
        package let wire: UInt16
        package init(wire: UInt16) { self.wire = wire }

        package static let commandComplete = Self(wire: 0x0001)
        package static let commandStatus = Self(wire: 0x0002)
        package static let controllerError = Self(wire: 0x0003)
        package static let indexAdded = Self(wire: 0x0004)
        package static let indexRemoved = Self(wire: 0x0005)
        package static let newSettings = Self(wire: 0x0006)
        package static let extendedIndexAdded = Self(wire: 0x0020)
        package static let extendedIndexRemoved = Self(wire: 0x0021)
    }

    /// The result of a command.
    package struct Status: WireField, Hashable {
        package let wire: UInt8
        package init(wire: UInt8) { self.wire = wire }

        package static let success = Self(wire: 0x00)
        package static let unknownCommand = Self(wire: 0x01)
        package static let failed = Self(wire: 0x03)
        package static let busy = Self(wire: 0x0A)
        package static let rejected = Self(wire: 0x0B)
        package static let notPowered = Self(wire: 0x0F)
        package static let invalidIndex = Self(wire: 0x11)
        package static let blocked = Self(wire: 0x12)
        package static let permissionDenied = Self(wire: 0x14)
    }

    /// The header of every packet in both directions.
    package struct Header: Hashable, Sendable {
        /// The opcode or event code.
        package var code: UInt16 = 0
        package var index = AdapterIndex.none

        package init(code: UInt16, index: AdapterIndex) {
            self.code = code
            self.index = index
        }

        /// The length of the header in octets, including its length field.
        package static let size = 6

        /// Visits the header of a packet with `length` octets of parameters.
        mutating func layout(_ wire: inout some AnyWire, length: inout UInt16) throws(PacketError) {
            try wire.integer(&code, "Code")
            try wire.field(&index, "Controller Index")
            try wire.integer(&length, "Parameter Length")
        }
    }

    /// Encodes a command with its header.
    ///
    /// `index` is the adapter, or ``AdapterIndex/none`` for commands that are not about an adapter. `parameters` has at
    /// most 65535 octets.
    package static func command(_ opcode: Opcode, on index: AdapterIndex, parameters: [UInt8] = []) -> [UInt8] {
        precondition(
            parameters.count <= UInt16.max,
            "the parameters of \(opcode) must take at most 65535 octets, not \(parameters.count)"
        )
        return framed(Header(code: opcode.wire, index: index), parameters)
    }

    static func framed(_ header: Header, _ parameters: [UInt8]) -> [UInt8] {
        var encoder = PacketEncoder(), header = header, length = UInt16(parameters.count)
        do { try header.layout(&encoder, length: &length) } catch {
            preconditionFailure("cannot encode \(header): \(error)")
        }
        encoder.append(contentsOf: parameters)
        return encoder.bytes
    }
}

/// The number that the kernel has assigned to an adapter; `hci0` has the number 0.
package struct AdapterIndex: WireField, Hashable, Comparable {
    package let wire: UInt16
    package init(wire: UInt16) { self.wire = wire }

    /// The value for no particular adapter.
    package static let none = Self(wire: 0xFFFF)

    package static func < (a: Self, b: Self) -> Bool { a.wire < b.wire }
}

extension AdapterIndex: CustomStringConvertible {
    package var description: String { self == .none ? "no adapter" : "hci\(wire)" }

    /// Parses a name such as `hci0`; returns `nil` for anything else.
    package init?(name: some StringProtocol) {
        guard name.hasPrefix("hci"), case let digits = name.dropFirst(3),
            !digits.isEmpty, digits.utf8.allSatisfy({ (0x30...0x39).contains($0) }),
            let number = UInt16(digits), number != Self.none.wire
        else { return nil }
        self.init(wire: number)
    }
}

extension Management.Status: CustomStringConvertible {
    /// The status's name in BlueZ's documentation, or its code.
    package var description: String {
        let names = [
            "Success", "Unknown Command", "Not Connected", "Failed", "Connect Failed", "Authentication Failed",
            "Not Paired", "No Resources", "Timeout", "Already Connected", "Busy", "Rejected", "Not Supported",
            "Invalid Parameters", "Disconnected", "Not Powered", "Cancelled", "Invalid Index", "RFKilled",
            "Already Paired", "Permission Denied",
        ]
        return Int(wire) < names.count ? names[Int(wire)] : "Status 0x" + [wire].hexadecimal
    }
}
