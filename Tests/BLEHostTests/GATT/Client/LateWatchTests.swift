import BLEHost
import BLEWire
import Testing

/// Core 6.0, Vol 3, Part G, 2.5.2 and 7.1.
@Suite("Service changes before Service Changed is enabled")
struct LateWatchTests {
    typealias Server = BondedPair.Server

    /// What a server has after the app has found `Server()`, and where that is something else.
    struct Change: Sendable, CustomTestStringConvertible {
        let testDescription: String
        let server: @Sendable () -> Server
        let range: AttributeHandleRange?

        init(_ description: String, _ range: AttributeHandleRange?, _ server: @escaping @Sendable () -> Server) {
            (testDescription, self.range, self.server) = (description, range, server)
        }

        private static func handles(_ start: UInt16, _ end: UInt16) -> AttributeHandleRange {
            BLEHostTests.range(start, end)
        }

        static let all = [
            Change("nothing", nil) { Server() },
            Change("a service came", handles(0x30, 0x33)) { Server(services: [0xB000, 0xB001, 0xB002]) },
            Change("a service went", handles(0x20, 0x23)) { Server(services: [0xB000]) },
            Change("a service took the place of another", handles(0x10, 0x13)) {
                Server(services: [0xC000, 0xB001])
            },
            Change("properties", handles(0x11, 0x22)) { Server(properties: .read) },
            Change("descriptors", handles(0x13, 0x23)) { Server(descriptor: GATT.presentationFormat) },
        ]
    }

    /// Whether the peer is bonded, and has a Database Hash.
    enum Peer: CaseIterable { case stranger, strangerWithoutHash, bonded, bondedWithoutHash }

    private func modifications(_ pair: BondedPair) -> [AttributeHandleRange] {
        pair.pair.central.events.compactMap { event in
            if case .servicesModified(let range) = event.event.peerEvent { range } else { nil }
        }
    }

    @Test("Apps are told which services changed", arguments: Change.all, Peer.allCases)
    func change(change: Change, peer: Peer) {
        let hasHash = peer == .stranger || peer == .bonded
        var pair = BondedPair(isBonded: peer == .bonded || peer == .bondedWithoutHash)
        var first = Server(), second = change.server()
        first.hash = hasHash ? 1 : nil
        second.hash = hasHash ? (change.range == nil ? 1 : 2) : nil
        pair.connect(first)
        pair.walk()
        pair.replace(by: second)
        pair.rest()
        // What one response does not hold is heard of one by one.
        let heard = modifications(pair)
        #expect(heard.first?.start == change.range?.start && heard.last?.end == change.range?.end)
        #expect(pair.walk() == [GATT.genericAttribute] + second.services.map { .short($0) })
        pair.rest()
        #expect(modifications(pair) == heard)
    }

    @Test("A client that reconnects to a bonded peer detects a change by the hash", arguments: Change.all)
    func returning(change: Change) {
        var pair = BondedPair()
        pair.connect()
        pair.walk()
        pair.rest()
        pair.disconnect()
        pair.connect()
        pair.walk()
        var second = change.server()
        if change.range != nil { second.hash = 2 }
        pair.replace(by: second)
        let before = pair.roundTrips
        pair.rest()
        #expect(modifications(pair) == (change.range == nil ? [] : [.all]))
        if change.range == nil {
            #expect(pair.requests[before...].count { $0 == [UInt8]("08 0100 ffff 2a2b") } == 1)
            #expect(!pair.requests[before...].contains { $0[0] == 0x10 })
        }
    }

    @Test("An app that repeats its discovery does not hide the change from another app")
    func twoApps() {
        var pair = BondedPair(isBonded: false)
        let other = ClientID(rawValue: 7)
        pair.connect()
        pair.pair.central.layer.attach(other, to: AttributePair.link)
        pair.walk()
        pair.replace(by: Server(services: [0xB000]))
        _ = pair.pair.ask(.discoverServices(only: []), for: other)
        pair.rest()
        let heard = pair.pair.central.events.filter { $0.event.peerEvent == .servicesModified(range(0x20, 0x23)) }
        #expect(heard.map(\.client) == [AttributePair.app, other])
    }

    /// What an app looked for before, and what is asked again when the peer tells of changes.
    static let second: [([AttributeRequest], [String])] = [
        ([], []),
        ([.discoverServices(only: [.short(0xB001)])], ["10200023000028"]),
        ([.discoverServices(only: [.short(0xBEEF)])], []),
        ([.discoverServices(only: [])], allServices),
        (
            [.discoverServices(only: []), .discoverCharacteristics(in: range(0x10, 0x13), only: [])],
            allServices + ["08110012000328"]
        ),
    ]
    private static let allServices = ["100100ffff0028", "102400ffff0028"]

    /// Afterwards, the list of services is completed and the hash is read, for the next link.
    @Test("Only what apps have already received is requested once more", arguments: second)
    func requests(asked: [AttributeRequest], expected: [String]) {
        var pair = BondedPair(isBonded: false)
        pair.connect()
        for request in asked { _ = pair.ask(request) }
        if asked.isEmpty { _ = pair.ask(.read(Server.value(of: 0))) }
        pair.rest()
        let all = pair.requests.map(\.hexadecimal)
        let probe = all.lastIndex(of: "0a0600") ?? all.endIndex - 1
        let isComplete = expected.contains(Self.allServices[0]), isEmpty = asked.isEmpty
        let recording = isEmpty ? [] : (isComplete ? [] : Self.allServices) + ["080100ffff2a2b"]
        #expect(all[(probe + 1)...] == (expected + recording)[...])
        #expect(modifications(pair) == [])
    }

    @Test("Nothing is requested again from a peer without Service Changed")
    func untold() {
        var pair = BondedPair(isBonded: false)
        pair.connect(Server(changesAreTold: false))
        pair.walk()
        let before = pair.requests.count { $0[0] == 0x10 }
        pair.rest()
        #expect(pair.requests.count { $0[0] == 0x10 } == before)
    }

    /// A peer with many characteristics in a service at 5 to 0x0400, and Service Changed in front of it.
    private func answer(to request: [UInt8]) -> [UInt8] {
        let start = request.count > 2 ? UInt16(request[1]) | UInt16(request[2]) << 8 : 0
        switch request[0] {
        case 0x10 where start == 1: return [UInt8]("11 06 0100 0400 0118 0500 0004 0f18")
        case 0x08 where request.suffix(2) == [0x03, 0x28] && start <= 2: return [UInt8]("09 07 0200 20 0300 052a")
        case 0x08 where request.suffix(2) == [0x03, 0x28] && start < 0x03F0:
            // Declarations are at even handles, and a response has room for three.
            let entries = (0..<3 as Range<UInt16>).flatMap { index -> [UInt8] in
                let handle = (max(start, 6) + 1) / 2 * 2 + index * 2
                return handle.littleEndianOctets + [0x02] + (handle + 1).littleEndianOctets + [0x00, 0x2A]
            }
            return [0x09, 0x07] + entries
        case 0x04: return [UInt8]("05 01 0400 0229")
        case 0x0A: return [0x0B, 7]
        case 0x12: return [0x13]
        default: return [0x01, request[0], 0, 0, 0x0A]
        }
    }

    @Test("The second check is short for any database, and an app waits for at most one request of it")
    func limits() {
        var lone = LoneLayer(role: .central)
        for request in [
            AttributeRequest.discoverServices(only: []), .discoverCharacteristics(in: range(5, 0x400), only: []),
        ] {
            var packets = lone.perform(request)
            while let packet = packets.first { packets = lone.answers(to: answer(to: packet)) }
        }
        _ = lone.peerEvents()
        var packets = lone.advance(by: .milliseconds(250)), asked: [String] = []
        while let packet = packets.first, asked.count < 1000 {
            asked.append(packet.hexadecimal)
            if packet[0] == 0x10 { _ = lone.perform(.read(.init(wire: 7))) }
            packets = lone.answers(to: answer(to: packet))
            #expect(packets.count <= 1)
            if packet[0] == 0x10 { #expect(packets == [[UInt8]("0a 0700")]) }
            if packets.isEmpty { packets = lone.advance(by: .milliseconds(250)) }
        }
        #expect(asked.count { $0.hasPrefix("10") } == 2)
        let looks = asked.drop { !$0.hasPrefix("10") }.count { $0.hasSuffix("0328") }
        #expect((20...32).contains(looks))
        #expect(lone.peerEvents().allSatisfy { $0 == .valueRead(.init(wire: 7), .success([7])) })
    }
}
