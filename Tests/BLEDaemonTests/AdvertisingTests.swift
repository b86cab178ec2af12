import BLEHost
import BLERuntime
import BLESimulation
import BLEWire
import Dispatch
import Testing

@Suite("Apps that advertise at the same time")
struct AdvertisingTests {
    private static func service(_ number: Int) -> BluetoothUUID { .full(UInt128(number + 1) << 120 | 0xAB) }

    @Test("Each app is found by its service as long as it advertises", arguments: 0..<16 as Range<UInt64>)
    func everybody(seed: UInt64) async {
        let world = World(seed: seed), count = 2 + Int(seed % 5), queue = DispatchQueue(label: "apps")
        let one = world.machine("one"), two = world.machine("two", at: .init(x: 1))
        let started = Locked(0), seen = Locked<[BluetoothUUID]>([]), found = Locked(0)
        let apps = (0..<count).map { _ in
            one.open(.peripheral, on: queue) { event in
                if case .server(.advertisingStarted(nil)) = event { started.withLock { $0 += 1 } }
            }
        }
        let watcher = two.open(.central, on: queue) { event in
            guard case .discovered(let report) = event else { return }
            seen.withLock { $0 += MergedAdvertisement(report.octets).serviceUUIDs }
        }
        let seeker = two.open(.central, on: queue) { event in
            if case .discovered = event { found.withLock { $0 += 1 } }
        }
        await world.advance(by: .seconds(1))
        for (number, app) in apps.enumerated() {
            app.send(.server(.startAdvertising(AdvertisingRequest(services: [Self.service(number)]))))
        }
        watcher.send(.scan(ScanRequest(allowsDuplicates: true)))
        seeker.send(.scan(ScanRequest(services: [Self.service(count - 1)])))
        await world.advance(by: .seconds(10))
        #expect(started.withLock { $0 } == count)
        #expect(found.withLock { $0 } > 0)
        for number in 0..<count { #expect(seen.withLock { $0 }.contains(Self.service(number))) }

        apps[0].send(.server(.stopAdvertising))
        apps[1].close()
        await world.advance(by: .seconds(2))
        seen.withLock { $0 = [] }
        await world.advance(by: .seconds(10))
        for number in 0..<count {
            #expect(seen.withLock { $0 }.contains(Self.service(number)) == (number > 1))
        }
        for session in apps + [watcher, seeker] { session.close() }
        await world.advance(by: .seconds(1))
    }
}
