import BLESimulation
import CoreBluetooth
import Testing

@testable import FirstSteps
@testable import PeripheralMode

/// A ticker that a test moves on by hand.
final class ManualTicker: Ticker {
    private var tick: (() -> Void)?
    private(set) var seconds: TimeInterval?
    var isRunning: Bool { tick != nil }

    func start(every seconds: TimeInterval, _ tick: @escaping () -> Void) {
        self.seconds = seconds
        self.tick = tick
    }

    func stop() { tick = nil }
    func ring() { tick?() }
}

/// A ticker that follows a world.
final class WorldTicker: Ticker {
    private let world: World
    private var appointment: World.Appointment?

    init(in world: World) { self.world = world }

    func start(every seconds: TimeInterval, _ tick: @escaping () -> Void) {
        nonisolated(unsafe) let tick = tick
        appointment = world.scheduler.every(.seconds(seconds)) { tick() }
    }

    func stop() { appointment?.cancel() }
}

@Suite("Peripheral mode") @MainActor
struct PeripheralModeTests {
    @Test("The timer runs on the world's virtual clock, so an hour of it passes in no time")
    func hour() async {
        let stage = Stage()
        let peripheral = stage.start(on: "peripheral") {
            PeripheralViewController(ticker: WorldTicker(in: stage.world))
        }
        stage.world.machine("peripheral").inhabit { peripheral.viewDidLoad() }
        await stage.wait(until: "it advertises") { peripheral.log.contains("Advertising") }
        let explorer = stage.start(on: "central") { Explorer(services: [CBUUID(string: Service1StrUUID)]) }
        let notify = CBUUID(string: notifyCharacteristicStrUUID)
        await stage.wait(until: "the first time is told") { explorer.notifications[notify]?.isEmpty == false }
        let before = explorer.notifications[notify]?.count ?? 0
        await stage.world.advance(by: .seconds(3600))
        #expect(explorer.notifications[notify]?.count == before + 1800)
    }

    @Test("A subscriber receives the time every two seconds until it disconnects", arguments: seeds)
    func ticking(seed: UInt64) async {
        let stage = Stage(seed: seed, loss: 0.2)
        let ticker = ManualTicker()
        let peripheral = stage.start(on: "peripheral") {
            PeripheralViewController(ticker: ticker, now: { Date(timeIntervalSince1970: 86_400) })
        }
        stage.world.machine("peripheral").inhabit { peripheral.viewDidLoad() }
        await stage.wait(until: "it advertises") { peripheral.log.contains("Advertising") }

        let explorer = stage.start(on: "central") { Explorer(services: [CBUUID(string: Service1StrUUID)]) }
        await stage.wait(until: "the ticker runs") { ticker.isRunning }
        #expect(ticker.seconds == 2)
        for _ in 0..<3 {
            ticker.ring()
            await stage.world.advance(by: .seconds(2))
        }
        let expected = Data("70:01:02:00:00:00".utf8)
        let notify = CBUUID(string: notifyCharacteristicStrUUID)
        await stage.wait(until: "three times are told") {
            explorer.notifications[notify] == [expected, expected, expected]
        }
        explorer.finish()
        await stage.wait(until: "the ticker stops") { !ticker.isRunning }
        #expect(peripheral.log.contains("Unsubscribed from \(notifyCharacteristicStrUUID)"))
    }
}
