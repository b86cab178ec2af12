import CoreBluetooth

/// The services and values that every server of a day publishes, and that clients can rely on.
enum Layout {
    static var main: CBUUID { CBUUID(string: "FFF0") }
    static var part: CBUUID { CBUUID(string: "FFE0") }
    /// The type of a service that is added and removed during the day.
    static var guest: CBUUID { CBUUID(string: "FFD0") }

    /// A constant value, which the system returns without asking the app.
    static var fixed: CBUUID { CBUUID(string: "FFF1") }
    /// A long value that the app provides and accepts.
    static var note: CBUUID { CBUUID(string: "FFF2") }
    /// The characteristic that notifies numbers.
    static var notified: CBUUID { CBUUID(string: "FFF3") }
    /// The characteristic to which centrals write numbers without response.
    static var commands: CBUUID { CBUUID(string: "FFF4") }
    /// The characteristic that the app never lets centrals read.
    static var secret: CBUUID { CBUUID(string: "FFF5") }
    /// The characteristic that indicates numbers.
    static var indicated: CBUUID { CBUUID(string: "FFF6") }
    static var partValue: CBUUID { CBUUID(string: "FFE1") }
    static var guestValue: CBUUID { CBUUID(string: "FFD1") }

    /// The error code with which the app refuses reads of ``secret``.
    static let secretRefusal = 0x80
    /// The first octet of a value that the app refuses.
    ///
    /// The second octet is the error code.
    static let poison: UInt8 = 0xEE

    /// The lengths of the values that clients read, in octets.
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

    /// Returns `count` octets with a pattern that shows if octets are missing.
    ///
    /// `salt` is the first octet.
    static func pattern(_ count: Int, salt: UInt8) -> Data {
        Data((0..<count).map { salt &+ UInt8(truncatingIfNeeded: $0 &* 7) })
    }

    /// Returns whether `data` is a ``pattern(_:salt:)`` of `count` octets.
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
