import ArgumentParser
import BLERuntime
import CoreBluetooth

/// A reference to a characteristic on the command line: its UUID and, if that is ambiguous, its service or its position
/// among the characteristics with this UUID.
///
/// Examples: `2A19`; `180F/2A19` for the one in service 180F; `2A19#2` for the second one that `ble inspect` shows.
/// Assigned names can replace the UUIDs: `Battery/Battery Level`.
struct CharacteristicReference: ExpressibleByArgument, Hashable, CustomStringConvertible {
    /// The maximum position: a peripheral cannot have more characteristics, because attribute handles have 16 bits.
    private static let most = 65_535

    /// The help text for arguments of this type.
    static let help: ArgumentHelp =
        """
        A UUID (4, 8 or 36 characters, 0x optional) or a name such as “Battery Level”. SERVICE/UUID and UUID#2 select \
        one of several characteristics with the same UUID.
        """

    let service: CBUUID?
    let uuid: CBUUID
    /// The position among the matching characteristics, from 1.
    let number: Int

    /// Creates a reference to the first characteristic with a UUID.
    init(_ uuid: CBUUID) { (service, self.uuid, number) = (nil, uuid, 1) }

    init(service: CBUUID?, uuid: CBUUID, number: Int) {
        (self.service, self.uuid, self.number) = (service, uuid, number)
    }

    init?(argument: String) {
        var rest = argument[...], number = 1, service: CBUUID?
        if let mark = rest.lastIndex(of: "#") {
            guard let parsed = Int(rest[rest.index(after: mark)...]), 1...Self.most ~= parsed else { return nil }
            number = parsed
            rest = rest[..<mark]
        }
        if let slash = rest.firstIndex(of: "/") {
            guard let owner = UUIDArgument(rest[..<slash], of: .service) else { return nil }
            service = owner.uuid
            rest = rest[rest.index(after: slash)...]
        }
        guard let type = UUIDArgument(rest, of: .characteristic) else { return nil }
        (self.service, uuid, self.number) = (service, type.uuid, number)
    }

    var description: String {
        (service.map { "\($0.uuidString)/" } ?? "") + uuid.uuidString + (number > 1 ? "#\(number)" : "")
    }

    /// Returns the characteristic in `services` that this reference names; `nil` if there is none.
    func find(in services: [CBService]) -> CBCharacteristic? {
        let matching = services.lazy.filter { service == nil || $0.uuid == service }
            .flatMap { $0.characteristics ?? [] }.filter { $0.uuid == uuid }
        return matching.dropFirst(number - 1).first
    }
}

extension CBPeripheral {
    /// All discovered services, each once, with included services after the services that include them.
    var allServices: [CBService] {
        var level = services ?? [], all = level
        while !level.isEmpty {
            var included: [CBService] = []
            for next in level.flatMap({ $0.includedServices ?? [] }) where !all.contains(next) {
                if !included.contains(next) { included.append(next) }
            }
            all += included
            level = included
        }
        return all
    }
}

extension CBCharacteristic {
    /// The position among the peripheral's characteristics with this UUID, from 1; `nil` if it is the only one.
    var number: Int? {
        let siblings = service?.peripheral?.allServices.flatMap { $0.characteristics ?? [] }.filter { $0.uuid == uuid }
        guard let siblings, siblings.count > 1 else { return nil }
        return siblings.firstIndex { $0 === self }.map { $0 + 1 }
    }

    /// The reference to this characteristic, as users write it on the command line.
    var argument: String { uuid.uuidString + (number.map { $0 > 1 ? "#\($0)" : "" } ?? "") }
}
