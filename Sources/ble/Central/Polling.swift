import CoreBluetooth

/// Reads characteristics once or again and again: all of them at once each time, and prints what comes of it.
@MainActor
final class Polling {
    private let times: Int?
    private let interval: Duration
    private let printer: Printer
    private var asked = 0
    private var failed = 0

    /// Creates a polling of so many `times`, or until interrupted if `nil`.
    ///
    /// `interval` is from the beginning of one time to that of the next, which begins late if the answers do.
    init(times: Int?, interval: Duration, _ printer: Printer) {
        self.times = times
        self.interval = interval
        self.printer = printer
    }

    /// Reads, and prints the values, each time in the order of `characteristics`.
    ///
    /// - Throws: ``Trouble/disconnected(_:_:)`` as soon as the peripheral is gone; ``Trouble/readsFailed(_:of:)`` at
    ///   the end if it refused some, of which each was printed; if there was but one to be read, why it was not.
    func read(
        _ characteristics: [CBCharacteristic],
        of peripheral: CBPeripheral,
        through central: Central
    ) async throws {
        let isLone = times == 1 && characteristics.count == 1
        let age = Self.stopwatch(central.clock)
        var next = Duration.zero
        for time in 1... {
            try await central.read(characteristics, of: peripheral) { [self] characteristic, error in
                asked += 1
                if let error, isLone { return .failed("Reading \(characteristic.uuid)", error) }
                report(characteristic, error, isNamed: characteristics.count > 1)
                return nil
            }
            guard time != times, !central.isInterrupted else { break }
            next = max(next + interval, age())
            try await pause(next - age(), central, peripheral)
            guard !central.isInterrupted else { break }
        }
        if failed > 0 { throw Trouble.readsFailed(failed, of: asked) }
    }

    private func report(_ characteristic: CBCharacteristic, _ error: (any Error)?, isNamed: Bool) {
        guard let error else {
            return printer.print(characteristic.fact("read", characteristic.value ?? Data(), isNamed: isNamed))
        }
        failed += 1
        let trouble = Trouble.failed("Reading \(characteristic.argument)", error)
        let fields = characteristic.keys.merging(["reason": "\(trouble)"]) { own, _ in own }
        printer.print(Fact("failed", fields, text: "\(trouble)"))
    }

    /// How much time has passed by `clock` since now.
    private static func stopwatch(_ clock: some Clock<Duration>) -> () -> Duration {
        let start = clock.now
        return { start.duration(to: clock.now) }
    }

    /// Waits for `rest`, unless a person or the peripheral ends it.
    private func pause(_ rest: Duration, _ central: Central, _ peripheral: CBPeripheral) async throws {
        guard rest > .zero else { return }
        do {
            try await central.wait(for: "The next time", needing: .connection(peripheral), within: rest) {
                if case .interrupted = $0 { .success(()) } else { nil }
            }
        } catch Trouble.noAnswer {
            return
        }
    }
}
