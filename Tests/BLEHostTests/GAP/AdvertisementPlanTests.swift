import BLEWire
import Testing

@testable import BLEHost

@Suite("Advertisement plan")
struct AdvertisementPlanTests {
    typealias App = (phase: AppPhase, services: [BluetoothUUID])

    private static func long(_ number: UInt8) -> BluetoothUUID { .full(UInt128(number) << 120 | 0xAB) }

    private static func plan(_ apps: [App]) -> AdvertisementPlan {
        AdvertisementPlan(
            apps.enumerated().map { index, app in
                .init(
                    client: ClientID(rawValue: index),
                    request: AdvertisingRequest(localName: "\(index)", services: app.services),
                    phase: app.phase
                )
            }
        )
    }

    static let cases: [(apps: [App], shares: [[Int]])] = [
        ([], []),
        ([(.suspended, [long(1)])], []),
        ([(.foreground, [])], [[0]]),
        ([(.foreground, [long(1)]), (.foreground, [.short(1)])], [[0, 1]]),
        ([(.foreground, [long(1)]), (.foreground, [long(2)])], [[0], [1]]),
        // What both have counts once.
        ([(.foreground, [long(1)]), (.foreground, [long(1), .short(1)])], [[0, 1]]),
        ([(.foreground, [long(1)]), (.foreground, [long(2)]), (.foreground, [.short(3)])], [[0, 2], [1]]),
        ([(.foreground, [long(1), long(2)]), (.foreground, [.short(1)])], [[0], [1]]),
        ([(.foreground, [long(1)]), (.background, [long(2)])], [[0, 1]]),
        ([(.background, [long(1)]), (.foreground, [long(2)])], [[1, 0]]),
        ([(.background, [long(1)]), (.background, [long(2)])], [[0, 1]]),
        ([(.foreground, [long(1)]), (.suspended, [long(2)]), (.foreground, [long(3)])], [[0], [2]]),
    ]

    @Test("There is one advertisement while foreground data fits, and more otherwise", arguments: cases)
    func shares(apps: [App], shares: [[Int]]) {
        #expect(Self.plan(apps).advertisements.map { $0.clients.map(\.rawValue) } == shares)
    }

    private static func planned(_ requests: [(request: AdvertisingRequest, phase: AppPhase)]) -> AdvertisementPlan {
        AdvertisementPlan(
            requests.enumerated().map {
                .init(client: ClientID(rawValue: $0), request: $1.request, phase: $1.phase)
            }
        )
    }

    private static let heartRate = AdvertisingRequest(services: [.short(0x180D)])

    /// Changes of a broadcast that affect the whole advertisement.
    static let changes: [@Sendable (inout BroadcastRequest) -> Void] = [
        { $0.isConnectable = false }, { $0.interval = .milliseconds(10_240) }, { $0.isExtended = true },
        { $0.transmitPower = -20 }, { $0.flags = nil }, { $0.octets = AdvertisementOctets(advertisement: []) },
    ]

    @Test("One app's advertising options do not apply to another app's advertisement", arguments: changes.indices)
    func options(change: Int) {
        var broadcast = BroadcastRequest()
        Self.changes[change](&broadcast)
        let beacon = AdvertisingRequest(broadcast: broadcast)
        for requests in [[Self.heartRate, beacon], [beacon, Self.heartRate]] {
            let plan = Self.planned(requests.map { ($0, .foreground) })
            #expect(plan.advertisements.map { $0.clients.map(\.rawValue) } == [[0], [1]])
            let content = plan.content(for: ClientID(rawValue: requests[0] == beacon ? 1 : 0))
            #expect(content?.parameters == AdvertisingParameters())
        }
    }

    @Test("An app's manufacturer data share an advertisement with another app's services")
    func manufacturerData() {
        var broadcast = BroadcastRequest()
        broadcast.manufacturerData = [0xFF, 0xFF, 1]
        let plan = Self.planned([
            (Self.heartRate, .foreground), (AdvertisingRequest(broadcast: broadcast), .foreground),
        ])
        #expect(plan.advertisements.map { $0.clients.map(\.rawValue) } == [[0, 1]])
    }

    @Test("Services of background apps are advertised beside another app's broadcast", arguments: changes.indices)
    func backgroundBesideBroadcast(change: Int) {
        var broadcast = BroadcastRequest()
        Self.changes[change](&broadcast)
        let beacon = AdvertisingRequest(broadcast: broadcast)
        let plan = Self.planned([(Self.heartRate, .background), (beacon, .foreground)])
        let content = plan.content(for: ClientID(rawValue: 0))
        let data = AdvertisingData(decoding: (content?.advertisement ?? []) + (content?.scanResponse ?? []))
        #expect(OverflowArea(in: data)?.contains(.short(0x180D)) == true)
        #expect(plan.advertisements.map { $0.clients.map(\.rawValue) } == [[0], [1]])
    }

    @Test(
        "An advertisement for background apps only is sent less often",
        arguments: [
            ([.background], 318_750), ([.background, .background], 318_750), ([.suspended, .background], 318_750),
            ([.foreground], 100_000), ([.background, .foreground], 100_000),
        ] as [([AppPhase], Int)]
    )
    func intervals(phases: [AppPhase], microseconds: Int) {
        let plan = Self.plan(phases.map { ($0, [Self.long(1)]) })
        #expect(plan.advertisements.map(\.content.parameters.interval) == [.microseconds(microseconds)])
    }

    @Test("Services of background apps are in the overflow area of the first advertisement only")
    func background() {
        let phases: [AppPhase] = [.foreground, .foreground, .background]
        let plan = Self.plan(phases.enumerated().map { ($1, [Self.long(UInt8($0 + 1))]) })
        let areas = plan.advertisements.map { share in
            OverflowArea(in: AdvertisingData(decoding: share.content.advertisement + share.content.scanResponse))
        }
        #expect(areas.map { $0?.contains(Self.long(3)) } == [true, nil])
    }

    @Test("Every foreground app's services are advertised, whatever other apps advertise", arguments: UInt64(0)..<16)
    func everybody(seed: UInt64) {
        var random = SeededGenerator(seed: seed)
        for _ in 0..<50 {
            let apps: [App] = (0..<Int.random(in: 1...8, using: &random)).map { _ in
                let count = Int.random(in: 0...1, using: &random), short = UInt16.random(in: 0..<40, using: &random)
                let phase: AppPhase = Int.random(in: 0..<4, using: &random) == 0 ? .background : .foreground
                return (phase, (0..<count).map { _ in Self.long(.random(in: 1...9, using: &random)) } + [.short(short)])
            }
            let plan = Self.plan(apps)
            for share in plan.advertisements {
                let data = AdvertisingData(decoding: share.content.advertisement + share.content.scanResponse)
                for client in share.clients where apps[client.rawValue].phase == .foreground {
                    #expect(apps[client.rawValue].services.allSatisfy { data.serviceUUIDs.contains($0) })
                }
            }
            #expect(plan.advertisements.flatMap(\.clients).map(\.rawValue).sorted() == Array(apps.indices))
        }
    }

    @Test("With too few sets, the remaining advertisements take turns in the last one", arguments: 1...6)
    func turns(sets: Int) {
        let plan = Self.plan((1...5).map { (.foreground, [Self.long($0)]) })
        let all = plan.advertisements.map(\.content)
        #expect(plan.hasTurns(in: sets) == (sets < 5))
        var seen: [AdvertisementContent] = []
        for turn in 0..<10 {
            let contents = plan.contents(in: sets, turn: turn)
            #expect(contents.count == min(sets, 5))
            #expect(Array(contents.prefix(sets - 1)) == Array(all.prefix(min(5, sets - 1))))
            seen += contents
        }
        #expect(all.allSatisfy(seen.contains))
    }

    @Test("The advertisements that take turns have equally many of them", arguments: 1...5)
    func equalTurns(sets: Int) {
        let plan = Self.plan((1...5).map { (.foreground, [Self.long($0)]) })
        let rotating = plan.advertisements.dropFirst(sets - 1).map(\.content)
        var turn = 0, last: [AdvertisementContent] = []
        for _ in 0..<3 * rotating.count {
            turn = plan.turn(after: turn, in: sets)
            last += plan.contents(in: sets, turn: turn).dropFirst(sets - 1)
        }
        for content in rotating { #expect(last.count { $0 == content } == 3) }
    }
}
