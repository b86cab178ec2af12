import BLEHost
import BLERuntime
import BLEWire
import Testing

@Suite("A bonded peer after a restart")
struct RestartTests {
    /// A phone that keeps what it knows in a file, and a sensor.
    struct Pair {
        static let link = ConnectionHandle(wire: 1)!
        static let app = ClientID(rawValue: 1)
        static let sensor = PeerRecord(
            identifier: PeerIdentifier(rawValue: 9),
            address: DeviceAddress(9, .public),
            bond: Bond(identity: DeviceAddress(9, .public))
        )

        private let file: StateFile
        private var phone = AttributeLayer(configuration: .init())
        private var server = AttributeLayer(configuration: .init(deviceName: "Sensor"))
        private var now = Instant()
        private var events: [PeerEvent] = []
        /// The opcodes of what the phone asked since it was connected.
        private(set) var requests: [UInt8] = []

        init(path: String) {
            file = StateFile(path: path, freshSecret: 7)
            if file.peers.isEmpty { file.remember(Self.sensor) }
        }

        /// Connects to the sensor as to the peer that is in the file.
        mutating func connect() throws {
            let record = try #require(file.peers.first)
            server.linkUp(Self.link, peer: PeerIdentifier(rawValue: 8), role: .peripheral, at: now)
            phone.linkUp(Self.link, peer: record.identifier, role: .central, bond: record.bond, at: now)
            phone.attach(Self.app, to: Self.link)
            settle()
        }

        mutating func ask(_ request: AttributeRequest) throws -> PeerEvent {
            events = []
            phone.perform(request, on: Self.link, for: Requester(Self.app), at: now)
            settle()
            return try #require(events.first)
        }

        /// Ends the phone's process.
        func end() { file.flush() }

        /// Lets the host do what it does when nobody asks.
        mutating func rest() {
            for _ in 0..<8 {
                now = now + .milliseconds(400)
                phone.wake(at: now)
                server.wake(at: now)
                settle()
            }
        }

        /// Goes through the sensor's services, and returns the handle of its name.
        mutating func findName() throws -> AttributeHandle? {
            guard case .servicesDiscovered(.success(let services)) = try ask(.discoverServices(only: [])) else {
                return nil
            }
            var name: AttributeHandle?
            for service in services {
                let event = try ask(.discoverCharacteristics(in: service.range, only: []))
                guard case .characteristicsDiscovered(_, .success(let found)) = event else { return nil }
                for characteristic in found {
                    if characteristic.uuid == GATT.deviceName { name = characteristic.value }
                    _ = try ask(.discoverDescriptors(of: characteristic.value, in: characteristic.descriptorRange))
                }
            }
            return name
        }

        private mutating func settle() {
            while true {
                var isQuiet = true
                while let output = phone.next() {
                    isQuiet = false
                    switch output {
                    case .send(let payload, _, _):
                        let packet = payload.payload
                        if ATT.Opcode(wire: packet[0]).response != nil { requests.append(packet[0]) }
                        server.receive(packet.span, on: Self.link, at: now)
                    case .event(.peer(_, let event, _), _): events.append(event)
                    case .bondChanged(_, let bond):
                        var record = Self.sensor
                        record.bond = bond
                        file.remember(record)
                    default: break
                    }
                }
                while let output = server.next() {
                    isQuiet = false
                    guard case .send(let packet, _, _) = output else { continue }
                    phone.receive(packet.payload.span, on: Self.link, at: now)
                }
                if isQuiet { return }
            }
        }
    }

    @Test("Two round trips are enough before an app can read")
    func secondLink() throws {
        try StateFileTests.withPath { path in
            var first = Pair(path: path)
            try first.connect()
            #expect(try first.findName() != nil)
            #expect(first.requests.count == 5)
            first.rest()
            first.end()
            var second = Pair(path: path)
            try second.connect()
            let name = try #require(try second.findName())
            #expect(second.requests == [0x02, 0x08], "the size of packets, and the hash")
            #expect(try second.ask(.read(name)) == .valueRead(name, .success([UInt8]("Sensor".utf8))))
            #expect(second.requests == [0x02, 0x08, 0x0A])
        }
    }
}
