import BLEWire
import Testing

@testable import BLEHost

@Suite("A stranger that claims another device's identity address")
struct StolenIdentityTests {
    static let scenes = (UInt64(0)..<16).flatMap { seed in [LinkRole.central, .peripheral].map { (seed, $0) } }

    private func makeWorld(_ seed: UInt64, _ role: LinkRole) -> IdentityWorld {
        let all = IdentityWorld.OnAir.allCases
        return IdentityWorld(
            seed: seed,
            all[Int(seed) % all.count],
            role: role,
            isHomePrivate: seed & 1 == 0,
            isLampStatic: seed & 2 == 0
        )
    }

    @Test(
        "The stranger never receives a connection meant for that device, before or after a restart",
        arguments: scenes
    )
    func connections(seed: UInt64, role: LinkRole) throws {
        let world = makeWorld(seed, role)
        let isSeenBefore = seed & 4 == 0
        let before = isSeenBefore ? world.find("Lamp") : nil
        if let before { #expect(world.read(before) == "Lamp") }
        if !isSeenBefore { world.town.closeTransport(of: world.lamp) }
        let stranger = try #require(world.pairStranger(as: .ofLamp))
        world.part()
        if !isSeenBefore { world.town.openTransport(of: world.lamp) }
        for isRestarted in [false, true] {
            if isRestarted { world.restartHome() }
            let lamp = try #require(world.find("Lamp"))
            #expect(lamp != stranger && (before ?? lamp) == lamp)
            #expect(world.read(lamp) == "Lamp")
            let found = try #require(world.find("Stranger"))
            #expect(found == stranger)
            #expect(world.read(stranger) == "Stranger")
        }
        world.town.closeTransport(of: world.stranger)
        let lamp = try #require(world.find("Lamp"))
        #expect(world.read(lamp) == "Lamp")
    }
}

@Suite("A peer whose identity address differs from its over-the-air address")
struct OtherIdentityTests {
    @Test("The peer pairs, is found and reconnects, before and after a restart", arguments: StolenIdentityTests.scenes)
    func comesBack(seed: UInt64, role: LinkRole) throws {
        let all = IdentityWorld.OnAir.allCases
        let world = IdentityWorld(
            seed: seed,
            all[Int(seed) % all.count],
            role: role,
            isHomePrivate: seed & 1 == 0,
            isLampStatic: true
        )
        let peer = try #require(world.pairStranger(as: .another))
        world.part()
        for isRestarted in [false, true] {
            if isRestarted { world.restartHome() }
            #expect(world.find("Stranger") == peer)
            #expect(world.read(peer) == "Stranger")
            if role == .central { #expect(world.callHome()) }
        }
        #expect(world.home.host.peers.bonds(of: .program).map(\.peer) == [peer])
        #expect(world.home.notes.allSatisfy { if case .encryptionFailed = $0 { false } else { true } })
    }
}
