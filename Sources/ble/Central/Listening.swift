import CoreBluetooth

/// A subscription to characteristics, which prints their notifications and indications until the requested number is
/// reached.
@MainActor
final class Listening {
    private let characteristics: [CBCharacteristic]
    private let peripheral: CBPeripheral
    private let count: Int?
    private let printer: Printer
    private var seen = 0

    /// Creates a subscription to `characteristics`; `count` is the number of values to wait for, `nil` for no limit.
    init(to characteristics: [CBCharacteristic], of peripheral: CBPeripheral, count: Int?, _ printer: Printer) {
        var each: [CBCharacteristic] = []
        for characteristic in characteristics where !each.contains(characteristic) { each.append(characteristic) }
        self.characteristics = each
        self.peripheral = peripheral
        self.count = count
        self.printer = printer
    }

    private var isDone: Bool { count.map { seen >= $0 } ?? false }

    /// Subscribes to all characteristics, prints values as they arrive, and finally unsubscribes.
    ///
    /// Values count even if they arrive before all subscriptions have been made.
    ///
    /// - Returns: The number of received values.
    /// - Throws: ``CommandError`` if the peripheral refuses a subscription or is lost.
    func run(through central: Central) async throws -> Int {
        central.onDelegateCall = { [self] in receive($0) }
        defer { central.onDelegateCall = nil }
        var subscribed: [CBCharacteristic] = []
        for characteristic in characteristics where !central.isInterrupted {
            try await central.setNotify(true, for: characteristic, of: peripheral)
            subscribed.append(characteristic)
        }
        if !central.isInterrupted, !isDone {
            try await central.wait(for: "Receiving values", needing: .connection(peripheral)) { [self] in
                if case .interrupted = $0 { return .success(()) }
                return isDone ? .success(()) : nil
            }
        }
        for characteristic in subscribed {
            try await central.setNotify(false, for: characteristic, of: peripheral)
        }
        return seen
    }

    private func receive(_ happening: Central.DelegateCall) {
        let isNamed = characteristics.count > 1
        switch happening {
        case .notificationStateUpdated(let item, nil) where item.isNotifying && characteristics.contains(item):
            let text = isNamed ? "Subscribed to \(item.argument)." : "Subscribed; press Ctrl-C to stop."
            printer.print(Fact("subscribed", item.keys, text: text))
        case .valueUpdated(let attribute, nil):
            guard !isDone, let item = attribute as? CBCharacteristic, characteristics.contains(item) else { return }
            seen += 1
            printer.print(item.fact("received", item.value ?? Data(), isNamed: isNamed))
        default: break
        }
    }
}
