import BLEHost
import Dispatch

/// A weak reference to a manager, through which the manager's peripherals, requests and channels reach the manager and
/// its queue.
///
/// Sendable because the manager is set once, before its queue starts, and the latest peers are used only on that queue.
final class ManagerReference: @unchecked Sendable {
    /// The queue of the manager's delegate calls: a serial queue that targets the app's queue.
    let queue: DispatchQueue
    let console = Console()
    /// The observers of the manager's events, called after the delegate.
    let observers = Observers()
    weak var manager: CBManager?
    /// The peripheral of the last event; `nil` if the event concerned none, or the app has released the object.
    private weak var latestPeripheral: CBPeripheral?
    private weak var latestCentral: CBCentral?

    init(queue: DispatchQueue) { self.queue = queue }

    /// Runs `body` on the manager's queue after everything that is already queued, unless the manager has been released
    /// by then.
    func later(_ body: @escaping @Sendable (CBManager) -> Void) {
        queue.async {
            if let manager = self.manager { body(manager) }
        }
    }

    /// Passes host events to the manager, on its queue.
    ///
    /// If the app releases its manager in a callback, the remaining events are dropped.
    func deliver(_ events: inout [ClientEvent]) {
        guard var manager else { return }
        var latest = LatestPeers(peripheral: latestPeripheral, central: latestCentral)
        let before = latest.identities
        defer {
            if latest.identities != before { (latestPeripheral, latestCentral) = (latest.peripheral, latest.central) }
        }
        for index in events.indices {
            guard !isKnownUniquelyReferenced(&manager) else { return }
            latest.dropUnretained()
            // The event is moved out, because copying it costs more.
            let event = exchange(&events[index], with: .scanBegan(0))
            manager.apply(event, &latest)
            if !observers.isEmpty { notifyObservers(event) }
        }
    }

    private func notifyObservers(_ event: ClientEvent) {
        // Peripherals report their events to the observers themselves, because they answer some requests without the
        // host.
        if case .peer = event { return }
        observers.deliver(event)
    }
}

/// The peripheral and the central of the previous events, kept because most of the next events concern the same peers.
///
/// An object that the app has released is dropped, and looked up again if needed.
struct LatestPeers {
    var peripheral: CBPeripheral?
    var central: CBCentral?

    /// The identities of the peripheral and the central, in this order.
    fileprivate var identities: (ObjectIdentifier?, ObjectIdentifier?) {
        (peripheral.map { ObjectIdentifier($0) }, central.map { ObjectIdentifier($0) })
    }

    /// Drops the objects that nothing else retains.
    mutating func dropUnretained() {
        if isKnownUniquelyReferenced(&peripheral) { peripheral = nil }
        if isKnownUniquelyReferenced(&central) { central = nil }
    }
}
