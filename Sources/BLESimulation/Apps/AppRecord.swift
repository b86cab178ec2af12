import BLEHost
import BLEWire

/// What a machine knows of one of its apps.
struct AppRecord {
    /// The app to which everything belongs that belongs to no other.
    static let standardName = "App"

    let name: String
    var authorization = Machine.Authorization.allowed
    /// When it was last called, or sent to the background.
    var woken: Instant?
}

extension Station {
    /// The index of the app called `name`, which is there from now on.
    func app(_ name: String) -> Int {
        if let index = apps.firstIndex(where: { $0.name == name }) { return index }
        apps.append(AppRecord(name: name))
        return apps.count - 1
    }

    /// Learns what peers are called.
    func learnNames(_ event: ClientEvent) {
        switch event {
        case .discovered(let report): if let name = report.name { names[report.peer] = name }
        case .connected(let peer, let link): if let name = link.name { names[peer] = name }
        case .peer(let peer, .nameChanged(let name), _): names[peer] = name
        default: break
        }
    }
}
