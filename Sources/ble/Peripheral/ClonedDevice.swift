import BLERuntime
import BLESimulation
import CoreBluetooth
import CoreBluetoothExtras

/// A description of a real or captured peripheral as a device file; see `SimulatedPeripheral` for the format.
@MainActor
struct ClonedDevice {
    /// The packets with which a device advertises.
    struct Packets: Equatable {
        var data: Data
        var scanResponse: Data
        var isLegacy: Bool
    }

    private var device: [String: Any]
    let advertised: [CBUUID]?
    private var services: [[String: Any]] = []
    /// The last advertisement of the device; `nil` if none was received.
    private let advertisement: Packets?
    /// Remarks about parts of the device that the file cannot contain.
    private let omissions: [String]

    /// Creates a description without services.
    ///
    /// - Parameters:
    ///   - keys: The keys of the device in the file, except those that hold the octets of its packets.
    ///   - advertised: The advertised services; `nil` if no advertisement was received.
    ///   - packets: The advertisement; `nil` if none was received.
    ///   - omissions: Remarks about parts of the device that the file cannot contain.
    init(_ keys: [String: Any], advertised: [CBUUID]?, packets: Packets?, omissions: [String]) {
        (device, advertisement, self.advertised, self.omissions) = (keys, packets, advertised, omissions)
    }

    init(_ name: String, seenAs sighting: ScannedPeripheral?) {
        device = ["name": name]
        omissions = []
        advertisement = (sighting?.peripheral.lastAdvertisement).map {
            Packets(data: $0.data, scanResponse: $0.scanResponse, isLegacy: $0.isLegacy)
        }
        advertised = sighting?.services
        if let address = sighting?.peripheral.lastAdvertisement?.address, !address.isHidden,
            [.public, .static].contains(address.kind)
        {
            device.merge(Self.address("\(address)", isPublic: address.kind == .public)) { $1 }
        }
        device["manufacturerData"] = sighting?.manufacturerData?.hexadecimal
        device["transmitPower"] = sighting?.statedPower
        if let data = sighting?.serviceData, !data.isEmpty {
            device["serviceData"] = data.sorted { $0.key.uuidString < $1.key.uuidString }
                .map { ["uuid": $0.key.uuidString, "value": $0.value.hexadecimal] }
        }
    }

    /// Returns the keys that describe the address `text` in a device file; the address is static random unless
    /// `isPublic`.
    static func address(_ text: String, isPublic: Bool) -> [String: Any] {
        let kind: SimulatedPeripheral.Address.Kind = isPublic ? .public : .static
        return ["address": text, "addressType": kind.rawValue]
    }

    /// Returns `services` with their included services, each after the services that it includes.
    static func inOrder(_ services: [CBService]) -> [CBService] {
        var ordered: [CBService] = [], visited: Set<ObjectIdentifier> = []
        func visit(_ service: CBService) {
            guard visited.insert(ObjectIdentifier(service)).inserted else { return }
            for part in service.includedServices ?? [] { visit(part) }
            ordered.append(service)
        }
        for service in services { visit(service) }
        return ordered
    }

    /// The contents of the device file, in JSON.
    var text: String { file.text }

    /// Sentences for the user about parts of the device that are missing from the file, or that make the file unusable.
    var remarks: [String] { omissions + file.remarks }

    /// The contents of the device file, and sentences for the user about its problems.
    ///
    /// The file describes the advertisement by its fields if these produce exactly the received octets; otherwise it
    /// contains the octets.
    private var file: (text: String, remarks: [String]) {
        let fields = device.merging(["services": services]) { $1 }
        guard let seen = advertisement, (try? Self.device(fields))?.advertises(seen) != true else {
            return (Self.text(fields), Self.remarks(on: fields))
        }
        let unadvertised = fields.filter { !["manufacturerData", "transmitPower", "serviceData"].contains($0.key) }
        var keys = unadvertised
        keys["services"] = services.map { $0.filter { $0.key != "advertised" } }
        keys["advertisement"] = seen.data.hexadecimal
        if !seen.scanResponse.isEmpty { keys["scanResponse"] = seen.scanResponse.hexadecimal }
        if !seen.isLegacy { keys["extended"] = true }
        do {
            _ = try Self.device(keys)
            return (Self.text(keys), [])
        } catch {
            let reason = Self.explanation(of: error)
            let remark = "The advertisement is left out, because the file format cannot describe it: \(reason)."
            return (Self.text(unadvertised), [remark] + Self.remarks(on: unadvertised))
        }
    }

    /// Returns the reason why a device file with these `keys` cannot be used: one sentence, or an empty list if the
    /// file can be used.
    private static func remarks(on keys: [String: Any]) -> [String] {
        do {
            _ = try device(keys)
            return []
        } catch {
            return ["Worlds and “ble serve” cannot use this file: \(explanation(of: error))."]
        }
    }

    private static func explanation(of error: any Error) -> String {
        (error as? DecodingError)?.explanation ?? "\(error)"
    }

    /// Returns the device that a file with these `keys` describes.
    private static func device(_ keys: [String: Any]) throws -> SimulatedPeripheral {
        try JSONDecoder().decode(SimulatedPeripheral.self, from: Data(text(keys).utf8))
    }

    private static func text(_ device: [String: Any]) -> String {
        let options: JSONSerialization.WritingOptions = [.prettyPrinted, .sortedKeys, .withoutEscapingSlashes]
        guard let data = try? JSONSerialization.data(withJSONObject: device, options: options) else {
            preconditionFailure("a clone contains only values that JSON can represent")
        }
        return String(decoding: data, as: UTF8.self).printableJSON
    }

    /// Adds a service, given by its keys in the device file.
    mutating func add(_ service: [String: Any]) { services.append(service) }

    /// Adds a service with its readable values.
    mutating func add(
        _ service: CBService,
        of peripheral: CBPeripheral,
        _ central: Central,
        _ printer: Printer
    ) async throws {
        var description: [String: Any] = ["uuid": service.uuid.uuidString]
        if !service.isPrimary {
            description["primary"] = false
        } else if let advertised, !advertised.contains(service.uuid) {
            description["advertised"] = false
        }
        let included = (service.includedServices ?? []).map(\.uuid.uuidString)
        if !included.isEmpty { description["includes"] = included }
        var characteristics: [[String: Any]] = []
        for characteristic in service.characteristics ?? [] {
            characteristics.append(try await describe(characteristic, of: peripheral, central, printer))
        }
        description["characteristics"] = characteristics
        services.append(description)
    }

    private func describe(
        _ characteristic: CBCharacteristic,
        of peripheral: CBPeripheral,
        _ central: Central,
        _ printer: Printer
    ) async throws -> [String: Any] {
        let known = SimulatedPeripheral.Property.allCases.map(\.rawValue)
        var description: [String: Any] = [
            "uuid": characteristic.uuid.uuidString,
            "properties": characteristic.properties.names.filter(known.contains),
        ]
        if characteristic.properties.contains(.read) {
            do {
                description["value"] = try await central.read(characteristic, of: peripheral).hexadecimal
            } catch CommandError.failed(let what, let error) {
                printer.remark(
                    "The file has no value for \(characteristic.uuid.uuidString). \(CommandError.failed(what, error))"
                )
            }
        }
        var descriptors: [[String: Any]] = []
        for descriptor in characteristic.descriptors ?? [] where Self.isCopied(descriptor) {
            let uuid = descriptor.uuid.uuidString
            do {
                switch try await central.read(descriptor, of: peripheral) {
                case let text as String: descriptors.append(["uuid": uuid, "text": text])
                case let data as Data: descriptors.append(["uuid": uuid, "value": data.hexadecimal])
                default: break
                }
            } catch CommandError.failed(let what, let error) {
                let place = "descriptor \(uuid) of \(characteristic.uuid.uuidString)"
                printer.remark("The file does not contain \(place). \(CommandError.failed(what, error))")
            }
        }
        if !descriptors.isEmpty { description["descriptors"] = descriptors }
        return description
    }

    /// Returns whether the file must contain a descriptor.
    ///
    /// Descriptors that follow from the characteristic's properties are left out.
    private static func isCopied(_ descriptor: CBDescriptor) -> Bool {
        ![CBUUIDCharacteristicExtendedPropertiesString, CBUUIDClientCharacteristicConfigurationString]
            .contains(descriptor.uuid.uuidString)
    }
}

extension SimulatedPeripheral {
    /// Returns whether this peripheral advertises the same octets as `other`, in packets of the same kind.
    fileprivate func advertises(_ other: ClonedDevice.Packets) -> Bool {
        guard let octets = advertisedOctets else { return false }
        return other
            == .init(
                data: Data(octets.advertisement),
                scanResponse: Data(octets.scanResponse),
                isLegacy: !isExtended
            )
    }
}
