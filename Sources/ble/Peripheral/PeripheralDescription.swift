import BLERuntime
import BLESimulation
import CoreBluetooth

/// The device that `ble serve` is: the one of a file, in the form that worlds have, too.
struct PeripheralDescription {
    private(set) var device: SimulatedPeripheral

    /// Reads a description.
    ///
    /// - Parameters:
    ///   - path: A file with a device, or with a world.
    ///   - machine: Which machine of the world it is; only where there are several need it be said.
    /// - Throws: ``Trouble/unusableFile(_:_:)`` that names the place in the file and what is wrong there.
    init(path: String, machine: String? = nil) throws {
        let devices = try Self.read(Scenario.self, from: path).peripherals
        let names = devices.map(\.name)
        if let machine {
            guard let device = devices.first(where: { $0.name == machine }) else {
                throw Trouble.unusableFile(path, "no machine of it is called “\(machine)”: \(Trouble.list(names))")
            }
            self.device = device
        } else if let device = devices.first, devices.count == 1 {
            self.device = device
        } else {
            let reason =
                names.isEmpty
                ? "no machine is in this world" : "it is a world with several machines: \(Trouble.list(names))"
            throw Trouble.unusableFile(path, "\(reason). Say which one to be, with --machine NAME")
        }
    }

    /// The description of a device that there is already.
    init(_ device: SimulatedPeripheral) { self.device = device }

    /// What of the device cannot be had here, in sentences.
    var remarks: [String] {
        let ofWorlds = [("position", device.position != World.Position()), ("mtu", device.mtu != nil)]
            .filter(\.1).map { "“\($0.0)” counts in worlds alone." }
        return ofWorlds + device.services.flatMap(Self.remarks)
    }

    /// What of a service cannot be had here, in sentences.
    static func remarks(_ service: SimulatedPeripheral.Service) -> [String] {
        service.characteristics.flatMap { characteristic in
            characteristic.descriptors.filter { CBMutableDescriptor($0) == nil }.map { descriptor in
                """
                Descriptor \(descriptor.uuid) of \(characteristic.uuid) is left out: Core Bluetooth publishes 2901 \
                with text, and 2904 with seven octets.
                """
            }
        }
    }

    /// Reads one service more from a file of its own, and returns it.
    ///
    /// - Throws: ``Trouble/unusableFile(_:_:)`` as for a whole description, which stays as it was.
    mutating func add(path: String) throws -> SimulatedPeripheral.Service {
        let service = try Self.read(SimulatedPeripheral.Service.self, from: path)
        var complete = device
        complete.services.append(service)
        if let (_, part) = complete.missingPart {
            throw Trouble.unusableFile(path, "service \(service.uuid) includes \(part), which is not before it")
        }
        device = complete
        return service
    }

    /// Takes out the service of this type that came last; `false` if there is none, or another includes it.
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
            throw Trouble.unusableFile(path, "it cannot be read (\((error as NSError).localizedDescription))")
        }
        do {
            return try JSONDecoder().decode(Part.self, from: data)
        } catch let error as DecodingError {
            throw Trouble.unusableFile(error.place(in: path, data), error.explanation)
        }
    }
}
