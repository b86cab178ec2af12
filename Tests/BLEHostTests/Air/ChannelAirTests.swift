import BLEController
import BLEHost
import BLEWire
import Testing

@Suite("Channels between two hosts")
struct ChannelAirTests {
    @Test("Data sent both ways at the same time arrives however lossy the air is", arguments: UInt64(0)..<16)
    func loss(seed: UInt64) {
        let town = Town(seed: seed, loss: 0.2)
        let server = ChannelServer(length: 20_000), visitor = ChannelVisitor(length: 20_000)
        _ = town.add(server)
        _ = town.add(visitor)
        town.run(for: .seconds(120)) { server.isDone && visitor.isDone }
        #expect(server.isDone && visitor.isDone)
        #expect(server.isIntact && visitor.isIntact)
        #expect(server.channels.count == 1 && visitor.channels.count == 1)
    }

    static let profiles: [ControllerIdentity.Profile] = [.core5, .legacyOnly]

    @Test("A long stream in both directions leaves bandwidth for attributes", arguments: profiles)
    func long(profile: ControllerIdentity.Profile) {
        let length = profile == .core5 ? 1 << 20 : 1 << 16
        let town = Town(seed: 5), server = ChannelServer(length: length)
        let visitor = ChannelVisitor(length: length, readsValue: true)
        _ = town.add(server, profile)
        _ = town.add(visitor, profile)
        town.run(for: .seconds(300)) { server.isDone && visitor.isDone }
        #expect(server.isDone && visitor.isDone)
        #expect(server.isIntact && visitor.isIntact)
        let seconds = Int((town.now - Instant()).components.seconds)
        #expect(visitor.readings >= 4 * seconds, "\(visitor.readings) in \(seconds) s")
    }

    @Test("A link carries 64 channels at the same time, each with its own data")
    func many() {
        let town = Town(seed: 2), server = ChannelServer(length: 3_000)
        let visitor = ChannelVisitor(length: 3_000, count: 65)
        _ = town.add(server)
        _ = town.add(visitor)
        town.run(for: .seconds(60)) { server.isDone && visitor.isDone && visitor.channels.count == 64 }
        #expect(server.isDone && visitor.isDone)
        #expect(server.isIntact && visitor.isIntact)
        #expect(visitor.channels.count == 64)
        #expect(visitor.failures == [.limitReached])
    }

    @Test("A reader that stops reading blocks the sender, and nothing is lost when it resumes")
    func stalled() {
        let town = Town(seed: 3), server = ChannelServer(length: 0), visitor = ChannelVisitor(length: 100_000)
        let station = town.add(server)
        _ = town.add(visitor)
        server.reads = false
        town.run(for: .seconds(20))
        guard let id = server.channels.first, let held = server.flows[id]?.held else { return #expect(Bool(false)) }
        let limits = Limits()
        #expect(held <= limits.channelCredits * limits.channelPacket + limits.channelMTU)
        #expect(held > limits.channelCredits * limits.channelPacket / 2)
        for _ in 0..<50 {
            for request in server.consume(id) { town.perform(request, at: station) }
            town.run(for: .seconds(2))
        }
        #expect(server.flows[id]?.received == 100_000)
        #expect(server.isIntact)
    }

    @Test("Data sent before an end closes a channel arrives before the peer sees it close", arguments: UInt64(0)..<16)
    func closing(seed: UInt64) {
        let town = Town(seed: seed, loss: 0.1), server = ChannelServer(length: 0)
        let visitor = ChannelVisitor(length: 5_000)
        _ = town.add(server)
        let station = town.add(visitor)
        town.run(for: .seconds(30)) { !visitor.channels.isEmpty }
        guard let id = visitor.channels.first else { return #expect(Bool(false)) }
        town.perform(.channel(id, .close), at: station)
        town.run(for: .seconds(30)) { server.flows.values.contains { !$0.closings.isEmpty } }
        #expect(server.flows.values.map(\.received) == [5_000])
        #expect(server.flows.values.map(\.closings) == [[nil]])
        #expect(visitor.flows.values.map(\.closings) == [[nil]])
    }

    @Test("Data that a client sent before it disconnects arrives before the link ends", arguments: UInt64(0)..<16)
    func leaving(seed: UInt64) {
        let town = Town(seed: seed, loss: 0.1), server = ChannelServer(length: 0)
        let visitor = ChannelVisitor(length: 8_000)
        _ = town.add(server)
        let station = town.add(visitor)
        town.run(for: .seconds(30)) { !visitor.channels.isEmpty }
        guard let peer = visitor.peer else { return #expect(Bool(false)) }
        town.perform(.cancelConnection(peer), at: station)
        town.run(for: .seconds(30)) { visitor.hasDisconnected }
        #expect(visitor.hasDisconnected)
        #expect(server.flows.values.map(\.received) == [8_000] && server.isIntact)
        #expect(server.flows.values.map(\.closings) == [[nil]])
    }

    @Test("A peer that reads nothing delays the end of a link by at most six seconds")
    func stubborn() {
        let town = Town(seed: 4), server = ChannelServer(length: 0), visitor = ChannelVisitor(length: 200_000)
        _ = town.add(server)
        let station = town.add(visitor)
        server.reads = false
        town.run(for: .seconds(20))
        guard let peer = visitor.peer else { return #expect(Bool(false)) }
        town.perform(.cancelConnection(peer), at: station)
        town.run(for: .milliseconds(4_900))
        #expect(!visitor.hasDisconnected)
        town.run(for: .milliseconds(1_400))
        #expect(visitor.hasDisconnected)
    }

    /// How a link can end in the middle.
    enum End: CaseIterable { case cancelled, controllerLost, sessionClosed }

    @Test("However a link ends, each end of each channel is notified once", arguments: End.allCases)
    func ends(end: End) {
        for seed in UInt64(0)..<16 {
            let town = Town(seed: seed), server = ChannelServer(length: 1 << 20)
            let visitor = ChannelVisitor(length: 1 << 20, count: 3)
            let serving = town.add(server), visiting = town.add(visitor)
            town.run(for: .milliseconds(1_000 + 37 * Int64(seed)))
            #expect(visitor.channels.count == 3)
            switch end {
            case .cancelled: if let peer = visitor.peer { town.perform(.cancelConnection(peer), at: visiting) }
            case .controllerLost: town.closeTransport(of: visiting)
            case .sessionClosed: town.close(serving)
            }
            town.run(for: .seconds(60))
            let expected: Failure? =
                switch end {
                case .cancelled, .sessionClosed: nil
                case .controllerLost: .poweredOff
                }
            #expect(visitor.flows.values.map(\.closings) == .init(repeating: [expected], count: 3))
            let others: [[Failure?]] =
                switch end {
                case .cancelled: server.flows.values.map(\.closings)
                case .controllerLost: .init(repeating: [.hci(.connectionTimeout)], count: server.channels.count)
                case .sessionClosed: .init(repeating: [], count: server.channels.count)
                }
            #expect(server.flows.values.map(\.closings) == others)
            #expect(server.flows.values.allSatisfy { end == .sessionClosed || $0.closings.count == 1 })
        }
    }
}
