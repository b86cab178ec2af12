import BLERuntime
import BLESimulation
import CoreBluetooth

/// The description of the device that `ble serve` publishes, from a file in the format of a world's devices.
struct PeripheralDescription {
    private(set) var device: SimulatedPeripheral

    /// Reads a description.
    ///
    /// - Parameters:
    ///   - path: A file with a device or a world.
    ///   - machine: The name of a device in the file; required only if the file contains several devices.
    /// - Throws: ``CommandError/unusableFile(_:_:)`` with the position in the file and the problem.
    init(path: String, machine: String? = nil) throws {
        let devices = try Self.read(Scenario.self, from: path).peripherals
        let names = devices.map(\.name)
        if let machine {
            guard let device = devices.first(where: { $0.name == machine }) else {
                let others = names.isEmpty ? Self.emptiness : "it has no machine named “\(machine)”, only "
                throw CommandError.unusableFile(path, others + CommandError.list(names))
            }
            self.device = device
        } else if let device = devices.first, devices.count == 1 {
            self.device = device
        } else {
            let several = """
                it is a world with several machines: \(CommandError.list(names)). Select one with --machine NAME or, \
                in a session, with the key “machine”
                """
            throw CommandError.unusableFile(path, names.isEmpty ? Self.emptiness : several)
        }
    }

    private static let emptiness = "the world has no machines. Add a device to “machines”"

    /// Creates the description of `device`.
    init(_ device: SimulatedPeripheral) { self.device = device }

    /// Messages about properties of the device that `ble serve` does not support.
    var remarks: [String] {
        let ofWorlds = [
            ("address", device.address != nil), ("position", device.position != World.Position()),
            ("mtu", device.mtu != nil), ("pairing", device.pairing != nil),
        ].filter(\.1).map { "“\($0.0)” is ignored: it has an effect only in simulated worlds." }
        return ofWorlds + device.services.flatMap(Self.remarks)
    }

    /// Returns messages about properties of a service that `ble serve` does not support.
    static func remarks(_ service: SimulatedPeripheral.Service) -> [String] {
        service.characteristics.flatMap { characteristic in
            characteristic.descriptors.filter { CBMutableDescriptor($0) == nil }.map { descriptor in
                """
                Descriptor \(descriptor.uuid) of \(characteristic.uuid) is left out: the host publishes descriptors of \
                this type by itself.
                """
            }
        }
    }

    /// Adds the service that a file contains, and returns it.
    ///
    /// - Throws: ``CommandError/unusableFile(_:_:)`` if the file does not contain a valid service. In that case, the
    ///   description is unchanged.
    mutating func add(path: String) throws -> SimulatedPeripheral.Service {
        let service = try Self.read(SimulatedPeripheral.Service.self, from: path)
        var complete = device
        complete.services.append(service)
        if let (_, part) = complete.missingInclude {
            throw CommandError.unusableFile(
                path,
                "service \(service.uuid) includes \(part), which the device does not have. Add \(part) first"
            )
        }
        device = complete
        return service
    }

    /// Removes the most recently added service with this UUID.
    ///
    /// Returns false if there is no such service, or another service includes it.
    mutating func remove(_ uuid: CBUUID) -> Bool {
        let isIncluded = device.services.contains { $0.includes.contains { CBUUID(string: $0) == uuid } }
        guard !isIncluded, let index = device.services.lastIndex(where: { CBUUID(string: $0.uuid) == uuid })
        else { return false }
        device.services.remove(at: index)
        return true
    }

    private static func read<Part: Decodable>(_: Part.Type, from path: String) throws -> Part {
        let data: Data
        do {
            data = try Data(contentsOf: URL(fileURLWithPath: path))
        } catch {
            throw CommandError.unusableFile(path, SystemFile.reason(for: error, at: path))
        }
        do {
            return try JSONDecoder().decode(Part.self, from: data)
        } catch let error as DecodingError {
            throw CommandError.unusableFile(error.place(in: path, data), error.explanation)
        }
    }
}
