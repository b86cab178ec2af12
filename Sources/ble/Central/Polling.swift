import CoreBluetooth

/// A poller of characteristics: it reads all of them at the same time, once or periodically, and prints the results.
@MainActor
final class Polling {
    private let times: Int?
    private let interval: Duration
    private let printer: Printer
    private var asked = 0
    private var failed = 0

    /// Creates a poller for `times` rounds; `nil` for no limit.
    ///
    /// `interval` is the time between the starts of two rounds. If responses take longer than the interval, the next
    /// round starts late.
    init(times: Int?, interval: Duration, _ printer: Printer) {
        self.times = times
        self.interval = interval
        self.printer = printer
    }

    /// Reads and prints the values, in each round in the order of `characteristics`.
    ///
    /// - Throws: ``CommandError/disconnected(_:_:)`` as soon as the connection is lost;
    ///   ``CommandError/readsFailed(_:of:)`` at the end if the peripheral has refused some reads, after printing their
    ///   errors; the error of the read itself if only one read was requested.
    func read(
        _ characteristics: [CBCharacteristic],
        of peripheral: CBPeripheral,
        through central: Central
    ) async throws {
        let isLone = times == 1 && characteristics.count == 1
        let age = central.clock.stopwatch()
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
        if failed > 0 { throw CommandError.readsFailed(failed, of: asked) }
    }

    private func report(_ characteristic: CBCharacteristic, _ error: (any Error)?, isNamed: Bool) {
        guard let error else {
            return printer.print(characteristic.fact("read", characteristic.value ?? Data(), isNamed: isNamed))
        }
        failed += 1
        let trouble = CommandError.failed("Reading \(characteristic.argument)", error)
        let fields = characteristic.keys.merging(["reason": "\(trouble)"]) { own, _ in own }
        printer.print(Fact("failed", fields, text: "\(trouble)"))
    }

    /// Waits for `rest`, or until the user interrupts.
    ///
    /// Throws an error if the connection is lost.
    private func pause(_ rest: Duration, _ central: Central, _ peripheral: CBPeripheral) async throws {
        guard rest > .zero else { return }
        do {
            try await central.wait(for: "Waiting for the next read", needing: .connection(peripheral), within: rest) {
                if case .interrupted = $0 { .success(()) } else { nil }
            }
        } catch CommandError.noAnswer {
            return
        }
    }
}

extension Clock<Duration> {
    /// Returns a function that returns the time since this method was called.
    func stopwatch() -> () -> Duration {
        let start = now
        return { start.duration(to: now) }
    }
}
