import BLEController
import BLEHost
import BLEWire
import Testing

@Suite("Two hosts on one simulated air")
struct AirTests {
    static let profiles: [(ControllerIdentity.Profile, ControllerIdentity.Profile)] = [
        (.core5, .core5), (.core5, .legacyOnly), (.legacyOnly, .core5), (.legacyOnly, .legacyOnly),
    ]

    @Test("Two hosts discover each other, connect and exchange values", arguments: profiles)
    func exchange(profiles: (ControllerIdentity.Profile, ControllerIdentity.Profile)) {
        for seed in UInt64(0)..<16 {
            let town = Town(seed: seed), server = ServingApp(), visitor = VisitingApp()
            _ = town.add(server, profiles.0)
            let station = town.add(visitor, profiles.1)
            town.run(for: .seconds(30)) { visitor.isDone }
            #expect(visitor.isDone)
            #expect(visitor.value == Array(0..<100))
            #expect(server.written == [[1, 2, 3]])
            #expect(visitor.notified == (UInt8(0)..<5).map { [$0] })
            #expect(
                visitor.events.contains {
                    $0 == .connected(visitor.peer ?? .init(rawValue: 0), .init(mtu: 517, name: "Nora"))
                }
            )
            #expect(Ledger(visitor).asked == Ledger(visitor).answered)
            #expect(station.transportResets == 0)
        }
    }

    @Test("Two hosts complete a visit however lossy the air is", arguments: UInt64(0)..<16)
    func loss(seed: UInt64) {
        let town = Town(seed: seed, loss: 0.3), server = ServingApp(), visitor = VisitingApp()
        _ = town.add(server)
        _ = town.add(visitor)
        town.run(for: .seconds(120)) { visitor.isDone }
        #expect(visitor.isDone)
        #expect(visitor.value == Array(0..<100))
    }

    @Test("The advertisement resumes after each visit")
    func again() {
        let town = Town(seed: 3), server = ServingApp()
        _ = town.add(server)
        for _ in 0..<5 {
            let visitor = VisitingApp()
            _ = town.add(visitor)
            town.run(for: .seconds(30)) { visitor.isDone }
            #expect(visitor.isDone)
        }
        #expect(server.written.count == 5)
    }

    @Test("The same seed gives the same sequence of events")
    func deterministic() {
        func run() -> [ClientEvent] {
            let town = Town(seed: 11, loss: 0.2), visitor = VisitingApp()
            _ = town.add(ServingApp())
            _ = town.add(visitor)
            town.run(for: .seconds(60))
            return visitor.events
        }
        #expect(run() == run())
    }
}

@Suite("Loss of a controller")
struct AbsenceTests {
    /// How many packets a station sends while it visits, or is visited.
    static func packetCount(ofVisitor: Bool, _ profile: ControllerIdentity.Profile) -> Int {
        let town = Town(seed: 1), visitor = VisitingApp()
        let server = town.add(ServingApp(), profile)
        let station = town.add(visitor, profile)
        town.run(for: .seconds(30)) { visitor.isDone }
        return ofVisitor ? station.packetCount : server.packetCount
    }

    @Test("Whenever a central's controller is lost, each request is answered once, and all works once it is back")
    func central() {
        for profile in [ControllerIdentity.Profile.core5, .legacyOnly] {
            let count = Self.packetCount(ofVisitor: true, profile)
            #expect(count > 20)
            for step in 0..<count {
                let town = Town(seed: 1), visitor = VisitingApp()
                _ = town.add(ServingApp(), profile)
                let station = town.add(visitor, profile)
                // What the setup sent is behind already, unless the controller goes during the setup.
                station.packetsLeft = max(0, step - station.packetCount)
                town.run(for: .seconds(30)) { !station.isOpen }
                #expect(!station.isOpen)
                #expect(Ledger(visitor).asked == Ledger(visitor).answered, "after \(step) packets")
                #expect(visitor.events.last == .stateChanged(.resetting), "after \(step) packets")
                station.packetsLeft = nil
                town.openTransport(of: station)
                town.run(for: .seconds(60)) { visitor.isDone }
                #expect(visitor.isDone, "after \(step) packets")
                #expect(Ledger(visitor).asked == Ledger(visitor).answered, "after \(step) packets")
            }
        }
    }

    @Test("Whenever a peripheral's controller is lost, each request is answered once, and all works once it is back")
    func peripheral() {
        let count = Self.packetCount(ofVisitor: false, .core5)
        #expect(count > 20)
        for step in 0..<count {
            let town = Town(seed: 1), server = ServingApp(), visitor = VisitingApp()
            let station = town.add(server)
            station.packetsLeft = max(0, step - station.packetCount)
            _ = town.add(visitor)
            town.run(for: .seconds(30)) { !station.isOpen }
            #expect(Ledger(server).asked["advertise"] == Ledger(server).answered["advertise"], "after \(step) packets")
            station.packetsLeft = nil
            town.openTransport(of: station)
            town.run(for: .seconds(60)) { visitor.isDone }
            #expect(visitor.isDone, "after \(step) packets")
        }
    }
}
