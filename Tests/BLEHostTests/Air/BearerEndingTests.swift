import BLEWire
import Testing

@testable import BLEHost

@Suite("Loss of a link or bearer at every packet of traffic over bearers")
struct BearerEndingTests {
    @Test(
        "Every request completes once, in order",
        arguments: [Ending.separation, .cancellation, .runnerGone, .hostGone]
    )
    func link(ending: Ending) {
        let steps = everyPacket { visit, place in
            end(visit, ending)
            visit.town.run(for: .seconds(5))
            if let peer = visit.runner.peer, ending != .runnerGone {
                visit.town.perform(.cancelConnection(peer), at: visit.running)
            }
            visit.town.run(for: .seconds(5))
            if ending == .runnerGone {
                #expect(visit.runner.asked.starts(with: visit.runner.answers), "\(place)")
            } else {
                #expect(visit.runner.answers == visit.runner.asked, "\(place)")
                #expect(visit.runner.isDone && visit.runner.open.isEmpty, "\(place)")
            }
            #expect(visit.runner.strays == 0, "\(place)")
            #expect(ending == .hostGone ? visit.host.pending >= 0 : visit.host.pending == 0, "\(place)")
        }
        #expect(steps > 60, "it takes packets")
    }

    /// Who closes a bearer.
    enum Closer { case client, server }

    @Test(
        "When one bearer is lost, its requests complete once and in order, and the rest continues",
        arguments: [(Closer.client, 0), (.server, BearerOpening.count - 1)]
    )
    func bearer(closer: Closer, index: Int) {
        let steps = everyPacket { visit, place in
            let (channels, station) =
                closer == .client ? (visit.clientBearers, visit.running) : (visit.serverBearers, visit.hosting)
            // The others are the same case again.
            guard index < channels.count else { return }
            visit.town.close(channels[index], at: station)
            visit.run()
            visit.town.run(for: .seconds(10))
            #expect(visit.runner.answers == visit.runner.asked, "\(place)")
            #expect(visit.isDone && visit.runner.strays == 0 && visit.runner.open.count == 2, "\(place)")
            let rest = BearerOpening.count - 1
            #expect(visit.clientBearers.count == rest && visit.serverBearers.count == rest, "\(place)")
        }
        #expect(steps > 60, "it takes packets")
    }

    /// Lets a visit take place with each number of packets, and then what comes next.
    private func everyPacket(then proceed: (BearerVisit, String) -> Void) -> Int {
        var step = 0
        while true {
            let visit = BearerVisit()
            visit.town.stepsLeft = step
            visit.run()
            let isOver = !visit.town.isHalted
            visit.town.stepsLeft = nil
            proceed(visit, "after \(step) packets")
            if isOver { return step }
            step += 1
        }
    }

    private func end(_ visit: BearerVisit, _ ending: Ending) {
        switch ending {
        case .separation: visit.town.separate(visit.hosting, visit.running)
        case .cancellation:
            if let peer = visit.runner.peer { visit.town.perform(.cancelConnection(peer), at: visit.running) }
        case .runnerGone: visit.town.close(visit.running)
        case .hostGone: visit.town.close(visit.hosting)
        case .runnerSilenced: visit.town.closeTransport(of: visit.running)
        case .hostSilenced: visit.town.closeTransport(of: visit.hosting)
        }
    }
}
