import BLEController
import BLEExplain
import BLEHost
import BLERuntime
import BLEWire

/// The recording of a world for its HTML page: HCI packets, calls, callbacks, and packets on the air.
struct PageRecorder: Sendable {
    /// The number of receptions after which empty packets and advertising packets are recorded only if they were lost.
    private static let manyPackets = 60_000

    private struct Sender: Hashable, Sendable {
        let controller: Int
        let accessAddress: UInt32
    }

    private(set) var builder: TimelineBuilder
    private var transcript = Transcript()
    private var airCount = 0
    private var latest: [Sender: [UInt8]] = [:]

    init(keys: Bool, reading: @escaping @Sendable (BluetoothUUID, [UInt8]) -> String?) {
        builder = TimelineBuilder(keys: keys, isWorld: true, reading: reading)
    }

    mutating func add(_ record: PacketRecord) { builder.add(record) }

    /// Moves the events until `now` to a timeline; returns true if there were any.
    mutating func move(to live: inout LiveTimeline, until now: Instant) -> Bool {
        let count = live.count
        defer { if live.count < count { airCount = 0 } }
        return live.take(from: &builder, until: now)
    }

    mutating func add(_ request: ClientRequest, of client: Int, on machine: String, at now: Instant) {
        let line = transcript.line(request, of: client)
        builder.add(text: "app \(client) requests: \(line)", of: PacketSource(machine: machine), at: now)
    }

    mutating func add(_ event: ClientEvent, to client: Int, on machine: String, at now: Instant) {
        let line = transcript.line(event, to: client)
        builder.add(text: "app \(client) receives: \(line)", of: PacketSource(machine: machine), at: now)
    }

    /// Adds a packet on the air: one event for each controller that received or lost it.
    ///
    /// After ``manyPackets`` receptions, empty packets and advertising packets are added only if they were lost.
    /// `station` returns the name and position of a controller's machine.
    mutating func add(_ record: AirRecord, station: (ControllerID) -> (name: String, position: Position)) {
        let sender = station(record.sender), isData = record.accessAddress != LL.advertisingAccessAddress
        let isEmpty = isData && record.pdu.count <= 2
        let key = Sender(controller: record.sender.rawValue, accessAddress: record.accessAddress)
        if latest.count > 1_024 { latest = [:] }
        let isRepeated = isData && !isEmpty && latest[key].map { Self.isSame($0, record.pdu) } == true
        latest[key] = record.pdu
        for reception in record.receptions {
            airCount += 1
            if airCount > Self.manyPackets, !reception.isLost, isEmpty || !isData { continue }
            let receiver = station(reception.receiver)
            builder.addAir(
                Self.title(record.pdu, isData: isData),
                from: sender.name,
                to: receiver.name,
                octets: Array(record.pdu.prefix(300)),
                isLost: reception.isLost,
                strength: reception.strength,
                distance: sender.position.distance(to: receiver.position),
                isRepeated: isRepeated,
                at: record.instant
            )
        }
    }

    /// Returns whether two packets have the same sequence number and payload.
    private static func isSame(_ one: [UInt8], _ other: [UInt8]) -> Bool {
        guard let first = one.first, let second = other.first else { return false }
        return (first ^ second) & 0x08 == 0 && one.dropFirst(2) == other.dropFirst(2)
    }

    private static func title(_ pdu: [UInt8], isData: Bool) -> String {
        guard let header = pdu.first else { return "Packet" }
        guard !isData else {
            return switch header & 3 {
            case 3: "Control packet"
            case 2: "Data"
            default: pdu.count <= 2 ? "Empty packet" : "Data, continued"
            }
        }
        return switch header & 15 {
        case 3: "Advertising: scan request"
        case 4: "Advertising: scan response"
        case 5: "Advertising: connection request"
        default: "Advertisement"
        }
    }
}
