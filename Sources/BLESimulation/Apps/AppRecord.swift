import BLEHost
import BLEWire

/// The state of one of a machine's apps.
struct AppRecord {
    /// The name of the default app.
    static let standardName = "App"

    let name: String
    var authorization = Machine.Authorization.allowed
    /// The time at which the app was last called, sent to the background or brought to the foreground; `nil` if it
    /// never was.
    var lastWake: Instant?
}

extension MachineState {
    /// Returns the index of the app called `name`, creating it if necessary.
    func app(_ name: String) -> Int {
        if let index = apps.firstIndex(where: { $0.name == name }) { return index }
        apps.append(AppRecord(name: name))
        return apps.count - 1
    }

    /// Records the name of a peer, if the event contains one.
    func learnNames(_ event: ClientEvent) {
        switch event {
        case .discovered(let report): if let name = report.name { names[report.peer] = name }
        case .connected(let peer, let link): if let name = link.name { names[peer] = name }
        case .peer(let peer, .nameChanged(let name), _): names[peer] = name
        default: break
        }
    }
}
