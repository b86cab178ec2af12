import BLERuntime
import CoreBluetooth

/// The printed attribute tree of a peripheral: services, characteristics and descriptors with their assigned names and
/// values.
@MainActor
struct AttributeTree {
    let printer: Printer
    let readsValues: Bool

    /// Prints a peripheral with its discovered services.
    func print(_ services: [CBService], of peripheral: CBPeripheral, through central: Central) async throws {
        let identifier = peripheral.identifier.uuidString
        let name = central.name(of: peripheral)
        printer.device = { DeviceKeys(peripheral.identifier, name: central.name(of: peripheral)) }
        var fields: [String: Any] = [:]
        fields["maximum_write_length"] = peripheral.longestCommandValue
        let title = "\((name?.printable ?? identifier).bold(printer.usesColor))  \(identifier.faint(printer.usesColor))"
        printer.print(Fact("peripheral", fields, text: title))
        for service in services {
            printer.print(fact(of: service))
            for characteristic in service.characteristics ?? [] {
                try await print(characteristic, of: peripheral, through: central)
            }
        }
    }

    private func print(
        _ characteristic: CBCharacteristic,
        of peripheral: CBPeripheral,
        through central: Central
    ) async throws {
        var value: Result<Data, CommandError>?
        if readsValues, characteristic.properties.contains(.read) {
            value = try await result { try await central.read(characteristic, of: peripheral) }
        }
        // Descriptors are read before the value is printed, because one may define the value's format.
        var facts: [Fact] = []
        for descriptor in characteristic.descriptors ?? [] {
            var value: Result<String, CommandError>?
            if readsValues {
                value = try await result { Self.text(try await central.read(descriptor, of: peripheral)) }
            }
            facts.append(fact(of: descriptor, value: value))
        }
        printer.print(fact(of: characteristic, value: value))
        for fact in facts { printer.print(fact) }
    }

    /// Performs a read, and returns the value or the peripheral's refusal.
    ///
    /// Any other error, such as a lost connection, is thrown.
    private func result<Value>(_ read: () async throws -> Value) async throws -> Result<Value, CommandError> {
        do {
            return .success(try await read())
        } catch let trouble as CommandError {
            if case .failed = trouble { return .failure(trouble) }
            throw trouble
        }
    }

    private func fact(of service: CBService) -> Fact {
        let included = (service.includedServices ?? []).map(\.uuid.uuidString)
        var line = "  service \(Self.title(service.uuid))\(service.isPrimary ? "" : " (secondary)")"
        if !included.isEmpty { line += "  includes \(included.joined(separator: ", "))" }
        return Fact(
            "service",
            [
                "uuid": service.uuid.uuidString, "service": service.uuid.uuidString, "primary": service.isPrimary,
                "includes": included,
            ],
            text: line
        )
    }

    private func fact(of characteristic: CBCharacteristic, value: Result<Data, CommandError>?) -> Fact {
        let properties = characteristic.properties.names
        var fields = characteristic.keys
        fields["uuid"] = characteristic.uuid.uuidString
        fields["properties"] = properties
        let mark = characteristic.number.map { $0 > 1 ? " #\($0)" : "" } ?? ""
        let title = Self.title(characteristic.uuid) + mark
        var line = "    characteristic \(title)  [\(properties.joined(separator: " "))]"
        switch value {
        case .success(let data):
            fields.merge(characteristic.keys(of: data)) { own, _ in own }
            line += "  = \(data.shown(as: ValueFormat(of: characteristic)))"
        case .failure(let trouble):
            fields["error"] = "\(trouble)"
            line += "  ! \(trouble)"
        case nil: break
        }
        return Fact("characteristic", fields, text: line)
    }

    private func fact(of descriptor: CBDescriptor, value: Result<String, CommandError>?) -> Fact {
        var fields = descriptor.characteristic?.keys ?? [:]
        fields["uuid"] = descriptor.uuid.uuidString
        var line = "      descriptor \(Self.title(descriptor.uuid))"
        switch value {
        case .success(let text):
            fields["value"] = text
            line += "  = \(text.printable)"
        case .failure(let trouble):
            fields["error"] = "\(trouble)"
            line += "  ! \(trouble)"
        case nil: break
        }
        return Fact("descriptor", fields, text: line)
    }

    private static func title(_ uuid: CBUUID) -> String {
        let name = "\(uuid)"
        return name == uuid.uuidString ? name : "\(uuid.uuidString) \(name)"
    }

    private static func text(_ value: Any?) -> String {
        switch value {
        case let data as Data: data.hexadecimal
        case let text as String: text
        // Configuration and Extended Properties descriptors have two octets.
        case let number as NSNumber: number.uint16Value.littleEndianData.hexadecimal
        default: ""
        }
    }
}

extension UInt16 {
    /// The two octets of the number, least significant octet first.
    fileprivate var littleEndianData: Data {
        Data([UInt8(truncatingIfNeeded: self), UInt8(truncatingIfNeeded: self >> 8)])
    }
}

extension CBCharacteristicProperties {
    private static let named: [(CBCharacteristicProperties, String)] = [
        (.broadcast, "broadcast"), (.read, "read"), (.writeWithoutResponse, "writeWithoutResponse"), (.write, "write"),
        (.notify, "notify"), (.indicate, "indicate"), (.authenticatedSignedWrites, "authenticatedSignedWrites"),
        (.extendedProperties, "extendedProperties"), (.notifyEncryptionRequired, "notifyEncryptionRequired"),
        (.indicateEncryptionRequired, "indicateEncryptionRequired"),
    ]

    /// The names of the properties that are set, spelled as in Core Bluetooth.
    var names: [String] { Self.named.filter { contains($0.0) }.map(\.1) }
}
