import BLEWire

/// The number of attribute handles that were assigned to the services of each app.
///
/// The handles of removed services count until they can be assigned again. Otherwise an app could use up all handles by
/// adding and removing a service.
struct HandleUse: Sendable {
    /// The app of each client that was assigned handles.
    private var apps: [ClientID: ClientOwner] = [:]
    private var counts: [ClientOwner: Int] = [:]

    /// Returns the number of handles that were assigned to the services of `app`.
    func count(of app: ClientOwner) -> Int { counts[app] ?? 0 }

    /// Records that `count` handles were assigned to a service of `client`, which belongs to `app`.
    mutating func assign(_ count: Int, to client: ClientID, of app: ClientOwner) {
        apps[client] = app
        counts[app, default: 0] += count
    }

    /// Forgets all handles except those of these services, because the others can be assigned again.
    mutating func release(allExcept services: [GATTDatabase.Service]) {
        let earlier = self
        self = Self()
        for service in services {
            guard let client = service.owner?.client, let app = earlier.apps[client] else { continue }
            assign(service.range.count, to: client, of: app)
        }
    }
}
