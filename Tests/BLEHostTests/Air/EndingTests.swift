import BLEHost
import BLEWire
import Testing

/// What may put an end to an errand.
enum Ending: CaseIterable {
    /// The two stop hearing each other.
    case separation
    /// The central gives the connection up.
    case cancellation
    /// An app goes away.
    case runnerGone, hostGone
    /// A controller goes away.
    case runnerSilenced, hostSilenced
}

@Suite("Loss of a link, session or controller at every packet of a visit")
struct EndingTests {
    @Test("Every request completes once", arguments: Errand.allCases, Ending.allCases)
    func everyPacket(errand: Errand, ending: Ending) {
        var step = 0
        while true {
            let town = Town(seed: 4), host = ErrandHost(errand), runner = ErrandRunner(errand)
            // Small packets, so that long values take several.
            let configuration = Host.Configuration(identifierSecret: 9, preferredMTU: 23)
            let hosting = town.add(host, configuration: configuration)
            let running = town.add(runner, configuration: configuration)
            town.stepsLeft = step
            town.run(for: .seconds(20)) {
                town.isHalted || runner.isDone && Account(host).pending.isEmpty
            }
            let isOver = !town.isHalted
            town.stepsLeft = nil
            end(town, ending, hosting, running)
            town.run(for: .seconds(5))
            if ending == .runnerGone {
                #expect(Account(runner).pending.values.allSatisfy { $0 > 0 }, "after \(step) packets")
            } else {
                if let peer = runner.peer { town.perform(.cancelConnection(peer), at: running) }
                town.run(for: .seconds(5))
                check(runner, "after \(step) packets")
            }
            if ending == .hostGone {
                #expect(Account(host).pending.values.allSatisfy { $0 > 0 }, "after \(step) packets")
            } else {
                check(host, "after \(step) packets")
            }
            if isOver { break }
            step += 1
        }
        #expect(step > 20, "the errand takes packets")
    }

    private func check(_ app: App, _ place: String) {
        let account = Account(app)
        #expect(account.pending == [:], "\(place)")
        #expect(account.connections == account.disconnections, "\(place)")
        #expect(account.openChannels == 0 && account.strays == 0, "\(place)")
    }

    private func end(_ town: Town, _ ending: Ending, _ hosting: Station, _ running: Station) {
        switch ending {
        case .separation: town.separate(hosting, running)
        case .cancellation:
            if let app = running.app as? ErrandRunner, let peer = app.peer {
                town.perform(.cancelConnection(peer), at: running)
            }
        case .runnerGone: town.close(running)
        case .hostGone: town.close(hosting)
        case .runnerSilenced: town.closeTransport(of: running)
        case .hostSilenced: town.closeTransport(of: hosting)
        }
    }
}
