import BLERuntime
import BLEWire
import CoreBluetooth

/// The conventions between the two ends of a benchmark between processes, which may be programs of other projects.
enum PeerPlan {
    static let serverAddress = DeviceAddress(0xF0F1_F2F3_F4F5, .random)
    static let clientAddress = DeviceAddress(0xF5F4_F3F2_F1F0, .random)

    static var service: CBUUID { CBUUID(string: "BE00") }
    /// The characteristic to read, with 20 octets.
    static var readable: CBUUID { CBUUID(string: "BE01") }
    /// The characteristic to write with or without response.
    ///
    /// The server counts the writes.
    static var writable: CBUUID { CBUUID(string: "BE02") }
    static var notifying: CBUUID { CBUUID(string: "BE03") }
    /// The control characteristic: a write is an ``Order``, and a read returns the ``Counts``.
    static var control: CBUUID { CBUUID(string: "BE04") }

    /// The PSM of the channel on which the server counts octets.
    static let channel: CBL2CAPPSM = 0x80
    /// The number of octets in one write to the channel.
    static let piece = 1_024

    static let services = 50
    static let characteristics = 10
    /// The number of discoveries of all services, one after the other.
    static let discoveries = 8

    /// Returns the UUID of a service, or of a characteristic in it, that only exists to be discovered.
    static func filler(service: Int, characteristic: Int? = nil) -> CBUUID {
        func hex(_ number: Int, _ width: Int) -> String {
            let digits = String(number, radix: 16, uppercase: true)
            return String(repeating: "0", count: width - digits.count) + digits
        }
        let kind = characteristic == nil ? "01" : "02"
        return CBUUID(string: "BE\(kind)\(hex(service, 4))-\(hex(characteristic ?? 0, 4))-4000-8000-00805F9B34FB")
    }

    /// The value of the characteristic to read.
    static let value = Data(0..<20)

    /// An order that the client writes to the control characteristic.
    enum Order: Equatable {
        case notify(count: Int, size: Int)
        case reset

        init?(_ data: Data) {
            let octets = [UInt8](data)
            guard octets.count == 7 else { return nil }
            let count = octets[1...4].reversed().reduce(0) { $0 << 8 | Int($1) }
            let size = octets[5...6].reversed().reduce(0) { $0 << 8 | Int($1) }
            switch octets[0] {
            case 1: self = .notify(count: count, size: size)
            case 2: self = .reset
            default: return nil
            }
        }

        var data: Data {
            switch self {
            case .notify(let count, let size): Data([1]) + PeerPlan.octets(count, 4) + PeerPlan.octets(size, 2)
            case .reset: Data([2]) + PeerPlan.octets(0, 6)
            }
        }
    }

    /// The counts that a read of the control characteristic returns.
    struct Counts {
        var writes = 0
        var octets = 0
        var channelOctets = 0

        init() {}

        init?(_ data: Data) {
            let octets = [UInt8](data)
            guard octets.count == 12 else { return nil }
            let numbers = (0..<3).map { octets[(4 * $0)..<(4 * $0 + 4)].reversed().reduce(0) { $0 << 8 | Int($1) } }
            (writes, self.octets, channelOctets) = (numbers[0], numbers[1], numbers[2])
        }

        var data: Data {
            [writes, octets, channelOctets].reduce(Data()) { $0 + PeerPlan.octets($1, 4) }
        }
    }

    /// Returns the lowest `count` octets of a number, least significant octet first.
    private static func octets(_ number: Int, _ count: Int) -> Data {
        Data((0..<count).map { UInt8(truncatingIfNeeded: number >> (8 * $0)) })
    }
}
