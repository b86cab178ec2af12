import ArgumentParser
import BLESimulation
import CoreBluetooth

struct Clone: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        abstract: "Describe a device in a file, for tests and for “ble serve”.",
        discussion: """
            Connects to the device, discovers its services, reads the values that can be read, and prints the file of \
            a device with all of it: BLUETOOTH_HOST=world:FILE runs an app beside it, “ble serve FILE” is it, and a \
            test places it. A value that is refused is left out, with a remark.

            Examples:
              ble clone Lamp > lamp.json
              BLUETOOTH_HOST=world:lamp.json ble inspect Lamp
              ble serve lamp.json
              BLUETOOTH_HOST=demo ble clone "Heart Rate"
            """
    )

    @OptionGroup var peer: PeerOptions
    @OptionGroup var pairing: PeripheralPairingOptions

    @MainActor
    func run() async throws {
        let printer = Printer(json: false)
        try await withPeripheral(peer, printer, pairing: pairing) { central, peripheral in
            let services = try await central.discover(peripheral, descriptors: true)
            var device = ClonedDevice(central.name(of: peripheral) ?? peer.peer, seenAs: central.found)
            for service in ClonedDevice.inOrder(services) {
                try await device.add(service, of: peripheral, central, printer)
            }
            StandardOutput.write(line: device.text)
        }
    }
}

/// A device as files have it: see `SimulatedPeripheral`.
@MainActor
struct ClonedDevice {
    private var device: [String: Any]
    private let advertised: [CBUUID]?
    private var services: [[String: Any]] = []

    init(_ name: String, seenAs sighting: Sighting?) {
        device = ["name": name]
        advertised = sighting?.services
        device["manufacturerData"] = sighting?.manufacturerData?.hexadecimal
        device["transmitPower"] = sighting?.statedPower
        if let data = sighting?.serviceData, !data.isEmpty {
            device["serviceData"] = data.sorted { $0.key.uuidString < $1.key.uuidString }
                .map { ["uuid": $0.key.uuidString, "value": $0.value.hexadecimal] }
        }
    }

    /// The services, each behind those that it includes.
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

    /// The text of the file.
    var text: String {
        let device = device.merging(["services": services]) { $1 }
        let options: JSONSerialization.WritingOptions = [.prettyPrinted, .sortedKeys, .withoutEscapingSlashes]
        guard let data = try? JSONSerialization.data(withJSONObject: device, options: options) else {
            preconditionFailure("a clone holds something that JSON cannot")
        }
        return String(decoding: data, as: UTF8.self)
    }

    /// Adds a service with the values that can be read.
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
            } catch Trouble.failed(let what, let error) {
                printer.remark("\(characteristic.uuid.uuidString) is without its value: \(Trouble.failed(what, error))")
            }
        }
        var descriptors: [[String: Any]] = []
        for descriptor in characteristic.descriptors ?? [] where Self.isCopied(descriptor) {
            switch try await central.read(descriptor, of: peripheral) {
            case let text as String: descriptors.append(["uuid": descriptor.uuid.uuidString, "text": text])
            case let data as Data: descriptors.append(["uuid": descriptor.uuid.uuidString, "value": data.hexadecimal])
            default: break
            }
        }
        if !descriptors.isEmpty { description["descriptors"] = descriptors }
        return description
    }

    /// Whether a descriptor does not come by itself from the properties.
    private static func isCopied(_ descriptor: CBDescriptor) -> Bool {
        ![CBUUIDCharacteristicExtendedPropertiesString, CBUUIDClientCharacteristicConfigurationString]
            .contains(descriptor.uuid.uuidString)
    }
}
