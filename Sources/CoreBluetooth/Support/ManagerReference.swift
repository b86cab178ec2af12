import BLEHost
import Dispatch

/// How everything that belongs to a manager reaches it: weakly, and on its queue alone.
///
/// The manager is set once, before its queue starts, and looked into only on that queue; the rest never changes.
final class ManagerReference: @unchecked Sendable {
    /// Where the manager's delegate is called: a serial queue that targets the app's.
    let queue: DispatchQueue
    let console = Console()
    /// Those who hear what the host says after the delegate has.
    let observers = Observers()
    weak var manager: CBManager?
    /// What the last event was about.
    private weak var latestPeripheral: CBPeripheral?
    private weak var latestCentral: CBCentral?

    init(queue: DispatchQueue) { self.queue = queue }

    /// Runs `body` on the manager's queue after all that is waiting already, unless the manager is gone by then.
    func later(_ body: @escaping @Sendable (CBManager) -> Void) {
        queue.async {
            if let manager = self.manager { body(manager) }
        }
    }

    /// Has the manager take what has come together; on its queue.
    ///
    /// An app that lets go of its manager while it is being told hears nothing more.
    func hear(_ events: inout [ClientEvent]) {
        guard var manager else { return }
        var latest = LatestPeers(peripheral: latestPeripheral, central: latestCentral)
        let before = latest.identities
        defer {
            if latest.identities != before { (latestPeripheral, latestCentral) = (latest.peripheral, latest.central) }
        }
        for index in events.indices {
            guard !isKnownUniquelyReferenced(&manager) else { return }
            latest.dropUnkept()
            // Taken out, since to copy an event costs more than to move it.
            let event = exchange(&events[index], with: .scanBegan(0))
            manager.apply(event, &latest)
            if !observers.isEmpty { tellObservers(event) }
        }
    }

    private func tellObservers(_ event: ClientEvent) {
        // Peripherals tell what is theirs themselves, since they answer some requests on their own.
        if case .peer = event { return }
        observers.tell(event)
    }
}

/// The objects that events were about before, of which those that came with them mostly are, too.
///
/// An object is looked for anew when the app has let go of it.
struct LatestPeers {
    var peripheral: CBPeripheral?
    var central: CBCentral?

    /// Which objects they are.
    fileprivate var identities: (ObjectIdentifier?, ObjectIdentifier?) {
        (peripheral.map { ObjectIdentifier($0) }, central.map { ObjectIdentifier($0) })
    }

    /// Lets go of what nobody else keeps.
    mutating func dropUnkept() {
        if isKnownUniquelyReferenced(&peripheral) { peripheral = nil }
        if isKnownUniquelyReferenced(&central) { central = nil }
    }
}
