import CoreBluetooth

/// What every server of a day publishes, and what clients may therefore expect.
enum Layout {
    static var main: CBUUID { CBUUID(string: "FFF0") }
    static var part: CBUUID { CBUUID(string: "FFE0") }
    /// A service that comes and goes.
    static var guest: CBUUID { CBUUID(string: "FFD0") }

    /// A value that the system itself tells.
    static var fixed: CBUUID { CBUUID(string: "FFF1") }
    /// A long value that the app tells, and takes.
    static var note: CBUUID { CBUUID(string: "FFF2") }
    /// Numbers that are notified.
    static var notified: CBUUID { CBUUID(string: "FFF3") }
    /// Numbers that are written without response.
    static var commands: CBUUID { CBUUID(string: "FFF4") }
    /// What the app never tells.
    static var secret: CBUUID { CBUUID(string: "FFF5") }
    /// Numbers that are indicated.
    static var indicated: CBUUID { CBUUID(string: "FFF6") }
    static var partValue: CBUUID { CBUUID(string: "FFE1") }
    static var guestValue: CBUUID { CBUUID(string: "FFD1") }

    /// What the app answers to those who read ``secret``.
    static let secretRefusal = 0x80
    /// The first octet of a value that the app refuses with the second one.
    static let poison: UInt8 = 0xEE

    /// How long the values are that clients read.
    static var lengths: [CBUUID: Int] { [fixed: 100, note: 300, partValue: 10, guestValue: 5] }

    static func makePart() -> CBMutableService {
        let service = CBMutableService(type: part, primary: true)
        service.characteristics = [readable(partValue)]
        return service
    }

    static func makeGuest() -> CBMutableService {
        let service = CBMutableService(type: guest, primary: true)
        service.characteristics = [readable(guestValue)]
        return service
    }

    static func makeMain(including part: CBMutableService) -> CBMutableService {
        let service = CBMutableService(type: main, primary: true)
        let described = dynamic(note, [.read, .write], [.readable, .writeable])
        described.descriptors = [CBMutableDescriptor(type: CBUUID(string: "2901"), value: "A note")]
        service.characteristics = [
            readable(fixed),
            described,
            dynamic(notified, .notify, []),
            dynamic(commands, .writeWithoutResponse, .writeable),
            dynamic(secret, .read, .readable),
            dynamic(indicated, .indicate, []),
        ]
        service.includedServices = [part]
        return service
    }

    /// Octets by which a reader can tell that none is missing.
    static func pattern(_ count: Int, salt: UInt8) -> Data {
        Data((0..<count).map { salt &+ UInt8(truncatingIfNeeded: $0 &* 7) })
    }

    /// Whether `data` is a ``pattern(_:salt:)`` of this length.
    static func isPattern(_ data: Data?, _ count: Int) -> Bool {
        guard let data, let salt = data.first else { return false }
        return data == pattern(count, salt: salt)
    }

    private static func readable(_ type: CBUUID) -> CBMutableCharacteristic {
        let value = pattern(lengths[type] ?? 0, salt: 1)
        return CBMutableCharacteristic(type: type, properties: .read, value: value, permissions: .readable)
    }

    private static func dynamic(
        _ type: CBUUID,
        _ properties: CBCharacteristicProperties,
        _ permissions: CBAttributePermissions
    ) -> CBMutableCharacteristic {
        CBMutableCharacteristic(type: type, properties: properties, value: nil, permissions: permissions)
    }
}
