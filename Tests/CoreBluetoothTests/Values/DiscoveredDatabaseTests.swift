import BLEHost
import BLERuntime
import BLEWire
import Dispatch
import Testing

@testable import CoreBluetooth

@Suite("Discovered services of a peripheral")
struct DiscoveredDatabaseTests {
    private let peripheral: CBPeripheral

    init() {
        let queue = DispatchQueue(label: "app")
        let session = ScriptedSession(.central, .all(on: queue) { _ in })
        let reference = ManagerReference(queue: queue)
        peripheral = CBPeripheral(CentralBench.peer, name: nil, session: session, reference: reference)
    }

    private func service(_ range: ClosedRange<UInt16>, _ uuid: UInt16 = 0xFFF0) -> DiscoveredService {
        DiscoveredService(uuid: .short(uuid), range: .of(range), isPrimary: true)
    }

    @Test("A list of services is complete only if none is missing, not counting included services")
    func allServices() {
        var database = DiscoveredDatabase()
        let all = [service(1...5, 0x1800), Fixture.heartRate, Fixture.battery]
        #expect(!database.hasExactly([] as [DiscoveredService]))
        database.add(all, of: peripheral)
        database.add([Fixture.part], to: database.services![0], of: peripheral)
        #expect(database.hasExactly(all))
        #expect(!database.hasExactly([Fixture.heartRate]))
        #expect(!database.hasExactly([Fixture.battery]))
        #expect(!database.hasExactly(all + [Fixture.part]))
        #expect(!database.hasExactly([Fixture.heartRate, service(20...29)]))
    }

    @Test("Included services keep the order of their declarations, whichever are discovered first")
    func included() throws {
        let parts = [(50, 0xFFF2), (30, 0xFFF1), (70, 0xFFF3)].map { service($0.0...$0.0 + 5, UInt16($0.1)) }
        func order(_ rounds: [[Int]]) throws -> [String] {
            var database = DiscoveredDatabase()
            database.add([Fixture.heartRate], of: peripheral)
            let owner = try #require(database.services?.first)
            for round in rounds { database.add(round.map { parts[$0] }, to: owner, of: peripheral) }
            return owner.includedServices?.map(\.uuid.uuidString) ?? []
        }
        #expect(try order([[0, 1, 2]]) == ["FFF2", "FFF1", "FFF3"])
        #expect(try order([[0, 1, 2], [1]]) == ["FFF2", "FFF1", "FFF3"])
        #expect(try order([[1], [0, 1, 2]]) == ["FFF2", "FFF1", "FFF3"])
        #expect(try order([[0, 0, 1]]) == ["FFF2", "FFF1"])
        #expect(try order([[0], [1]]) == ["FFF1", "FFF2"])
        #expect(try order([[]]) == [])
    }

    @Test("A list of characteristics is complete only if all were found together, unchanged and still present")
    func allCharacteristics() {
        var database = DiscoveredDatabase()
        database.add([Fixture.heartRate, Fixture.battery], of: peripheral)
        let service = database.services![0], range = Fixture.heartRate.range
        let first = Fixture.characteristic(0x2A37, .notify),
            last = Fixture.characteristic(0x2A38, .read, value: 16, end: 16)
        #expect(!database.hasExactly([] as [DiscoveredCharacteristic], in: range))
        database.add([first], to: service)
        #expect(database.hasExactly([first], in: range))
        database.add([last], to: service)
        #expect(!database.hasExactly([last], in: range))
        database.add([first, last], to: service)
        #expect(database.hasExactly([first, last], in: range))
        #expect(!database.hasExactly([last, first], in: range))
        #expect(!database.hasExactly([first, last], in: Fixture.battery.range))
        let other = [
            Fixture.characteristic(0x2A36, .notify), Fixture.characteristic(0x2A37, .read),
            Fixture.characteristic(0x2A37, .notify, end: 13),
        ]
        for changed in other { #expect(!database.hasExactly([changed, last], in: range)) }
        database.add([other[0]], to: service)
        #expect(!database.hasExactly([first, last], in: range))
        _ = database.remove(in: range)
        #expect(!database.hasExactly([other[0]], in: range))
    }

    @Test("A service is replaced by a different one that is found at one of its handles", arguments: UInt64(0)..<64)
    func replaced(seed: UInt64) {
        var generator = Numbers(state: seed)
        var database = DiscoveredDatabase(), known: [DiscoveredService] = [], next: UInt16 = 10
        for _ in 0..<Int.random(in: 0...12, using: &generator) {
            let start = next + .random(in: 0...3, using: &generator),
                end = start + .random(in: 0...4, using: &generator)
            known.append(service(start...end))
            next = end + 1
        }
        database.add(known, of: peripheral)
        if let owner = database.services?.first {
            let part = service(next...(next + 3), 0xFFF1)
            database.add([part], to: owner, of: peripheral)
            known.append(part)
        }
        // Neither in order nor apart, as nobody should tell.
        let found = (0..<Int.random(in: 0...12, using: &generator)).map { _ in
            if let same = known.randomElement(using: &generator), Bool.random(using: &generator) { return same }
            let start = UInt16.random(in: 5...60, using: &generator),
                end = start + .random(in: 0...20, using: &generator)
            return service(start...end, [0xFFF0, 0x1801].randomElement(using: &generator)!)
        }
        let expected = known.filter { old in
            found.contains { new in
                new.uuid != .short(0x1801) && new.range.overlaps(old.range)
                    && (new.range != old.range || new.uuid != old.uuid)
            }
        }
        #expect(database.ranges(replacedBy: found) == expected.map(\.range))
    }

    @Test("Dropped objects are returned once")
    func dropped() {
        var database = DiscoveredDatabase()
        database.add([Fixture.heartRate], of: peripheral)
        database.add([Fixture.characteristic(0x2A37, .notify)], to: database.services![0])
        let characteristic = database.characteristic(AttributeHandle(wire: 12))
        _ = database.remove(in: .of(19...25))
        #expect(database.takeDropped() == [characteristic])
        #expect(database.takeDropped().isEmpty)
    }
}

/// Numbers that look random, and are the same each time.
private struct Numbers: RandomNumberGenerator {
    var state: UInt64

    mutating func next() -> UInt64 {
        state &+= 0x9E37_79B9_7F4A_7C15
        let mixed = (state ^ state >> 30) &* 0xBF58_476D_1CE4_E5B9
        return mixed ^ mixed >> 27
    }
}
